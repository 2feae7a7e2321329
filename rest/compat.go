package rest

import "context"

// The names in this file are those of Django Ninja Extra, for programs that migrate from it. They
// are part of this package's contract. The documentation prefers the Go names: [Answer] and
// [Reply] to CreateResponse, [API.Register] to RegisterControllers, [Returns] to Detail.

// Detail is [Returns] with [NoContent]: the route may answer with the status and no body.
func Detail(status int) RouteOption { return Returns[NoContent](status) }

// RegisterControllers registers controllers without options, each with [API.Register].
func (a *API) RegisterControllers(controllers ...Controller) {
	for _, c := range controllers {
		a.Register(c)
	}
}

// CreateResponse returns a reply. A nil body means no body.
//
// If the controller implements [ResponseCreator], its method is called instead.
func CreateResponse(ctx context.Context, body any, status int) *Reply {
	if c := contextOf(ctx); c != nil {
		if own, ok := c.route.controller.(ResponseCreator); ok && !overridden(ctx, createHelper) {
			return own.CreateResponse(override(ctx, createHelper), body, status)
		}
	}
	return &Reply{Status: status, Body: body}
}

// ResponseCreator is a controller with its own version of [CreateResponse].
type ResponseCreator interface {
	// CreateResponse returns the reply for the function [CreateResponse]. It may call that function
	// with its own ctx for the usual reply.
	CreateResponse(ctx context.Context, body any, status int) *Reply
}
