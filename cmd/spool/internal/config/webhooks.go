package config

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	settings "github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/server/verify/webhook"
	delivery "github.com/spoolhq/spool/webhook"
	"github.com/spoolhq/spool/wire"
)

// Webhooks is the section webhooks: who is told of events. A zero field is not in the file.
type Webhooks struct {
	Source

	Endpoints []WebhookEndpoint
	Hosts     []WebhookHost
	// Private are the hosts, addresses and ranges that only these endpoints may reach, besides those of the section
	// egress.
	Private      []string
	MaxEndpoints int
	Keep         time.Duration
	// MaxAge is how long endpoints of makers without a token of the file get events. Zero: they make none.
	MaxAge time.Duration
}

// WebhookEndpoint is an item of webhooks.endpoints.
type WebhookEndpoint struct {
	Source
	settings.WebhookEndpoint

	// TemplateFile is the file of the template, relative to the folder of the configuration. Empty: the form has the
	// template, or needs none.
	TemplateFile string
	// at has the places of the fields, by their keys.
	at map[string]Source
	// secret is true if values of the environment are in the template.
	secret bool
}

// At returns the place of a field of the endpoint.
func (w WebhookEndpoint) At(field string) Source { return cmp.Or(w.at[field], w.Source) }

// Problem places an error of the form, which begins with "form", "template" or "content_type". A text that the
// environment is part of is not quoted.
func (w WebhookEndpoint) Problem(text string) FieldError {
	for field := range map[string]bool{"content_type": true, "template": true} {
		if what, ok := strings.CutPrefix(text, field); ok {
			at := w.at[field]
			if field == "template" && w.TemplateFile != "" {
				at = w.at["template_file"]
			}
			if w.secret {
				what = "is not valid"
			}
			return at.Errorf("%s", strings.TrimLeft(what, ": "))
		}
	}
	return w.At("form").Errorf("%s", text)
}

// WebhookHost is an item of webhooks.hosts.
type WebhookHost struct {
	Source
	settings.WebhookHost
}

// maxWebhookSecrets is how many secrets sign for one endpoint.
const maxWebhookSecrets = 4

// webhooksOptions are the options of the section webhooks.
func (c *Config) webhooksOptions() table {
	w := &c.Webhooks
	endpoint := shape{kind: kindFields, options: webhookEndpointOptions(new(WebhookEndpoint))}
	host := shape{kind: kindFields, options: webhookHostOptions(new(WebhookHost))}
	return table{
		row("endpoints", listOf(&w.Endpoints, endpoint, w.endpoint), "Who is told of events. Default: nobody."),
		row("hosts", listOf(&w.Hosts, host, w.host),
			"Hosts that the webhook of a start may name. Default: none."),
		row("private", list(&w.Private, value.egress),
			"Private hosts, addresses and ranges that these endpoints may reach, and no tool. Default: none."),
		row("max_endpoints", integer(&w.MaxEndpoints),
			"How many endpoints a tenant may make over the API. Default: 20."),
		row("max_age", duration(&w.MaxAge),
			"How long an endpoint gets events whose maker has no token of this file, such as 2160h. Default: such makers "+
				"make no endpoints."),
		row("keep", duration(&w.Keep), "How long events that could not be delivered are kept. Default: 720h."),
	}
}

func webhookEndpointOptions(w *WebhookEndpoint) table {
	return table{
		row("name", required(text(&w.Name).then(func(v value) { v.id("the name", w.Name) })), "The name, which no other endpoint of the tenant has."),
		row("tenant", text(&w.Tenant).then(func(v value) { v.tenant(w.Tenant) }),
			`The tenant whose events it gets. Default: "default".`),
		row("url", required(httpURL(&w.URL)), "The https URL to which the events are posted. It is not logged."),
		row("secrets", required(webhookSecrets(&w.Secrets)),
			"1 to 4 secrets that sign: base64 of 24 to 64 bytes, with or without whsec_. They are never shown."),
		row("events", listOf(&w.Filter.Events, shape{kind: kindText, words: eventNames()}, value.webhookEvent).then(func(v value) {
			for i, item := range v.items() {
				if slices.Contains(w.Filter.Events[:i], w.Filter.Events[i]) && !item.complained() {
					item.problemf("is there twice")
				}
			}
		}), "Only these kinds of event. Default: all."),
		row("agents", texts(&w.Filter.Agents).then(func(v value) {
			v.check(wire.WebhookFilter{Agents: w.Filter.Agents}.Check())
		}), "Only events of these agents. Default: all."),
		row("labels", textsByName(&w.Filter.Labels, func(entry) {}).then(func(v value) {
			v.check(wire.CheckLabels(w.Filter.Labels))
		}), "Only events of threads with these labels. Default: all."),
		row("form", oneOf(&w.Form.Form, string(delivery.Plain), string(delivery.Slack), string(delivery.Template)),
			"The form of a body: plain, which is the event as JSON; slack, a message for an incoming webhook there; or "+
				"template. Default: plain."),
		row("template", noting(text(&w.Form.Template), func(used []string) { w.secret = len(used) > 0 }), "The template, in the language of Go's text/template."),
		row("template_file", text(&w.TemplateFile),
			"In place of template: its file, relative to the folder of this file."),
		row("content_type", text(&w.Form.ContentType),
			"The media type of what the template makes. Default: application/json."),
		row("text", boolean(&w.Text), "true: events have the last answer of the run. Default: false."),
		row("approver", text(&w.Approver),
			"Who answers questions with the links in the events. Default: the events have no link."),
	}
}

