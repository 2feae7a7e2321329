package endpoint

import (
	"context"
	"unicode/utf8"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/actor"
	signing "github.com/spoolhq/spool/server/verify/webhook"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/webhook"
	"github.com/spoolhq/spool/wire"
)

const (
	// maxSecrets is how many secrets an endpoint of the API has: two while its receiver moves to the newer one.
	maxSecrets = 2
	// maxApprover is the length of the longest name of an approver, and maxReason that of why an endpoint is disabled,
	// in bytes.
	maxApprover, maxReason = 256, 500
)

// Create makes an endpoint, and returns it with its secret.
func (b *Book) Create(ctx context.Context, tenant spool.Tenant, c wire.WebhookCreate) (wire.WebhookMade, error) {
	if b == nil {
		return wire.WebhookMade{}, errNoSender
	}
	by := actor.Of(ctx)
	e := wire.WebhookEndpoint{
		Name: c.Name, WebhookFilter: c.WebhookFilter, Form: c.Form, Text: c.Text, Approver: c.Approver,
		OwnOnly: by.OwnOnly, MadeBy: by.Subject, Origin: originOf(c.URL), Secrets: 1,
	}
	if e.Form == "" {
		e.Form = string(webhook.Plain)
	}
	if err := b.check(tenant, e, c.URL); err != nil {
		return wire.WebhookMade{}, err
	}
	if by.OwnOnly && by.Subject == "" {
		return wire.WebhookMade{}, spool.Errorf(spool.Forbidden, "An endpoint for one's own threads needs a subject")
	}
	maker, err := b.maker(ctx, tenant, c)
	if err != nil {
		return wire.WebhookMade{}, err
	}
	secret := signing.NewSecret()
	sealed, err := b.seal(tenant, e.Name, secrets{URL: c.URL, Secrets: []string{secret}})
	if err != nil {
		return wire.WebhookMade{}, err
	}
	if err := b.again(ctx, func() error { return b.insert(ctx, tenant, stored{e, sealed, maker}, &e) }); err != nil {
		return wire.WebhookMade{}, err
	}
	if err := b.enlist(ctx, tenant); err != nil {
		return wire.WebhookMade{}, err
	}
	b.forget(tenant)
	return wire.WebhookMade{WebhookEndpoint: e, Secret: secret}, nil
}

// insert writes a new endpoint if the tenant has room for it, and its time to e.
func (b *Book) insert(ctx context.Context, tenant spool.Tenant, value stored, e *wire.WebhookEndpoint) error {
	found, err := b.rowsOf(ctx, tenant)
	if err != nil {
		return err
	}
	if _, used := found.endpoints[value.Name]; used || b.configured[name{tenant, value.Name}] != nil {
		return spool.Errorf(spool.Conflict, "name: there is an endpoint of the name %q", value.Name)
	}
	if len(found.endpoints) >= b.config.MaxEndpoints {
		return spool.Errorf(spool.Limit, "webhooks: the tenant has %d endpoints, and may not have more",
			len(found.endpoints))
	}
	return b.write(ctx, tenant, wire.AuditCreateWebhook, func(tx store.Tx) (wire.WebhookEndpoint, []store.Row, error) {
		e.CreatedAt = tx.Now().UTC()
		value.CreatedAt = e.CreatedAt
		return *e, []store.Row{rowOf(value.Name, 0, value), rowOf(turnKey, found.turn, struct{}{})}, nil
	})
}

