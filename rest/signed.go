package rest

import (
	"context"
	"fmt"
)

// BodyVerifier checks a request before its body is decoded: a signature, for example. An error
// of its methods ends the request, as the error of a handler does. It must be safe for
// concurrent use.
type BodyVerifier interface {
	// VerifyHeader is called before the body is read.
	VerifyHeader(ctx context.Context) error
	// VerifyBody is called with the text of the body before it is decoded. It must not keep
	// body.
	VerifyBody(ctx context.Context, body []byte) error
}

// VerifyBody sets the verifier of a route with a JSON body. It runs after authentication,
// throttles and permissions. Its methods get the request from [RequestOf].
func VerifyBody(v BodyVerifier) RouteOption {
	return routeOption(func(c *routeConfig) { c.verifier = v })
}

func (rt *route) checkVerifier() error {
	if rt.entry.config.verifier != nil && (rt.input.body == nil || rt.input.body.upload) {
		return fmt.Errorf("rest.VerifyBody is for a route with a JSON body, and the input %v has none", rt.input.typ)
	}
	return nil
}
