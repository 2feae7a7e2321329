package view_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/client/view"
	"github.com/spoolhq/spool/wire"
)

// fixture reads spec/fixtures/<name>.json.
func fixture(t *testing.T, name string, v any) {
	t.Helper()

	b, err := os.ReadFile(filepath.Join("..", "..", "spec", "fixtures", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		t.Fatal(err)
	}
}

// show returns what the view shows, in one text.
func show(v *view.Thread) string {
	var b strings.Builder
	fmt.Fprintln(&b, v.State())
	for _, list := range []struct {
		mark     string
		messages []spool.Message
	}{{"", v.Messages()}, {"... ", v.Drafts()}} {
		for _, m := range list.messages {
			fmt.Fprintln(&b, list.mark+said(m))
		}
	}
	for _, p := range v.Parks() {
		fmt.Fprintf(&b, "? %s %s %s\n", p.ToolCallID, p.ToolName, compact(p.Arguments))
	}
	if v.Deleted() {
		fmt.Fprintln(&b, "deleted")
	}
	return b.String()
}

func said(m spool.Message) string {
	var b strings.Builder
	b.WriteString(string(m.Role))
	if m.AgentID != "" {
		b.WriteString(" of a nested run")
	}
	for _, p := range m.Content {
		fmt.Fprintf(&b, " [%s %s%s%s%s]", p.Type, p.ToolName, p.Text, compact(p.Args), compact(p.Result))
	}
	return b.String()
}

// compact leaves out the white space of a fixture.
func compact(text json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, text) != nil {
		return string(text)
	}
	return b.String()
}

type transcript struct {
	Frames []struct {
		ID    *string
		Frame wire.Frame
	}
}

