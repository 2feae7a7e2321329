// Package deliver tells endpoints of events: one attempt for each claim of an event, the log of the attempts, and the
// replay of dead events. It touches the jobs of [endpoint.Queue], and the rows of bodies and attempts. Its caller
// provides the endpoints.
package deliver

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/endpoint"
	"github.com/spoolhq/spool/engine/internal/random"
	"github.com/spoolhq/spool/engine/internal/slots"
	"github.com/spoolhq/spool/engine/internal/worker"
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/webhook"
)

// concurrency is how many events a process delivers at once, besides those of subjects below their share.
const concurrency = 64

// Endpoints are the endpoints that this process knows. They are safe for concurrent use.
type Endpoints interface {
	// Find returns an endpoint of a tenant as the store has it now, or a [spool.NotFound] error.
	Find(ctx context.Context, tenant spool.Tenant, name string) (endpoint.Endpoint, error)
	// Host returns the endpoint of a URL that a start has named, or an [spool.Invalid] error if the configuration does
	// not list its host for the tenant.
	Host(tenant spool.Tenant, url string) (endpoint.Endpoint, error)
	// MayTell returns a [spool.Forbidden] error if the right of an endpoint's maker has ended. After any other error it is
	// not known now.
	MayTell(ctx context.Context, tenant spool.Tenant, e endpoint.Endpoint) error
	// OpenURL returns the URL of the webhook of a start as an event has it, or an [spool.Invalid] error if this process
	// does not have the key.
	OpenURL(tenant spool.Tenant, kept string) (string, error)
	// Disable ends the events of an endpoint. The reason is for a person.
	Disable(ctx context.Context, tenant spool.Tenant, name, reason string) error
	// Tenants returns the tenants that may have events.
	Tenants(ctx context.Context) ([]spool.Tenant, error)
}

// Config configures deliveries. All fields but Link are required.
type Config struct {
	Store     store.Store
	Live      store.Live
	Log       *slog.Logger
	Random    random.Source
	Endpoints Endpoints
	Sender    *webhook.Sender
	// Link is [option.Webhooks.Link]. Nil: no body has a link.
	Link func(ctx context.Context, link option.WebhookLink) (string, error)
	// Keep is how long dead events are kept.
	Keep time.Duration
}

// Deliverer delivers events. It is safe for concurrent use.
type Deliverer struct {
	Config

	flights flights
	journal journal

	mu sync.Mutex
	// decided are the attempts whose acknowledgement is under way, by the claim.
	decided map[claim]line
	// noted is when this process has noted last that a tenant has dead events.
	noted map[spool.Tenant]time.Time
}

// claim names a delivery of a job.
type claim struct{ job, token int64 }

// New returns deliveries.
func New(c Config) *Deliverer {
	return &Deliverer{
		Config: c, decided: make(map[claim]line), noted: make(map[spool.Tenant]time.Time),
		flights: flights{of: make(map[target]*flight)},
		journal: journal{wake: make(chan struct{}, 1)},
	}
}

// Run delivers events until ctx ends, and returns when the attempts have ended. The configuration is that of the
// worker of runs beside it.
func (d *Deliverer) Run(ctx context.Context, c worker.Config) error {
	c.OwnQueues, c.Acked = true, d.acked
	var beside sync.WaitGroup
	written := make(chan struct{})
	beside.Go(func() { d.keepJournal(ctx, written) })
	beside.Go(func() { d.pruneAll(ctx) })
	err := worker.Run(ctx, c, slots.Options{
		EventsOnly: true, MaxDeliveries: -1, Concurrency: concurrency,
		Events: map[string]func(ctx context.Context, event store.Delivery) error{endpoint.Queue: d.Handle},
	})
	close(written)
	beside.Wait()
	return err
}
