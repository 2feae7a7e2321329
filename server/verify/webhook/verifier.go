package webhook

import (
	"crypto/subtle"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server/verify"
	"github.com/spoolhq/spool/server/verify/internal/header"
)

// Config says which messages the verifier accepts.
type Config struct {
	// Secrets are the secrets that may sign a message. Each is the base64 of 24 bytes or more,
	// with or without "whsec_" before it. Required.
	Secrets []string

	// Clock tells the time. Defaults to [verify.SystemClock].
	Clock verify.Clock
	// Tolerance is how far the time of a message may be from now, in the past and in the
	// future. Defaults to 5 minutes.
	Tolerance time.Duration
}

// Verifier proves that a holder of a secret signed a message. It is safe for concurrent use.
type Verifier struct {
	keys      []key
	clock     verify.Clock
	tolerance time.Duration
}

// New returns a verifier. For a configuration that cannot work, it returns an [spool.Invalid]
// error that names the field and has no secret in it.
func New(c Config) (*Verifier, error) {
	keys, err := decode(c.Secrets)
	if err != nil {
		return nil, err
	}
	if c.Tolerance < 0 {
		return nil, spool.Errorf(spool.Invalid, "Tolerance must not be negative")
	}
	v := &Verifier{keys: keys, clock: c.Clock, tolerance: c.Tolerance}
	if v.clock == nil {
		v.clock = verify.SystemClock{}
	}
	if v.tolerance == 0 {
		v.tolerance = 5 * time.Minute
	}
	return v, nil
}

// VerifyHeader returns an error unless the request has an id, a time within the tolerance, and a
// well-formed signature. It does not read the body. The error has no signature in it.
func (v *Verifier) VerifyHeader(r *http.Request) error {
	m, err := v.message(r.Header)
	if err != nil {
		return err
	}
	for presented := range strings.SplitSeq(m.signatures, " ") {
		if isSignature(presented) {
			return nil
		}
	}
	return errors.New("the webhook has no signature of the scheme v1")
}

// Verify returns an error unless one of the request's signatures fits the id, the time and the
// body, and the time is within the tolerance. The error has no secret and no signature in it.
func (v *Verifier) Verify(r *http.Request, body []byte) error {
	m, err := v.message(r.Header)
	if err != nil {
		return err
	}
	if !v.signed(m, body) {
		return errors.New("no signature of the webhook fits")
	}
	return nil
}

// message has the headers of a webhook.
type message struct{ id, timestamp, signatures string }

// message returns the headers if the id is well formed and the time within the tolerance.
func (v *Verifier) message(h http.Header) (m message, err error) {
	if m.id, err = header.One(h, HeaderID); err != nil {
		return m, err
	}
	if m.timestamp, err = header.One(h, HeaderTimestamp); err != nil {
		return m, err
	}
	if m.signatures, err = header.One(h, HeaderSignature); err != nil {
		return m, err
	}
	if !goodID(m.id) {
		return m, errors.New("the webhook's id is malformed")
	}
	return m, v.timely(m.timestamp)
}

func (v *Verifier) timely(timestamp string) error {
	at, ok := parseTimestamp(timestamp)
	switch age := v.clock.Now().Sub(at); {
	case !ok:
		return errors.New("the webhook's timestamp is malformed")
	case age > v.tolerance:
		return errors.New("the webhook's timestamp is too old")
	case age < -v.tolerance:
		return errors.New("the webhook's timestamp is in the future")
	default:
		return nil
	}
}

// signed compares every given signature with the signature of every secret. So its duration does
// not depend on how close a guess was, or to which secret.
func (v *Verifier) signed(m message, body []byte) bool {
	found := 0
	for _, k := range v.keys {
		want := []byte(k.signature(m.id, m.timestamp, body))
		for presented := range strings.SplitSeq(m.signatures, " ") {
			found |= subtle.ConstantTimeCompare([]byte(presented), want)
		}
	}
	return found == 1
}
