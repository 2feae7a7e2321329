// Package secret verifies deliveries by a secret that the queue sends along, for queues
// that can set a header and sign nothing.
//
//	verifier, err := secret.New(secret.Config{Secrets: []string{os.Getenv("QUEUE_SECRET")}})
//
// The secret says who sends, and nothing about what: whoever reads a delivery on its way
// can send others. Use it over TLS only, and a scheme that signs the body where the queue
// has one.
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

// authorization is the header in which the secret has a word before it.
const authorization = "Authorization"

// minBytes is how long a secret must be: it can be guessed from anywhere.
const minBytes = 16

// Config says which deliveries are good.
type Config struct {
	// Secrets are those that a delivery may have: two of them while the queue goes from one
	// to the other. Each is 16 visible ASCII characters or more. Required.
	Secrets []string

	// Header is the one that has the secret, as its whole value. In Authorization, "Bearer "
	// stands before it. Defaults to Authorization.
	Header string
}

// Verifier proves that a delivery has a secret. It keeps only hashes, and is safe for
// concurrent use.
type Verifier struct {
	header string
	hashes [][sha256.Size]byte
}

// New returns a verifier. It returns an [spool.Invalid] error, without a secret in it, that
// names the field for a configuration that cannot work.
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

// Verify is [Verifier.VerifyHeader]: the secret says nothing about the body.
func (v *Verifier) Verify(r *http.Request, _ []byte) error { return v.VerifyHeader(r) }

// VerifyHeader returns an error unless the request has a secret. The error has no secret in it,
// neither a good one nor what was given.
func (v *Verifier) VerifyHeader(r *http.Request) error {
	given, err := v.given(r.Header)
	if err != nil {
		return err
	}
	// Hashes are equally long, and all are compared: how long it takes says nothing about
	// how much of a guess was right, or of which secret.
	hash, found := sha256.Sum256([]byte(given)), 0
	for i := range v.hashes {
		found |= subtle.ConstantTimeCompare(hash[:], v.hashes[i][:])
	}
	if found != 1 {
		return errors.New("the secret of the delivery is wrong")
	}
	return nil
}

func (v *Verifier) given(h http.Header) (string, error) {
	if v.header == authorization {
		return header.Bearer(h)
	}
	return header.One(h, v.header)
}
