package verify

import (
	"errors"
	"fmt"
	"net/http"
)

// Any returns a verifier that accepts a delivery if at least one of the given verifiers accepts it. It is
// for a server that takes deliveries of several queues, or that moves from one scheme to another. Its error
// has the errors of all verifiers. Any without verifiers refuses every delivery.
//
// The result is a [HeaderVerifier] if all verifiers are. A verifier that needs the body may accept any
// headers, so no header could be refused early.
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

// anyOf returns nil if one of the verifiers does, and otherwise the errors of all of them.
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
