package server_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/egress"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/model/demo"
	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/webhook"
	"github.com/spoolhq/spool/wire"
)

const (
	publicURL     = "https://agents.example"
	webhookSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
)

// hooked is a server whose events about questions go to the endpoint "desk" of the configuration, and what that gets.
type hooked struct {
	*bundle

	config engine.Config
	events chan wire.WebhookEvent
	status int
	// may is the answer about the right of the makers of endpoints.
	may func() error
}

func newHooked(t *testing.T, c server.Config) *hooked {
	t.Helper()

	h := &hooked{events: make(chan wire.WebhookEvent, 100), status: http.StatusOK, may: func() error { return nil }}
	peer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var e wire.WebhookEvent
		if err == nil {
			err = json.Unmarshal(body, &e)
		}
		if err != nil {
			t.Error(err)
		}
		h.events <- e
		w.WriteHeader(h.status)
	}))
	t.Cleanup(peer.Close)
	c.StreamTokenKeys, c.PublicURL = [][]byte{[]byte(strings.Repeat("k", 32))}, publicURL
	hooks := &h.config.Webhooks
	var err error
	hooks.Sender, err = webhook.NewSender(webhook.Config{Egress: egress.Policy{Allow: []string{"127.0.0.1"}}})
	if err == nil {
		hooks.Vault, err = server.NewVault(c.StreamTokenKeys)
	}
	if err == nil {
		hooks.Link, err = server.NewWebhookLink(c)
	}
	if err != nil {
		t.Fatal(err)
	}
	hooks.MayTell = func(context.Context, wire.Maker, string) error { return h.may() }
	hooks.MayApprove = server.MayApprove(c.LinkApprovers)
	hooks.Endpoints = []option.WebhookEndpoint{{
		Name: "desk", Tenant: "a", URL: peer.URL + "/desk?key=hidden", Secrets: []string{webhookSecret}, Approver: "cleo",
		Filter: wire.WebhookFilter{Events: []wire.WebhookType{wire.WebhookRunWaiting}},
	}}
	h.bundle = setupOver(t, c, h.config)
	h.work(t)
	return h
}

// asked returns the path of the link of the next event.
func (h *hooked) asked(t *testing.T) string {
	t.Helper()
	var e wire.WebhookEvent
	within(t, "an event arrives", func() { e = <-h.events })
	path, ok := strings.CutPrefix(e.Data.Link, publicURL)
	if !ok || e.Type != wire.WebhookRunWaiting {
		t.Fatalf("%+v", e)
	}
	return path
}

// The link of an event shows the question and answers it, in the name of the approver and by way of the endpoint.
func TestWebhookLink(t *testing.T) {
	t.Parallel()

	h := newHooked(t, server.Config{})
	h.asks(t, tokenA, "t1")
	link := h.asked(t)
	if got := h.shows(t, link, "text/html"); got.status != http.StatusOK || !strings.Contains(got.body, "cleo") {
		t.Fatalf("%d %s", got.status, got.body)
	}
	if got := h.posts(t, link, url.Values{"decision": {"approve"}}); got.status != http.StatusOK {
		t.Fatalf("%d %s", got.status, got.body)
	}
	if got := h.posts(t, link, url.Values{"decision": {"deny"}}); got.status != http.StatusGone {
		t.Errorf("twice: %d %s", got.status, got.body)
	}
	audit, err := h.engine.Audit(t.Context(), "a", wire.AuditQuery{})
	if err != nil || len(audit) == 0 || audit[0].By != "cleo" ||
		!strings.Contains(string(audit[0].Detail), "webhook:desk") {
		t.Errorf("%+v, %v", audit, err)
	}
	// Neither the store nor the log has the token, nor the query of the URL.
	token := link[strings.LastIndex(link, "/")+1:]
	var all strings.Builder
	for _, kind := range []string{"webhook_log", "webhook_body", "question_link", "webhook"} {
		rows, err := h.backend.Store.Rows(t.Context(), store.RowQuery{Tenant: "a", Kind: kind})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			all.Write(r.Value)
		}
	}
	for _, state := range []wire.JobState{"", wire.JobDead} {
		jobs, err := h.backend.Store.Jobs(t.Context(), wire.JobQuery{Tenant: "a", State: state})
		if err != nil {
			t.Fatal(err)
		}
		for _, j := range jobs {
			all.Write(j.Payload)
		}
	}
	all.WriteString(h.logged.String())
	for _, hidden := range []string{token, token[strings.Index(token, ".")+1:], "hidden", webhookSecret[6:]} {
		if strings.Contains(all.String(), hidden) {
			t.Errorf("%q is in %s", hidden, all.String())
		}
	}
}

