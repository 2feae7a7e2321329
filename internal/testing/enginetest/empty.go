package enginetest

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// emptyTest is the fixture of the cases about answers that are empty or cut off.
type emptyTest struct{ *engineTest }

var emptyTests = map[string]func(s emptyTest){
	"Once":     testEmptyOnce,
	"Twice":    testEmptyTwice,
	"NoName":   testEmptyNoName,
	"Fails":    testEmptyFails,
	"CutCalls": testEmptyCutCalls,
	"Filter":   testEmptyFilter,
	"Unknown":  testEmptyUnknown,
	"MaxSteps": testEmptyMaxSteps,
	"Settle":   testEmptySettle,
	"Nested":   testEmptyNested,
}

// tellsEnd checks that the run, its record, its stream and its thread's state all have the reason of
// its end.
func (s emptyTest) tellsEnd(want wire.StopReason) {
	s.Helper()
	run := s.run("r1")
	if run.State != wire.Completed || run.StopReason != want {
		s.Errorf("the run is %s, %s, want %s", run.State, run.StopReason, want)
	}
	said := want
	if want == wire.StopCompleted {
		said = ""
	}
	entries := s.entriesOf(chat)
	var ended wire.RunEnded
	if err := json.Unmarshal(entries[len(entries)-1].Payload, &ended); err != nil {
		s.Fatal(err)
	}
	if ended.Status != wire.SegmentFinished || ended.StopReason != said {
		s.Errorf("the record ends with %s", entries[len(entries)-1].Payload)
	}
	items := s.streamOf(run.Stream())
	var finished wire.StreamFinished
	if err := json.Unmarshal(items[len(items)-1].Data, &finished); err != nil {
		s.Fatal(err)
	}
	if finished.FinishReason != want {
		s.Errorf("the stream ends with %s", items[len(items)-1].Data)
	}
}

// streamOf returns the items of a stream of the thread.
func (s emptyTest) streamOf(id wire.StreamID) []wire.Item {
	s.Helper()
	chunk, err := s.backend.Live.Read(context.Background(), store.StreamKey{Thread: chat, ID: id}, wire.Offset{}, 0)
	if err != nil || len(chunk.Items) == 0 {
		s.Fatalf("the stream %s has %d items: %v", id, len(chunk.Items), err)
	}
	return chunk.Items
}

// plays lets a model give the answers to r1, and returns the model.
func (s emptyTest) plays(turns ...spooltest.Turn) *spooltest.Model {
	s.Helper()
	m := spooltest.NewModel(turns...)
	e := s.working(s.config(m, plain("look", "1")))
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	return m
}

// testEmptyOnce has a model whose first answer is empty. It is asked once more, in the same segment and
// step, and both answers are charged.
func testEmptyOnce(s emptyTest) {
	m := s.plays(spooltest.Turn{Usage: spooltest.Tokens(10, 1)},
		spooltest.Turn{Text: []string{"hello"}, Usage: spooltest.Tokens(10, 5)})
	s.tellsEnd(wire.StopCompleted)
	s.lines("messages", s.script(), "user go", "assistant hello")
	s.lines("record", s.record(), "RUN_STARTED r1:1", "RUN_ENDED r1:1 finished")
	run := s.run("r1")
	if want := (spool.TokenCount{InputTokens: 20, OutputTokens: 6, TotalTokens: 26}); m.Asked() != 2 || run.Steps != 1 ||
		run.TokenCount != want {
		s.Errorf("asked %d times, and the run is %+v", m.Asked(), run)
	}
	rows := s.usage(wire.UsageQuery{})
	if len(rows) != 2 || rows[0].Outcome == rows[1].Outcome || rows[0].Step != 1 || rows[1].Step != 1 {
		s.Errorf("the ledger has %+v", rows)
	}
}

// testEmptyTwice has a model whose answers are all empty. The run says so, and the thread continues.
func testEmptyTwice(s emptyTest) {
	m := spooltest.NewModel(spooltest.Turn{}, spooltest.Turn{}, spooltest.Say("now"))
	e := s.working(s.config(m))
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	s.tellsEnd(wire.StopEmpty)
	s.lines("messages", s.script(), "user go")
	if m.Asked() != 2 {
		s.Errorf("asked %d times", m.Asked())
	}
	s.start(e, "r2", "and?")
	s.ended(wire.Completed)
	s.lines("messages", s.script(), "user go", "user and?", "assistant now")
}

// testEmptyNoName has a model that makes a call without a name. Clients do not see such a call.
func testEmptyNoName(s emptyTest) {
	nobody := spooltest.Use(spooltest.Call{ID: "c1", Args: `{"a":1}`})
	m := s.plays(nobody, nobody)
	s.tellsEnd(wire.StopEmpty)
	s.lines("messages", s.script(), "user go")
	for _, item := range s.streamOf("r1:1") {
		if strings.HasPrefix(string(item.Type), "TOOL_CALL") {
			s.Errorf("the stream has %s", item.Data)
		}
	}
	if m.Asked() != 2 {
		s.Errorf("asked %d times", m.Asked())
	}
}