func (tr transcript) apply(t *testing.T, v *view.Thread, from, to int) {
	t.Helper()

	for _, f := range tr.Frames[from:to] {
		if f.ID != nil {
			at, ok := wire.ParseCursor(*f.ID)
			if !ok {
				t.Fatalf("id %q", *f.ID)
			}
			f.Frame.Cursor = &at
		}
		if err := v.Apply(f.Frame); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTranscript(t *testing.T) {
	t.Parallel()

	var tr transcript
	fixture(t, "transcript", &tr)
	v := view.New(nil)
	done := 0
	for _, c := range []struct {
		after string // the id of the last frame
		want  string
	}{
		{"1 r1:1 1-3", "RUNNING\nuser [text Hello]\n... assistant [text I send ]\n"},
		{"1 r1:1 1-6", "RUNNING\nuser [text Hello]\n... assistant [text I send it.] [tool-call send]\n"},
		{
			"2 r1:1 1-8",
			"RUNNING\nuser [text Hello]\nassistant [text I send it.] [tool-call send{\"to\":\"ann@example.com\"}]\n? call_1 send {\"to\":\"ann@example.com\"}\n",
		},
		{
			"3 r1:1 1-10",
			"RUNNING\nuser [text Hello]\nassistant [text I send it.] [tool-call send{\"to\":\"ann@example.com\"}]\n? call_1 send {\"to\":\"ann@example.com\"}\n",
		},
		{
			"4 r1:1 1-10",
			"WAITING_FOR_INPUT\nuser [text Hello]\nassistant [text I send it.] [tool-call send{\"to\":\"ann@example.com\"}]\n",
		},
		{
			"5 r1:2 2-4",
			"RUNNING\nuser [text Hello]\nassistant [text I send it.] [tool-call send{\"to\":\"ann@example.com\"}]\n... assistant [text Sent.]\n... tool [tool-result send{\"sent\":true}]\n",
		},
		{"7 r1:2 2-7", "COMPLETED\n"},
		{"9 r2:1 3-6", "RUNNING\nuser [text Hello again]\nassistant [text Hello.]\n"},
	} {
		last := done
		for tr.Frames[last].ID == nil || *tr.Frames[last].ID != c.after {
			last++
		}
		tr.apply(t, v, done, last+1)
		done = last + 1
		if diff := cmp.Diff(c.want, show(v)); diff != "" {
			t.Errorf("after %s (-want +got):\n%s", c.after, diff)
		}
		if v.Cursor() == nil || v.Cursor().String() != c.after {
			t.Errorf("cursor %v, want %s", v.Cursor(), c.after)
		}
	}
	tr.apply(t, v, done, len(tr.Frames))
	if runs := v.Runs(); v.State() != wire.Completed || len(runs) != 2 || runs[0].ID != "r2" || runs[0].TotalTokens != 65 {
		t.Errorf("state %s, runs %+v", v.State(), v.Runs())
	}
}

// TestSnapshots shows each snapshot of the fixtures, alone and after another thread's.
func TestSnapshots(t *testing.T) {
	t.Parallel()

	var all struct {
		Snapshots []struct {
			Name   string
			Cursor string
			Value  wire.Snapshot
		}
	}
	fixture(t, "snapshots", &all)
	for _, c := range all.Snapshots {
		if c.Value.AfterMessageID != nil {
			continue
		}
		v := view.New(&c.Value)
		if v.Cursor().String() != c.Cursor || v.State() != c.Value.Thread.State || len(v.Messages()) < len(c.Value.Messages) {
			t.Errorf("%s: cursor %s, state %s, %d messages", c.Name, v.Cursor(), v.State(), len(v.Messages()))
		}
		again := view.New(&all.Snapshots[1].Value)
		if err := again.Apply(wire.Frame{Kind: wire.FrameSnapshot, Snapshot: &c.Value}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(show(v), show(again)); diff != "" {
			t.Errorf("%s, after another (-alone +after):\n%s", c.Name, diff)
		}
	}
}

func TestUnreadable(t *testing.T) {
	t.Parallel()

	v := view.New(nil)
	for _, f := range []wire.Frame{
		{Kind: "new"},
		{Kind: wire.FrameThread, Event: &wire.Entry{Type: "NEW_ENTRY", Seq: 1}},
		{Kind: wire.FrameStream, StreamID: "r1:1", Item: &wire.Item{Type: "NEW_ITEM", Data: json.RawMessage(`{}`)}},
	} {
		if err := v.Apply(f); err != nil {
			t.Errorf("%+v: %v", f, err)
		}
	}
	for _, f := range []wire.Frame{
		{Kind: wire.FrameThread, Event: &wire.Entry{Type: wire.EntryMessagesDropped, Seq: 2, Payload: json.RawMessage(`[]`)}},
		{Kind: wire.FrameStream, StreamID: "r1:1", Item: &wire.Item{Type: wire.ItemTextContent, Data: json.RawMessage(`[]`)}},
		{
			Kind: wire.FrameStream, StreamID: "r1:1",
			Item: &wire.Item{Type: wire.ItemSubagentEvent, Data: json.RawMessage(`{"event":3}`)},
		},
	} {
		if err := v.Apply(f); spool.CodeOf(err) != spool.Internal {
			t.Errorf("%+v: %v", f, err)
		}
	}
	if err := v.Apply(wire.Frame{
		Kind: wire.FrameThread, Event: &wire.Entry{Type: wire.EntryMessagesDropped, Seq: 2, Payload: json.RawMessage(`{}`)},
	}); err != nil {
		t.Error(err)
	}
}

// TestNested streams what a nested run says, beside its caller.
func TestNested(t *testing.T) {
	t.Parallel()

	v := view.New(nil)
	n := int64(0)
	item := func(kind wire.ItemType, payload any) {
		n++
		it := wire.NewItem(kind, wire.Offset{Fence: 1, N: n}, 1, payload)
		if err := v.Apply(wire.Frame{Kind: wire.FrameStream, StreamID: "r1:1", Item: &it}); err != nil {
			t.Fatal(err)
		}
	}
	agent := spool.AgentID("n1")
	item(wire.ItemToolStart, wire.ToolStarted{ToolCallID: "c1", ToolName: "spawn"})
	item(wire.ItemToolArgs, wire.ToolArgs{ToolCallID: "c1", Delta: `{"na`})
	want := "\n... assistant [tool-call spawn\"{\\\"na\"]\n"
	if got := show(v); got != want {
		t.Errorf("half a call: %q, want %q", got, want)
	}
	item(wire.ItemToolEnd, wire.ToolEnded{ToolCallID: "c1", ToolName: "spawn", Args: json.RawMessage(`{}`)})
	item(wire.ItemSubagentStarted, wire.SubagentStarted{SubagentID: agent, Name: "clerk", Depth: 1})
	item(wire.ItemSubagentEvent, wire.WrapItem(agent, wire.ItemTextStart, wire.Block{MessageID: "m1"}))
	item(wire.ItemSubagentEvent, wire.WrapItem(agent, wire.ItemTextContent, wire.Delta{MessageID: "m1", Delta: "One"}))
	item(wire.ItemStepFinished, wire.StepFinished{Step: 1, AgentID: &agent})
	item(wire.ItemSubagentEvent, wire.WrapItem(agent, wire.ItemReasoningContent, wire.Delta{MessageID: "m2", Delta: "Hm"}))
	want = "\nassistant of a nested run [text One]\n... assistant [tool-call spawn{}]\n... assistant of a nested run [reasoning Hm]\n"
	if diff := cmp.Diff(want, show(v)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if r := v.Runs()[0]; r.ID != "n1" || r.ParentID != "r1" || r.Agent != "clerk" || r.State != wire.Running {
		t.Errorf("run %+v", r)
	}
	item(wire.ItemSubagentFinished, wire.SubagentFinished{SubagentID: agent, Status: wire.SubagentFailed, Error: "no"})
	item(wire.ItemToolResult, wire.ToolResulted{ToolCallID: "c1", ToolName: "spawn", Result: json.RawMessage(`1`)})
	item(wire.ItemStepFinished, wire.StepFinished{Step: 1})
	want = "\nassistant of a nested run [text One]\nassistant [tool-call spawn{}]\ntool [tool-result spawn1]\n"
	if diff := cmp.Diff(want, show(v)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if r := v.Runs()[0]; r.State != wire.Failed || r.Error != "no" {
		t.Errorf("run %+v", r)
	}
	seen := make(map[spool.MessageID]bool)
	for _, m := range v.Messages() {
		if seen[m.ID] || spool.CheckID("id", string(m.ID)) != nil || m.RunID == "" {
			t.Errorf("message %+v", m)
		}
		seen[m.ID] = true
	}
	item(wire.ItemTextContent, wire.Delta{MessageID: "m3", Delta: "Lost"})
	item(wire.ItemRunError, wire.StreamFailed{Status: wire.SegmentError})
	if diff := cmp.Diff(want, show(v)); diff != "" {
		t.Errorf("after an error (-want +got):\n%s", diff)
	}
}

// entry returns a frame of an entry, or of a notice for the seq 0.
func entry(seq int64, kind wire.EntryType, payload any) wire.Frame {
	e := wire.NewEntry(kind, "r1", payload)
	e.Seq, e.ThreadID = seq, "t1"
	return wire.Frame{Kind: wire.FrameThread, Event: e}
}

// item returns a frame of an item of the stream r1:1.
func item(n int64, kind wire.ItemType, payload any) wire.Frame {
	it := wire.NewItem(kind, wire.Offset{Fence: 1, N: n}, 1, payload)
	return wire.Frame{Kind: wire.FrameStream, StreamID: "r1:1", Item: &it}
}

func TestFrames(t *testing.T) {
	t.Parallel()

	turn := entry(0, wire.NoticeMessageAppended,
		spool.Message{ID: "m1", Role: spool.RoleUser, RunID: "r1", Content: spool.TextContent("Hi")})
	ask := entry(2, wire.EntryInputRequired,
		wire.InputRequired{ToolCallID: "c1", ToolName: "send", Arguments: json.RawMessage(`{}`)})
	state := func(s wire.State, run spool.RunID) wire.Frame {
		return entry(0, wire.NoticeStateChange, wire.StateChange{State: s, RunID: run})
	}
	text := func(n int64) wire.Frame {
		return item(n, wire.ItemTextContent, wire.Delta{MessageID: "b", Delta: "Hm"})
	}
	call := func(n int64, id spool.ToolCallID) wire.Frame {
		return item(n, wire.ItemToolEnd, wire.ToolEnded{ToolCallID: id, ToolName: string(id)})
	}
	result := func(n int64, id spool.ToolCallID) wire.Frame {
		return item(n, wire.ItemToolResult,
			wire.ToolResulted{ToolCallID: id, ToolName: string(id), Result: json.RawMessage(`1`)})
	}
	for name, c := range map[string]struct {
		frames []wire.Frame
		want   string
	}{
		"a turn that comes again": {[]wire.Frame{turn, turn}, "\nuser [text Hi]\n"},
		"an entry that comes again": {
			[]wire.Frame{turn, ask, entry(3, wire.EntryHITLResponse, wire.HITLResponse{ToolCallID: "c1"}), ask},
			"\nuser [text Hi]\n",
		},
		"a question that comes again": {
			[]wire.Frame{ask, entry(3, wire.EntryInputRequired, wire.InputRequired{ToolCallID: "c1", ToolName: "other"})},
			"\n? c1 other null\n",
		},
		"a question that expires": {
			[]wire.Frame{ask, entry(3, wire.EntryInputExpired, wire.InputExpired{ToolCallID: "c1"})}, "\n",
		},
		"a question whose run ends":  {[]wire.Frame{ask, state(wire.Cancelled, "r1")}, "CANCELLED\n"},
		"a question of a run before": {[]wire.Frame{ask, state(wire.Queued, "r2")}, "QUEUED\n"},
		"a question, and a segment": {
			[]wire.Frame{ask, entry(3, wire.EntryRunStarted, wire.RunStarted{RunID: "r1", StreamID: "r1:2"})},
			"\n? c1 send {}\n",
		},
		"a question, and another run": {
			[]wire.Frame{ask, entry(3, wire.EntryRunStarted, wire.RunStarted{RunID: "r2", StreamID: "r2:1"})}, "\n",
		},
		"a rollback": {
			[]wire.Frame{turn, ask, text(1), entry(3, wire.EntryMessagesDropped, wire.MessagesDropped{FromMessageID: "m1"})},
			"\n",
		},
		"a rollback of older turns": {
			[]wire.Frame{turn, entry(3, wire.EntryMessagesDropped, wire.MessagesDropped{FromMessageID: "m0"})}, "\n",
		},
		"the end of a segment": {[]wire.Frame{text(1), entry(3, wire.EntryRunEnded, wire.RunEnded{RunID: "r1"})}, "\n"},
		"the next segment": {
			[]wire.Frame{text(1), entry(3, wire.EntryRunStarted, wire.RunStarted{RunID: "r1", StreamID: "r1:2"})}, "\n",
		},
		"two calls": {
			[]wire.Frame{
				call(1, "a"), call(2, "b"), result(3, "b"), result(4, "a"), item(5, wire.ItemStepFinished, wire.StepFinished{}),
			},
			"\nassistant [tool-call a] [tool-call b]\ntool [tool-result a1] [tool-result b1]\n",
		},
		"a deletion": {
			[]wire.Frame{turn, entry(0, wire.NoticeThreadDeleted, wire.ThreadDeleted{ThreadID: "t1"})},
			"\nuser [text Hi]\ndeleted\n",
		},
	} {
		v := view.New(nil)
		for _, f := range c.frames {
			if err := v.Apply(f); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(c.want, show(v)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestQueue keeps the turns of waiting runs, which only a snapshot has.
func TestQueue(t *testing.T) {
	t.Parallel()

	hi := spool.TextContent("Hi")
	v := view.New(&wire.Snapshot{
		Queue: []wire.QueuedRun{{RunID: "r2", Position: 1, Content: hi}, {RunID: "r3", Position: 2, Content: hi}},
	})
	change := wire.StateChange{
		State: wire.Running, RunID: "r1", Queue: []wire.QueuedRun{{RunID: "r3", Position: 1}, {RunID: "r4", Position: 2}},
	}
	if err := v.Apply(entry(0, wire.NoticeStateChange, change)); err != nil {
		t.Fatal(err)
	}
	if q := v.Queue(); len(q) != 2 || q[0].RunID != "r3" || q[0].Content.Text() != "Hi" || q[1].Content != nil {
		t.Errorf("queue %+v", q)
	}
	if err := v.Apply(entry(
		0, wire.NoticeMessageAppended, spool.Message{ID: "m3", RunID: "r3", Content: hi},
	)); err != nil {
		t.Fatal(err)
	}
	if q := v.Queue(); len(q) != 1 || q[0].RunID != "r4" {
		t.Errorf("queue %+v", q)
	}
}

// TestCorrect applies the snapshot of one run among others.
func TestCorrect(t *testing.T) {
	t.Parallel()

	message := func(id spool.MessageID, run spool.RunID, role spool.Role) spool.Message {
		return spool.Message{ID: id, RunID: run, Role: role, Content: spool.TextContent(string(id))}
	}
	nested := message("n1:1", "n1", spool.RoleAssistant)
	nested.AgentID = "n1"
	before := []spool.Message{
		message("u1", "r1", spool.RoleUser), message("a1", "r1", spool.RoleAssistant), nested,
		message("u2", "r2", spool.RoleUser), message("a2", "r2", spool.RoleAssistant),
	}
	runs := []wire.Run{{ID: "n1", ParentID: "r1"}, {ID: "r1"}}
	for name, c := range map[string]struct {
		after spool.MessageID
		run   spool.RunID
		want  string
	}{
		"the first run":           {"u1", "r1", "u1 x u2 a2"},
		"the second":              {"u2", "r2", "u1 a1 n1:1 u2 x"},
		"an older one":            {"u0", "r0", "u1 a1 n1:1 u2 a2 x"},
		"from the beginning":      {"", "r0", "x u1 a1 n1:1 u2 a2"},
		"a turn that is not here": {"u0", "r1", "u1 x u2 a2"},
	} {
		v := view.New(&wire.Snapshot{Messages: before, Runs: runs})
		err := v.Apply(wire.Frame{Kind: wire.FrameSnapshot, Snapshot: &wire.Snapshot{
			AfterMessageID: &c.after, Messages: []spool.Message{message("x", c.run, spool.RoleAssistant)},
		}})
		var got []string
		for _, m := range v.Messages() {
			got = append(got, string(m.ID))
		}
		if text := strings.Join(got, " "); err != nil || text != c.want {
			t.Errorf("%s: %s, %v, want %s", name, text, err, c.want)
		}
	}
}

// Runs stand in the same order in a view that follows as in one of a fresh snapshot.
func TestRunsAsInSnapshot(t *testing.T) {
	t.Parallel()

	const name = "runs that were accepted between nested ones"
	orders := make(map[string]string)
	for _, c := range casesOfNested(t) {
		var shown struct {
			Runs []struct{ ID string }
		}
		if err := json.Unmarshal(c.shown(t), &shown); err != nil {
			t.Fatal(err)
		}
		for _, r := range shown.Runs {
			orders[c.Name] += " " + r.ID
		}
	}
	const want = " r4 r2 r3 n2 n1 r1"
	for _, of := range []string{"", "a snapshot: ", "a snapshot of their run: "} {
		if got := orders[of+name]; got != want {
			t.Errorf("%s%s: the runs are%s, want%s", of, name, got, want)
		}
	}
}
