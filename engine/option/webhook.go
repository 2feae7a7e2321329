package option

import (
	"context"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/webhook"
	"github.com/spoolhq/spool/wire"
)

// Webhooks say which endpoints are told of events, and how.
type Webhooks struct {
	// Sender makes the attempts. Nil: nothing is told to anybody, and no endpoint can be made.
	Sender *webhook.Sender
	// Endpoints are the endpoints of the configuration. Defaults to none.
	Endpoints []WebhookEndpoint
	// Hosts are the hosts that the webhook of a start may name, each with its secrets. Defaults to none.
	Hosts []WebhookHost
	// MaxEndpoints bounds the endpoints of a tenant that are not of the configuration. One subject may make all of them.
	// Defaults to 20.
	MaxEndpoints int
	// Keep is how long events that could not be delivered are kept. Defaults to 30 days.
	Keep time.Duration
	// Vault keeps the URLs and secrets of endpoints that are not of the configuration, and the URLs of the webhooks of
	// starts. Nil: no endpoint can be made, and the store has those URLs in clear.
	Vault Vault
	// MayTell looks up whether the maker of an endpoint may still have it: see [wire.WebhookCreate.Maker]. The approver is
	// the endpoint's, empty for one without. It is called when the endpoint is made, when it is enabled, and before each
	// attempt. A [spool.Forbidden] error says that the right has ended: it disables the endpoint. After any other error
	// the event comes again later. Nil: endpoints with a maker cannot be made, except with MaxAge, and their events
	// wait for a process that has a MayTell.
	MayTell func(ctx context.Context, maker wire.Maker, approver string) error
	// MaxAge is how long an endpoint gets events after it was made, if its maker is of the kind [wire.MakerPrincipal].
	// MayTell is not asked about it. Zero: MayTell decides about these makers.
	MaxAge time.Duration
	// Link returns the address of a page with which the approver of an endpoint answers a question, up to
	// [wire.MaxWebhookLink] bytes. It is called for each attempt, returns the same permission for the same link, and
	// must not store the address. Nil: no endpoint has an approver.
	Link func(ctx context.Context, link WebhookLink) (string, error)
	// MayApprove reports whether a subject may be the approver of an endpoint. Nil: any subject.
	MayApprove func(subject string) bool
}

func (o *Webhooks) fill() error {
	if err := or("Webhooks.MaxEndpoints", &o.MaxEndpoints, 20); err != nil {
		return err
	}
	return or("Webhooks.Keep", &o.Keep, 30*24*time.Hour)
}

// Vault encrypts what a store keeps. It is safe for concurrent use.
type Vault interface {
	// Seal encrypts a text for a use, such as a name and a tenant. Open needs the same use.
	Seal(use string, text []byte) ([]byte, error)
	// Open returns the text. It returns an [spool.Internal] error for what this vault has not sealed for this use.
	Open(use string, sealed []byte) ([]byte, error)
}

// WebhookEndpoint is an endpoint of the configuration.
type WebhookEndpoint struct {
	// Name is an id that is unique in the tenant: see [spool.CheckID]. Required.
	Name string
	// Tenant is whose events it gets. Defaults to [spool.DefaultTenant].
	Tenant spool.Tenant
	// URL is where the events go, and Secrets sign them: see [webhook.NewSigner]. Required.
	URL     string
	Secrets []string
	Filter  wire.WebhookFilter
	Form    webhook.FormConfig
	// Text says that events have the last answer of the run.
	Text bool
	// Approver is the subject that answers with the links in the events. Empty: the events have no link.
	Approver string
}

// WebhookHost is a host that starts may name as their webhook.
type WebhookHost struct {
	// Host is the name or the address, without a port. Required.
	Host string
	// Tenant is whose starts may name it. Defaults to [spool.DefaultTenant].
	Tenant  spool.Tenant
	Secrets []string // Sign the events: see [webhook.NewSigner]. Required.
}

// WebhookLink is a link to one question, for the approver of an endpoint.
type WebhookLink struct {
	Key             spool.ThreadKey
	ThreadCreatedAt time.Time
	Call            spool.ToolCallID
	Digest          string
	// Endpoint is the endpoint that makes the link, and MadeBy its maker. MadeBy is empty for one of the configuration.
	Endpoint, MadeBy string
	// EndpointCreatedAt is when the endpoint was made, so that the links of one that was removed do not work again when
	// another one gets its name. Zero: the configuration has it.
	EndpointCreatedAt time.Time
	Approver          string
	ExpiresAt         time.Time
}
