package server_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/wire"
)

// remove deletes thread t1 of tenant a.
func (b *bundle) remove(t *testing.T) {
	t.Helper()

	if got := b.as(t, tokenA, http.MethodDelete, "/api/threads?threadId=t1", ""); got.status != http.StatusOK {
		t.Fatalf("delete: %d %s", got.status, got.body)
	}
}

// A token is over when its thread is deleted, and opens no thread that is made again.
func TestStreamTokenOfDeletedThread(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{Limits: server.Limits{FailedLogins: 1}})
	b.work(t)
	b.starts(t, tokenA, "t1")
	b.stream(t, call{path: tokenURL("t1", b.streamToken(t, tokenA, "t1"))}).until(t, state(wire.Completed))
	token := b.streamToken(t, tokenA, "t1")
	refused := func(when string) {
		t.Helper()
		for _, format := range []string{"", "&wireFormat=ag-ui"} {
			got := b.do(t, call{method: http.MethodGet, path: tokenURL("t1", token) + format})
			if got.status != http.StatusUnauthorized || got.body != badStreamToken || got.header.Get("WWW-Authenticate") == "" {
				t.Errorf("%s%s: %d %s", when, format, got.status, got.body)
			}
		}
	}
	b.remove(t)
	began := time.Now()
	refused("behind the deletion")
	b.starts(t, tokenA, "t1")
	refused("of the new thread")
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("a token that nobody guessed is slowed: %s", took)
	}
	b.stream(t, call{path: tokenURL("t1", b.streamToken(t, tokenA, "t1"))}).until(t, state(wire.Completed))
}

// Streams that are open when their thread is deleted end, also if it is made again at once.
func TestStreamsEndWithTheirThread(t *testing.T) {
	t.Parallel()

	for name, config := range map[string]server.Config{
		"Tokens":   {Authenticator: twoTenants(t)},
		"Insecure": {Insecure: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				e, s := tokenServer(t, config)
				defer e.Close()
				post(t, s, "/api/agent/control", `{"threadId":"t1","action":"stop"}`)
				thread := spool.ThreadKey{Tenant: "a", ID: "t1"}
				if config.Insecure {
					thread.Tenant = spool.DefaultTenant
				}
				began := time.Now()
				bodies := make(chan string, 2)
				for _, format := range []string{"", "&wireFormat=ag-ui"} {
					path := tokenURL("t1", tokenOf(t, s)) + format
					go func() { bodies <- follow(t.Context(), s, path).Body.String() }()
				}
				<-time.After(time.Second)
				if r, err := e.DeleteThread(t.Context(), thread); err != nil || !r.Accepted {
					t.Fatal(r, err)
				}
				post(t, s, runPath, `{"threadId":"t1","prompt":"secret of the new thread"}`)
				for range 2 { // a stream without an end has the token's: the bubble's time shows it
					if body := <-bodies; strings.Contains(body, "secret") || time.Since(began) > 10*time.Second {
						t.Errorf("after %s: %s", time.Since(began), body)
					}
				}
			})
		})
	}
}
