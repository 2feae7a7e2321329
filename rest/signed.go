package rest

import (
	"context"
	"fmt"
)

// BodyVerifier looks at a request before its body is decoded: at a signature, for example. What its
// methods return ends the request as the error of a handler does. It is safe for concurrent use.
type BodyVerifier interface {
	// VerifyHeader is called before the body is read.
	VerifyHeader(ctx context.Context) error
	// VerifyBody is called with the text of the body before it is decoded. It keeps nothing of it.
	VerifyBody(ctx context.Context, body []byte) error
}

// VerifyBody sets the verifier of the requests of a route with a JSON body. It comes after
// authentication, throttles and permissions. The request is [RequestOf] the context.
func VerifyBody(v BodyVerifier) RouteOption {
	return routeOption(func(c *routeConfig) { c.verifier = v })
}

func (rt *route) checkVerifier() error {
	if rt.entry.config.verifier != nil && rt.input.body == nil {
		return fmt.Errorf("rest.VerifyBody is for a route with a JSON body, and the input %v has none", rt.input.typ)
	}
	return nil
}
