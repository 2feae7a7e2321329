package enginetest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

// providerTest is the fixture of the cases about data that only a model's provider understands.
type providerTest struct{ *engineTest }

var providerTests = map[string]func(s providerTest){
	"Kept":         testProviderKept,
	"Compacted":    testProviderCompacted,
	"Models":       testProviderModels,
	"Pause":        testProviderPause,
	"PauseCalls":   testProviderPauseCalls,
	"PauseSteps":   testProviderPauseSteps,
	"PauseEmpty":   testProviderPauseEmpty,
	"PauseStopped": testProviderPauseStopped,
	"Stopped":      testProviderStopped,
	"Bound":        testProviderBound,
	"Damaged":      testProviderDamaged,
	"Blocks":       testProviderBlocks,
}

// hides checks that no form of the thread that a client can get, and no log, has the secret of the seals.
func (s providerTest) hides(e *engine.Engine, logged string) {
	s.Helper()
	ctx := context.Background()
	out := map[string]string{"log": logged}
	add := func(name string, v any, err error) {
		s.Helper()
		if err != nil {
			s.Errorf("%s: %v", name, err)
		}
		text, err := json.Marshal(v)
		if err != nil {
			s.Errorf("%s: %v", name, err)
		}
		out[name] += string(text)
	}
	snap, err := e.Snapshot(ctx, chat, nil)
	add("snapshot", snap, err)
	shared, err := e.EncodedSnapshot(ctx, chat, nil)
	if err != nil {
		s.Fatal(err)
	}
	out["encoded snapshot"] = string(bytes.Join(shared.Pieces, nil))
	shared.Release()
	page, err := s.engine(s.config(echo())).EncodedSnapshot(ctx, chat, &wire.SnapshotOptions{Limit: 3})
	if err != nil {
		s.Fatal(err)
	}
	out["page"] = string(bytes.Join(page.Pieces, nil))
	page.Release()
	formed, err := e.FormedSnapshot(ctx, chat, wholeForm{})
	if err != nil {
		s.Fatal(err)
	}
	out["formed snapshot"] = string(bytes.Join(formed.All(), nil))
	formed.Release()
	branches, err := e.Branches(ctx, chat)
	add("branches", branches, err)
	for _, b := range branches {
		messages, err := e.Branch(ctx, chat, b.ID, nil)
		add("branch", messages, err)
	}
	frames := s.collect(e, chat, wire.FollowOptions{Cursor: &wire.Cursor{}})
	add("frames", frames, nil)
	out["event stream"] = s.rawSSE(e)
	all := s.all(chat, "")
	add("runs", all.Runs, nil)
	add("record", all.Entries, nil)
	for _, r := range all.Runs {
		detail, err := e.RunDetail(ctx, chat.Tenant, r.ID)
		add("detail", detail, err)
		outcome, err := e.Outcome(ctx, chat, r.ID)
		add("outcome", outcome, err)
	}
	for name, text := range out {
		if strings.Contains(text, "secret") {
			s.Errorf("the %s shows a seal: %s", name, text)
		}
	}
	if len(out["encoded snapshot"]) < 500 || len(frames) < 3 || len(out["event stream"]) < 500 {
		s.Errorf("too little was read: %v", out)
	}
}

// wholeForm shows all of a message.
type wholeForm struct{}

func (f wholeForm) AppendMessage(b []byte, m spool.Message) ([]byte, wire.SnapshotForm, error) {
	for _, p := range m.Content {
		b = fmt.Appendf(b, ",%q", string(p.Type)+p.Text+string(p.Provider))
	}
	return b, f, nil
}

func (wholeForm) Finish(*wire.Snapshot) (shared any, size int64, err error) { return nil, 0, nil }

func (s providerTest) rawSSE(e *engine.Engine) string {
	s.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), quiet)
	defer cancel()
	body, err := e.SSE(ctx, chat, wire.SSEOptions{Cursor: "0 - -"})
	if err != nil {
		s.Fatal(err)
	}
	defer body.Close()
	var text strings.Builder
	for chunk, err := range body.Chunks() {
		if err != nil {
			break
		}
		text.Write(chunk)
	}
	return text.String()
}

