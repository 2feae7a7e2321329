package aisdk_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/server/aisdk"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

var key = spool.ThreadKey{Tenant: "acme", ID: "t"}

// client is a client that applies the chunks of a stream to its message.
type client struct {
	t          *testing.T
	engine     *engine.Engine
	translator *aisdk.Translator
	message    aisdk.Message
	text       []byte // of the stream
	over       chan struct{}
	cancel     context.CancelFunc
}

// come has a client come that sees the run as it is, or from where it was in from.
func come(t *testing.T, e *engine.Engine, o aisdk.Options) *client {
	t.Helper()
	o.RunID, o.Address = "r1", address
	o.Load = func() (*wire.FormedSnapshot, error) { return e.FormedSnapshot(context.Background(), key, aisdk.Form) }
	c := &client{
		t: t, engine: e, translator: aisdk.New(o), over: make(chan struct{}),
		message: aisdk.Message{Role: spool.RoleAssistant, Parts: []aisdk.Part{}},
	}
	first, err := o.Load()
	if err != nil {
		t.Fatal(err)
	}
	at := first.Cursor()
	if c.translator.BeganSince(first) {
		began, err := e.BeforeSegment(t.Context(), key, "r1", o.From.Segments+1)
		if err != nil {
			t.Fatal(err)
		}
		at = *began
		c.take(c.translator.Replay(first, at))
	} else {
		c.take(c.translator.Prelude(first))
	}
	var ctx context.Context
	ctx, c.cancel = context.WithCancel(context.Background())
	go func() {
		defer close(c.over)
		if c.translator.Done() {
			return
		}
		follower, err := e.FollowFormed(ctx, key, wire.FollowOptions{Cursor: &at}, aisdk.Form)
		if err != nil {
			return
		}
		for frames, err := range follower.Frames(ctx, 0) {
			for _, f := range frames {
				if c.take(c.translator.Frame(f)); c.translator.Done() {
					return
				}
			}
			if err != nil {
				return
			}
		}
	}()
	synctest.Wait()
	return c
}

func (c *client) take(chunks []aisdk.Chunk, err error) {
	c.t.Helper()
	if err != nil {
		c.t.Error(err)
	}
	for _, chunk := range chunks {
		c.message.Apply(chunk)
		if c.text, err = aisdk.AppendChunk(c.text, chunk); err != nil {
			c.t.Error(err)
		}
	}
}

// saw has the client go.
func (c *client) saw() aisdk.Message {
	c.cancel()
	<-c.over
	return c.message
}

// saved returns the message of the run as the thread has it.
func saved(t *testing.T, e *engine.Engine, v aisdk.Version) aisdk.Message {
	t.Helper()
	s, err := e.Snapshot(t.Context(), key, nil)
	if err != nil {
		t.Fatal(err)
	}
	messages, err := aisdk.Messages(v, s, nil, address)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range messages {
		if m.ID == "r1" {
			return m
		}
	}
	return aisdk.Message{}
}

// shown returns what a client shows of a message. It leaves out what only a stream knows, or only the saved messages:
// the questions and what was answered.
func shown(t *testing.T, m aisdk.Message) []string {
	t.Helper()
	lines := []string{m.ID}
	for _, p := range m.Parts {
		p.Approval = nil
		text, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(text))
	}
	return lines
}

