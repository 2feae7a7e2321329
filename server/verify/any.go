package verify

import (
	"errors"
	"fmt"
	"net/http"
)

// Verifier proves that a delivery comes from a queue. It is that of package server, and is
// safe for concurrent use.
type Verifier interface {
	// Verify returns an error unless the queue signed this request with this body.
	Verify(r *http.Request, body []byte) error
}

// Any returns a verifier that takes what one of the given ones takes, for a server to which
// several queues deliver, or one that moves from a scheme to another. Its error is that of
// all of them. Without verifiers it takes nothing.
func Any(verifiers ...Verifier) Verifier {
	return first(verifiers)
}

type first []Verifier

// Verify implements [Verifier].
func (f first) Verify(r *http.Request, body []byte) error {
	var failure error
	for _, v := range f {
		err := v.Verify(r, body)
		switch {
		case err == nil:
			return nil
		case failure == nil:
			failure = err
		default:
			failure = fmt.Errorf("%w; %w", failure, err)
		}
	}
	if failure == nil {
		return errors.New("there is no verifier")
	}
	return failure
}
