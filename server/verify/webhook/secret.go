package webhook

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
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
	// minSecretBytes and maxSecretBytes are the bounds of the specification. Longer secrets of others are taken too.
	minSecretBytes = 24
	maxSecretBytes = 64
	newSecretBytes = 32
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
		k, problem := decodeOne(secret)
		if problem != "" {
			return nil, spool.Errorf(spool.Invalid, "Secrets[%d] %s", i, problem)
		}
		keys[i] = k
	}
	return keys, nil
}

// decodeOne returns the key of a secret, or what is wrong with it, behind its name.
func decodeOne(secret string) (key, string) {
	k, err := base64.StdEncoding.Strict().DecodeString(strings.TrimPrefix(secret, secretPrefix))
	if err != nil {
		return nil, fmt.Sprintf("must be base64, with or without %q before it", secretPrefix)
	}
	if len(k) < minSecretBytes {
		return nil, fmt.Sprintf("must have %d bytes or more", minSecretBytes)
	}
	return k, ""
}

// NewSecret returns a secret that nobody can guess: the base64 of 32 random bytes, with "whsec_" before it.
func NewSecret() string {
	var b [newSecretBytes]byte
	_, _ = rand.Read(b[:]) // it never fails
	return secretPrefix + base64.StdEncoding.EncodeToString(b[:])
}

// CheckSecret returns an [spool.Invalid] error unless the specification allows the secret: base64 of 24 to 64 bytes,
// with or without "whsec_" before it. The error begins with the name of the field, and has no secret in it.
func CheckSecret(field, secret string) error {
	k, problem := decodeOne(secret)
	if problem == "" && len(k) > maxSecretBytes {
		problem = fmt.Sprintf("must have %d bytes at the most", maxSecretBytes)
	}
	if problem != "" {
		return spool.Errorf(spool.Invalid, "%s %s", field, problem)
	}
	return nil
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
