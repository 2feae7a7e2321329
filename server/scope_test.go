package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/wire"
)

// writer may start runs of tenant a, and not stop them.
func writer(t *testing.T) access.Authenticator {
	t.Helper()

	auth, err := access.Tokens([]access.Token{
		{Token: tokenA, Principal: access.Principal{Tenant: "a", Subject: "anna", Scopes: access.AllScopes()}},
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
	return auth
}

// TestWriteDoesNotStop has somebody with the scope write, and without stop, try all that stops a
// run on the way. Each gets a 403 that names the scope, and changes nothing.
func TestWriteDoesNotStop(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{Authenticator: writer(t)})
	const (
		start  = `{"accepted":true,"threadId":"t1",`
		remove = threadsPath + "?threadId=t1"
	)
	denied := func(of string) string {
		return `{"error":"the scope \"stop\" is required for ` + of + `","code":"forbidden"}`
	}
	for _, c := range []struct {
		token, method, path, body string
		status                    int
		want                      string
	}{
		{
			"writes", http.MethodPost, runPath, `{"threadId":"t1","prompt":"x","whenBusy":"interrupt"}`, 403,
			denied("whenBusy interrupt"),
		},
		{tokenA, http.MethodPost, runPath, `{"threadId":"t1","prompt":"one"}`, 202, start},
		{
			"writes", http.MethodPost, runPath, `{"threadId":"t1","prompt":"x","whenBusy":"interrupt"}`, 403,
			denied("whenBusy interrupt"),
		},
		{
			"writes", http.MethodPost, runPath, `{"threadId":"t1","prompt":"x","whenBusy":"rollback"}`, 403,
			denied("whenBusy rollback"),
		},
		{"writes", http.MethodDelete, remove, "", 403, denied("deleting a thread that has an active run")},
		{tokenA, http.MethodDelete, remove, "", 409, `{"accepted":false,"reason":"active_run"`},
		{"writes", http.MethodPost, controlPath, `{"threadId":"t1"}`, 403, `{"error":"the scope \"stop\" is required"`},
		{"writes", http.MethodPost, runPath, `{"threadId":"t1","prompt":"two","whenBusy":"enqueue"}`, 202, start},
		{tokenA, http.MethodPost, runPath, `{"threadId":"t1","prompt":"three","whenBusy":"interrupt"}`, 202, start},
		{tokenA, http.MethodPost, controlPath, `{"threadId":"t1"}`, 200, `{"accepted":true}`},
		{"writes", http.MethodDelete, threadsPath + "?threadId=none", "", 404, `{"accepted":false,"reason":"not_found"`},
		{"writes", http.MethodDelete, remove, "", 200, `{"accepted":true}`},
	} {
		got := b.as(t, c.token, c.method, c.path, c.body)
		if got.status != c.status || !strings.HasPrefix(got.body, c.want) {
			t.Errorf("%s: %s %s %s: %d %s", c.token, c.method, c.path, c.body, got.status, got.body)
		}
	}

	b.work(t)
	b.as(t, tokenA, http.MethodPost, runPath, `{"threadId":"t2","prompt":"use send with {\"to\":\"x\"}"}`)
	b.stream(t, call{path: streamPath + "?threadId=t2", token: tokenA}).until(t, state(wire.WaitingForInput))
	if got := b.as(t, "writes", http.MethodDelete, threadsPath+"?threadId=t2", ""); got.status != http.StatusForbidden ||
		got.body != denied("deleting a thread that has an active run") {
		t.Errorf("a parked thread: %d %s", got.status, got.body)
	}
	if got := b.as(t, tokenA, http.MethodDelete, threadsPath+"?threadId=t2", ""); got.status != http.StatusOK {
		t.Errorf("a parked thread, with the scope: %d %s", got.status, got.body)
	}
}

// Where starts interrupt unless they say otherwise, one that may not is refused, in each wire.
func TestWriteDoesNotStopByDefault(t *testing.T) {
	t.Parallel()

	b := setupOver(t, server.Config{Authenticator: writer(t)}, engine.Config{WhenBusy: spool.BusyInterrupt})
	b.as(t, tokenA, http.MethodPost, runPath, `{"threadId":"t1","runId":"r1","prompt":"one"}`)
	for path, body := range map[string]string{
		runPath:  `{"threadId":"t1","prompt":"two"}`,
		aguiPath: aguiInput("t1", says),
	} {
		if got := b.as(t, "writes", http.MethodPost, path, body); got.status != http.StatusConflict ||
			!strings.Contains(got.body, `"reason":"active_run"`) {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
	if got := b.as(
		t, tokenA, http.MethodPost, runPath, `{"threadId":"t1","prompt":"two"}`,
	); got.status != http.StatusAccepted {
		t.Errorf("with the scope: %d %s", got.status, got.body)
	}
}