func settle(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// address is where a page reads a file of the thread.
func address(id spool.ArtifactID) string { return "/files/" + string(id) + "?of=t" }

func newEngine(t *testing.T, model spool.Model) *engine.Engine {
	t.Helper()
	tool := func(name string, result string) spool.Tool {
		return spool.Tool{
			ToolSpec: spool.ToolSpec{Name: name},
			Call: func(context.Context, spool.ToolCall) (json.RawMessage, error) {
				return json.RawMessage(result), nil
			},
		}
	}
	send := tool("send", `"sent"`)
	send.Approval = spool.AlwaysApprove
	hang := spool.Tool{
		ToolSpec: spool.ToolSpec{Name: "hang"},
		Call: func(ctx context.Context, _ spool.ToolCall) (json.RawMessage, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		},
	}
	e, err := engine.New(memory.New(nil), engine.Config{
		Agents: []spool.Agent{{
			Name: "a", Model: "m", Tools: []spool.Tool{
				send, tool("lookup", `{"found":1}`), tool("search", `{"sources":[{"url":"https://example.com/b","title":"B"}]}`),
				hang,
			},
			Spawn: &spool.Spawn{Profiles: map[string]spool.Profile{"mailer": {Tools: []spool.Tool{send, tool("lookup", `1`)}}}},
		}},
		Models: map[string]spool.Model{"m": model}, Stream: option.Stream{FlushEvery: -1}, Log: slog.New(slog.DiscardHandler),
		ParkTTL: 15 * time.Minute,
	})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func work(t *testing.T, e *engine.Engine) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- e.Work(ctx, engine.WorkOptions{}) }()
	return func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func respond(t *testing.T, e *engine.Engine, id spool.ToolCallID) {
	t.Helper()
	if got, err := e.Respond(t.Context(), key, wire.Response{ToolCallID: id, Approved: true}); err != nil ||
		!got.Delivered {
		t.Fatal(got, err)
	}
}

// After the end of a run, a client that followed it shows what the thread has saved, and so does one that comes then. A
// client of version 6 that is cut off is shown by the one that comes then.
func TestShowsWhatIsSaved(t *testing.T) {
	t.Parallel()

	retried := func(again ...string) []spooltest.Turn {
		return []spooltest.Turn{{Text: []string{"Hel", "lo"}, Err: &spool.ModelError{Status: 503}}, {Text: again}}
	}
	drawn := []spool.FileMade{
		{Name: "a.csv", MediaType: "text/csv", Data: []byte("a,b\n")},
		{MediaType: "text/plain", Data: []byte("one")},
	}
	half := spooltest.Turn{Text: []string{"Look:"}, Files: drawn[:1], Err: &spool.ModelError{Status: 503}}
	for name, c := range map[string]struct {
		turns []spooltest.Turn
		play  func(*testing.T, *engine.Engine)
		// cut says that a client of version 6 has to resume.
		cut bool
		has string // in the stream of version 7
	}{
		"Text": {
			turns: []spooltest.Turn{{Reasoning: []string{"h", "m"}, Text: []string{"a", "b"}, Usage: spooltest.Tokens(1, 2)}},
			has:   `"reasoning-delta"`,
		},
		"Tools": {turns: []spooltest.Turn{
			{
				Text:  []string{"Look."},
				Calls: []spooltest.Call{{ID: "c1", Name: "lookup", Args: `{"n":1}`}, {ID: "c2", Name: "nothing", Args: "no json"}},
			},
			spooltest.Say("Done."),
		}, has: `{"type":"tool-output-error","toolCallId":"c2"`},
		"Cites": {
			turns: []spooltest.Turn{
				{
					Text:    []string{"Look."},
					Sources: []spool.Source{{Title: "report.pdf"}},
					Calls:   []spooltest.Call{{ID: "c1", Name: "search"}, {ID: "c2", Name: "lookup"}},
				},
				{
					Text:    []string{"Done."},
					Sources: []spool.Source{{URL: "https://example.com/a", Title: "A", Spans: []spool.Span{{Start: 0, End: 4}}}},
				},
			},
			has: `{"type":"source-url","url":"https://example.com/a","sourceId":"r1:s2:c1","title":"A","providerMetadata":{"spool":{"spans":[{"start":0,"end":4}]}}}`,
		},
		"Draws": {turns: []spooltest.Turn{
			{Text: []string{"Look:"}, Files: drawn, Calls: []spooltest.Call{{ID: "c1", Name: "lookup"}}}, {Files: drawn[:1]},
		}, has: `{"type":"file","url":"/files/art_`},
		"DrawsAgain": {
			turns: []spooltest.Turn{half, {Text: []string{"Look:"}, Files: drawn}}, has: `{"type":"reset-step"}`,
		},
		"DrawsAnother": {
			turns: []spooltest.Turn{half, {Text: []string{"Look:"}, Files: drawn[1:]}}, cut: true, has: `{"type":"reset-step"}`,
		},
		"DrawsNoMore": {turns: []spooltest.Turn{half, spooltest.Say("Look:")}, cut: true, has: `{"type":"reset-step"}`},
		"Asks": {
			turns: []spooltest.Turn{spooltest.Use(spooltest.Call{ID: "c1", Name: "send"})},
			has:   `"tool-approval-request","toolCallId":"c1","approvalId":"c1#sha256:`,
		},
		"Redone":        {turns: retried("Good", " day."), cut: true, has: `{"type":"reset-step"}`},
		"RedoneAlike":   {turns: retried("He", "llo wor", "ld"), has: `{"type":"reset-step"}`},
		"RedoneShorter": {turns: retried("Hel"), cut: true, has: `{"type":"reset-step"}`},
		"RedoneTheSame": {turns: retried("Hello"), has: `{"type":"reset-step"}`},
		"Stopped": {
			turns: []spooltest.Turn{{Text: []string{"said"}, Calls: []spooltest.Call{{ID: "c1", Name: "hang"}}}},
			play: func(t *testing.T, e *engine.Engine) {
				t.Helper()
				if got, err := e.Stop(t.Context(), key); err != nil || !got.Accepted {
					t.Fatal(got, err)
				}
			}, has: `{"type":"abort"`,
		},
		"Nested": {turns: []spooltest.Turn{
			spooltest.Use(spooltest.Call{ID: "s1", Name: spool.SpawnTool, Args: `{"name":"mailer","instructions":"Mail ann."}`}),
			{Text: []string{"I write."}, Calls: []spooltest.Call{{ID: "c1", Name: "lookup"}}},
			spooltest.Say("Written."), spooltest.Say("Done."),
		}, has: `"data-subagent-delta"`},
	} {
		for _, v := range []aisdk.Version{aisdk.V6, aisdk.V7} {
			t.Run(name+string(rune('0'+v)), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					e := newEngine(t, spooltest.NewModel(c.turns...))
					if got, err := e.Run(t.Context(), key, wire.StartRequest{Prompt: "hello", RunID: "r1"}); err != nil ||
						!got.Accepted {
						t.Fatal(got, err)
					}
					follower := come(t, e, aisdk.Options{Version: v, From: &wire.Run{ID: "r1"}})
					stop := work(t, e)
					settle(time.Second)
					if c.play != nil {
						c.play(t, e)
					}
					settle(time.Minute)
					stop()
					want, got := saved(t, e, v), follower.saw()
					if cut := v == aisdk.V6 && c.cut; follower.translator.Cut() != cut {
						t.Fatalf("the stream is cut: %v\n%s", !cut, follower.text)
					}
					if diff := cmp.Diff(shown(t, want), shown(t, got)); diff != "" && !follower.translator.Cut() &&
						(v == aisdk.V7 || name != "Stopped") {
						t.Errorf("-saved +followed\n%s\nafter\n%s", diff, follower.text)
					}
					late := come(t, e, aisdk.Options{Version: v})
					if diff := cmp.Diff(shown(t, want), shown(t, late.saw())); diff != "" {
						t.Errorf("-saved +late\n%s", diff)
					}
					if v == aisdk.V7 && !strings.Contains(string(follower.text), c.has) {
						t.Errorf("there is no %s in\n%s", c.has, follower.text)
					}
					for _, later := range []string{`"reset-step"`, `"steering-message"`} {
						if v == aisdk.V6 && strings.Contains(string(follower.text), later) {
							t.Errorf("a client of version 6 gets %s", later)
						}
					}
				})
			})
		}
	}
}

