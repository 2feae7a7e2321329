package endpoint_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/engine/internal/endpoint"
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/webhook"
	"github.com/spoolhq/spool/wire"
)

const (
	secret = "whsec_bm9ib2R5IGtub3dzIHRoaXMgc2VjcmV0IG9mIG91cnM="
	url    = "https://hooks.example.com/hidden"
	acme   = spool.Tenant("acme")
)

// vault seals nothing: it only checks the use.
type vault struct{}

func (vault) Seal(use string, text []byte) ([]byte, error) {
	return append([]byte(use+"|"), text...), nil
}

func (vault) Open(use string, sealed []byte) ([]byte, error) {
	text, ok := bytes.CutPrefix(sealed, []byte(use+"|"))
	if !ok {
		return nil, spool.Errorf(spool.Internal, "sealed for something else")
	}
	return text, nil
}

// counted counts the reads of rows, and fails them while broken is set.
type counted struct {
	store.Store

	reads  atomic.Int64
	broken atomic.Bool
	slow   time.Duration
}

var errBroken = errors.New("the store is down")

// Rows implements [store.Store].
func (c *counted) Rows(ctx context.Context, q store.RowQuery) ([]store.Row, error) {
	c.reads.Add(1)
	if c.slow > 0 {
		<-time.After(c.slow)
	}
	if c.broken.Load() {
		return nil, errBroken
	}
	return c.Store.Rows(ctx, q)
}

func options(t *testing.T) option.Webhooks {
	t.Helper()

	sender, err := webhook.NewSender(webhook.Config{})
	if err != nil {
		t.Fatal(err)
	}
	o := option.Webhooks{
		Sender: sender, Vault: vault{},
		Link: func(context.Context, option.WebhookLink) (string, error) { return "", nil },
	}
	if err := option.Fill(&o); err != nil {
		t.Fatal(err)
	}
	return o
}