// The link ends when the configuration has the endpoint no longer, when somebody disables it, and when it has another
// approver, whoever that is.
func TestWebhookLinkEnds(t *testing.T) {
	t.Parallel()

	h := newHooked(t, server.Config{})
	h.asks(t, tokenA, "t1")
	link := h.asked(t)
	other := func(change func(o *option.Webhooks)) *bundle {
		config := h.config
		config.Webhooks.Endpoints = append([]option.WebhookEndpoint{}, config.Webhooks.Endpoints...)
		change(&config.Webhooks)
		config.Agents, config.Models = []spool.Agent{{Name: "assistant", Model: "demo"}}, map[string]spool.Model{
			"demo": demo.New(demo.Config{}),
		}
		e, err := engine.New(h.backend, config)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(e.Close)
		s, err := server.New(e, server.Config{
			Authenticator: twoTenants(t), StreamTokenKeys: [][]byte{[]byte(strings.Repeat("k", 32))}, PublicURL: publicURL,
		})
		if err != nil {
			t.Fatal(err)
		}
		listening := httptest.NewServer(s)
		t.Cleanup(listening.Close)
		return &bundle{engine: e, server: s, url: listening.URL}
	}
	for name, c := range map[string]struct {
		change func(o *option.Webhooks)
		status int
	}{
		"the same":         {func(*option.Webhooks) {}, http.StatusOK},
		"removed":          {func(o *option.Webhooks) { o.Endpoints = nil }, http.StatusGone},
		"another name":     {func(o *option.Webhooks) { o.Endpoints[0].Name = "other" }, http.StatusGone},
		"another tenant":   {func(o *option.Webhooks) { o.Endpoints[0].Tenant = "b" }, http.StatusGone},
		"another approver": {func(o *option.Webhooks) { o.Endpoints[0].Approver = "dora" }, http.StatusGone},
	} {
		b := other(c.change)
		if got := b.shows(t, link, "text/html"); got.status != c.status {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
		if c.status != http.StatusOK {
			if got := b.posts(t, link, url.Values{"decision": {"approve"}}); got.status != c.status {
				t.Errorf("an answer, %s: %d %s", name, got.status, got.body)
			}
		}
	}
	disabled := true
	if _, err := h.engine.ChangeWebhook(t.Context(), "a", "desk", wire.WebhookChange{Disabled: &disabled}); err != nil {
		t.Fatal(err)
	}
	if got := h.posts(t, link, url.Values{"decision": {"approve"}}); got.status != http.StatusGone {
		t.Errorf("disabled: %d %s", got.status, got.body)
	}
}

// An endpoint of the API makes links for its maker: not for a question that this person must not answer, and not
// longer than it exists.
func TestWebhookLinkOfMaker(t *testing.T) {
	t.Parallel()

	h := newHooked(t, server.Config{})
	target, err := url.Parse(h.config.Webhooks.Endpoints[0].URL)
	if err != nil {
		t.Fatal(err)
	}
	var gone atomic.Bool
	h.may = func() error {
		if gone.Load() {
			return spool.Errorf(spool.Forbidden, "The token is not in the file any more")
		}
		return nil
	}
	create := func(maker string) {
		t.Helper()
		ctx := engine.WithActor(t.Context(), wire.Actor{Subject: maker, Tenant: "a"})
		if _, err := h.engine.CreateWebhook(ctx, "a", wire.WebhookCreate{
			Name: "mine", URL: target.String(), Approver: "dora",
			Maker:         &wire.Maker{Tenant: "a", Subject: maker, Kind: wire.MakerToken},
			WebhookFilter: wire.WebhookFilter{Events: []wire.WebhookType{wire.WebhookRunWaiting}, Agents: []string{"strict"}},
		}); err != nil {
			t.Fatal(err)
		}
	}
	disabled := true
	if _, err := h.engine.ChangeWebhook(t.Context(), "a", "desk", wire.WebhookChange{Disabled: &disabled}); err != nil {
		t.Fatal(err)
	}
	ask := func(thread string) string {
		t.Helper()
		h.as(t, tokenA, http.MethodPost, runPath,
			`{"threadId":"`+thread+`","agent":"strict","prompt":"use send with {\"to\":\"x\"}"}`)
		return h.asked(t)
	}
	create("anna")
	link := ask("t1") // anna has started it
	if got := h.posts(t, link, url.Values{"decision": {"approve"}}); got.status != http.StatusConflict {
		t.Errorf("by way of the starter: %d %s", got.status, got.body)
	}
	if err := h.engine.RemoveWebhook(t.Context(), "a", "mine"); err != nil {
		t.Fatal(err)
	}
	if got := h.shows(t, link, "text/html"); got.status != http.StatusGone {
		t.Errorf("of an endpoint that is gone: %d %s", got.status, got.body)
	}
	create("anna")
	if got := h.shows(t, link, "text/html"); got.status != http.StatusGone {
		t.Errorf("of the maker's next endpoint of that name: %d %s", got.status, got.body)
	}
	if err := h.engine.RemoveWebhook(t.Context(), "a", "mine"); err != nil {
		t.Fatal(err)
	}
	create("bert")
	if got := h.shows(t, link, "text/html"); got.status != http.StatusGone {
		t.Errorf("of somebody else's endpoint of that name: %d %s", got.status, got.body)
	}
	if got := h.posts(t, ask("t2"), url.Values{"decision": {"approve"}}); got.status != http.StatusOK {
		t.Errorf("by way of somebody else: %d %s", got.status, got.body)
	}
	link = ask("t3")
	gone.Store(true)
	if got := h.posts(t, link, url.Values{"decision": {"approve"}}); got.status != http.StatusGone {
		t.Errorf("of a maker whose right has ended: %d %s", got.status, got.body)
	}
}

// Whoever gets the events of an endpoint with an approver can answer. So its URL changes only by its maker, with the
// scope approve.
func TestWebhookLinksGoWhereTheMakerSays(t *testing.T) {
	t.Parallel()

	const ann, annLess, ben, hook = "ann-who-may-approve", "ann-who-may-not", "ben-who-may-approve", "hook-who-may-not"
	who := func(token, subject string, scopes ...access.Scope) access.Token {
		return access.Token{Token: token, Principal: access.Principal{Tenant: "a", Subject: subject, Scopes: scopes}}
	}
	auth, err := access.Tokens([]access.Token{
		who(ann, "ann", access.ScopeWebhooks, access.ScopeApprove), who(annLess, "ann", access.ScopeWebhooks),
		who(ben, "ben", access.ScopeWebhooks, access.ScopeApprove), who(hook, "hook", access.ScopeWebhooks),
	})
	if err != nil {
		t.Fatal(err)
	}
	b := newHooked(t, server.Config{Authenticator: auth}).bundle
	makes[wire.WebhookMade](t, b, webhooksPath, ann, `{"name":"mine","url":"https://127.0.0.1/a","approver":"dora"}`)
	makes[wire.WebhookMade](t, b, webhooksPath, ann, `{"name":"plain","url":"https://127.0.0.1/a"}`)
	const moves, answers = `{"url":"https://127.0.0.1/b"}`, `{"approver":"cleo"}`
	for _, c := range []struct {
		token, name, body string
		status            int
	}{
		{annLess, "mine", moves, http.StatusForbidden},
		{hook, "mine", moves, http.StatusForbidden},
		{ben, "mine", moves, http.StatusForbidden},
		{ben, "mine", answers, http.StatusForbidden},
		{ben, "plain", answers, http.StatusForbidden},
		{ben, "plain", `{"url":"https://127.0.0.1/b","approver":"ben"}`, http.StatusForbidden},
		{hook, "plain", moves, http.StatusOK},
		{hook, "mine", `{"text":true,"disabled":true}`, http.StatusOK},
		{ann, "mine", moves, http.StatusOK},
		{ann, "mine", answers, http.StatusOK},
		{ben, "mine", `{"approver":""}`, http.StatusOK},
		{ben, "mine", moves, http.StatusOK},
		{ben, "mine", answers, http.StatusForbidden},
	} {
		got := b.do(t, call{method: http.MethodPatch, path: webhooksPath + "/" + c.name, token: c.token, body: c.body})
		if got.status != c.status {
			t.Errorf("%s changes %s to %s: %d %s", c.token, c.name, c.body, got.status, got.body)
		}
	}
}

// Without what links need, none are made.
func TestNewWebhookLink(t *testing.T) {
	t.Parallel()

	keys := [][]byte{[]byte(strings.Repeat("k", 32))}
	for want, c := range map[string]server.Config{
		"Config.PublicURL is required":                           {StreamTokenKeys: keys},
		"Config.PublicURL must be a scheme":                      {StreamTokenKeys: keys, PublicURL: "agents.example"},
		"Config.StreamTokenKeys is required":                     {PublicURL: publicURL},
		"Config.StreamTokenKeys: key 0 is shorter than 32 bytes": {PublicURL: publicURL, StreamTokenKeys: [][]byte{{1}}},
	} {
		if _, err := server.NewWebhookLink(c); spool.CodeOf(err) != spool.Invalid || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for _, keys := range [][][]byte{nil, {{1}}} {
		if _, err := server.NewVault(keys); spool.CodeOf(err) != spool.Invalid {
			t.Errorf("a vault of %v: %v", keys, err)
		}
	}
	link, err := server.NewWebhookLink(server.Config{PublicURL: publicURL + "/", BasePath: "/x/", StreamTokenKeys: keys})
	if err != nil {
		t.Fatal(err)
	}
	l := option.WebhookLink{Key: spool.ThreadKey{Tenant: "a", ID: "t"}, Endpoint: "e", Approver: "ann"}
	one, err := link(t.Context(), l)
	same, _ := link(t.Context(), l)
	if err != nil || one != same || !strings.HasPrefix(one, publicURL+"/x/api/agent/inbox/links/") {
		t.Errorf("%s, then %s, %v", one, same, err)
	}
}
