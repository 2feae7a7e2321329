package endpoint

import (
	"context"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/actor"
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/webhook"
	"github.com/spoolhq/spool/wire"
)

// Book knows the endpoints of all tenants. It is safe for concurrent use. A nil Book has none, and refuses to make one.
type Book struct {
	store  store.Store
	config option.Webhooks
	log    *slog.Logger

	configured map[name]*configured
	ofTenant   map[spool.Tenant][]*configured
	hosts      map[name]*Endpoint

	// listed has the tenants with endpoints in the store.
	listed *cell[map[spool.Tenant]bool]
	mu     sync.Mutex
	// targets has a cell for each tenant that is listed or has endpoints in the configuration.
	targets map[spool.Tenant]*cell[[]Target]
}

// Target is an endpoint as far as a commit has to know it.
type Target struct {
	Name string
	wire.WebhookFilter
	// Owner restricts the events to those of threads that this subject owns, if OwnOnly is true.
	Owner   string
	OwnOnly bool
	// Text is whether its events have the last answer, and Link whether they have a link.
	Text, Link bool
	// FromFile is whether the configuration has it.
	FromFile bool
}

// New returns a book over the backend's store. It returns an [spool.Invalid] error that names the wrong field of the
// configuration. The book is nil if the configuration has no sender.
func New(db store.Store, c option.Webhooks, log *slog.Logger) (*Book, error) {
	if c.Sender == nil {
		if len(c.Endpoints)+len(c.Hosts) > 0 {
			return nil, spool.Errorf(spool.Invalid, "Config.Webhooks.Sender is required for endpoints and hosts")
		}
		return nil, nil //nolint:nilnil // nothing is told to anybody
	}
	b := &Book{
		store: db, config: c, log: log, ofTenant: make(map[spool.Tenant][]*configured),
		listed: newCell[map[spool.Tenant]bool](), targets: make(map[spool.Tenant]*cell[[]Target]),
	}
	if err := b.configure(c); err != nil {
		return nil, err
	}
	return b, nil
}

// Targets returns the endpoints of a tenant that are told of events now. It reads those that are older than a second
// again, and returns the error of the read.
func (b *Book) Targets(ctx context.Context, tenant spool.Tenant) ([]Target, error) {
	listed, err := b.listed.get(ctx, b.readListed)
	if err != nil || !listed[tenant] && len(b.ofTenant[tenant]) == 0 {
		return nil, err
	}
	b.mu.Lock()
	c := b.targets[tenant]
	if c == nil {
		c = newCell[[]Target]()
		b.targets[tenant] = c
	}
	b.mu.Unlock()
	return c.get(ctx, func(ctx context.Context) ([]Target, error) { return b.readTargets(ctx, tenant) })
}

