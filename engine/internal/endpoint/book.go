package endpoint

import (
	"context"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/random"
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Book knows the endpoints of all tenants. It is safe for concurrent use. A nil Book has none, and refuses to make one.
type Book struct {
	store  store.Store
	config option.Webhooks
	random random.Source
}

// New returns a book over the backend's store. It returns an [spool.Invalid] error that names the wrong field of the
// configuration. The book is nil if the configuration has no sender.
func New(db store.Store, c option.Webhooks, from random.Source) (*Book, error) {
	return &Book{store: db, config: c, random: from}, nil
}

// Find returns an endpoint of a tenant with what an attempt needs. It reads the endpoint's row. Disabled ones are
// found too. It returns a [spool.NotFound] error if there is none, or if the node does not know the endpoint of the
// configuration.
func (b *Book) Find(ctx context.Context, tenant spool.Tenant, name string) (Endpoint, error) {
	return Endpoint{}, errNone
}

// Host returns the endpoint for the webhook of a start: the host of the URL has to be listed for the tenant. It returns
// an [spool.Invalid] error, which has only the host of the URL in it, for any other.
func (b *Book) Host(tenant spool.Tenant, url string) (Endpoint, error) { return Endpoint{}, errNone }

// List returns the endpoints of a tenant that the actor of ctx may see, by their names.
func (b *Book) List(ctx context.Context, tenant spool.Tenant) ([]wire.WebhookEndpoint, error) {
	return nil, errNone
}

// Get returns an endpoint that the actor of ctx may see.
func (b *Book) Get(ctx context.Context, tenant spool.Tenant, name string) (wire.WebhookEndpoint, error) {
	return wire.WebhookEndpoint{}, errNone
}

// Create makes an endpoint, and returns it with its secret.
func (b *Book) Create(ctx context.Context, tenant spool.Tenant, c wire.WebhookCreate) (wire.WebhookMade, error) {
	return wire.WebhookMade{}, errNone
}

// Change changes an endpoint.
func (b *Book) Change(
	ctx context.Context, tenant spool.Tenant, name string, c wire.WebhookChange,
) (wire.WebhookEndpoint, error) {
	return wire.WebhookEndpoint{}, errNone
}

// Rotate adds a secret to an endpoint, or takes the older one away.
func (b *Book) Rotate(
	ctx context.Context, tenant spool.Tenant, name string, r wire.WebhookRotation,
) (wire.WebhookMade, error) {
	return wire.WebhookMade{}, errNone
}

// Remove removes an endpoint.
func (b *Book) Remove(ctx context.Context, tenant spool.Tenant, name string) error { return errNone }

// Disable takes an endpoint out of use, also one of the configuration, with a reason for a person. An endpoint that is
// disabled or gone is no error.
func (b *Book) Disable(ctx context.Context, tenant spool.Tenant, name, reason string) error { return errNone }

var errNone = spool.Errorf(spool.NotFound, "There is no such endpoint")
