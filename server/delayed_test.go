package server_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/wire"
)

// A start that waits can be seen, moved and cancelled, and then runs.
func TestDelayedStart(t *testing.T) {
	t.Parallel()
	readToken := "token-of-a-reader-of-a"
	auth, err := access.Tokens([]access.Token{
		{Token: tokenA, Principal: access.Principal{Tenant: "a", Subject: "anna", Scopes: access.AllScopes()}},
		{Token: readToken, Principal: access.Principal{
			Tenant: "a", Subject: "rita", Scopes: []access.Scope{access.ScopeRead},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	b := setup(t, server.Config{Authenticator: auth})
	b.work(t)
	at := time.Now().Add(time.Hour).UTC().Truncate(time.Second).Format(time.RFC3339)
	start := func(more string) answer {
		return b.as(t, tokenA, http.MethodPost, runPath+"?wait=10s", `{"threadId":"t1","prompt":"Hello"`+more+`}`)
	}
	is := func(what string, got answer, status int, has ...string) {
		t.Helper()
		for _, text := range has {
			if !strings.Contains(got.body, text) {
				t.Errorf("%s: %s lacks %s", what, got.body, text)
			}
		}
		if got.status != status {
			t.Errorf("%s: %d %s, want %d", what, got.status, got.body, status)
		}
	}
	const one = "/api/agent/starts/r1"
	is("no time", start(`,"startAt":"tomorrow"`), 400, "startAt")
	is("too far", start(`,"startAt":"2999-01-01T00:00:00Z"`), 400, "startAt must be at most 366 days ahead")
	is("start", start(`,"runId":"r1","startAt":"`+at+`"`), 202,
		`{"accepted":true,"threadId":"t1","runId":"r1","startAt":"`+at+`"}`)
	is("used", start(`,"runId":"r1"`), 409, "run_id_used")
	is("list", b.as(t, readToken, http.MethodGet, "/api/agent/starts?threadId=t1", ""), 200, `"runId":"r1"`, `"title":"Hello"`)
	is("one", b.as(t, readToken, http.MethodGet, one, ""), 200, `"startAt":"`+at+`"`, `"startedBy":"anna"`)
	for _, wait := range []string{"", "?wait=1s"} {
		is("outcome", b.as(t, readToken, http.MethodGet, "/api/agent/runs/r1"+wait, ""), 404, "The run starts at "+at)
	}
	is("a reader moves", b.as(t, readToken, http.MethodPatch, one, `{"startAt":"`+at+`"}`), 403)
	is("a reader cancels", b.as(t, readToken, http.MethodDelete, one, ""), 403)
	is("no new time", b.as(t, tokenA, http.MethodPatch, one, `{}`), 400, "startAt")
	is("move too far", b.as(t, tokenA, http.MethodPatch, one, `{"startAt":"2999-01-01T00:00:00Z"}`), 400, "startAt")
	is("another one", start(`,"runId":"r2","startAt":"`+at+`"`), 202)
	is("cancel", b.as(t, tokenA, http.MethodDelete, "/api/agent/starts/r2", ""), 200, `"runId":"r2"`)
	is("again", b.as(t, tokenA, http.MethodDelete, "/api/agent/starts/r2", ""), 404)
	is("move", b.as(t, tokenA, http.MethodPatch, one, `{"startAt":"2020-01-01T00:00:00Z"}`), 200, `"runId":"r1"`)
	until(t, "the start", func() bool { // which makes the thread
		return b.as(t, readToken, http.MethodGet, "/api/agent/runs/r1", "").status == http.StatusOK
	})
	b.stream(t, call{path: streamPath + "?threadId=t1&after=0", token: tokenA}).until(t, state(wire.Completed))
	is("outcome", b.as(t, readToken, http.MethodGet, "/api/agent/runs/r1", ""), 200, "COMPLETED")
	is("gone", b.as(t, readToken, http.MethodGet, one, ""), 404)
}
