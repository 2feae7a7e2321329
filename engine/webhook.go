package engine

import (
	"context"
	"encoding/json"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/endpoint"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Webhooks lists the endpoints of a tenant by their names: those of the configuration and the others, and the hosts for
// the webhooks of starts. An actor that sees only its own threads sees only the endpoints that it has made.
func (a *Admin) Webhooks(ctx context.Context, tenant spool.Tenant) ([]wire.WebhookEndpoint, error) {
	return a.endpoints.List(ctx, tenant)
}

// Webhook returns an endpoint, or a [spool.NotFound] error.
func (a *Admin) Webhook(ctx context.Context, tenant spool.Tenant, name string) (wire.WebhookEndpoint, error) {
	return a.endpoints.Get(ctx, tenant, name)
}

// CheckWebhookMaker returns a [spool.Forbidden] error if the right of an endpoint's maker has ended, so that its links
// have ended too. It returns a [spool.NotFound] error if there is no such endpoint.
func (a *Admin) CheckWebhookMaker(ctx context.Context, tenant spool.Tenant, name string) error {
	return a.endpoints.CheckMaker(ctx, tenant, name)
}

// CreateWebhook makes an endpoint for the actor of ctx, with its first secret. Commits that begin more than a second
// after it has returned send it their events. It returns an [spool.Invalid] error that begins with the name of the
// wrong field or with "webhooks:", a [spool.Conflict] error for a name that is in use, and a [spool.Forbidden] error for
// a maker whose right could not be looked up later (see [option.Webhooks]). The caller checks that the actor may
// approve if there is an approver.
func (a *Admin) CreateWebhook(
	ctx context.Context, tenant spool.Tenant, c wire.WebhookCreate,
) (wire.WebhookMade, error) {
	return a.endpoints.Create(ctx, tenant, c)
}

// ChangeWebhook changes an endpoint. It returns the errors of CreateWebhook, a [spool.NotFound] error if there is no
// such endpoint, and a [spool.Forbidden] error for one of the configuration, which can only be disabled and enabled,
// for one that would be enabled although the right of its maker has ended, and for any change of a host for the
// webhooks of starts.
func (a *Admin) ChangeWebhook(
	ctx context.Context, tenant spool.Tenant, name string, c wire.WebhookChange,
) (wire.WebhookEndpoint, error) {
	return a.endpoints.Change(ctx, tenant, name, c)
}

// RotateWebhookSecret makes another secret for an endpoint, or ends the use of the older one. It returns a
// [spool.Conflict] error if the endpoint has two secrets already, or no older one.
func (a *Admin) RotateWebhookSecret(
	ctx context.Context, tenant spool.Tenant, name string, r wire.WebhookRotation,
) (wire.WebhookMade, error) {
	return a.endpoints.Rotate(ctx, tenant, name, r)
}

// RemoveWebhook removes an endpoint. Events that were not delivered to it yet are not sent any more. It returns a
// [spool.NotFound] error if there is no such endpoint, and a [spool.Forbidden] error for one of the configuration.
func (a *Admin) RemoveWebhook(ctx context.Context, tenant spool.Tenant, name string) error {
	return a.endpoints.Remove(ctx, tenant, name)
}

// WebhookRows is the kind of the rows about endpoints, for programs that move data between stores.
const WebhookRows = endpoint.Kind

// ImportedWebhook returns the value of a row of the kind WebhookRows as an import should add it: an endpoint is
// disabled since a time. The store that it comes from may still send the same events.
func ImportedWebhook(key string, value json.RawMessage, at time.Time) (json.RawMessage, error) {
	return endpoint.Imported(key, value, at)
}

// KeepImportedWebhooks has engines over a store read the rows of the kind WebhookRows that were added to it for a
// tenant. Rows of ImportedWebhook do not need it.
func KeepImportedWebhooks(ctx context.Context, s store.Store, tenant spool.Tenant) error {
	return endpoint.Enlist(ctx, s, tenant)
}