// A client that answers goes on with its own copy: it gets the results and what follows, and nothing again.
func TestContinues(t *testing.T) {
	t.Parallel()

	nested := func() []spooltest.Turn {
		return []spooltest.Turn{
			spooltest.Use(spooltest.Call{ID: "s1", Name: spool.SpawnTool, Args: `{"name":"mailer","instructions":"Mail ann."}`}),
			{Text: []string{"I write."}, Calls: []spooltest.Call{{ID: "c1", Name: "send"}}},
			spooltest.Say("Written."), spooltest.Say("Done."),
		}
	}
	for name, c := range map[string]struct {
		turns []spooltest.Turn
		call  spool.ToolCallID
		late  bool // the client comes after the run has gone on
	}{
		"AtOnce": {
			[]spooltest.Turn{
				{Text: []string{"I send."}, Calls: []spooltest.Call{{ID: "c1", Name: "send"}}}, spooltest.Say("Done."),
			},
			"c1", false,
		},
		"Late": {
			[]spooltest.Turn{
				{Text: []string{"I send."}, Calls: []spooltest.Call{{ID: "c1", Name: "send"}}}, spooltest.Say("Done."),
			},
			"c1", true,
		},
		"Nested":     {nested(), "c1-dg29gg", false},
		"NestedLate": {nested(), "c1-dg29gg", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				e := newEngine(t, spooltest.NewModel(c.turns...))
				if got, err := e.Run(t.Context(), key, wire.StartRequest{Prompt: "hello", RunID: "r1"}); err != nil ||
					!got.Accepted {
					t.Fatal(got, err)
				}
				stop := work(t, e)
				settle(time.Second)
				before := come(t, e, aisdk.Options{Version: aisdk.V7}).saw()
				s, err := e.Snapshot(t.Context(), key, nil)
				if err != nil {
					t.Fatal(err)
				}
				from := s.Runs[len(s.Runs)-1] // the oldest, and so the parent
				respond(t, e, c.call)
				if c.late {
					settle(time.Second)
				}
				copied := map[spool.ToolCallID]aisdk.Part{}
				for _, p := range before.Parts {
					if p.ToolCallID != "" {
						copied[p.ToolCallID] = p
					}
				}
				o := aisdk.Options{Version: aisdk.V7, Copied: copied, From: &from}
				if name == "NestedLate" {
					o.From = nil // somebody else has answered
				}
				after := come(t, e, o)
				after.message.Parts = before.Parts
				for chunk := range strings.SplitSeq(string(after.text), "\n\n") { // it came before the copy was there
					var c aisdk.Chunk
					if data, ok := strings.CutPrefix(chunk, "data: "); ok && json.Unmarshal([]byte(data), &c) == nil {
						after.message.Apply(c)
					}
				}
				settle(time.Second)
				stop()
				got := after.saw()
				if diff := cmp.Diff(shown(t, saved(t, e, aisdk.V7)), shown(t, got)); diff != "" {
					t.Errorf("-saved +continued\n%s\nafter\n%s", diff, after.text)
				}
				for _, again := range []string{"I send.", `"tool-input-start"`, `"tool-approval-request"`} {
					if strings.Contains(string(after.text), again) {
						t.Errorf("it gets %s again", again)
					}
				}
			})
		})
	}
}
