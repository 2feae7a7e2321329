package enginetest

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/compare"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

var stepTests = map[string]func(s *engineTest){
	"ToolLoop":           testStepToolLoop,
	"ParallelTools":      testStepParallelTools,
	"ResultsInOrder":     testStepResultsInOrder,
	"ReusedCallID":       testStepReusedCallID,
	"SaveBeforeAnnounce": testStepSaveBeforeAnnounce,
	"IdempotencyKey":     testStepIdempotencyKey,
}

func testStepToolLoop(s *engineTest) {
	m := spooltest.NewModel(
		spooltest.Turn{
			Reasoning: []string{"hm"},
			Text:      []string{"let me ", "see"},
			Calls:     []spooltest.Call{{ID: "c1", Name: "look", Args: `{"at":1}`}},
			Usage:     spooltest.Tokens(10, 2),
		},
		spooltest.Turn{Text: []string{"done"}, Usage: spooltest.Tokens(20, 3)},
	)
	e := s.working(s.config(m, plain("look", `{"n":1}`)))
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	s.lines("messages", s.script(), "user go", `assistant (hm) let me see c1=look{"at":1}`, `tool c1:{"n":1}`,
		"assistant done")
	s.lines("record", s.record(), "RUN_STARTED r1:1", "RUN_ENDED r1:1 finished")
	r := s.run("r1")
	want := spool.TokenCount{InputTokens: 30, OutputTokens: 5, TotalTokens: 35}
	if r.Steps != 2 || r.StopReason != wire.StopCompleted || r.TokenCount != want || r.Draft != nil {
		s.Errorf("run: %+v", r)
	}
	asked := m.Requests()[1].Messages
	if len(asked) != 3 || messageLine(asked[2]) != `tool c1:{"n":1}` {
		s.Errorf("the second request: %+v", asked)
	}
}

func testStepParallelTools(s *engineTest) {
	meet := make(chan struct{})
	tool := func(name string, give bool) spool.Tool {
		return spool.Tool{
			ToolSpec: spool.ToolSpec{Name: name},
			Call: func(ctx context.Context, _ spool.ToolCall) (json.RawMessage, error) {
				if give {
					select {
					case meet <- struct{}{}:
					case <-ctx.Done():
					}
				} else {
					<-meet
				}
				return json.RawMessage(`"` + name + `"`), nil
			},
		}
	}
	e := s.working(s.config(spooltest.NewModel(
		spooltest.Use(spooltest.Call{ID: "c1", Name: "a"}, spooltest.Call{ID: "c2", Name: "b"}), spooltest.Say("done"),
	), tool("a", false), tool("b", true)))
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	s.lines("messages", s.script(), "user go", "assistant c1=a{} c2=b{}", `tool c1:"a" c2:"b"`, "assistant done")
}

// testStepResultsInOrder has calls that return in another order than they were made. A client that follows shows their
// results as they are saved.
func testStepResultsInOrder(s *engineTest) {
	after := func(name string, wait time.Duration) spool.Tool {
		return spool.Tool{
			ToolSpec: spool.ToolSpec{Name: name},
			Call: func(context.Context, spool.ToolCall) (json.RawMessage, error) {
				<-time.After(wait)
				return json.RawMessage(`"` + name + `"`), nil
			},
		}
	}
	e := s.working(s.config(spooltest.NewModel(
		spooltest.Use(
			spooltest.Call{ID: "c1", Name: "late"}, spooltest.Call{ID: "c2", Name: "nothing"},
			spooltest.Call{ID: "c3", Name: "soon"},
			spooltest.Call{ID: "c4", Name: "send"}, spooltest.Call{ID: "c5", Name: "now"},
		), spooltest.Say("done"),
	), after("late", 30*time.Millisecond), after("soon", 10*time.Millisecond), after("now", 0), approved("send", "1")))
	s.start(e, "r1", "go")
	client := s.watch(e, &spooltest.Client{Name: "live", FromStart: true}, wire.FollowOptions{})
	s.becomes(wire.WaitingForInput)
	s.answer(e, "c4", true, "")
	s.ended(wire.Completed)
	<-time.After(quiet)
	client()
	s.lines("messages", s.script(), "user go", "assistant c1=late{} c2=nothing{} c3=soon{} c4=send{} c5=now{}",
		`tool c1:"late" c2:"error: unknown tool nothing" c3:"soon" c5:"now"`, `tool c4:1`, "assistant done")
}