func webhookHostOptions(h *WebhookHost) table {
	return table{
		row("host", required(word(&h.Host).then(func(v value) {
			if h.Host != "" && strings.ContainsAny(h.Host, "/@?#") && !v.complained() {
				v.problemf(`must be a host or an address, without a port, such as "hooks.example.com"`)
			}
		})), "The host or the address, without a port."),
		row("tenant", text(&h.Tenant).then(func(v value) { v.tenant(h.Tenant) }),
			`The tenant whose starts may name it. Default: "default".`),
		row("secrets", required(webhookSecrets(&h.Secrets)), "As those of an endpoint."),
	}
}

// endpoint reads an item of webhooks.endpoints.
func (w *Webhooks) endpoint(v value) WebhookEndpoint {
	e := WebhookEndpoint{Source: v.source(), at: make(map[string]Source)}
	e.Tenant = spool.DefaultTenant
	t := webhookEndpointOptions(&e)
	f := v.fields(t.keys()...)
	t.read(f)
	for key, at := range f {
		e.at[key] = at.source()
	}
	e.Form.Events = e.Filter.Events
	switch inline, file := f["template"], f["template_file"]; {
	case inline.present() && file.present():
		file.problemf("stands in place of template: leave one of them out")
	case e.Form.Form == delivery.Template && !inline.present() && !file.present():
		inline.problemf("is required for the form template")
	case e.Form.Form != delivery.Template && (inline.present() || file.present() || f["content_type"].present()) &&
		!f["form"].complained():
		f["form"].problemf("must be template if there is a template or a content_type")
	}
	for _, other := range w.Endpoints {
		if e.Name != "" && other.Name == e.Name && other.Tenant == e.Tenant {
			f["name"].problemf("another endpoint of the tenant has the same name")
		}
	}
	return e
}

// host reads an item of webhooks.hosts.
func (w *Webhooks) host(v value) WebhookHost {
	h := WebhookHost{Source: v.source()}
	h.Tenant = spool.DefaultTenant
	v.read(webhookHostOptions(&h))
	for _, other := range w.Hosts {
		if h.Host != "" && strings.EqualFold(other.Host, h.Host) && other.Tenant == h.Tenant {
			v.at("host").problemf("the same host is there twice")
		}
	}
	return h
}

// webhookSecrets are the secrets of an endpoint.
func webhookSecrets(to *[]string) kind {
	return filled(list(to, func(v value) string {
		secret := v.word()
		if err := webhook.CheckSecret("the secret", secret); err != nil && !v.complained() {
			v.problemf("must be base64 of 24 to 64 bytes, with or without whsec_")
		}
		return secret
	})).then(func(v value) {
		if len(*to) > maxWebhookSecrets && !v.complained() {
			v.problemf("must have %d secrets at the most", maxWebhookSecrets)
		}
	})
}

// webhookEvent returns a kind of event.
func (v value) webhookEvent() wire.WebhookType {
	kind := v.filledText()
	v.among(kind, eventNames()...)
	return wire.WebhookType(kind)
}

// eventNames returns the kinds of event.
func eventNames() []string {
	kinds := wire.WebhookKinds()
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = string(k.Type)
	}
	return names
}

// check complains about an error of a value, whose message begins with the key of the value.
func (v value) check(err error) {
	if err == nil || v.complained() {
		return
	}
	key := v.path[strings.LastIndexByte(v.path, '.')+1:]
	at, text := v.source(), spool.MessageOf(err)
	if rest, ok := strings.CutPrefix(text, key); ok {
		// "labels.team is empty" is about labels.team, and "agents: there are" about agents.
		step, what, _ := strings.Cut(rest, " ")
		at.Path += strings.TrimSuffix(step, ":")
		text = what
	}
	v.d.add(at.Errorf("%s", text))
}
