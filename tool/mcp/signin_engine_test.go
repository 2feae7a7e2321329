package mcp_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/tool/mcp"
	"github.com/spoolhq/spool/wire"
)

// work starts an engine whose agent has the server's tools and calls one.
func (h *house) work(t *testing.T, s *mcp.Server, tool string) *engine.Engine {
	t.Helper()

	e, err := engine.New(store.Backend{Store: h.db}, engine.Config{
		Models: map[string]spool.Model{
			"scripted": spooltest.NewReplayModel(spooltest.Use(spooltest.Call{ID: "c1", Name: tool, Args: `{}`}),
				spooltest.Say("done")),
		},
		Agents: []spool.Agent{
			{Name: "clerk", Model: "scripted", ToolSources: []spool.ToolSource{must(s.Tools(mcp.Selection{}))}},
		},
		Log: h.logger.With("part", "engine"),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- e.Work(ctx, engine.WorkOptions{}) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		e.Close()
	})
	return e
}

// parkOf waits until a run of a subject waits, and returns the link.
func parkOf(t *testing.T, e *engine.Engine, key spool.ThreadKey, run spool.RunID) string {
	t.Helper()

	o, err := e.Await(t.Context(), key, run)
	if err != nil || o.State != wire.WaitingForInput || len(o.Parks) != 1 || o.Parks[0].Reason != mcp.ParkElicitation {
		t.Fatalf("the run is %+v, %v", o, err)
	}
	var shown struct{ URL string }
	if err := json.Unmarshal(o.Parks[0].Arguments, &shown); err != nil || shown.URL == "" {
		t.Fatalf("asks %s", o.Parks[0].Arguments)
	}
	return shown.URL
}

// A run waits for its subject to sign in, and goes on in another engine with the subject's token. An approval without a
// sign-in asks again. Nothing that the engine keeps or shows has a secret.
func TestSignInRun(t *testing.T) {
	t.Parallel()

	h := openHouse(t)
	h.logger = slog.New(slog.NewTextHandler(&h.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	sdk.AddTool(h.server, &sdk.Tool{Name: "tell"}, func(
		_ context.Context, r *sdk.CallToolRequest, _ struct{},
	) (*sdk.CallToolResult, any, error) {
		return said(h.issuer.PersonOf(&http.Request{Header: r.Extra.Header}) + " has " + r.Extra.Header.Get("Authorization")),
			nil, nil
	})
	s := h.open(t)
	h.signIn(t, s, "acme", "ben", "ben@idp")
	toolsFor(t, s, "acme", "ben") // so that the tenant knows the tools
	e := h.work(t, s, "shop__tell")
	key := spool.ThreadKey{Tenant: "acme", ID: "t1"}
	if _, err := e.Run(t.Context(), key, wire.StartRequest{RunID: "r1", Prompt: "who am I?", By: "ann"}); err != nil {
		t.Fatal(err)
	}
	link := parkOf(t, e, key, "r1")
	approve := func() {
		t.Helper()
		o, err := e.Await(t.Context(), key, "r1")
		if err != nil || len(o.Parks) != 1 {
			t.Fatalf("the run is %+v, %v", o, err)
		}
		if r, err := e.Respond(
			t.Context(), key, wire.Response{ToolCallID: "c1", Approved: true, Digest: o.Parks[0].Digest},
		); err != nil || !r.Delivered {
			t.Fatalf("%+v, %v", r, err)
		}
	}
	approve()
	again := parkOf(t, e, key, "r1")
	h.issuer.Change(func() { h.issuer.Codes.Person = "ann@idp" })
	if status, page := visit(t, browser("acme/ben"), again); status != http.StatusNotFound {
		t.Errorf("the link of ann opens for ben: %d %s", status, page)
	}
	if status, page := visit(t, browser("acme/ann"), link); status != http.StatusOK {
		t.Fatalf("%d %s", status, page)
	}
	approve()
	o, err := e.Await(t.Context(), key, "r1")
	if err != nil || o.State != wire.Completed {
		t.Fatalf("the run is %+v, %v", o, err)
	}
	var shown strings.Builder
	err = h.db.View(t.Context(), key, func(v store.View) error {
		for _, part := range []func() (any, error){
			func() (any, error) { return v.Messages(store.MessageQuery{}) },
			func() (any, error) { return v.Entries(store.EntryQuery{}) },
			func() (any, error) { return v.Parks("r1") },
		} {
			all, err := part()
			if err != nil {
				return err
			}
			if err := json.NewEncoder(&shown).Encode(all); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || !strings.Contains(shown.String(), "ann@idp has Bearer [redacted]") ||
		strings.Contains(shown.String(), "ben@idp") {
		t.Errorf("%v: %s", err, shown.String())
	}
	h.issuer.Revoke() // so that a refresh is written too
	if _, err := h.who(t, s, "acme", "ann"); err != nil {
		t.Error(err)
	}
	h.checkSecrets(t, shown.String())
}

// The first person of a tenant signs in with a tool of its own, and the next run has the tools of the server.
func TestSignInFirst(t *testing.T) {
	t.Parallel()

	h := openHouse(t)
	s := h.open(t)
	key := spool.ThreadKey{Tenant: "acme", ID: "t1"}
	e := h.work(t, s, "shop__sign_in")
	if _, err := e.Run(t.Context(), key, wire.StartRequest{RunID: "r1", Prompt: "who am I?", By: "ann"}); err != nil {
		t.Fatal(err)
	}
	if status, page := visit(t, browser("acme/ann"), parkOf(t, e, key, "r1")); status != http.StatusOK {
		t.Fatalf("%d %s", status, page)
	}
	if r, err := e.Respond(t.Context(), key, wire.Response{ToolCallID: "c1", Approved: true}); err != nil || !r.Delivered {
		t.Fatalf("%+v, %v", r, err)
	}
	if o, err := e.Await(t.Context(), key, "r1"); err != nil || o.State != wire.Completed {
		t.Fatalf("the run is %+v, %v", o, err)
	}
	if _, ok := toolsFor(t, s, "acme", "ann")["who"]; !ok {
		t.Error("the tools are not there")
	}
}