// readListed reads which tenants have endpoints, and forgets what it knows of all others.
func (b *Book) readListed(ctx context.Context) (map[spool.Tenant]bool, error) {
	l, _, err := b.readList(ctx)
	if err != nil {
		return nil, err
	}
	listed := make(map[spool.Tenant]bool, len(l.Tenants))
	for _, tenant := range l.Tenants {
		listed[tenant] = true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for tenant := range b.targets {
		if !listed[tenant] && len(b.ofTenant[tenant]) == 0 {
			delete(b.targets, tenant)
		}
	}
	return listed, nil
}

// forget has the endpoints of a tenant read again for the next commit of this process.
func (b *Book) forget(tenant spool.Tenant) {
	b.mu.Lock()
	c := b.targets[tenant]
	b.mu.Unlock()
	if c != nil {
		c.forget()
	}
}

func (b *Book) readTargets(ctx context.Context, tenant spool.Tenant) (targets []Target, err error) {
	all, err := b.all(ctx, tenant)
	for _, e := range all {
		if e.DisabledAt.IsZero() {
			targets = append(targets, Target{
				Name: e.Name, WebhookFilter: e.WebhookFilter, Owner: e.MadeBy, OwnOnly: e.OwnOnly, Text: e.Text,
				Link: e.Approver != "", FromFile: e.FromFile,
			})
		}
	}
	return targets, err
}

// all returns the endpoints of a tenant by their names.
func (b *Book) all(ctx context.Context, tenant spool.Tenant) ([]wire.WebhookEndpoint, error) {
	found, err := b.rowsOf(ctx, tenant)
	if err != nil {
		return nil, err
	}
	all := make([]wire.WebhookEndpoint, 0, len(found.endpoints)+len(b.ofTenant[tenant]))
	for _, c := range b.ofTenant[tenant] {
		all = append(all, c.with(found.states[c.Name]))
	}
	for key, row := range found.endpoints {
		e, err := decode[stored](row)
		if err != nil {
			return nil, err
		}
		if b.configured[name{tenant, key}] == nil { // the configuration wins if it has got the name since
			all = append(all, e.WebhookEndpoint)
		}
	}
	slices.SortFunc(all, func(x, y wire.WebhookEndpoint) int { return strings.Compare(x.Name, y.Name) })
	return all, nil
}

// with returns the endpoint as people see it, with what the store has about it.
func (c *configured) with(s state) wire.WebhookEndpoint {
	shown := c.WebhookEndpoint
	if s.Definition == c.definition {
		shown.DisabledAt, shown.DisabledReason = s.DisabledAt, s.Reason
	}
	return shown
}

// Find returns an endpoint of a tenant with what an attempt needs. It reads the endpoint's row. Disabled ones are
// found too, and hosts of starts, which have no URL. It returns a [spool.NotFound] error if there is none, or if the
// node does not know the endpoint of the configuration.
func (b *Book) Find(ctx context.Context, tenant spool.Tenant, endpoint string) (Endpoint, error) {
	if b == nil {
		return Endpoint{}, errNone
	}
	if c := b.configured[name{tenant, endpoint}]; c != nil {
		row, err := b.row(ctx, tenant, stateKey+endpoint)
		found := c.Endpoint
		if err == nil && row.Version != 0 {
			var s state
			s, err = decode[state](row)
			found.WebhookEndpoint = c.with(s)
		}
		return found, err
	}
	if host := b.hostNamed(tenant, endpoint); host != nil {
		return *host, nil
	}
	_, e, err := b.find(ctx, tenant, endpoint)
	if err != nil {
		return Endpoint{}, err
	}
	private, err := b.open(tenant, e)
	if err != nil {
		return Endpoint{}, err
	}
	signer, err := webhook.NewSigner("secrets", private.Secrets)
	if err != nil {
		return Endpoint{}, err
	}
	form, err := webhook.NewForm(webhook.FormConfig{Form: webhook.FormName(e.Form)})
	return Endpoint{
		WebhookEndpoint: e.WebhookEndpoint, Maker: e.Maker, URL: private.URL, Signer: signer, Render: form,
	}, err
}

// find returns the row of an endpoint that is not of the configuration. It returns a [spool.Forbidden] error for a host
// that the actor of ctx may see.
func (b *Book) find(ctx context.Context, tenant spool.Tenant, endpoint string) (store.Row, stored, error) {
	if host := b.hostNamed(tenant, endpoint); host != nil && sees(actor.Of(ctx), host.WebhookEndpoint) {
		return store.Row{}, stored{}, errHost
	}
	if spool.CheckID("name", endpoint) != nil {
		return store.Row{}, stored{}, errNone
	}
	row, err := b.row(ctx, tenant, endpoint)
	if err == nil && row.Version == 0 {
		err = errNone
	}
	if err != nil {
		return row, stored{}, err
	}
	e, err := decode[stored](row)
	return row, e, err
}

// Host returns the endpoint for the webhook of a start: the host of the URL has to be listed for the tenant. It returns
// an [spool.Invalid] error, which has only the host of the URL in it, for any other.
func (b *Book) Host(tenant spool.Tenant, text string) (Endpoint, error) {
	if b == nil {
		return Endpoint{}, spool.Errorf(spool.Invalid, "webhook: the configuration lists no hosts for the webhooks of starts")
	}
	if err := b.config.Sender.CheckURL("webhook", text, true); err != nil {
		return Endpoint{}, err
	}
	u, err := url.Parse(text)
	if err != nil {
		return Endpoint{}, spool.Errorf(spool.Invalid, "webhook must be an https URL")
	}
	host := b.hosts[name{tenant, hostOf(u.Hostname())}]
	if host == nil {
		return Endpoint{}, spool.Errorf(spool.Invalid, "webhook: the configuration does not list the host %s", u.Hostname())
	}
	e := *host
	e.URL, e.Origin = text, originOf(text)
	return e, nil
}

// hostNamed returns the host of a subject, or nil.
func (b *Book) hostNamed(tenant spool.Tenant, subject string) *Endpoint {
	host, ok := strings.CutPrefix(subject, HostSubject(""))
	if !ok {
		return nil
	}
	return b.hosts[name{tenant, host}]
}

// List returns the endpoints of a tenant that the actor of ctx may see, by their names. The hosts of starts come first.
func (b *Book) List(ctx context.Context, tenant spool.Tenant) ([]wire.WebhookEndpoint, error) {
	if b == nil {
		return []wire.WebhookEndpoint{}, nil
	}
	all, err := b.all(ctx, tenant)
	if err != nil {
		return nil, err
	}
	for id, host := range b.hosts {
		if id.tenant == tenant {
			all = append(all, host.WebhookEndpoint)
		}
	}
	slices.SortFunc(all, func(x, y wire.WebhookEndpoint) int { return strings.Compare(x.Name, y.Name) })
	return slices.DeleteFunc(all, func(e wire.WebhookEndpoint) bool { return !sees(actor.Of(ctx), e) }), nil
}

// Get returns an endpoint that the actor of ctx may see.
func (b *Book) Get(ctx context.Context, tenant spool.Tenant, endpoint string) (wire.WebhookEndpoint, error) {
	all, err := b.List(ctx, tenant)
	if err != nil {
		return wire.WebhookEndpoint{}, err
	}
	at := slices.IndexFunc(all, func(e wire.WebhookEndpoint) bool { return e.Name == endpoint })
	if at < 0 {
		return wire.WebhookEndpoint{}, errNone
	}
	return all[at], nil
}

// sees reports whether an actor may see an endpoint and change it.
func sees(a wire.Actor, e wire.WebhookEndpoint) bool {
	return !a.OwnOnly || a.Subject != "" && e.OwnOnly && e.MadeBy == a.Subject
}

var (
	errNone = spool.Errorf(spool.NotFound, "There is no such endpoint")
	errHost = spool.Errorf(spool.Forbidden,
		"The configuration lists this host for the webhooks of starts: it cannot be changed here")
	errNotMaker = spool.Errorf(spool.Forbidden,
		"Only who made an endpoint can change its approver, and its url while it has one: remove it, and make another one")
	errEnded = spool.Errorf(spool.Forbidden,
		"The right of its maker has ended: remove it, and make another one")
	errNoVault = spool.Errorf(spool.Invalid,
		"webhooks: endpoints of the API need auth.stream_token_keys in the configuration, which encrypt their secrets")
	errNoSender = spool.Errorf(spool.Invalid, "webhooks: the configuration has none, so no endpoint can be made")
)