// marchSealed returns a strict model that works in steps, of which the last has no call. The second step asks for an
// approval.
func marchSealed(name string, steps int) *strictModel {
	return newStrictModel(name, func(r spool.ModelRequest) spooltest.Turn {
		n := spooltest.StepOf(r)
		t := spooltest.Turn{Reasoning: []string{"hm ", "<"}, Text: []string{fmt.Sprintf("step %d ", n), "& on"}}
		switch {
		case n == 1 && steps > 2:
			t.Calls = []spooltest.Call{{ID: "c1", Name: "look", Args: `{"n":1}`}, {ID: "c2", Name: "send", Args: `{"to":"x"}`}}
		case n+1 < steps:
			t.Calls = []spooltest.Call{{ID: "c1", Name: "look", Args: fmt.Sprintf(`{"n":%d}`, n)}}
		}
		return t
	})
}

// dataOf returns the data of all parts of the thread's messages, by the messages' ids.
func (s providerTest) dataOf() map[spool.MessageID]string {
	all := make(map[spool.MessageID]string)
	for _, m := range s.messagesOf(chat) {
		for _, p := range m.Content {
			all[m.ID] += string(p.Provider) + "\n"
		}
	}
	return all
}

// testProviderKept has a thread with a park, a further turn, an edit and a restored branch. The provider
// gets its data back each time, and nobody else sees it.
func testProviderKept(s providerTest) {
	m := marchSealed("m", 3)
	var log bytes.Buffer
	c := s.config(m, plain("look", "1"), approved("send", "2"))
	c.Log = slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	e := s.engine(c)
	stop := s.work(e)
	s.start(e, "r1", `the "provider" <said> & more`)
	s.becomes(wire.WaitingForInput)
	stop()
	s.hides(e, log.String())
	e = s.working(c)
	s.answer(e, "c2", true, "")
	s.ended(wire.Completed)
	kept := s.dataOf()
	if len(kept) < 5 || !strings.Contains(fmt.Sprint(kept), secret) {
		s.Errorf("kept %s", kept)
	}
	s.start(e, "r2", "and?")
	s.becomes(wire.WaitingForInput)
	s.answer(e, s.parksOf(chat, "r2")[0].ToolCallID, true, "")
	s.ended(wire.Completed)
	turn := s.messagesOf(chat)[slices.IndexFunc(s.messagesOf(chat),
		func(m spool.Message) bool { return m.RunID == "r2" })].ID
	s.startAs(e, chat, wire.StartRequest{Prompt: "or?", RunID: "r3", EditMessageID: turn})
	s.becomes(wire.WaitingForInput)
	s.stop(e)
	s.ended(wire.Cancelled)
	before := s.dataOf()
	other := branchTest(s).restored(e, s.branchesOf(chat)[0].ID)
	branchTest(s).restored(e, other)
	for id, data := range s.dataOf() {
		if before[id] != data || kept[id] != "" && kept[id] != data {
			s.Errorf("message %s has the data %q", id, data)
		}
	}
	s.start(e, "r4", "at last")
	s.becomes(wire.WaitingForInput)
	s.answer(e, s.parksOf(chat, "r4")[0].ToolCallID, true, "")
	s.ended(wire.Completed)
	m.accepts(s.engineTest)
	s.hides(e, log.String())
}

