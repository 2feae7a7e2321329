package responses

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// token is what the encrypted content of a reasoning item says. It is signed, not encrypted.
type token struct {
	ID    string `json:"id"`
	Model string `json:"model"`
	// Text stands before the token.
	Text string `json:"text,omitempty"`
	// Summary and Next are digests of the item's summary, and of the item that follows it. An empty Next: none does.
	Summary string `json:"summary"`
	Next    string `json:"next"`
}

func (s *Server) seal(t token) string {
	text := base64.RawURLEncoding.EncodeToString(encode(t))
	return "gAAA" + text + "." + s.sign(text)
}

func (s *Server) unseal(text string) (t token, ok bool) {
	before, text, signed := strings.Cut(text, "gAAA")
	text, signature, _ := strings.Cut(text, ".")
	if !signed || !hmac.Equal([]byte(signature), []byte(s.sign(text))) {
		return token{}, false
	}
	raw, err := base64.RawURLEncoding.DecodeString(text)
	return t, err == nil && json.Unmarshal(raw, &t) == nil && t.Text == before
}

func (s *Server) sign(text string) string {
	mac := hmac.New(sha256.New, s.secret)
	_, _ = mac.Write([]byte(text))
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

func sum(text string) string {
	digest := sha256.Sum256([]byte(text))
	return hex.EncodeToString(digest[:12])
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// canonical returns a digest of a JSON value that does not depend on the way it is written.
func canonical(raw json.RawMessage) string {
	var value any
	if json.Unmarshal(raw, &value) != nil {
		return ""
	}
	return sum(string(encode(value)))
}
