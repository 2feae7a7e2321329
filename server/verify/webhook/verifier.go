package webhook

import (
	"crypto/subtle"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server/verify/internal/header"
)

// Config says which messages are good.
type Config struct {
	// Secrets are those that a message may be signed with, each base64 of 24 bytes or more,
	// with or without "whsec_" before it. Required.
	Secrets []string

	// Clock tells the time. Defaults to [spool.SystemClock].
	Clock spool.Clock
	// Tolerance is how far the time of a message may be from now, into the past and into
	// the future. Defaults to 5 minutes.
	Tolerance time.Duration
}

// Verifier proves that a message was signed by somebody who has a secret. It is safe for
// concurrent use.
type Verifier struct {
	keys      []key
	clock     spool.Clock
	tolerance time.Duration
}

// New returns a verifier. It returns an [spool.Invalid] error, without a secret in it, that
// names the field for a configuration that cannot work.
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
		v.clock = spool.SystemClock{}
	}
	if v.tolerance == 0 {
		v.tolerance = 5 * time.Minute
	}
	return v, nil
}

// Verify returns an error unless one of the signatures of the request is that of the body,
// its id and its time, and the time is within the tolerance. The error has no secret and
// no signature in it.
func (v *Verifier) Verify(r *http.Request, body []byte) error {
	id, err := header.One(r.Header, HeaderID)
	if err != nil {
		return err
	}
	timestamp, err := header.One(r.Header, HeaderTimestamp)
	if err != nil {
		return err
	}
	signatures, err := header.One(r.Header, HeaderSignature)
	if err != nil {
		return err
	}
	if !goodID(id) {
		return errors.New("the webhook's id is malformed")
	}
	if err := v.timely(timestamp); err != nil {
		return err
	}
	if !v.signed(id, timestamp, body, signatures) {
		return errors.New("no signature of the webhook fits")
	}
	return nil
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

// signed compares every signature with that of every secret: how long it takes says
// nothing about which one was how near.
func (v *Verifier) signed(id, timestamp string, body []byte, signatures string) bool {
	found := 0
	for _, k := range v.keys {
		want := []byte(k.signature(id, timestamp, body))
		for given := range strings.SplitSeq(signatures, " ") {
			found |= subtle.ConstantTimeCompare([]byte(given), want)
		}
	}
	return found == 1
}
