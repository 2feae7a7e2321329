package server_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/wire"
)

const (
	ottoToken   = "token-of-otto-of-a"
	teamToken   = "token-of-the-team-of-a"
	nobodyToken = "token-of-nobody-of-a"
)

// owned serves a tenant whose subjects have their own threads: anna with tokenA, who is an admin
// too, otto, and one who may see all.
func owned(t *testing.T) *bundle {
	t.Helper()

	return setup(t, ownedConfig(t))
}

// ownedConfig configures the server of owned.
func ownedConfig(t *testing.T, more ...access.Token) server.Config {
	t.Helper()

	scopes := slices.DeleteFunc(access.AllScopes(), func(s access.Scope) bool { return s == access.ScopeAdmin })
	auth, err := access.Tokens(append(more,
		access.Token{Token: tokenA, Principal: access.Principal{Tenant: "a", Subject: "anna", Scopes: access.AllScopes()}},
		access.Token{Token: tokenB, Principal: access.Principal{Tenant: "b", Subject: "bert", Scopes: access.AllScopes()}},
		access.Token{Token: ottoToken, Principal: access.Principal{Tenant: "a", Subject: "otto", Scopes: scopes}},
		access.Token{
			Token: teamToken, Principal: access.Principal{Tenant: "a", Subject: "team", Scopes: scopes, AllThreads: true},
		},
		access.Token{Token: nobodyToken, Principal: access.Principal{Tenant: "a", Scopes: scopes}},
	))
	if err != nil {
		t.Fatal(err)
	}
	return server.Config{Authenticator: auth, OwnThreads: true, StreamTokenKeys: [][]byte{[]byte(strings.Repeat("k", 32))}}
}

// Whatever a subject asks with the ids of another subject of its tenant is answered with the
// bytes of a server on which the other has nothing, and nothing changes. There is one exception:
// a start with the id of a thread that is taken cannot make it, and is refused.
func TestWalkOwnThreads(t *testing.T) {
	t.Parallel()

	full, empty := newWalkedOn(t, owned(t)), walked{bundle: owned(t)}
	full.clock.hold()
	before := full.everything(t)
	since := len(full.logged.String())
	for _, o := range full.operations(t) {
		for i, c := range walk[o.id] {
			name := fmt.Sprintf("%s %s, case %d", o.method, o.path, i)
			if !strings.HasPrefix(o.path, "/api/admin") {
				// What the owner has just read is no help to anybody else.
				full.as(t, tokenA, http.MethodGet, historyPath+"?threadId=kept", "")
			}
			got := full.ask(t, ottoToken, o, c, full.names)
			want := empty.ask(t, ottoToken, o, c, full.names)
			if o.id == "startRun" && i == len(walk[o.id])-1 {
				if want.status != http.StatusAccepted || got.status != http.StatusConflict ||
					got.body != `{"accepted":false,"threadId":"kept","reason":"not_found","error":"Thread not found"}` {
					t.Errorf("a start on a thread that is taken: %d %s", got.status, got.body)
				}
				continue
			}
			switch admin := strings.HasPrefix(o.path, "/api/admin"); {
			case admin && got.status != http.StatusForbidden, !admin && got.status != c.other &&
				got.status != http.StatusForbidden:
				t.Errorf("%s: %d %s, want %d", name, got.status, got.body, c.other)
			}
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(answer{})); diff != "" {
				t.Errorf("%s tells what another subject has: -nothing +something\n%s", name, diff)
			}
			if all := fmt.Sprint(got); strings.Contains(all, marker) || strings.Contains(all, "anna") {
				t.Errorf("%s: %s", name, all)
			}
		}
	}
	if text := full.logged.String()[since:]; strings.Contains(text, marker) {
		t.Errorf("the log has what another subject said:\n%s", text)
	}
	full.as(t, ottoToken, http.MethodPost, controlPath, `{"threadId":"new"}`)
	full.stream(t, call{path: streamPath + "?threadId=new", token: ottoToken}).until(t, func(m message) bool {
		return state(wire.Cancelled)(m) || state(wire.Completed)(m)
	})
	if got := full.as(t, ottoToken, http.MethodDelete, threadsPath+"?threadId=new", ""); got.status != http.StatusOK {
		t.Errorf("the subject deletes its own thread: %d %s", got.status, got.body)
	}
	if diff := cmp.Diff(before, full.everything(t)); diff != "" {
		t.Errorf("another subject changed something: -before +after\n%s", diff)
	}
}

