package server_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/model/demo"
	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/server/access"
)

// An agent or a model that the caller's scopes do not allow answers like one that is not there,
// also over AG-UI and the AI SDK; with the scope it is there. An agent that interrupts its runs interrupts none for a
// caller that may not stop runs.
func TestLimitedAgents(t *testing.T) {
	t.Parallel()

	e, err := engine.New(memory.New(nil), engine.Config{
		Agents: []spool.Agent{
			{Name: "open", Model: "demo"},
			{Name: "hasty", Model: "demo", WhenBusy: spool.BusyInterrupt},
			{Name: "none", Model: "demo", Access: spool.Access{Scopes: []string{"team:sales"}}},
		},
		Models:      map[string]spool.Model{"demo": demo.New(demo.Config{}), "large": demo.New(demo.Config{})},
		ModelAccess: map[string]spool.Access{"large": {Scopes: []string{"team:sales"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	auth, err := access.Tokens([]access.Token{
		{Token: tokenA, Principal: access.Principal{Tenant: "a", Subject: "anna", Scopes: access.AllScopes()}},
		{
			Token:     tokenB,
			Principal: access.Principal{Tenant: "a", Subject: "bert", Scopes: append(access.AllScopes(), "team:sales")},
		},
		{
			Token: "writes",
			Principal: access.Principal{
				Tenant: "a", Subject: "alan", Scopes: []access.Scope{access.ScopeRead, access.ScopeWrite},
			},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	limited, err := server.New(e, server.Config{Authenticator: auth})
	if err != nil {
		t.Fatal(err)
	}
	listening := httptest.NewServer(limited)
	t.Cleanup(func() {
		within(t, "the server closes", func() {
			listening.Close()
			_ = limited.Close()
		})
	})
	b := &bundle{engine: e, server: limited, url: listening.URL, logged: &syncWriter{}}
	agUI := func(wish string) string {
		return `{"threadId":"t","runId":"r","messages":[{"id":"m","role":"user","content":"x"}],"forwardedProps":{"spool":` +
			wish + `}}`
	}
	for _, c := range []struct{ path, body, other string }{
		{runPath, `{"prompt":"x","agent":"none"}`, `{"prompt":"x","agent":"nothing"}`},
		{runPath, `{"prompt":"x","model":"large"}`, `{"prompt":"x","model":"nothing"}`},
		{"/api/agent/ag-ui", agUI(`{"agent":"none"}`), agUI(`{"agent":"nothing"}`)},
		{chatPath, chatBody("t", chatTurn, `,"agent":"none"`), chatBody("t", chatTurn, `,"agent":"nothing"`)},
	} {
		got, want := b.as(t, tokenA, http.MethodPost, c.path, c.body), b.as(t, tokenA, http.MethodPost, c.path, c.other)
		if got.status != http.StatusBadRequest || want.status != got.status || len(got.body) == 0 {
			t.Errorf("%s: %d %s, and of what is not there %d %s", c.body, got.status, got.body, want.status, want.body)
		}
	}
	if got := b.as(
		t, tokenB, http.MethodPost, runPath, `{"prompt":"x","agent":"none","model":"large"}`,
	); got.status != http.StatusAccepted {
		t.Errorf("with the scope: %d %s", got.status, got.body)
	}
	const hasty = `{"threadId":"busy","prompt":"x","agent":"hasty"}`
	for _, c := range []struct {
		token  string
		status int
	}{{tokenA, http.StatusAccepted}, {"writes", http.StatusConflict}, {tokenA, http.StatusAccepted}} {
		if got := b.as(t, c.token, http.MethodPost, runPath, hasty); got.status != c.status {
			t.Errorf("%s interrupts: %d %s", c.token, got.status, got.body)
		}
	}
}