// testProviderCompacted summarises a thread, on request and when a prompt is too long, in the middle of turns.
func testProviderCompacted(s providerTest) {
	m := marchSealed("m", 9)
	m.Window = 2_500
	c := s.config(m, plain("look", result("seen", 300)), approved("send", "2"))
	c.Agents[0].MaxOutputTokens = 200
	e := s.working(c)
	for n := range 3 {
		run := spool.RunID(fmt.Sprintf("r%d", n))
		s.start(e, run, "go on")
		s.becomes(wire.WaitingForInput)
		s.answer(e, s.parksOf(chat, run)[0].ToolCallID, true, "")
		s.ended(wire.Completed)
	}
	told := len(contextTest(s).compactions())
	if r, err := e.Compact(context.Background(), chat); err != nil || !r.Compacted {
		s.Errorf("compact: %+v, %v", r, err)
	}
	s.start(e, "r9", "and on")
	s.becomes(wire.WaitingForInput)
	s.answer(e, s.parksOf(chat, "r9")[0].ToolCallID, true, "")
	s.ended(wire.Completed)
	m.accepts(s.engineTest)
	if told == 0 {
		s.Error("nothing was summarised in a run")
	}
}

// testProviderModels has turns of two models. Each accepts the thread, and gets its own data back.
func testProviderModels(s providerTest) {
	m, n := marchSealed("m", 2), marchSealed("n", 2)
	c := s.config(m, plain("look", "1"))
	c.Models["n"] = n
	e := s.working(c)
	for i, model := range []string{"m", "n", "m", "n"} {
		s.startAs(e, chat, wire.StartRequest{
			Prompt: "go", RunID: spool.RunID(fmt.Sprintf("r%d", i)), StartOptions: wire.StartOptions{Model: model},
		})
		s.ended(wire.Completed)
	}
	m.accepts(s.engineTest)
	n.accepts(s.engineTest)
	last := m.Requests()[len(m.Requests())-1]
	var all strings.Builder
	for _, msg := range last.Messages {
		for _, p := range msg.Content {
			all.Write(p.Provider)
		}
	}
	text := all.String()
	if strings.Count(text, `"model":"m"`) == 0 || strings.Count(text, `"model":"n"`) == 0 {
		s.Errorf("the adapter does not get all data: %s", text)
	}
}

// pausing returns a strict model that pauses its first answers.
func pausing(pauses int, turn func(n int) spooltest.Turn) *strictModel {
	return newStrictModel("m", func(r spool.ModelRequest) spooltest.Turn {
		n := spooltest.StepOf(r)
		t := turn(n)
		if n < pauses {
			t.FinishReason = spool.FinishPause
		}
		return t
	})
}

func saying(n int) spooltest.Turn {
	return spooltest.Turn{Text: []string{fmt.Sprintf("part %d", n)}, Usage: spooltest.Tokens(5, 7)}
}

// testProviderPause has an answer in three parts. Each is a step, and clients see it as one.
func testProviderPause(s providerTest) {
	m := pausing(2, saying)
	e := s.working(s.config(m))
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	s.lines("messages", s.script(), "user go", "assistant part 0", "assistant part 1", "assistant part 2")
	if r := s.run("r1"); r.Steps != 3 || m.Asked() != 3 || r.TotalTokens != 36 || r.Paused ||
		r.StopReason != wire.StopCompleted {
		s.Errorf("asked %d times: %+v", m.Asked(), r)
	}
	m.accepts(s.engineTest)
	s.start(e, "r2", "and?")
	s.ended(wire.Completed)
	m.accepts(s.engineTest)
}

// testProviderPauseCalls has a paused answer with a call, whose result comes first.
func testProviderPauseCalls(s providerTest) {
	m := pausing(1, func(n int) spooltest.Turn {
		t := saying(n)
		if n == 0 {
			t.Calls = []spooltest.Call{{ID: "c1", Name: "look"}}
		}
		return t
	})
	e := s.working(s.config(m, plain("look", "1")))
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	if s.executed() != 1 || m.Asked() != 2 {
		s.Errorf("asked %d times: %s", m.Asked(), s.script())
	}
	m.accepts(s.engineTest)
}

