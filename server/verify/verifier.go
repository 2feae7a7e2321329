package verify

import "net/http"

// Verifier proves that a delivery comes from the queue: the endpoint that takes deliveries executes
// agents. It is safe for concurrent use.
type Verifier interface {
	// Verify returns an error unless the queue signed this request with this body. The server has already
	// read the body of r. An error with the code spool.Unavailable says that the verifier cannot decide now: the
	// server answers 503, and the queue keeps the delivery. For every other error the server answers 401.
	// The server logs the text of the error, and never sends it.
	Verify(r *http.Request, body []byte) error
}

// HeaderVerifier is a [Verifier] that judges the headers of a delivery before the server reads its body.
// All schemes below this package implement it. With a HeaderVerifier, a body may have up to 1 MiB; with
// another Verifier, up to 64 KiB.
type HeaderVerifier interface {
	Verifier
	// VerifyHeader returns an error if Verify would refuse the request with any body. It does not read
	// the body. Its errors mean what those of Verify mean.
	VerifyHeader(r *http.Request) error
}