// testStepReusedCallID has a provider that counts its calls from one in each answer.
func testStepReusedCallID(s *engineTest) {
	m := spooltest.NewModel(spooltest.Use(spooltest.Call{ID: "c1", Name: "look"}),
		spooltest.Use(spooltest.Call{ID: "c1", Name: "look"}), spooltest.Say("done"))
	e := s.working(s.config(m, plain("look", "1")))
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	if n := s.executed(); n != 2 {
		s.Errorf("%d calls", n)
	}
	calls := make(map[spool.ToolCallID]bool)
	for _, message := range s.messagesOf(chat) {
		for _, p := range message.ToolCalls() {
			calls[p.ToolCallID] = true
		}
	}
	if len(calls) != 2 {
		s.Errorf("the ids of the calls are %v", calls)
	}
}

func testStepIdempotencyKey(s *engineTest) {
	e := s.working(
		s.config(
			spooltest.NewModel(spooltest.Use(spooltest.Call{ID: "c1", Name: "look"}),
				spooltest.Use(spooltest.Call{ID: "c2", Name: "look"}), spooltest.Say("done")),
			plain("look", "1"),
		),
	)
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	for i, want := range []string{"r1/1/c1/", "r1/2/c2/"} {
		if got := s.history.Executions[i].Call.IdempotencyKey(); !strings.HasPrefix(got, want) || len(got) != len(want)+32 {
			s.Errorf("call %d has the key %s, want %s and 32 digits", i, got, want)
		}
	}
}

// announced checks that everything that an item announces is already saved.
type announced struct {
	store.Live

	s *engineTest
}

func (a announced) Append(ctx context.Context, key store.StreamKey, items []wire.Item) error {
	for _, item := range items {
		a.look(key, item)
	}
	return a.Live.Append(ctx, key, items)
}

func (a announced) Close(ctx context.Context, key store.StreamKey, end wire.Item, grace time.Duration) error {
	a.look(key, end)
	return a.Live.Close(ctx, key, end, grace)
}

func (a announced) look(key store.StreamKey, item wire.Item) {
	all := a.s.all(key.Thread, "r1")
	run := all.Runs[0]
	switch item.Type {
	case wire.ItemStepFinished:
		var p wire.StepFinished
		_ = item.Decode(&p)
		if run.Steps < p.Step || run.Saved.Compare(item.Offset) >= 0 || run.Saved.N < item.Offset.N-1 {
			a.s.Errorf("step %d is announced at %s, and %d steps are saved up to %s", p.Step, item.Offset, run.Steps, run.Saved)
		}
	case wire.ItemToolResult:
		var p wire.ToolResulted
		_ = item.Decode(&p)
		if !hasResult(all, p) {
			a.s.Errorf("the result of %s is announced before it is saved", p.ToolCallID)
		}
	case wire.ItemInputRequired:
		if run.State != wire.WaitingForInput {
			a.s.Errorf("a park is announced while the run is %s", run.State)
		}
	case wire.ItemRunFinished, wire.ItemRunError:
		last := all.Entries[len(all.Entries)-1]
		if last.Type != wire.EntryRunEnded || last.Stream != key.ID || last.After != item.Offset {
			a.s.Errorf("the end is announced at %s after the entry %+v", item.Offset, last)
		}
	default:
	}
}

func hasResult(all compare.Contents, p wire.ToolResulted) bool {
	for _, e := range all.Effects {
		if e.ToolCallID == p.ToolCallID && e.State == wire.EffectDone {
			return true
		}
	}
	for _, m := range all.Messages {
		for _, part := range m.ToolResults() {
			if part.ToolCallID == p.ToolCallID {
				return true
			}
		}
	}
	return false
}

func testStepSaveBeforeAnnounce(s *engineTest) {
	m := spooltest.NewReplayModel(
		spooltest.Turn{
			Text: []string{"a"},
			Calls: []spooltest.Call{
				{ID: "c1", Name: "look"}, {ID: "c2", Name: "look"}, {ID: "c3", Name: "nope"}, {ID: "c4", Name: "send"},
			},
		},
		spooltest.Say("b"), spooltest.Say("never"),
	)
	c := s.config(m, plain("look", "1"), approved("send", "2"))
	b := s.join()
	b.Live = announced{b.Live, s}
	e := s.over(b, c)
	s.work(e)
	s.start(e, "r1", "go")
	s.becomes(wire.WaitingForInput)
	s.answer(e, "c4", true, "")
	s.ended(wire.Completed)
}