// Change changes an endpoint. It keeps its maker, whoever changes it. If that is the maker itself, the credentials of
// this change count from then on.
func (b *Book) Change(
	ctx context.Context, tenant spool.Tenant, endpoint string, c wire.WebhookChange,
) (wire.WebhookEndpoint, error) {
	if b == nil {
		return wire.WebhookEndpoint{}, errNone
	}
	if file := b.configured[name{tenant, endpoint}]; file != nil {
		return b.changeConfigured(ctx, tenant, file, c)
	}
	renewed, err := b.renewed(ctx, tenant, endpoint, c)
	if err != nil {
		return wire.WebhookEndpoint{}, err
	}
	by := actor.Of(ctx).Subject
	return b.change(ctx, tenant, endpoint, func(e *stored, tx store.Tx) error {
		text := ""
		if c.URL != nil {
			text = *c.URL
			e.Origin = originOf(text)
		}
		set(&e.WebhookFilter, c.Filter)
		set(&e.Form, c.Form)
		set(&e.Text, c.Text)
		set(&e.Approver, c.Approver)
		// The maker vouches for the links, wherever they go and whoever answers with them.
		if (c.URL != nil || c.Approver != nil) && e.Approver != "" && by != e.MadeBy {
			return errNotMaker
		}
		if renewed != nil && by == e.MadeBy {
			e.Maker = renewed
		}
		if c.Disabled != nil {
			disable(&e.WebhookEndpoint, *c.Disabled, tx, byHand)
		}
		if c.URL == nil {
			return b.checkRest(e.WebhookEndpoint)
		}
		if err := b.check(tenant, e.WebhookEndpoint, text); err != nil {
			return err
		}
		private, err := b.open(tenant, *e)
		if err == nil {
			private.URL = text
			e.Sealed, err = b.seal(tenant, e.Name, private)
		}
		return err
	})
}

func set[T any](field, value *T) {
	if value != nil {
		*field = *value
	}
}

const byHand = "somebody has disabled it"

// disable takes an endpoint out of use, or puts it back.
func disable(e *wire.WebhookEndpoint, disabled bool, tx store.Tx, reason string) {
	switch {
	case !disabled:
		e.DisabledAt, e.DisabledReason = wire.WebhookEndpoint{}.DisabledAt, ""
	case e.DisabledAt.IsZero():
		e.DisabledAt, e.DisabledReason = tx.Now().UTC(), reason
	}
}

// change changes the row of an endpoint, and the list of tenants if the endpoint may have been out of use.
func (b *Book) change(
	ctx context.Context, tenant spool.Tenant, endpoint string, do func(e *stored, tx store.Tx) error,
) (changed wire.WebhookEndpoint, err error) {
	err = b.again(ctx, func() error {
		row, before, err := b.find(ctx, tenant, endpoint)
		if err == nil && !sees(actor.Of(ctx), before.WebhookEndpoint) {
			err = errNone
		}
		if err != nil {
			return err
		}
		return b.write(ctx, tenant, wire.AuditChangeWebhook, func(tx store.Tx) (wire.WebhookEndpoint, []store.Row, error) {
			e := before
			err := do(&e, tx)
			changed = e.WebhookEndpoint
			return changed, []store.Row{rowOf(endpoint, row.Version, e)}, err
		})
	})
	if err == nil && changed.DisabledAt.IsZero() {
		err = b.enlist(ctx, tenant) // an import may have brought it
	}
	if err != nil {
		return wire.WebhookEndpoint{}, err
	}
	b.forget(tenant)
	return changed, nil
}

// changeConfigured disables or enables an endpoint of the configuration.
func (b *Book) changeConfigured(
	ctx context.Context, tenant spool.Tenant, c *configured, change wire.WebhookChange,
) (wire.WebhookEndpoint, error) {
	if !sees(actor.Of(ctx), c.WebhookEndpoint) {
		return wire.WebhookEndpoint{}, errNone
	}
	disabled := change.Disabled
	if change.Disabled, change.Maker = nil, nil; change != (wire.WebhookChange{}) {
		return wire.WebhookEndpoint{}, errConfigured
	}
	if disabled != nil {
		if err := b.disableConfigured(ctx, tenant, c, *disabled, byHand, wire.AuditChangeWebhook); err != nil {
			return wire.WebhookEndpoint{}, err
		}
	}
	e, err := b.Find(ctx, tenant, c.Name)
	return e.WebhookEndpoint, err
}

