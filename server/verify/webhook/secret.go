package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"github.com/spoolhq/spool"
)

// The headers of a message.
const (
	HeaderID        = "Webhook-Id"
	HeaderTimestamp = "Webhook-Timestamp"
	HeaderSignature = "Webhook-Signature"
)

const (
	secretPrefix    = "whsec_"
	signaturePrefix = "v1,"
	// minSecretBytes is the minimum of the specification.
	minSecretBytes = 24
	maxIDBytes     = 256
)

// key is a decoded secret.
type key []byte

// decode returns the keys of secrets. Its errors do not quote the secrets.
func decode(secrets []string) ([]key, error) {
	if len(secrets) == 0 {
		return nil, spool.Errorf(spool.Invalid, "Secrets is required")
	}
	keys := make([]key, len(secrets))
	for i, secret := range secrets {
		k, err := base64.StdEncoding.Strict().DecodeString(strings.TrimPrefix(secret, secretPrefix))
		if err != nil {
			return nil, spool.Errorf(spool.Invalid, "Secrets[%d] must be base64, with or without %q before it", i, secretPrefix)
		}
		if len(k) < minSecretBytes {
			return nil, spool.Errorf(spool.Invalid, "Secrets[%d] must have %d bytes or more", i, minSecretBytes)
		}
		keys[i] = k
	}
	return keys, nil
}

// signature returns the signature in the form of the header.
func (k key) signature(id, timestamp string, body []byte) string {
	mac := hmac.New(sha256.New, k)
	for _, part := range []string{id, ".", timestamp, "."} {
		mac.Write([]byte(part))
	}
	mac.Write(body)
	return signaturePrefix + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// isSignature reports whether text is a well-formed signature.
func isSignature(text string) bool {
	encoded, ok := strings.CutPrefix(text, signaturePrefix)
	sum, err := base64.StdEncoding.Strict().DecodeString(encoded)
	return ok && err == nil && len(sum) == sha256.Size
}

// goodID reports whether an id can be signed. If ids had full stops, the same signature would fit
// another id, time and body.
func goodID(id string) bool {
	special := func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '.' }
	return id != "" && len(id) <= maxIDBytes && !strings.ContainsFunc(id, special)
}

// parseTimestamp accepts digits only.
func parseTimestamp(text string) (time.Time, bool) {
	seconds, err := strconv.ParseUint(text, 10, 62)
	return time.Unix(int64(seconds), 0), err == nil
}
