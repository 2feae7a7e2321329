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

// HeaderVerifier is a [Verifier] that judges headers before the server reads the body. It is
// that of package server. All schemes below this package implement it.
type HeaderVerifier interface {
	Verifier
	// VerifyHeader returns an error if Verify would refuse the request whatever its body is.
	VerifyHeader(r *http.Request) error
}

// Any returns a verifier that takes what one of the given ones takes, for a server to which
// several queues deliver, or one that moves from a scheme to another. Its error is that of
// all of them. Without verifiers it takes nothing. It is a [HeaderVerifier] if all of them are:
// a verifier that needs the body may take any headers.
func Any(verifiers ...Verifier) Verifier {
	headers := make(firstHeader, len(verifiers))
	for i, v := range verifiers {
		h, ok := v.(HeaderVerifier)
		if !ok {
			return first(verifiers)
		}
		headers[i] = h
	}
	return struct {
		first
		firstHeader
	}{verifiers, headers}
}

type first []Verifier

// Verify implements [Verifier].
func (f first) Verify(r *http.Request, body []byte) error {
	return anyOf(f, func(v Verifier) error { return v.Verify(r, body) })
}

type firstHeader []HeaderVerifier

// VerifyHeader implements [HeaderVerifier].
func (f firstHeader) VerifyHeader(r *http.Request) error {
	return anyOf(f, func(v HeaderVerifier) error { return v.VerifyHeader(r) })
}

// anyOf returns nil if a verifier does, and otherwise the errors of all.
func anyOf[V any](verifiers []V, verify func(V) error) error {
	var failure error
	for _, v := range verifiers {
		err := verify(v)
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
