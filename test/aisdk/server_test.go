package aisdk_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/spooltest"
)

// bundle is a server whose model does what a message says, and a control server for the scripts: they let the model
// go on piece by piece, and cut connections.
type bundle struct {
	engine *engine.Engine
	url    string
	// control lets scripts do what a client cannot.
	control string
	// guarded is a server with credentials and limits, over the same threads.
	guarded string

	mu    sync.Mutex
	gates map[string]chan struct{}
	seen  map[string]int // attempts of a turn
}

func setup(t *testing.T) *bundle {
	t.Helper()

	b := &bundle{gates: map[string]chan struct{}{}, seen: map[string]int{}}
	tool := func(name string, call func(context.Context, spool.ToolCall) (json.RawMessage, error)) spool.Tool {
		return spool.Tool{ToolSpec: spool.ToolSpec{Name: name}, Call: call}
	}
	lookup := tool("lookup", func(_ context.Context, c spool.ToolCall) (json.RawMessage, error) { return c.Args, nil })
	send := tool("send", func(context.Context, spool.ToolCall) (json.RawMessage, error) {
		return json.RawMessage(`{"sent":true}`), nil
	})
	send.Approval = spool.AlwaysApprove
	broken := tool("broken", func(context.Context, spool.ToolCall) (json.RawMessage, error) {
		return nil, spool.Errorf(spool.Invalid, "it is broken")
	})
	hang := tool("hang", func(ctx context.Context, _ spool.ToolCall) (json.RawMessage, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	hang.Approval = spool.AlwaysApprove
	unsure := tool("unsure", func(_ context.Context, c spool.ToolCall) (json.RawMessage, error) {
		if b.attempt(string(c.ID)) == 1 {
			return nil, &spool.OutcomeUnknownError{Err: errors.New("the connection broke off")}
		}
		return json.RawMessage(`"tried"`), nil
	})
	var err error
	b.engine, err = engine.New(memory.New(nil), engine.Config{
		Agents: []spool.Agent{{
			Name: "a", Model: "m", Tools: []spool.Tool{lookup, send, broken, unsure, hang},
			Spawn: &spool.Spawn{Profiles: map[string]spool.Profile{"mailer": {Tools: []spool.Tool{lookup, send, hang}}}},
		}, {
			Name: "frugal", Model: "m", Tools: []spool.Tool{lookup}, MaxOutputTokens: 40, Budget: spool.Budget{Tokens: 200},
			OnBudget: spool.BudgetPark,
		}},
		Models: map[string]spool.Model{"m": spooltest.NewModelFunc(b.turn)},
		Stream: option.Stream{FlushEvery: -1},
		Worker: option.Worker{Poll: 20 * time.Millisecond},
		Retry:  option.Retry{Backoff: time.Millisecond},
		Log:    slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.New(b.engine, server.Config{Insecure: true, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	g, err := server.New(b.engine, server.Config{
		Authenticator: b, Limits: server.Limits{OpenStreams: 1, StartsPerMinute: 20}, MaxBodyBytes: 2 << 20,
		Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	guarded := httptest.NewServer(g)
	b.guarded = guarded.URL
	listening, control := httptest.NewServer(s), httptest.NewServer(http.HandlerFunc(b.serveControl))
	b.url, b.control = listening.URL, control.URL
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- b.engine.Work(ctx, engine.WorkOptions{}) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		b.engine.Close()
		listening.Close()
		control.Close()
		guarded.Close()
		_ = s.Close()
		_ = g.Close()
	})
	return b
}

// Authenticate implements [access.Authenticator]: the token is the subject.
func (b *bundle) Authenticate(r *http.Request) (access.Principal, error) {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok {
		return access.Principal{}, spool.Errorf(spool.Unauthorized, "a bearer token is required")
	}
	p := access.Principal{
		Tenant: "acme", Subject: token,
		Scopes: []access.Scope{access.ScopeRead, access.ScopeWrite, access.ScopeApprove, access.ScopeStop},
	}
	switch token {
	case "reads":
		p.Scopes = p.Scopes[:1]
	case "other":
		p.Tenant = "other"
	case "away":
		return p, spool.Errorf(spool.Unavailable, "the source of identities does not answer")
	}
	return p, nil
}

// gate returns the channel that holds a turn until its script opens it.
func (b *bundle) gate(name string) chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.gates[name] == nil {
		b.gates[name] = make(chan struct{})
	}
	return b.gates[name]
}

// serveControl opens a gate.
func (b *bundle) serveControl(w http.ResponseWriter, r *http.Request) {
	close(b.gate(r.URL.Query().Get("gate")))
	_, _ = io.WriteString(w, "ok")
}

// attempt counts the requests for a step of a script.
func (b *bundle) attempt(key string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.seen[key]++
	return b.seen[key]
}

// turn answers as the last message of the user says: the first word is the name of a script, the second one names
// its gate.
func (b *bundle) turn(_ context.Context, r spool.ModelRequest) spooltest.Turn {
	said := ""
	for _, m := range r.Messages {
		if m.Role == spool.RoleUser && said == "" || m.Role == spool.RoleUser && !strings.HasPrefix(m.Text(), "left") {
			said = m.Text()
		}
	}
	script, gate, _ := strings.Cut(said, " ")
	step := 0
	for i := len(r.Messages) - 1; i >= 0 && r.Messages[i].Text() != said; i-- {
		if r.Messages[i].Role == spool.RoleAssistant {
			step++
		}
	}
	wait := func(t spooltest.Turn) spooltest.Turn {
		t.Gate = b.gate(gate)
		return t
	}
	call := func(n int, name, args string) spooltest.Call {
		return spooltest.Call{ID: spool.ToolCallID(fmt.Sprintf("q%d-%s", n, gate)), Name: name, Args: args}
	}
	turns := map[string][]spooltest.Turn{
		"budget": {
			{Text: []string{"One."}, Calls: []spooltest.Call{call(1, "lookup", "{}")}, Usage: spooltest.Tokens(150, 10)},
			spooltest.Say("More", "."),
		},
		"page": {
			{Text: []string{"I ask."}, Calls: []spooltest.Call{call(1, "where", `{"of":"you"}`)}}, spooltest.Say("There."),
		},
		"both": {
			{
				Text:  []string{"I ask."},
				Calls: []spooltest.Call{call(1, "where", `{"of":"you"}`), call(2, "send", `{"to":"ann"}`)},
			},
			spooltest.Say("There."),
		},
		"unsure": {{Text: []string{"I try."}, Calls: []spooltest.Call{call(1, "unsure", "{}")}}, spooltest.Say("Tried.")},
		"hang":   {{Text: []string{"I wait."}, Calls: []spooltest.Call{call(1, "hang", "{}")}}},
		"json":   {spooltest.Say(`{"city":`, `"Oslo"}`)},
		"text": {
			{Reasoning: []string{"I ", "think."}, Text: []string{"Hello", " to", " you."}, Usage: spooltest.Tokens(3, 4)},
		},
		"slow": {wait(spooltest.Turn{Text: []string{"One", " two"}}), spooltest.Say("never")},
		"tools": {
			{
				Text: []string{"I look."},
				Calls: []spooltest.Call{
					{ID: "c1-" + spool.ToolCallID(gate), Name: "lookup", Args: `{"n":1}`},
					{ID: "c2-" + spool.ToolCallID(gate), Name: "broken"},
				},
			},
			spooltest.Say("Found", " it."),
		},
		"cites": {
			{
				Text:  []string{"I look."},
				Calls: []spooltest.Call{call(1, "lookup", `{"sources":[{"url":"https://example.com/b","title":"B"}]}`)},
			},
			{
				Text: []string{"Ä🙂 it", " is."},
				Sources: []spool.Source{
					{URL: "https://example.com/a", Title: "A", Spans: []spool.Span{{Start: 0, End: 5}}},
					{Title: "a.pdf"},
				},
			},
		},
		"draws": {
			{Text: []string{"Look:"}, Files: []spool.FileMade{{Name: "a.csv", MediaType: "text/csv", Data: []byte("a,b\n")}}},
		},
		"send": {
			{
				Text:  []string{"I send."},
				Calls: []spooltest.Call{{ID: "s-" + spool.ToolCallID(gate), Name: "send", Args: `{"to":"ann"}`}},
			},
			spooltest.Say("Sent", "."),
		},
		"steer": {
			wait(spooltest.Turn{
				Text:  []string{"Right."},
				Calls: []spooltest.Call{{ID: "c-" + spool.ToolCallID(gate), Name: "lookup"}},
			}),
			spooltest.Say("Left", "."),
		},
		"nest": {
			spooltest.Use(spooltest.Call{
				ID: "n-" + spool.ToolCallID(gate), Name: spool.SpawnTool,
				Args: `{"name":"mailer","instructions":"mail ` + gate + `"}`,
			}),
			spooltest.Say("Mailed", "."),
		},
		"mail": {
			{
				Text:  []string{"I write."},
				Calls: []spooltest.Call{{ID: "w-" + spool.ToolCallID(gate), Name: "send", Args: `{"to":"bob"}`}},
			},
			spooltest.Say("Written."),
		},
	}
	switch script {
	case "cut", "same": // the first attempt fails in mid-stream; the second one says something else, or the same
		if step > 0 {
			return spooltest.Say("never")
		}
		first := spooltest.Turn{Text: []string{"Hel", "lo"}, Err: &spool.ModelError{Status: 503}}
		if b.attempt(said) == 1 {
			return first
		}
		if script == "same" {
			return spooltest.Say("He", "llo wo", "rld.")
		}
		return wait(spooltest.Turn{Text: []string{"Good", " day."}})
	case "refused": // the first attempt fails in mid-stream, and the second one says something else and fails for good
		if b.attempt(said) == 1 {
			return spooltest.Turn{Text: []string{"Hel", "lo"}, Err: &spool.ModelError{Status: 503}}
		}
		return wait(spooltest.Turn{Text: []string{"Bye"}, Err: &spool.ModelError{Status: 400}})
	case "fail":
		return spooltest.Turn{Text: []string{"Hel"}, Err: &spool.ModelError{Status: 400, Message: "secret"}}
	}
	all := turns[script]
	if step >= len(all) {
		return spooltest.Turn{Err: &spool.ModelError{Status: 400, Message: fmt.Sprintf("%q has no step %d", said, step)}}
	}
	return all[step]
}

// Both versions of the client pass the same scripts.
func TestClients(t *testing.T) {
	t.Parallel()

	for _, version := range []string{"6", "7"} {
		for _, script := range []string{"chat.mjs", "questions.mjs", "turns.mjs", "ends.mjs", "refusals.mjs", "made.mjs"} {
			t.Run(version+"/"+script, func(t *testing.T) {
				t.Parallel()
				b := setup(t)
				address := b.url
				if script == "refusals.mjs" {
					address = b.guarded
				}
				node(t, script, version, address, b.control)
			})
		}
	}
}
