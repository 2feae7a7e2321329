package endpoint

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/webhook"
	"github.com/spoolhq/spool/wire"
)

// name names an endpoint across tenants.
type name struct {
	tenant spool.Tenant
	name   string
}

// configured is an endpoint of the configuration.
type configured struct {
	Endpoint

	// definition identifies what the configuration says, so that another definition enables an endpoint again.
	definition string
}

// configure reads the endpoints and hosts of the configuration. It returns an [spool.Invalid] error that names the
// first wrong field.
func (b *Book) configure(c option.Webhooks) error {
	b.configured = make(map[name]*configured, len(c.Endpoints))
	for i, o := range c.Endpoints {
		field := fmt.Sprintf("Config.Webhooks.Endpoints[%d].", i)
		e, err := b.configureOne(field, &o)
		if err != nil {
			return err
		}
		id := name{o.Tenant, o.Name}
		if b.configured[id] != nil {
			return spool.Errorf(spool.Invalid, "%sName: the tenant has two endpoints of the name %q", field, o.Name)
		}
		b.configured[id] = e
		b.ofTenant[o.Tenant] = append(b.ofTenant[o.Tenant], e)
	}
	b.hosts = make(map[name]*Endpoint, len(c.Hosts))
	for i, o := range c.Hosts {
		field := fmt.Sprintf("Config.Webhooks.Hosts[%d].", i)
		host, tenant := hostOf(o.Host), orDefault(o.Tenant)
		if u, err := url.Parse("https://" + o.Host + "/"); err != nil || host == "" || hostOf(u.Hostname()) != host {
			return spool.Errorf(spool.Invalid, "%sHost must be a name or an address, without a port", field)
		}
		if err := spool.CheckID(field+"Tenant", string(tenant)); err != nil {
			return err
		}
		if b.hosts[name{tenant, host}] != nil {
			return spool.Errorf(spool.Invalid, "%sHost: the tenant has the host twice", field)
		}
		signer, err := webhook.NewSigner(field+"Secrets", o.Secrets)
		if err != nil {
			return err
		}
		b.hosts[name{tenant, host}] = &Endpoint{
			WebhookEndpoint: wire.WebhookEndpoint{
				Name: HostSubject(host), Origin: host, Form: string(webhook.Plain), FromFile: true, Host: true,
				Secrets: len(o.Secrets),
			},
			Signer: signer, Render: plain,
		}
	}
	return nil
}

// configureOne checks an endpoint of the configuration, and fills in its tenant.
func (b *Book) configureOne(field string, o *option.WebhookEndpoint) (*configured, error) {
	o.Tenant = orDefault(o.Tenant)
	if err := spool.CheckID(field+"Name", o.Name); err != nil {
		return nil, err
	}
	if err := spool.CheckID(field+"Tenant", string(o.Tenant)); err != nil {
		return nil, err
	}
	if err := b.config.Sender.CheckURL(field+"URL", o.URL, true); err != nil {
		return nil, err
	}
	if err := within(field+"Filter.", o.Filter.Check()); err != nil {
		return nil, err
	}
	if err := b.checkApprover(field+"Approver", o.Approver); err != nil {
		return nil, err
	}
	signer, err := webhook.NewSigner(field+"Secrets", o.Secrets)
	if err != nil {
		return nil, err
	}
	o.Form.Events = o.Filter.Events
	form, err := webhook.NewForm(o.Form)
	if err != nil {
		return nil, within(field+"Form.", err)
	}
	sum := sha256.Sum256(encode(o))
	shown := string(o.Form.Form)
	if shown == "" {
		shown = string(webhook.Plain)
	}
	return &configured{
		Endpoint: Endpoint{
			WebhookEndpoint: wire.WebhookEndpoint{
				Name: o.Name, Origin: originOf(o.URL), WebhookFilter: o.Filter, Form: shown, Text: o.Text,
				Approver: o.Approver, FromFile: true, Secrets: len(o.Secrets),
			},
			URL: o.URL, Signer: signer, Render: form,
		},
		definition: hex.EncodeToString(sum[:16]),
	}, nil
}

// within puts the place of a field before an error.
func within(place string, err error) error {
	if err == nil {
		return nil
	}
	return spool.Errorf(spool.CodeOf(err), "%s%s", place, spool.MessageOf(err))
}

func orDefault(t spool.Tenant) spool.Tenant {
	if t == "" {
		return spool.DefaultTenant
	}
	return t
}

// hostOf returns the form of a host in which two of them are compared.
func hostOf(host string) string {
	return strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
}

// originOf returns the scheme and the host of a URL that was checked.
func originOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// plain is the form of the endpoints that nobody gives one.
var plain = func() *webhook.Form {
	form, err := webhook.NewForm(webhook.FormConfig{})
	if err != nil {
		panic("spool: the plain form of webhooks: " + err.Error())
	}
	return form
}()
