// Package webhooks has the endpoints with which callers manage who is told of events: the endpoints of their tenant,
// the secrets, the attempts to deliver, and the events that could not be delivered.
package webhooks

import (
	"context"

	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/server/internal/auth"
	"github.com/spoolhq/spool/server/internal/call"
	"github.com/spoolhq/spool/wire"
)

// Controller has the endpoints. All fields are required.
type Controller struct {
	Engine *engine.Engine
	Auth   *auth.Auth
	// Tests bounds the tests of the callers.
	Tests *Tests
}

// NameInput names an endpoint.
type NameInput struct {
	// Name is the endpoint. @ with a host is one that the configuration lists for the webhooks of starts.
	Name string `example:"billing" maxLength:"254" path:"name" pattern:"^@?[A-Za-z0-9._:-]+$"`
}

// WebhookList is the answer to a list of endpoints.
type WebhookList struct {
	Webhooks []wire.WebhookEndpoint `json:"webhooks"` // The endpoints by their names.
}

// List answers with the endpoints of the tenant that are told of events, those of the configuration included. A caller
// that sees only its own threads sees the endpoints that it has made. All others see the hosts that the configuration
// lists for the webhooks of starts, too. No answer has a secret, or of a URL more than its scheme and its host.
func (c Controller) List(ctx context.Context, _ struct{}) (WebhookList, error) {
	list, err := c.Engine.Webhooks(call.Acting(ctx), call.By(ctx).Tenant)
	if list == nil {
		list = []wire.WebhookEndpoint{}
	}
	return WebhookList{list}, about(ctx, err)
}

// Create makes an endpoint and its first secret, which the answer shows this once. Events that happen a second after
// the answer are sent there. An approver needs the scope approve as well: the events about questions then have a link
// with which the approver answers. The right of the caller is looked up again before each attempt: when its credentials
// end, or lose a scope that the endpoint needs, the endpoint is disabled. Where nobody can look up later what the
// caller may do, the making is refused.
func (c Controller) Create(ctx context.Context, in wire.WebhookCreate) (wire.WebhookMade, error) {
	p := call.By(ctx)
	if in.Approver != "" && !p.May(access.ScopeApprove) {
		return wire.WebhookMade{}, access.Lacks(access.ScopeApprove, "an approver")
	}
	maker := c.Auth.Maker(ctx)
	in.Maker = &maker
	made, err := c.Engine.CreateWebhook(call.Acting(ctx), p.Tenant, in)
	secret(ctx)
	return made, about(ctx, err)
}

// Get answers with one endpoint.
func (c Controller) Get(ctx context.Context, in NameInput) (wire.WebhookEndpoint, error) {
	e, err := c.Engine.Webhook(call.Acting(ctx), call.By(ctx).Tenant, in.Name)
	return e, about(ctx, err)
}

// ChangeInput changes an endpoint.
type ChangeInput struct {
	NameInput

	Body wire.WebhookChange
}

// Change changes an endpoint. Fields that the body leaves out do not change. An endpoint of the configuration can only
// be disabled and enabled, and a host for the webhooks of starts cannot be changed. An endpoint whose maker's right has
// ended is enabled only by its maker, with other credentials. Events that wait for an endpoint which is disabled are
// dead at once.
func (c Controller) Change(ctx context.Context, in ChangeInput) (wire.WebhookEndpoint, error) {
	p := call.By(ctx)
	if in.Body.Approver != nil && *in.Body.Approver != "" && !p.May(access.ScopeApprove) {
		return wire.WebhookEndpoint{}, access.Lacks(access.ScopeApprove, "an approver")
	}
	if in.Body.URL != nil && in.Body.Approver == nil && !p.May(access.ScopeApprove) {
		// Whoever gets the events gets the links in them.
		e, err := c.Engine.Webhook(call.Acting(ctx), p.Tenant, in.Name)
		if err == nil && e.Approver != "" {
			err = access.Lacks(access.ScopeApprove, "the url of an endpoint with an approver")
		}
		if err != nil {
			return wire.WebhookEndpoint{}, about(ctx, err)
		}
	}
	maker := c.Auth.Maker(ctx)
	in.Body.Maker = &maker
	e, err := c.Engine.ChangeWebhook(call.Acting(ctx), p.Tenant, in.Name, in.Body)
	return e, about(ctx, err)
}

// Remove removes an endpoint. Events that were not delivered to it are not sent any more, and its links end.
func (c Controller) Remove(ctx context.Context, in NameInput) (rest.NoContent, error) {
	err := c.Engine.RemoveWebhook(call.Acting(ctx), call.By(ctx).Tenant, in.Name)
	return rest.NoContent{}, about(ctx, err)
}

// Rotate makes another secret for an endpoint, which the answer shows this once. It signs beside the older one, so that
// the receiver can move to it. Then drop the older one.
func (c Controller) Rotate(ctx context.Context, in NameInput) (wire.WebhookMade, error) {
	made, err := c.Engine.RotateWebhookSecret(call.Acting(ctx), call.By(ctx).Tenant, in.Name, wire.WebhookRotation{})
	secret(ctx)
	return made, about(ctx, err)
}

// DropSecret ends the use of the older one of two secrets.
func (c Controller) DropSecret(ctx context.Context, in NameInput) (wire.WebhookEndpoint, error) {
	made, err := c.Engine.RotateWebhookSecret(
		call.Acting(ctx), call.By(ctx).Tenant, in.Name, wire.WebhookRotation{Finish: true},
	)
	return made.WebhookEndpoint, about(ctx, err)
}

// secret keeps an answer with a secret out of caches.
func secret(ctx context.Context) { rest.ResponseOf(ctx).Header().Set("Cache-Control", "no-store") }

// about adds the tenant to an error, for the log.
func about(ctx context.Context, err error) error {
	return call.About(ctx, err, call.By(ctx).Key(""), "")
}
