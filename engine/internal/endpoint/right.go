package endpoint

import (
	"context"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/actor"
	"github.com/spoolhq/spool/engine/internal/right"
	"github.com/spoolhq/spool/wire"
)

// MayTell returns a [spool.Forbidden] error if the right of an endpoint's maker has ended. After any other error it is
// not known now.
func (b *Book) MayTell(ctx context.Context, tenant spool.Tenant, e Endpoint) error {
	if e.Maker == nil {
		return nil
	}
	now, err := right.StoreTime(ctx, b.store, tenant)
	if err == nil {
		_, err = b.rights(e.Approver).Now(ctx, *e.Maker, now)
	}
	return err
}

// CheckMaker is MayTell for an endpoint by its name. An endpoint of the configuration has no maker.
func (b *Book) CheckMaker(ctx context.Context, tenant spool.Tenant, endpoint string) error {
	if b == nil || b.configured[name{tenant, endpoint}] != nil {
		return nil
	}
	_, e, err := b.find(ctx, tenant, endpoint)
	if err != nil {
		return err
	}
	return b.MayTell(ctx, tenant, Endpoint{WebhookEndpoint: e.WebhookEndpoint, Maker: e.Maker})
}

// maker returns the maker of a new endpoint as it is stored, or a [spool.Forbidden] error if its right could not be
// looked up later.
func (b *Book) maker(ctx context.Context, tenant spool.Tenant, c wire.WebhookCreate) (*wire.Maker, error) {
	if c.Maker == nil {
		return nil, nil //nolint:nilnil // nobody is looked up
	}
	now, err := right.StoreTime(ctx, b.store, tenant)
	if err != nil {
		return nil, err
	}
	m, _, err := b.rights(c.Approver).Make(ctx, *c.Maker, now)
	return &m, err
}

// renewed returns the maker of an endpoint behind a change: the caller, if it is the same subject and its right can be
// looked up, or nil if the endpoint keeps the one that it has. It returns a [spool.Forbidden] error if the change
// enables an endpoint whose maker's right has ended.
func (b *Book) renewed(
	ctx context.Context, tenant spool.Tenant, endpoint string, c wire.WebhookChange,
) (*wire.Maker, error) {
	_, e, err := b.find(ctx, tenant, endpoint)
	by := actor.Of(ctx)
	switch {
	case err == nil && !sees(by, e.WebhookEndpoint):
		return nil, errNone
	case err != nil || e.Maker == nil:
		return nil, err
	}
	set(&e.Approver, c.Approver)
	if c.Maker != nil && by.Subject != "" && by.Subject == e.MadeBy {
		now, err := right.StoreTime(ctx, b.store, tenant)
		if err != nil {
			return nil, err
		}
		if m, _, err := b.rights(e.Approver).Make(ctx, *c.Maker, now); err == nil {
			return &m, nil
		}
	}
	if c.Disabled == nil || *c.Disabled {
		return nil, nil //nolint:nilnil // it keeps its maker
	}
	err = b.MayTell(ctx, tenant, Endpoint{WebhookEndpoint: e.WebhookEndpoint, Maker: e.Maker})
	if spool.CodeOf(err) == spool.Forbidden {
		return nil, errEnded
	}
	return nil, err
}

// rights returns what looks up the makers of endpoints with an approver, or of those without one.
func (b *Book) rights(approver string) right.Lookup {
	l := right.Lookup{Thing: "an endpoint", Age: b.config.MaxAge}
	if b.config.MaxAge > 0 {
		l.Bound = func(r wire.Rights) wire.Rights { return r }
	}
	if b.config.MayTell != nil {
		l.Ask = func(ctx context.Context, m wire.Maker) (wire.Rights, error) {
			return m.Rights, b.config.MayTell(ctx, m, approver)
		}
	}
	return l
}
