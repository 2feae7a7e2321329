package auth

import (
	"crypto/hmac"
	"encoding/base64"
	"encoding/json"
	"strings"
)

// seal returns a token with a grant that the first key has signed for a use.
func (a *Auth) seal(use string, grant any) string { return seal(a.keys[0], use, grant) }

// seal returns a token with a grant that the key has signed for a use.
func seal(key []byte, use string, grant any) string {
	text, _ := json.Marshal(grant) //nolint:errchkjson // texts and numbers
	payload := base64.RawURLEncoding.EncodeToString(text)
	return payload + "." + signature(key, use, payload)
}

// sealed returns the signed part of a token, and whether one of the keys has signed it for the use. It compares the
// texts of the signatures: a decoder would accept several texts for the same one.
func (a *Auth) sealed(use, token string) (payload string, signed bool) {
	if len(token) > maxStreamToken {
		return "", false
	}
	payload, seal, _ := strings.Cut(token, ".")
	for _, key := range a.keys {
		signed = hmac.Equal([]byte(seal), []byte(signature(key, use, payload))) || signed
	}
	return payload, signed
}

// readGrant reads the signed part of a token.
func readGrant(payload string, grant any) error {
	text, err := base64.RawURLEncoding.Strict().DecodeString(payload)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, grant) //nolint:forbidigo // signed by this server
}

func signature(key []byte, use, payload string) string {
	return base64.RawURLEncoding.EncodeToString(sign(key, use, payload))
}
