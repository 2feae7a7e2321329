package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/wire"
)

const aguiPath = "/api/agent/ag-ui"

// aguiInput is the body of a client of AG-UI.
func aguiInput(thread, rest string) string {
	return `{"threadId":"` + thread + `","runId":"r1","tools":[],"context":[],` + rest + `}`
}

const says = `"messages":[{"id":"m1","role":"user","content":"hello"}]`

func TestAGUIRun(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{})
	b.work(t)
	got := b.as(t, tokenA, http.MethodPost, aguiPath, aguiInput("t1", says))
	if got.status != http.StatusOK || got.header.Get("Content-Type") != "text/event-stream; charset=utf-8" ||
		!strings.HasPrefix(got.body, `data: {"type":"RUN_STARTED","threadId":"t1","runId":"r1"`) ||
		!strings.Contains(got.body, `"delta":"hello`) ||
		!strings.HasSuffix(got.body,
			`"outcome":{"type":"success"},"usage":[{"inputTokens":5,"cachedInputTokens":0,"outputTokens":33,"totalTokens":38}]}`) {
		t.Errorf("%d %v\n%s", got.status, got.header, got.body)
	}
}

// What cannot be run is refused before anything is streamed, and changes nothing.
func TestAGUIRefuses(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{})
	b.as(t, tokenA, http.MethodPost, runPath, `{"threadId":"busy","runId":"r0","prompt":"hello","clientMessageId":"m0"}`)
	for name, c := range map[string]struct {
		token, body string
		status      int
		text        string
	}{
		"NoThread": {tokenA, `{"runId":"r1",` + says + `}`, 400, `threadId is required`},
		"NoRun":    {tokenA, `{"threadId":"t1",` + says + `}`, 400, `runId is required`},
		"NoText": {
			tokenA, aguiInput("t1", `"messages":[{"id":"m1","role":"user","content":""}]`), 400, `prompt is required`,
		},
		"Tool": {
			tokenA, aguiInput("busy", `"messages":[{"id":"m1","role":"tool","content":"","toolCallId":"c"}]`), 409,
			`"reason":"no_park","error":"messages: nothing waits for a result of the call \"c\""`,
		},
		"ToolGone": {
			tokenA, aguiInput("none", `"messages":[{"id":"m1","role":"tool","content":"","toolCallId":"c"}]`), 404,
			`Thread not found`,
		},
		"System": {
			tokenA, aguiInput("t1", `"messages":[{"id":"m1","role":"system","content":"x"}]`), 400, `only a user's is a prompt`,
		},
		"BadTool": {
			tokenA, `{"threadId":"t1","runId":"r1",` + says + `,"tools":[{"name":"a b"}]}`, 400, `tools[0].name must be`,
		},
		"Gone": {
			tokenA, aguiInput("t1", says+`,"forwardedProps":{"spool":{"onDisconnect":"die"}}`), 400,
			`onDisconnect must be continue or stop`,
		},
		"NoTurn": {tokenA, aguiInput("t1", `"messages":[]`), 404, `Thread not found`},
		"Other":  {tokenB, aguiInput("busy", `"messages":[]`), 404, `Thread not found`},
		"Busy":   {tokenA, aguiInput("busy", says), 409, `"reason":"active_run"`},
		"Edited": {
			tokenA, aguiInput("busy", strings.NewReplacer("m1", "m0", "hello", "bye").Replace(says)), 409,
			`"reason":"active_run"`,
		},
		"SameIDs": {
			tokenA, strings.NewReplacer("r1", "r0", "m1", "m0", "hello", "bye").Replace(aguiInput("busy", says)), 409,
			`"reason":"active_run"`,
		},
		"NoPark": {
			tokenA, aguiInput("busy", `"messages":[],"resume":[{"interruptId":"c1","status":"cancelled"}]`), 409,
			`"reason":"no_park"`,
		},
		"Resume": {
			tokenA, aguiInput("none", `"messages":[],"resume":[{"interruptId":"c1","status":"cancelled"}]`), 404,
			`Thread not found`,
		},
		"ReadOnly": {readOnlyA, aguiInput("t1", says), 403, `the scope \"write\" is required`},
		"Nobody":   {"", aguiInput("t1", says), 401, `a bearer token is required`},
		"Method":   {tokenA, "", 405, `GET is not allowed here`},
	} {
		method := http.MethodPost
		if c.body == "" {
			method = http.MethodGet
		}
		if got := b.as(t, c.token, method, aguiPath, c.body); got.status != c.status || !strings.Contains(got.body, c.text) {
			t.Errorf("%s: %d %s, want %d %s", name, got.status, got.body, c.status, c.text)
		}
	}
	if list := b.as(t, tokenA, http.MethodGet, threadsPath, ""); strings.Count(list.body, `"id"`) != 1 {
		t.Errorf("there are threads: %s", list.body)
	}
}

// Starting a run is not yet to read it, nor to answer what it asks.
func TestAGUIScopes(t *testing.T) {
	t.Parallel()

	auth, err := access.Tokens([]access.Token{
		{Token: "writes", Principal: access.Principal{Tenant: "a", Scopes: []access.Scope{access.ScopeWrite}}},
		{
			Token:     "reads",
			Principal: access.Principal{Tenant: "a", Scopes: []access.Scope{access.ScopeWrite, access.ScopeRead}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	b := setup(t, server.Config{Authenticator: auth})
	for token, c := range map[string]struct{ body, scope string }{
		"writes": {says, "read"},
		"reads":  {`"messages":[],"resume":[{"interruptId":"c1","status":"cancelled"}]`, "approve"},
	} {
		got := b.as(t, token, http.MethodPost, aguiPath, aguiInput("t1", c.body))
		if got.status != http.StatusForbidden || !strings.Contains(got.body, `the scope \"`+c.scope+`\" is required`) {
			t.Errorf("%s: %d %s", token, got.status, got.body)
		}
	}
}

// A client may come back to the native format with an id of the other, and the other way
// round.
func TestAGUIIDs(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{})
	b.work(t)
	b.as(t, tokenA, http.MethodPost, runPath, `{"threadId":"t1","prompt":"hello there"}`)
	native := withID(b.stream(t, call{path: streamPath + "?threadId=t1&cursor=0", token: tokenA}).until(t,
		entry(wire.EntryRunEnded)))
	b.engine.Close()
	ids := make(map[string]bool)
	for _, m := range native {
		ids[m.id] = true
		got := b.as(t, tokenA, http.MethodGet,
			streamPath+"?threadId=t1&wireFormat=ag-ui&cursor="+strings.ReplaceAll(m.id, " ", "+"), "")
		if last := m.id == native[len(native)-1].id; got.status != http.StatusOK ||
			strings.Contains(got.body, "RUN_FINISHED") == last {
			t.Errorf("after %q: %d %s", m.id, got.status, got.body)
		}
	}
	prelude := b.as(t, tokenA, http.MethodGet, streamPath+"?threadId=t1&wireFormat=ag-ui", "").body
	_, id, _ := strings.Cut(prelude, "\nid: ")
	if id, _, _ = strings.Cut(id, "\n"); !ids[id] {
		t.Errorf("the id %q is none of the native format", id)
	}
	if got := b.as(
		t, tokenA, http.MethodGet, streamPath+"?threadId=t1&wireFormat=carrier-pigeon", "",
	); got.status != http.StatusBadRequest {
		t.Errorf("an unknown format: %d %s", got.status, got.body)
	}
}