// disableConfigured writes the row about an endpoint of the configuration, or removes it. An empty action: nobody has
// asked for it.
func (b *Book) disableConfigured(
	ctx context.Context, tenant spool.Tenant, c *configured, disabled bool, reason string, action wire.AuditAction,
) error {
	err := b.again(ctx, func() error {
		row, err := b.row(ctx, tenant, stateKey+c.Name)
		if err != nil {
			return err
		}
		shown := c.WebhookEndpoint
		if row.Version != 0 {
			before, err := decode[state](row)
			if err != nil {
				return err
			}
			shown = c.with(before)
		}
		if shown.DisabledAt.IsZero() != disabled { // nothing changes
			return nil
		}
		return b.write(ctx, tenant, action, func(tx store.Tx) (wire.WebhookEndpoint, []store.Row, error) {
			e := shown
			disable(&e, disabled, tx, reason)
			next := rowOf(stateKey+c.Name, row.Version, state{c.definition, e.DisabledAt, e.DisabledReason})
			if !disabled {
				next.Value = nil
			}
			return e, []store.Row{next}, nil
		})
	})
	b.forget(tenant)
	return err
}

// Rotate adds a secret to an endpoint, or takes the older one away.
func (b *Book) Rotate(
	ctx context.Context, tenant spool.Tenant, endpoint string, r wire.WebhookRotation,
) (made wire.WebhookMade, err error) {
	if b == nil {
		return made, errNone
	}
	if b.configured[name{tenant, endpoint}] != nil {
		return made, errConfigured
	}
	made.WebhookEndpoint, err = b.change(ctx, tenant, endpoint, func(e *stored, _ store.Tx) error {
		private, err := b.open(tenant, *e)
		if err != nil {
			return err
		}
		switch n := len(private.Secrets); {
		case r.Finish && n < maxSecrets:
			return spool.Errorf(spool.Conflict, "The endpoint has no older secret")
		case r.Finish:
			private.Secrets = private.Secrets[n-1:]
		case n >= maxSecrets:
			return spool.Errorf(spool.Conflict, "The endpoint has %d secrets: end the use of the older one first", n)
		default:
			made.Secret = signing.NewSecret()
			private.Secrets = append(private.Secrets, made.Secret)
		}
		e.Secrets = len(private.Secrets)
		e.Sealed, err = b.seal(tenant, e.Name, private)
		return err
	})
	if err != nil {
		return wire.WebhookMade{}, err
	}
	return made, nil
}

// Remove removes an endpoint.
func (b *Book) Remove(ctx context.Context, tenant spool.Tenant, endpoint string) error {
	if b == nil {
		return errNone
	}
	if b.configured[name{tenant, endpoint}] != nil {
		return errConfigured
	}
	err := b.again(ctx, func() error {
		row, e, err := b.find(ctx, tenant, endpoint)
		if err == nil && !sees(actor.Of(ctx), e.WebhookEndpoint) {
			err = errNone
		}
		if err != nil {
			return err
		}
		return b.write(ctx, tenant, wire.AuditRemoveWebhook, func(store.Tx) (wire.WebhookEndpoint, []store.Row, error) {
			return e.WebhookEndpoint, []store.Row{{Kind: rowKind, Key: endpoint, Version: row.Version}}, nil
		})
	})
	if err != nil {
		return err
	}
	b.forget(tenant)
	return b.delist(ctx, tenant)
}