func newBook(t *testing.T, db store.Store, o option.Webhooks) *endpoint.Book {
	t.Helper()

	b, err := endpoint.New(db, o, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func create(t *testing.T, b *endpoint.Book, tenant spool.Tenant, name string) wire.WebhookMade {
	t.Helper()

	made, err := b.Create(t.Context(), tenant, wire.WebhookCreate{Name: name, URL: url})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// names returns the names of the endpoints that a commit tells now.
func names(t *testing.T, b *endpoint.Book, tenant spool.Tenant) (all []string) {
	t.Helper()

	targets, err := b.Targets(t.Context(), tenant)
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range targets {
		all = append(all, target.Name)
	}
	return all
}

func TestNew(t *testing.T) {
	t.Parallel()

	good := option.WebhookEndpoint{Name: "one", URL: url, Secrets: []string{secret}}
	host := option.WebhookHost{Host: "hooks.example.com", Secrets: []string{secret}}
	for want, change := range map[string]func(o *option.Webhooks){
		"Config.Webhooks.Sender is required": func(o *option.Webhooks) { o.Sender = nil },
		"Config.Webhooks.Endpoints[1].Name is required": func(o *option.Webhooks) {
			o.Endpoints[1].Name = ""
		},
		"Config.Webhooks.Endpoints[1].Name: the tenant has two endpoints": func(o *option.Webhooks) {
			o.Endpoints[1].Name, o.Endpoints[1].Tenant = "one", spool.DefaultTenant
		},
		"Config.Webhooks.Endpoints[1].Tenant": func(o *option.Webhooks) { o.Endpoints[1].Tenant = "a b" },
		"Config.Webhooks.Endpoints[1].URL must be an https URL": func(o *option.Webhooks) {
			o.Endpoints[1].URL = "http://hidden.example/"
		},
		"Config.Webhooks.Endpoints[1].Secrets must have": func(o *option.Webhooks) { o.Endpoints[1].Secrets = nil },
		"Config.Webhooks.Endpoints[1].Secrets[0] must": func(o *option.Webhooks) {
			o.Endpoints[1].Secrets = []string{"hidden"}
		},
		"Config.Webhooks.Endpoints[1].Filter.events[0] is no kind": func(o *option.Webhooks) {
			o.Endpoints[1].Filter.Events = []wire.WebhookType{"x"}
		},
		"Config.Webhooks.Endpoints[1].Form.template: line 1": func(o *option.Webhooks) {
			o.Endpoints[1].Form = webhook.FormConfig{Form: webhook.Template, Template: "{{.x}}"}
		},
		"Config.Webhooks.Endpoints[1].Approver must be a subject": func(o *option.Webhooks) {
			o.Endpoints[1].Approver = "bob"
			o.MayApprove = func(subject string) bool { return subject == "ann" }
		},
		"Config.Webhooks.Endpoints[1].Approver: links need auth.stream_token_keys": func(o *option.Webhooks) {
			o.Endpoints[1].Approver, o.Link = "ann", nil
		},
		"Config.Webhooks.Hosts[0].Host must be a name":    func(o *option.Webhooks) { o.Hosts[0].Host = "a.example:8443" },
		"Config.Webhooks.Hosts[0].Host must be a name or": func(o *option.Webhooks) { o.Hosts[0].Host = "" },
		"Config.Webhooks.Hosts[0].Secrets must have":      func(o *option.Webhooks) { o.Hosts[0].Secrets = nil },
		"Config.Webhooks.Hosts[0].Tenant":                 func(o *option.Webhooks) { o.Hosts[0].Tenant = "a b" },
		"Config.Webhooks.Hosts[1].Host: the tenant has": func(o *option.Webhooks) {
			o.Hosts = append(o.Hosts, o.Hosts[0])
			o.Hosts[1].Host = "HOOKS.example.com."
		},
	} {
		o := options(t)
		two := good
		two.Name = "two"
		o.Endpoints, o.Hosts = []option.WebhookEndpoint{good, two}, []option.WebhookHost{host}
		change(&o)
		_, err := endpoint.New(memory.New(nil).Store, o, slog.New(slog.DiscardHandler))
		if spool.CodeOf(err) != spool.Invalid || !strings.HasPrefix(spool.MessageOf(err), want) ||
			strings.Contains(err.Error(), "hidden/") || strings.Contains(err.Error(), `"hidden"`) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// What is older than a second is read again, once for all who wait. What is not costs no read.
func TestTargetsAge(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		db := &counted{Store: memory.New(nil).Store}
		o := options(t)
		o.Endpoints = []option.WebhookEndpoint{{Name: "file", Tenant: "filed", URL: url, Secrets: []string{secret}}}
		b := newBook(t, db, o)
		other := newBook(t, db, o)
		create(t, other, acme, "one")
		reads := func(want int64, do func()) {
			t.Helper()
			before := db.reads.Load()
			if do(); db.reads.Load()-before != want {
				t.Errorf("%d reads, want %d", db.reads.Load()-before, want)
			}
		}
		told := func(tenant spool.Tenant, want ...string) func() {
			return func() {
				t.Helper()
				if diff := cmp.Diff(want, names(t, b, tenant)); diff != "" {
					t.Errorf("endpoints of %s (-want +got):\n%s", tenant, diff)
				}
			}
		}
		reads(2, told(acme, "one")) // which tenants there are, and the endpoints of this one
		reads(1, told("filed", "file"))
		reads(0, func() {
			for range 100 {
				told(acme, "one")()
				told("none")()
			}
		})
		create(t, other, acme, "two")
		<-time.After(time.Second - 1)
		reads(0, told(acme, "one"))
		<-time.After(1)
		reads(2, told(acme, "one", "two"))
		<-time.After(time.Second)
		reads(1, told("none"))
		reads(0, told("none"))

		<-time.After(time.Second)
		db.broken.Store(true)
		if _, err := b.Targets(t.Context(), acme); !errors.Is(err, errBroken) {
			t.Errorf("with a store that is down: %v", err)
		}
		db.broken.Store(false)
		db.slow = time.Minute
		reads(2, func() {
			var all sync.WaitGroup
			for range 50 {
				all.Go(func() { told(acme, "one", "two")() })
			}
			all.Wait()
		})
		// A read that took long is old when it ends: what it has read may have changed since it began.
		reads(2, told(acme, "one", "two"))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		go func() { _, _ = b.Targets(context.WithoutCancel(t.Context()), acme) }()
		synctest.Wait()
		if _, err := b.Targets(ctx, acme); spool.CodeOf(err) != spool.Canceled {
			t.Errorf("a caller that does not wait any more: %v", err)
		}
		<-time.After(5 * time.Minute)
	})
}

// Endpoints that are made and removed at the same time are told, each of them, and their bound holds.
func TestTogether(t *testing.T) {
	t.Parallel()

	db := memory.New(nil).Store
	o := options(t)
	books := []*endpoint.Book{newBook(t, db, o), newBook(t, db, o)}
	var made atomic.Int64
	var all sync.WaitGroup
	for i := range 30 {
		all.Go(func() {
			_, err := books[i%2].Create(t.Context(), acme, wire.WebhookCreate{Name: fmt.Sprintf("e%d", i), URL: url})
			switch {
			case err == nil:
				made.Add(1)
			case spool.CodeOf(err) != spool.Limit && !errors.Is(err, store.ErrRowChanged):
				t.Error(err)
			}
		})
	}
	all.Wait()
	list, err := books[0].List(t.Context(), acme)
	if n := int(made.Load()); err != nil || n != len(list) || n > 20 || n == 0 {
		t.Errorf("%d were made, and there are %d, %v", n, len(list), err)
	}
	for round := range 20 {
		tenant := spool.Tenant(fmt.Sprintf("t%d", round))
		create(t, books[0], tenant, "one")
		all.Go(func() {
			if err := books[0].Remove(t.Context(), tenant, "one"); err != nil {
				t.Error(err)
			}
		})
		all.Go(func() { create(t, books[1], tenant, "two") })
		all.Wait()
		if got := names(t, newBook(t, db, o), tenant); len(got) != 1 || got[0] != "two" {
			t.Errorf("round %d: a commit tells %q", round, got)
		}
		if err := books[1].Remove(t.Context(), tenant, "two"); err != nil {
			t.Error(err)
		}
	}
	rows, err := db.Rows(t.Context(), store.RowQuery{Kind: "webhook_tenants"})
	if err != nil || len(rows) != 1 || string(rows[0].Value) != `{"tenants":["acme"]}` {
		t.Errorf("the list is %s, %v", rows[0].Value, err)
	}
}

// between calls do once, between the reads of the rows of tenants and what is made of them.
type between struct {
	store.Store

	do func()
}

// Rows implements [store.Store].
func (b *between) Rows(ctx context.Context, q store.RowQuery) ([]store.Row, error) {
	rows, err := b.Store.Rows(ctx, q)
	if do := b.do; do != nil && q.Tenant == acme {
		b.do = nil
		do()
	}
	return rows, err
}

// The last endpoint of a tenant goes while another process makes one: the tenant stays in the list.
func TestListedAgain(t *testing.T) {
	t.Parallel()

	db := &between{Store: memory.New(nil).Store}
	o := options(t)
	b, other := newBook(t, db, o), newBook(t, db.Store, o)
	create(t, b, acme, "one")
	db.do = func() { // the endpoint is found, and not removed yet
		db.do = func() { create(t, other, acme, "two") } // no endpoint is found any more
	}
	if err := b.Remove(t.Context(), acme, "one"); err != nil || db.do != nil {
		t.Fatal(err)
	}
	if got := names(t, other, acme); len(got) != 1 || got[0] != "two" {
		t.Errorf("a commit tells %q", got)
	}
}

func TestFind(t *testing.T) {
	t.Parallel()

	db := memory.New(nil).Store
	o := options(t)
	b := newBook(t, db, o)
	made := create(t, b, acme, "one")
	got, err := b.Find(t.Context(), acme, "one")
	if err != nil || got.URL != url || got.Signer == nil || got.Render == nil {
		t.Fatalf("%+v, %v", got, err)
	}
	if diff := cmp.Diff(made.WebhookEndpoint, got.WebhookEndpoint); diff != "" {
		t.Errorf("the endpoint (-want +got):\n%s", diff)
	}
	for tenant, name := range map[spool.Tenant]string{acme: "two", "other": "one", "third": "@one", "fourth": ""} {
		if _, err := b.Find(t.Context(), tenant, name); spool.CodeOf(err) != spool.NotFound {
			t.Errorf("%s of %s: %v", name, tenant, err)
		}
	}
	if err := b.Disable(t.Context(), acme, "one", "it is gone"+strings.Repeat("ä", 300)); err != nil {
		t.Fatal(err)
	}
	got, err = b.Find(t.Context(), acme, "one")
	if err != nil || got.DisabledAt.IsZero() || len(got.DisabledReason) > 500 ||
		!strings.HasPrefix(got.DisabledReason, "it is gone") {
		t.Errorf("%+v, %v", got, err)
	}
	if err := b.Disable(t.Context(), acme, "none", "x"); err != nil {
		t.Error(err)
	}
	if got := names(t, b, acme); len(got) != 0 {
		t.Errorf("a commit tells %q", got)
	}

	// Another process has an endpoint of this name in its configuration, which wins there.
	o.Endpoints = []option.WebhookEndpoint{{Name: "one", Tenant: acme, URL: url + "2", Secrets: []string{secret}}}
	filed := newBook(t, db, o)
	if got, err = filed.Find(t.Context(), acme, "one"); err != nil || got.URL != url+"2" || !got.DisabledAt.IsZero() {
		t.Errorf("%+v, %v", got, err)
	}
	if err := filed.Disable(t.Context(), acme, "one", "410"); err != nil {
		t.Fatal(err)
	}
	if got, err = filed.Find(t.Context(), acme, "one"); err != nil || got.DisabledReason != "410" || !got.FromFile {
		t.Errorf("%+v, %v", got, err)
	}
	if list, err := filed.List(t.Context(), acme); err != nil || len(list) != 1 || !list[0].FromFile {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestHost(t *testing.T) {
	t.Parallel()

	o := options(t)
	o.Hosts = []option.WebhookHost{
		{Host: "Hooks.Example.com", Tenant: acme, Secrets: []string{secret}},
		{Host: "[2606:4700::1111]", Tenant: acme, Secrets: []string{secret}},
	}
	b := newBook(t, memory.New(nil).Store, o)
	for text, want := range map[string]string{
		"https://hooks.example.com/in":       "@hooks.example.com",
		"https://HOOKS.example.com.:8443/in": "@hooks.example.com",
		"https://[2606:4700::1111]/in":       "@2606:4700::1111",
	} {
		e, err := b.Host(acme, text)
		if err != nil || e.Name != want || e.URL != text || e.Signer == nil || e.Render == nil || !e.FromFile ||
			endpoint.SubjectOf(text) != want {
			t.Errorf("%s: %+v, %v", text, e, err)
		}
		if _, err := b.Host("other", text); spool.CodeOf(err) != spool.Invalid {
			t.Errorf("of another tenant: %v", err)
		}
	}
}

// The URL of a start's webhook is kept sealed for its tenant, and as it is without a vault.
func TestSealedURL(t *testing.T) {
	t.Parallel()

	const url = "https://[2606:4700::1111]/in?key=hidden"
	o := options(t)
	b := newBook(t, memory.New(nil).Store, o)
	kept, err := b.SealURL(acme, url)
	if err != nil || strings.Contains(kept, "hidden") || endpoint.SubjectOf(kept) != "@2606:4700::1111" {
		t.Errorf("%s, %v", kept, err)
	}
	if got, err := b.OpenURL(acme, kept); err != nil || got != url {
		t.Errorf("%s, %v", got, err)
	}
	o.Vault = nil
	bare := newBook(t, memory.New(nil).Store, o)
	for _, c := range []struct {
		b      *endpoint.Book
		tenant spool.Tenant
		kept   string
	}{{b, "other", kept}, {bare, acme, kept}, {nil, acme, kept}, {b, acme, "sealed:*@x"}} {
		got, err := c.b.OpenURL(c.tenant, c.kept)
		if spool.CodeOf(err) != spool.Invalid || got != "" || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s, %v", got, err)
		}
	}
	if kept, err := bare.SealURL(acme, url); err != nil || kept != url {
		t.Errorf("%s, %v", kept, err)
	}
	if got, err := bare.OpenURL(acme, url); err != nil || got != url {
		t.Errorf("%s, %v", got, err)
	}
	if _, err := b.Host(acme, kept); spool.CodeOf(err) != spool.Invalid {
		t.Errorf("a start that names what is sealed: %v", err)
	}
}

// Without a sender nothing is told, and without a vault nothing is made.
func TestNone(t *testing.T) {
	t.Parallel()

	var none *endpoint.Book
	o := options(t)
	o.Vault = nil
	bare := newBook(t, memory.New(nil).Store, o)
	for _, b := range []*endpoint.Book{none, bare} {
		_, err := b.Create(t.Context(), acme, wire.WebhookCreate{Name: "one", URL: url})
		if spool.CodeOf(err) != spool.Invalid || !strings.HasPrefix(spool.MessageOf(err), "webhooks: ") {
			t.Errorf("Create: %v", err)
		}
		if b != nil && !strings.Contains(spool.MessageOf(err), "auth.stream_token_keys") {
			t.Errorf("Create does not name the setting: %v", err)
		}
		if list, err := b.List(t.Context(), acme); err != nil || list == nil || len(list) != 0 {
			t.Errorf("List: %v, %v", list, err)
		}
		if _, err := b.Host(acme, url); spool.CodeOf(err) != spool.Invalid {
			t.Errorf("Host: %v", err)
		}
		for what, err := range map[string]error{
			"Find":   second(b.Find(t.Context(), acme, "one")),
			"Get":    second(b.Get(t.Context(), acme, "one")),
			"Change": second(b.Change(t.Context(), acme, "one", wire.WebhookChange{})),
			"Rotate": second(b.Rotate(t.Context(), acme, "one", wire.WebhookRotation{})),
			"Remove": b.Remove(t.Context(), acme, "one"),
		} {
			if spool.CodeOf(err) != spool.NotFound {
				t.Errorf("%s: %v", what, err)
			}
		}
		if err := b.Disable(t.Context(), acme, "one", "x"); err != nil {
			t.Error(err)
		}
	}
}

func second[T any](_ T, err error) error { return err }