// A subject has the threads that it makes, an admin and who may see all of them have all, and
// credentials without a subject have none.
func TestOwnThreads(t *testing.T) {
	t.Parallel()

	b := owned(t)
	for _, c := range []struct{ token, thread string }{
		{tokenA, "of-anna"}, {ottoToken, "of-otto"}, {teamToken, "of-team"},
	} {
		token, thread := c.token, c.thread
		got := b.do(t, call{
			method: http.MethodPost, path: runPath, token: token, header: map[string]string{"Idempotency-Key": "one-for-all"},
			body: `{"threadId":"` + thread + `","prompt":"hello"}`,
		})
		if token == teamToken { // the admin and the team share the tenant's keys
			if got.status != http.StatusConflict || !strings.Contains(got.body, `"reason":"key_reused"`) {
				t.Fatalf("%s: %d %s", thread, got.status, got.body)
			}
			continue
		}
		if got.status != http.StatusAccepted {
			t.Fatalf("%s: %d %s", thread, got.status, got.body)
		}
		if token == tokenA {
			b.do(t, call{method: http.MethodPost, path: controlPath, token: token, body: `{"threadId":"` + thread + `"}`})
		}
	}
	listed := func(token, query string) (ids []string) {
		list := into[struct{ Threads []wire.Thread }](t, b.as(t, token, http.MethodGet, threadsPath+query, ""))
		for _, thread := range list.Threads {
			ids = append(ids, string(thread.ID))
		}
		slices.Sort(ids)
		return ids
	}
	if got := listed(ottoToken, ""); !slices.Equal(got, []string{"of-otto"}) {
		t.Errorf("otto has %q", got)
	}
	if got := listed(ottoToken, "?owner=anna"); len(got) != 0 {
		t.Errorf("otto has %q of anna", got)
	}
	if got := listed(tokenA, ""); !slices.Contains(got, "of-otto") {
		t.Errorf("the admin has %q", got)
	}
	if got := listed(teamToken, "?owner=otto"); !slices.Equal(got, []string{"of-otto"}) {
		t.Errorf("the team has %q of otto", got)
	}
	for _, token := range []string{ottoToken, teamToken, tokenA} {
		short := into[struct{ Token string }](t, b.as(t, token, http.MethodPost, streamTokenPath, `{"threadId":"of-otto"}`))
		if got := b.as(t, token, http.MethodGet, historyPath+"?threadId=of-otto", ""); got.status != http.StatusOK {
			t.Errorf("%s: %d %s", token, got.status, got.body)
		}
		s := b.stream(t, call{path: streamPath + "?threadId=of-otto&token=" + short.Token})
		if _, ok := s.next(t); !ok {
			t.Errorf("%s opens no stream with a token", token)
		}
	}
	if got := b.as(t, nobodyToken, http.MethodGet, threadsPath, ""); got.status != http.StatusForbidden {
		t.Errorf("credentials without a subject: %d %s", got.status, got.body)
	}

	// A thread that changes hands is the other's at once.
	b.as(t, tokenA, http.MethodPatch, threadsPath, `{"threadId":"of-otto","owner":"anna"}`)
	if got := b.as(t, ottoToken, http.MethodGet, historyPath+"?threadId=of-otto", ""); got.status != http.StatusNotFound {
		t.Errorf("otto still has it: %d %s", got.status, got.body)
	}
	b.as(t, tokenA, http.MethodPatch, threadsPath, `{"threadId":"of-anna","owner":"otto"}`)
	if got := b.as(t, ottoToken, http.MethodGet, historyPath+"?threadId=of-anna", ""); got.status != http.StatusOK {
		t.Errorf("otto has not got it: %d %s", got.status, got.body)
	}
}
