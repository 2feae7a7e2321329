// Package secret verifies deliveries by a secret in a header. It is for queues that can set a
// header but cannot sign.
//
//	verifier, err := secret.New(secret.Config{Secrets: []string{os.Getenv("QUEUE_SECRET")}})
//
// The secret proves the sender and not the body: an attacker who reads one delivery on its way can
// send others. Use it only over TLS, and prefer a scheme that signs the body if the queue has one.
package secret

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net/http"
	"net/textproto"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server/verify/internal/header"
)

// authorization is the header in which "Bearer " comes before the secret.
const authorization = "Authorization"

// minBytes is the minimum length of a secret: anybody who reaches the server can guess.
const minBytes = 16

// Config says which deliveries the verifier accepts.
type Config struct {
	// Secrets are the secrets that a delivery may have. Set two while the queue moves from one to
	// the other. Each has 16 or more visible ASCII characters. Required.
	Secrets []string

	// Header is the header whose whole value is the secret. In Authorization, "Bearer " comes
	// before the secret. Defaults to Authorization.
	Header string
}

// Verifier proves that a delivery has a secret. It keeps only hashes, and is safe for
// concurrent use.
type Verifier struct {
	header string
	hashes [][sha256.Size]byte
}

// New returns a verifier. For a configuration that cannot work, it returns an [spool.Invalid]
// error that names the field and has no secret in it.
func New(c Config) (*Verifier, error) {
	if len(c.Secrets) == 0 {
		return nil, spool.Errorf(spool.Invalid, "Secrets is required")
	}
	v := &Verifier{header: textproto.CanonicalMIMEHeaderKey(c.Header)}
	if c.Header == "" {
		v.header = authorization
	}
	if strings.ContainsFunc(v.header, func(r rune) bool { return invisible(r) || r == ':' }) {
		return nil, spool.Errorf(spool.Invalid, "Header must be the name of a header")
	}
	for i, s := range c.Secrets {
		if len(s) < minBytes || strings.ContainsFunc(s, invisible) {
			return nil, spool.Errorf(spool.Invalid, "Secrets[%d] must be visible ASCII, %d characters or more", i, minBytes)
		}
		v.hashes = append(v.hashes, sha256.Sum256([]byte(s)))
	}
	return v, nil
}

func invisible(r rune) bool { return r <= ' ' || r >= 0x7f }

// Verify is [Verifier.VerifyHeader], because the secret proves nothing about the body.
func (v *Verifier) Verify(r *http.Request, _ []byte) error { return v.VerifyHeader(r) }

// VerifyHeader returns an error unless the request has one of the secrets. The error has neither a
// secret nor the given value in it.
func (v *Verifier) VerifyHeader(r *http.Request) error {
	presented, err := v.secretOf(r.Header)
	if err != nil {
		return err
	}
	// All hashes have the same length, and all are compared. So the duration does not depend on how
	// much of a guess was right, or of which secret.
	hash, found := sha256.Sum256([]byte(presented)), 0
	for i := range v.hashes {
		found |= subtle.ConstantTimeCompare(hash[:], v.hashes[i][:])
	}
	if found != 1 {
		return errors.New("the secret of the delivery is wrong")
	}
	return nil
}

func (v *Verifier) secretOf(h http.Header) (string, error) {
	if v.header == authorization {
		return header.Bearer(h)
	}
	return header.One(h, v.header)
}
