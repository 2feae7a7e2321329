package mcp_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/spoolhq/spool"
	fake "github.com/spoolhq/spool/internal/testing/fake/mcp"
	"github.com/spoolhq/spool/tool/mcp"
)

// oddities are results of calls that are not as the protocol has them, and what the model gets: a part of the result,
// or of the error.
var oddities = map[string]struct{ result, want, fails string }{
	"base64": {
		`{"content":[{"type":"text","text":"a photo"},{"type":"image","mimeType":"image/png","data":"no base64!"}]}`,
		`[{"type":"text","text":"a photo"},{"type":"image","text":"[this part cannot be read`, "",
	},
	"kind": {
		`{"content":[{"type":"video","url":"https://example.com/v"},{"type":"text","text":"watch it"}]}`,
		`[{"type":"video","text":"[this part cannot be read`, "",
	},
	"null":       {`{"content":[null,{"type":"text","text":"a text"}]}`, `{"type":"text","text":"a text"}]`, ""},
	"structured": {`{"content":[{"type":"video"}],"structuredContent":{"n":1}}`, `],"structuredContent":{"n":1}}`, ""},
	"failed": {
		`{"isError":true,"content":[{"type":"text","text":"no such order"},{"type":"video"}]}`, "", "no such order",
	},
	"text": {
		`"a text"`, "", "the tool was executed, but the answer of MCP server shop cannot be read: the result is no object",
	},
	"list": {
		`{"content":7}`, "",
		"the tool was executed, but the answer of MCP server shop cannot be read: its content is no list",
	},
	"flag": {
		`{"content":[],"isError":"no"}`, "", "the tool was executed, but the answer of MCP server shop cannot be read: ",
	},
	"large": {
		`{"content":[{"type":"text","text":"` + strings.Repeat("a", 9<<20) + `"}]}`, "",
		"the tool was executed, but the answer of MCP server shop cannot be read: it is larger than 8388608 bytes",
	},
}

// odd returns a server whose tools are the oddities. Over HTTP they come as JSON, or as events.
func odd(t *testing.T, events bool) (*fake.Server, *mcp.Server) {
	t.Helper()

	s := &fake.Server{Events: events}
	s.List = func() (all []any) {
		for name := range oddities {
			all = append(all, fake.Listed(name, "A tool.", "n"))
		}
		return append(all, fake.Listed("good", "A tool.", "n"))
	}
	s.Answer = func(c fake.Call) any {
		if c.Name == "good" {
			return fake.Said("still here")
		}
		return json.RawMessage(oddities[c.Name].result)
	}
	at := httptest.NewServer(s)
	t.Cleanup(at.Close)
	return s, client(t, at.URL)
}

// An answer that nobody can read is an error of its call, which was executed: it is not sent again, nobody is asked
// about its outcome, and the connection stays. What can be read of it, the model gets.
func TestOddAnswers(t *testing.T) {
	t.Parallel()

	for _, events := range []bool{false, true} {
		for name, c := range oddities {
			t.Run(fmt.Sprint(name, " events ", events), func(t *testing.T) {
				t.Parallel()

				server, s := odd(t, events)
				var discovers atomic.Int32
				server.Before = func(method string) bool {
					if method == "server/discover" {
						discovers.Add(1)
					}
					return true
				}
				all := tools(t, s, mcp.Selection{Idempotent: []string{name}})
				got, err := call(t, all[name], `{"n":1}`)
				_, unknown := errors.AsType[*spool.OutcomeUnknownError](err)
				switch {
				case c.fails == "" && (err != nil || !strings.Contains(got, c.want)):
					t.Errorf("got %.300s, %v", got, err)
				case c.fails != "" && (unknown || spool.CodeOf(err) != spool.Invalid ||
					!strings.HasPrefix(spool.MessageOf(err), c.fails)):
					t.Errorf("got %.300s, %v", got, err)
				}
				if n := server.Started(); n != 1 {
					t.Errorf("the call was sent %d times", n)
				}
				if got, err := call(t, all["good"], `{"n":1}`); err != nil || got != `"still here"` {
					t.Errorf("the next call: %s, %v", got, err)
				}
				if n := discovers.Load(); n != 1 {
					t.Errorf("%d connections", n)
				}
			})
		}
	}
}

// An answer that is no message, or not even JSON, breaks nothing but its call.
func TestNoMessage(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct{ kind, body, want string }{
		"HTML":   {"text/html", "<h1>Hello</h1>", `it has the type "text/html"`},
		"JSON":   {"application/json", `{"hello":1}`, "it is no message of JSON-RPC"},
		"Text":   {"application/json", `hello`, "it is no message of JSON-RPC"},
		"Events": {"text/event-stream", "data: hello\n\n", "it is no message of JSON-RPC"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			server := &fake.Server{Answer: func(fake.Call) any { return fake.Said("good") }}
			var calls, discovers atomic.Int32
			at := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch r.Header.Get("Mcp-Method") {
				case "server/discover":
					discovers.Add(1)
				case "tools/call":
					if calls.Add(1) == 1 {
						w.Header().Set("Content-Type", c.kind)
						_, _ = w.Write([]byte(c.body))
						return
					}
				}
				server.ServeHTTP(w, r)
			}))
			t.Cleanup(at.Close)
			audit := tools(t, client(t, at.URL), mcp.Selection{Idempotent: []string{fake.Tool}})[fake.Tool]
			_, err := call(t, audit, `{"year":1}`)
			if spool.MessageOf(err) != "the tool was executed, but the answer of MCP server shop cannot be read: "+c.want ||
				calls.Load() != 1 {
				t.Errorf("%d calls: %v", calls.Load(), err)
			}
			if got, err := call(t, audit, `{"year":1}`); err != nil || got != `"good"` || discovers.Load() != 1 {
				t.Errorf("the next call: %s, %v, %d connections", got, err, discovers.Load())
			}
		})
	}
}

// A list that cannot be read is an error that says so.
func TestOddList(t *testing.T) {
	t.Parallel()

	server := &fake.Server{List: func() []any { return []any{7} }}
	at := httptest.NewServer(server)
	t.Cleanup(at.Close)
	_, err := client(t, at.URL).List(t.Context())
	if spool.CodeOf(err) != spool.Unavailable ||
		!strings.HasPrefix(spool.MessageOf(err), "MCP server shop has a list that cannot be read: ") {
		t.Errorf("got %v", err)
	}
}
