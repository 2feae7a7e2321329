package rest

import "context"

// The names in this file are those of the contract that this package keeps, and of Django
// Ninja Extra, for programs that come from there. They stay. The names of Go stand first in
// the documentation: [Answer] and [Reply] for CreateResponse, [API.Register] for
// RegisterControllers, [Returns] for Detail.

// Detail is [Returns] with [NoContent]: the route may answer with the status and without a body.
func Detail(status int) RouteOption { return Returns[NoContent](status) }

// RegisterControllers adds controllers that say all of themselves, each as [API.Register]
// does.
func (a *API) RegisterControllers(controllers ...Controller) {
	for _, c := range controllers {
		a.Register(c)
	}
}

// CreateResponse makes a reply. A nil body answers without one.
//
// A controller that implements [ResponseCreator] is asked instead.
func CreateResponse(ctx context.Context, body any, status int) *Reply {
	if c := contextOf(ctx); c != nil {
		if own, ok := c.route.controller.(ResponseCreator); ok && !overridden(ctx, createHelper) {
			return own.CreateResponse(override(ctx, createHelper), body, status)
		}
	}
	return &Reply{Status: status, Body: body}
}

// ResponseCreator is a controller with a [CreateResponse] of its own.
type ResponseCreator interface {
	// CreateResponse makes the reply that the function of that name returns. It must not
	// call that, which would ask it again.
	CreateResponse(ctx context.Context, body any, status int) *Reply
}