// testEmptyFails has a second answer that is cut off. The next segment asks again.
func testEmptyFails(s emptyTest) {
	m := s.plays(spooltest.Turn{Reasoning: []string{"hm"}},
		spooltest.Turn{Text: []string{"he"}, Err: &spool.ModelError{Status: 503, Message: "down"}}, spooltest.Turn{},
		spooltest.Say("hello"))
	s.tellsEnd(wire.StopCompleted)
	s.lines("messages", s.script(), "user go", "assistant hello")
	if m.Asked() != 4 {
		s.Errorf("asked %d times", m.Asked())
	}
}

// testEmptyCutCalls has an answer that is cut off after a call and within another. Neither call runs,
// and each has a result that says so, in the stream and in the messages.
func testEmptyCutCalls(s emptyTest) {
	m := spooltest.NewModel(
		spooltest.Turn{
			Text:         []string{"I look."},
			Calls:        []spooltest.Call{{ID: "c1", Name: "look"}, {ID: "c2", Name: "look", Args: `{"a`}},
			FinishReason: spool.FinishLength,
		},
		spooltest.Say("hello"),
	)
	e := s.engine(s.config(m, plain("look", "1")))
	s.start(e, "r1", "go")
	client := s.watch(e, &spooltest.Client{Name: "live", FromStart: true}, wire.FollowOptions{})
	s.work(e)
	s.ended(wire.Completed)
	s.tellsEnd(wire.StopLength)
	const unrun = `{"cancelled":true,"reason":"the answer ended before its calls could run"}`
	s.lines("messages", s.script(), "user go", `assistant I look. c1=look{} c2=look"{\"a"`, "tool c1:"+unrun+" c2:"+unrun)
	if s.executed() != 0 {
		s.Errorf("%d calls of tools", s.executed())
	}
	s.start(e, "r2", "go on")
	s.ended(wire.Completed)
	if asked := m.Requests()[1].Messages; len(asked) != 4 {
		s.Errorf("the next run is asked with %+v", asked)
	}
	<-time.After(quiet)
	client()
}

func testEmptyFilter(s emptyTest) {
	s.plays(spooltest.Turn{FinishReason: spool.FinishFilter})
	s.tellsEnd(wire.StopFilter)
}

// testEmptyUnknown has a text that ends with a word of the provider that nobody knows. The run does not count as
// completed, and its step tells the word.
func testEmptyUnknown(s emptyTest) {
	s.plays(spooltest.Turn{Text: []string{"Odd."}, FinishReason: "recitation"})
	s.tellsEnd(wire.StopUnknown)
	told := slices.ContainsFunc(s.streamOf(s.run("r1").Stream()), func(i wire.Item) bool {
		return strings.HasPrefix(string(i.Type), "STEP_FINISHED") &&
			strings.Contains(string(i.Data), `"finishReason":"recitation"`)
	})
	if !told {
		s.Error("no step tells the word")
	}
}

// testEmptyMaxSteps has a run that ends by its last step. The record has that reason too.
func testEmptyMaxSteps(s emptyTest) {
	e := s.working(s.config(spooltest.NewModel(spooltest.Use(spooltest.Call{ID: "c1", Name: "look"})), plain("look", "1")))
	s.startAs(e, chat, wire.StartRequest{Prompt: "go", RunID: "r1", StartOptions: wire.StartOptions{MaxSteps: 1}})
	s.ended(wire.Completed)
	s.tellsEnd(wire.StopMaxSteps)
}

func testEmptySettle(s emptyTest) {
	var mu sync.Mutex
	var settled []wire.StopReason
	c := s.config(spooltest.NewModel(spooltest.Turn{}, spooltest.Turn{}))
	c.OnSettle = func(_ context.Context, settlement wire.Settlement) error {
		mu.Lock()
		defer mu.Unlock()
		settled = append(settled, settlement.StopReason)
		return nil
	}
	s.start(s.working(c), "r1", "go")
	s.ended(wire.Completed)
	s.tellsEnd(wire.StopEmpty)
	mu.Lock()
	defer mu.Unlock()
	if len(settled) != 1 || settled[0] != wire.StopEmpty {
		s.Errorf("settled: %v", settled)
	}
}

// testEmptyNested has a nested run whose answer is empty. The parent run reads why.
func testEmptyNested(s emptyTest) {
	m := spooltest.NewModelFunc(func(_ context.Context, r spool.ModelRequest) spooltest.Turn {
		switch last := r.Messages[len(r.Messages)-1]; {
		case last.Text() == "think":
			return spooltest.Turn{}
		case last.Role == spool.RoleTool:
			return spooltest.Say("done")
		default:
			return spooltest.Use(spawn("c1", "helper", "think"))
		}
	})
	s.start(s.working(nestedTest(s).treeConfig(m)), "r1", "go")
	s.ended(wire.Completed)
	s.tellsEnd(wire.StopCompleted)
	run := nestedTest(s).nested()["think"]
	if run.StopReason != wire.StopEmpty || m.Asked() != 4 {
		s.Errorf("asked %d times, and the nested run is %+v", m.Asked(), run)
	}
	var results strings.Builder
	for _, message := range s.messagesOf(chat) {
		for _, p := range message.ToolResults() {
			results.Write(p.Result)
		}
	}
	if !strings.Contains(results.String(), "it ended early: empty answer") {
		s.Errorf("the run above reads %s", results.String())
	}
}