// testProviderPauseSteps has a provider that pauses for ever. The run's steps are bounded.
func testProviderPauseSteps(s providerTest) {
	m := pausing(1000, saying)
	e := s.working(s.config(m))
	s.startAs(e, chat, wire.StartRequest{Prompt: "go", RunID: "r1", StartOptions: wire.StartOptions{MaxSteps: 4}})
	s.ended(wire.Completed)
	if r := s.run("r1"); r.Steps != 4 || m.Asked() != 5 || r.StopReason != wire.StopMaxSteps {
		s.Errorf("asked %d times: %+v", m.Asked(), r)
	}
	last := m.Requests()[4]
	if messages := last.Messages; !last.NoCalls || messages[len(messages)-1].Role != spool.RoleAssistant {
		s.Errorf("the last request does not go on with the answer: %+v", messages[len(messages)-1])
	}
	m.accepts(s.engineTest)
}

// testProviderPauseEmpty has paused answers with nothing to go on from. They are empty answers.
func testProviderPauseEmpty(s providerTest) {
	paused := spooltest.Turn{Reasoning: []string{"hm"}, FinishReason: spool.FinishPause}
	m := emptyTest(s).plays(paused, spooltest.Turn{FinishReason: spool.FinishPause}, spooltest.Say("no more"))
	emptyTest(s).tellsEnd(wire.StopEmpty)
	if m.Asked() != 2 {
		s.Errorf("asked %d times", m.Asked())
	}
}

// testProviderPauseStopped stops a run whose answer is paused. The next run goes on with the thread.
func testProviderPauseStopped(s providerTest) {
	gate := make(chan struct{})
	m := pausing(1, func(n int) spooltest.Turn {
		t := saying(n)
		if n == 1 {
			t.Gate = gate
		}
		return t
	})
	e := s.working(s.config(m))
	s.start(e, "r1", "go")
	s.until("the second part", func() bool { return m.Asked() == 2 })
	s.stop(e)
	s.ended(wire.Cancelled)
	close(gate)
	s.start(e, "r2", "and?")
	s.ended(wire.Completed)
	m.accepts(s.engineTest)
}

// testProviderStopped stops an answer that is half there. What stays of it is not signed.
func testProviderStopped(s providerTest) {
	gate := make(chan struct{})
	m := newStrictModel("m", func(r spool.ModelRequest) spooltest.Turn {
		t := spooltest.Turn{
			Reasoning: []string{"hm"},
			Text:      []string{"half"},
			Calls:     []spooltest.Call{{ID: "c1", Name: "look"}},
		}
		if len(r.Messages) == 1 {
			t.Gate = gate
		} else {
			t.Calls = nil
		}
		return t
	})
	e := s.working(s.config(m, plain("look", "1")))
	s.start(e, "r1", "go")
	client := s.watch(e, &spooltest.Client{Name: "live", FromStart: true}, wire.FollowOptions{})
	s.until("the text", func() bool { return m.Asked() == 1 })
	<-time.After(time.Second)
	s.stop(e)
	s.ended(wire.Cancelled)
	close(gate)
	client()
	s.lines("messages", s.script(), "user go", "assistant (hm) half")
	if data := fmt.Sprint(s.dataOf()); strings.Contains(data, "secret") {
		s.Errorf("a part of an answer is signed: %s", data)
	}
	s.start(e, "r2", "and?")
	s.ended(wire.Completed)
	m.accepts(s.engineTest)
}

// testProviderBound has an answer whose data is too long. Data counts, and a cut answer has none.
func testProviderBound(s providerTest) {
	m := &talkative{
		head: []spool.ModelEvent{spool.TextDelta{Text: "signed"}, spool.TextEnd{Provider: json.RawMessage(`{"x":"secret"}`)}},
		next: func(int) spool.ModelEvent {
			return spool.ProviderPart{Provider: json.RawMessage(`{"x":"` + strings.Repeat("secret", 10) + `"}`)}
		},
	}
	message := emptyTest(s).cutAt(10_000, m)
	if given := m.given.Load(); given > 10_000/60 || given < 100 {
		s.Errorf("%d parts were read", given)
	}
	if message.Text() != "signed" || len(message.Content) != 1 || message.Content[0].Provider != nil {
		s.Errorf("the answer is %+v", message.Content)
	}
}

