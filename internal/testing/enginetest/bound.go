package enginetest

import (
	"context"
	"iter"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

var boundTests = map[string]func(s emptyTest){
	"Text":      testBoundText,
	"Whole":     testBoundWhole,
	"Reasoning": testBoundReasoning,
	"Arguments": testBoundArguments,
	"Calls":     testBoundCalls,
	"Nothing":   testBoundNothing,
	"Default":   testBoundDefault,
	"Results":   testBoundResults,
	"Approved":  testBoundApproved,
	"Summary":   testBoundSummary,
	"Config":    testBoundConfig,
}

// talkative is a model whose answers do not end by themselves: after the events in head, next returns
// one more event for ever.
type talkative struct {
	head  []spool.ModelEvent
	next  func(n int) spool.ModelEvent
	kind  spool.UsageKind // the kind of requests that are answered like this; others are echoed
	given atomic.Int64
	ended atomic.Bool // the request was cancelled
}

func (m *talkative) Stream(ctx context.Context, r spool.ModelRequest) iter.Seq2[spool.ModelEvent, error] {
	if r.Kind != m.kind {
		return echo().Stream(ctx, r)
	}
	return func(yield func(spool.ModelEvent, error) bool) {
		for _, event := range m.head {
			if !yield(event, nil) {
				m.ended.Store(true)
				return
			}
		}
		for n := range 1 << 30 {
			m.given.Add(1)
			if !yield(m.next(n), nil) {
				m.ended.Store(true)
				return
			}
		}
	}
}

// cutAt lets the talkative model answer r1, with answers bounded to the given bytes, and returns the
// resulting message.
func (s emptyTest) cutAt(bytes int, m *talkative) spool.Message {
	s.Helper()
	c := s.config(m, plain("look", "1"))
	c.Limits.AnswerBytes = bytes
	e := s.engine(c)
	s.start(e, "r1", "go")
	client := s.watch(e, &spooltest.Client{Name: "live", FromStart: true}, wire.FollowOptions{})
	s.work(e)
	s.ended(wire.Completed)
	s.tellsEnd(wire.StopLength)
	<-time.After(quiet)
	client()
	if !m.ended.Load() || s.executed() != 0 {
		s.Errorf("the request has ended: %t, and %d tools were called", m.ended.Load(), s.executed())
	}
	messages := s.messagesOf(chat)
	if len(messages) < 2 {
		s.Fatal("nothing of the answer was saved")
	}
	return messages[1]
}

// testBoundText has a model that speaks for ever. Its answer is cut within the bound, between two
// characters, and the request ends.
func testBoundText(s emptyTest) {
	text := s.cutAt(1000, &talkative{next: func(int) spool.ModelEvent { return spool.TextDelta{Text: "äöü€"} }}).
		Text()
	if len(text) > 1000 || len(text) < 800 || !utf8.ValidString(text) || !strings.HasPrefix(text, "äöü€ä") {
		s.Errorf("%d bytes are saved: %q", len(text), text)
	}
}

// testBoundWhole has a server that does not stream but sends everything at once.
func testBoundWhole(s emptyTest) {
	text := s.cutAt(1000, &talkative{
		next: func(int) spool.ModelEvent { return spool.TextDelta{Text: strings.Repeat("€", 1<<20)} },
	}).Text()
	if len(text) != 999 || text != strings.Repeat("€", 333) {
		s.Errorf("%d bytes are saved", len(text))
	}
}

func testBoundReasoning(s emptyTest) {
	m := s.cutAt(1000, &talkative{next: func(int) spool.ModelEvent { return spool.ReasoningDelta{Text: "hm "} }})
	if n := len(m.Content[0].Text); m.Content[0].Type != spool.PartReasoning || n > 1000 || n < 700 {
		s.Errorf("%d bytes are saved of %s", n, m.Content[0].Type)
	}
}

// testBoundArguments has a model that writes arguments for ever. The call is closed for clients and
// gets a result that says that it did not run. The thread continues.
func testBoundArguments(s emptyTest) {
	m := &talkative{
		head: []spool.ModelEvent{
			spool.TextDelta{Text: "I look."},
			spool.ToolCallStart{ID: "c1", Name: "look"},
			spool.ToolCallEnd{ID: "c1", Name: "look", Args: `{"a":1}`},
			spool.ToolCallStart{ID: "c2", Name: "look"},
			spool.ToolCallDelta{ID: "c2", Args: `{"b":"`},
		},
		next: func(int) spool.ModelEvent { return spool.ToolCallDelta{ID: "c2", Args: "xxxxxxxxxxxxxxxx"} },
	}
	calls := s.cutAt(16<<10, m).ToolCalls()
	if len(calls) != 2 || string(calls[0].Args) != `{"a":1}` || calls[1].ToolName != "look" ||
		!strings.HasPrefix(string(calls[1].Args), `"{\"b\":\"xxxx`) || len(calls[1].Args) > 9<<10 {
		s.Fatalf("the calls are %+v", calls)
	}
	var results []spool.Part
	for _, message := range s.messagesOf(chat) {
		results = append(results, message.ToolResults()...)
	}
	if len(results) != 2 || !strings.Contains(string(results[0].Result), "before its calls could run") ||
		!strings.Contains(string(results[1].Result), "before its calls could run") {
		s.Errorf("the results are %+v", results)
	}
	open := make(map[wire.ItemType]int)
	for _, item := range s.streamOf("r1:1") {
		open[item.Type]++
	}
	if open[wire.ItemToolStart] != 2 || open[wire.ItemToolEnd] != 2 || open[wire.ItemToolResult] != 2 {
		s.Errorf("the stream has %v", open)
	}
}

// testBoundCalls has a model that makes calls for ever.
func testBoundCalls(s emptyTest) {
	calls := s.cutAt(100<<10, &talkative{next: func(n int) spool.ModelEvent {
		id := spool.ToolCallID("c" + string(rune('a'+n/2%26)) + strings.Repeat("x", n/52))
		if n%2 == 0 {
			return spool.ToolCallStart{ID: id, Name: "look"}
		}
		return spool.ToolCallEnd{ID: id, Name: "look", Args: "{}"}
	}}).ToolCalls()
	if len(calls) > 25 || len(calls) < 20 {
		s.Errorf("%d calls are saved", len(calls))
	}
}

// testBoundNothing has a model that sends empty events after a word.
func testBoundNothing(s emptyTest) {
	m := &talkative{
		head: []spool.ModelEvent{spool.TextDelta{Text: "x"}},
		next: func(int) spool.ModelEvent { return spool.UsageSeen{Usage: spooltest.Tokens(7, 1)} },
	}
	if text := s.cutAt(1000, m).Text(); text != "x" || m.given.Load() > 1000 {
		s.Errorf("%q is saved after %d events", text, m.given.Load())
	}
	if used := s.run("r1").InputTokens; used != 7 {
		s.Errorf("%d tokens are counted", used)
	}
}

// testBoundDefault has a model that says 64 MB while no bound is configured.
func testBoundDefault(s emptyTest) {
	m := &talkative{next: func(int) spool.ModelEvent { return spool.TextDelta{Text: strings.Repeat("x", 64<<10)} }}
	if n := len(s.cutAt(0, m).Text()); n > 4<<20 || n < 4<<20-64<<10 || m.given.Load() > 65 {
		s.Errorf("%d bytes are saved of %d pieces", n, m.given.Load())
	}
}

// testBoundResults has tools whose results are too long for a step, alone or together. The model reads
// that, and the run continues.
func testBoundResults(s emptyTest) {
	long := plain("long", `"`+strings.Repeat("x", 10000)+`"`)
	half := plain("half", `"`+strings.Repeat("y", 5000)+`"`)
	c := s.config(spooltest.NewModel(
		spooltest.Use(spooltest.Call{ID: "c1", Name: "long"}, spooltest.Call{ID: "c2", Name: "half"}),
		spooltest.Use(spooltest.Call{ID: "c3", Name: "half"}, spooltest.Call{ID: "c4", Name: "half"}), spooltest.Say("done"),
	), long, half)
	c.Limits.StepBytes = 9000
	s.start(s.working(c), "r1", "go")
	s.ended(wire.Completed)
	s.tellsEnd(wire.StopCompleted)
	results := make(map[spool.ToolCallID]string)
	for _, m := range s.messagesOf(chat) {
		for _, p := range m.ToolResults() {
			results[p.ToolCallID] = string(p.Result)
		}
	}
	const refused = "error: the tool ran, and its result of "
	if !strings.Contains(results["c1"], refused+"10002 bytes") || len(results["c2"]) != 5002 {
		s.Errorf("the results are %.100s and %.100s", results["c1"], results["c2"])
	}
	if a, b := strings.Contains(results["c3"], refused), strings.Contains(results["c4"], refused); a == b {
		s.Errorf("the results are %.100s and %.100s", results["c3"], results["c4"])
	}
	if s.executed() != 4 {
		s.Errorf("%d calls of tools", s.executed())
	}
}

// testBoundApproved approves a call whose result is too long.
func testBoundApproved(s emptyTest) {
	c := s.config(sending(), approved("send", `"`+strings.Repeat("x", 5000)+`"`))
	c.Limits.StepBytes = 4500
	e := s.working(c)
	s.start(e, "r1", "go")
	s.becomes(wire.WaitingForInput)
	s.answer(e, "c1", true, "")
	s.ended(wire.Completed)
	if got := s.script()[2]; !strings.Contains(got, `{"error":"the tool ran, and its result of 5002 bytes is longer`) {
		s.Errorf("the model reads %.200s", got)
	}
}

// testBoundSummary has a summarising model whose answer does not end.
func testBoundSummary(s emptyTest) {
	m := &talkative{
		kind: spool.UsageCompaction,
		next: func(int) spool.ModelEvent { return spool.TextDelta{Text: strings.Repeat("long ", 100)} },
	}
	c := s.config(m)
	c.Limits.AnswerBytes = 100 << 10
	e := s.working(c)
	for _, run := range []spool.RunID{"r1", "r2", "r3"} {
		s.start(e, run, "tell me "+strings.Repeat("more ", 2000))
		s.ended(wire.Completed)
	}
	r, err := e.Compact(context.Background(), chat)
	if err != nil || !r.Compacted || !m.ended.Load() || m.given.Load() > 300 {
		s.Errorf("compact: %+v, %v, after %d pieces", r, err, m.given.Load())
	}
}

func testBoundConfig(s emptyTest) {
	for _, c := range []struct{ answer, step int }{{-1, 0}, {0, -1}, {2000, 1000}} {
		config := s.config(echo())
		config.Limits.AnswerBytes, config.Limits.StepBytes = c.answer, c.step
		if _, err := engine.New(s.backend, config); spool.CodeOf(err) != spool.Invalid {
			s.Errorf("%+v: %v", c, err)
		}
	}
}