// Disable takes an endpoint out of use, also one of the configuration, with a reason for a person. An endpoint that is
// disabled or gone is no error.
func (b *Book) Disable(ctx context.Context, tenant spool.Tenant, endpoint, reason string) error {
	if b == nil {
		return nil
	}
	for len(reason) > maxReason || !utf8.ValidString(reason) {
		reason = reason[:min(len(reason)-1, maxReason)]
	}
	if c := b.configured[name{tenant, endpoint}]; c != nil {
		return b.disableConfigured(ctx, tenant, c, true, reason, "")
	}
	err := b.again(ctx, func() error {
		row, e, err := b.find(ctx, tenant, endpoint)
		if err != nil || !e.DisabledAt.IsZero() {
			return err
		}
		return b.write(ctx, tenant, "", func(tx store.Tx) (wire.WebhookEndpoint, []store.Row, error) {
			disable(&e.WebhookEndpoint, true, tx, reason)
			return e.WebhookEndpoint, []store.Row{rowOf(endpoint, row.Version, e)}, nil
		})
	})
	b.forget(tenant)
	if spool.CodeOf(err) == spool.NotFound {
		return nil
	}
	return err
}

// check returns an [spool.Invalid] error that begins with the wrong field of an endpoint of the API.
func (b *Book) check(tenant spool.Tenant, e wire.WebhookEndpoint, text string) error {
	if b.config.Vault == nil {
		return errNoVault
	}
	if err := spool.CheckID("name", e.Name); err != nil {
		return err
	}
	if b.configured[name{tenant, e.Name}] != nil {
		return spool.Errorf(spool.Conflict, "name: there is an endpoint of the name %q", e.Name)
	}
	if err := b.config.Sender.CheckURL("url", text, false); err != nil {
		return err
	}
	return b.checkRest(e)
}

// checkRest checks all but the name and the URL.
func (b *Book) checkRest(e wire.WebhookEndpoint) error {
	if err := e.Check(); err != nil {
		return err
	}
	if f := webhook.FormName(e.Form); f != webhook.Plain && f != webhook.Slack {
		return spool.Errorf(spool.Invalid, "form must be plain or slack: only the configuration has templates")
	}
	return b.checkApprover("approver", e.Approver)
}

// checkApprover checks who answers with the links of an endpoint.
func (b *Book) checkApprover(field, subject string) error {
	switch {
	case subject == "":
		return nil
	case len(subject) > maxApprover || !utf8.ValidString(subject):
		return spool.Errorf(spool.Invalid, "%s must have up to %d bytes of UTF-8", field, maxApprover)
	case b.config.Link == nil:
		return spool.Errorf(spool.Invalid,
			"%s: links need auth.stream_token_keys and server.public_url in the configuration", field)
	case b.config.MayApprove != nil && !b.config.MayApprove(subject):
		return spool.Errorf(spool.Invalid, "%s must be a subject that may approve", field)
	}
	return nil
}

// write writes rows about an endpoint, with an entry of the audit log unless the action is empty.
func (b *Book) write(
	ctx context.Context, tenant spool.Tenant, action wire.AuditAction,
	change func(tx store.Tx) (wire.WebhookEndpoint, []store.Row, error),
) error {
	var entries []*wire.AuditEntry
	err := b.store.Update(ctx, spool.ThreadKey{Tenant: tenant}, 0, func(tx store.Tx) error {
		e, changed, err := change(tx)
		if err != nil {
			return err
		}
		if err := tx.Write(store.Changes{Rows: changed}); err != nil {
			return err
		}
		if entries = nil; action != "" {
			entries = []*wire.AuditEntry{{Action: action, Detail: encode(audited{e.Name, e.Origin, !e.DisabledAt.IsZero()})}}
		}
		return actor.Audit(ctx, tx, tenant, entries...)
	})
	if err == nil {
		actor.Log(ctx, b.log, entries...)
	}
	return err
}

// audited is what the audit log has of an endpoint.
type audited struct {
	Name     string `json:"name"`
	Origin   string `json:"origin"`
	Disabled bool   `json:"disabled,omitempty"`
}

var errConfigured = spool.Errorf(spool.Forbidden,
	"The configuration has this endpoint: it can be disabled and enabled here, and nothing else")