// testProviderDamaged has adapters whose data is no JSON object. It is refused before it could damage the thread.
func testProviderDamaged(s providerTest) {
	for i, bad := range []string{
		"", "{", "null", `"text"`, "[1]", "{\"a\":\"\xff\"}", strings.Repeat(`{"a":`, 300) + "1" + strings.Repeat("}", 300),
	} {
		for j, event := range []spool.ModelEvent{
			spool.TextEnd{Provider: []byte(bad)},
			spool.ReasoningEnd{Provider: []byte(bad)},
			spool.ProviderPart{Provider: []byte(bad)},
			spool.ToolCallEnd{ID: "c", Name: "look", Args: "{}", Provider: []byte(bad)},
		} {
			key := spool.ThreadKey{Tenant: chat.Tenant, ID: spool.ThreadID(fmt.Sprintf("t%d-%d", i, j))}
			m := &talkative{next: func(int) spool.ModelEvent { return event }}
			e := s.engine(s.config(m))
			stop := s.work(e)
			run := spool.RunID(fmt.Sprintf("r%d-%d", i, j))
			s.startAs(e, key, wire.StartRequest{RunID: run, Prompt: "go"})
			out, err := e.Await(context.Background(), key, run)
			if err != nil || out.State != wire.Failed || !strings.Contains(out.Error, "data that cannot be stored") {
				s.Errorf("%T with %q: %+v, %v", event, bad, out, err)
			}
			stop()
		}
	}
}

// testProviderBlocks has blocks of text and reasoning that end, also without data. The stream has the same
// blocks as the message.
func testProviderBlocks(s providerTest) {
	data := json.RawMessage("{ \"x\":\t\"<>\" }")
	events := []spool.ModelEvent{
		spool.ReasoningDelta{Text: "a"},
		spool.ReasoningEnd{},
		spool.ReasoningDelta{Text: "b"},
		spool.ReasoningEnd{Provider: data},
		spool.TextEnd{},
		spool.TextDelta{Text: "c"},
		spool.TextEnd{},
		spool.TextEnd{},
		spool.TextDelta{Text: "d"},
		spool.TextEnd{Provider: data},
		spool.TextDelta{Text: "e"},
		spool.ProviderPart{},
		spool.ProviderPart{Provider: data},
		spool.TextDelta{Text: "f"},
		spool.ReasoningEnd{Provider: data},
		spool.TextEnd{Provider: data},
		spool.Finish{Reason: spool.FinishStop},
	}
	m := &talkative{head: events, next: func(int) spool.ModelEvent { panic("it has finished") }}
	e := s.engine(s.config(m))
	s.start(e, "r1", "go")
	client := s.watch(e, &spooltest.Client{Name: "live", FromStart: true}, wire.FollowOptions{})
	s.work(e)
	s.ended(wire.Completed)
	<-time.After(quiet)
	client()
	var parts []string
	for _, p := range s.messagesOf(chat)[1].Content {
		parts = append(parts, fmt.Sprintf("%s %s%s", p.Type, p.Text, p.Provider))
	}
	const kept = `{"x":"<>"}`
	s.lines("parts", parts, "reasoning a", "reasoning b"+kept, "text c", "text d"+kept, "text e", "provider "+kept,
		"text f", "reasoning "+kept, "text "+kept)
	var blocks []string
	for _, item := range emptyTest(s).streamOf("r1:1") {
		switch item.Type {
		case wire.ItemTextStart, wire.ItemReasoningStart:
			blocks = append(blocks, "")
		case wire.ItemTextContent, wire.ItemReasoningContent:
			var d wire.Delta
			if err := json.Unmarshal(item.Data, &d); err != nil {
				s.Fatal(err)
			}
			blocks[len(blocks)-1] += d.Delta
		default:
		}
	}
	s.lines("blocks", blocks, "a", "b", "c", "d", "e", "f")
}
