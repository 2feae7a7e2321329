package view_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/client/view"
	"github.com/spoolhq/spool/wire"
)

// The message of a steer stands between the steps of the run, and stays there when a snapshot of the run corrects
// what its segment said.
func TestSteered(t *testing.T) {
	t.Parallel()

	turn := func(id spool.MessageID, run spool.RunID) spool.Message {
		return spool.Message{ID: id, ThreadID: "t", Role: spool.RoleUser, RunID: run, Content: spool.TextContent(string(id))}
	}
	queue := []wire.QueuedRun{{RunID: "r2", Position: 1, WhenBusy: spool.BusySteer}}
	v := view.New(nil)
	for _, f := range []wire.Frame{
		entry(0, wire.NoticeMessageAppended, turn("go", "r1")),
		entry(1, wire.EntryRunStarted, wire.RunStarted{RunID: "r1", StreamID: "r1:1", Segment: 1}),
		item(1, wire.ItemTextContent, wire.Delta{MessageID: "m", Delta: "step one"}),
		entry(0, wire.NoticeStateChange, wire.StateChange{State: wire.Running, RunID: "r1", Queue: queue}),
		item(2, wire.ItemStepFinished, wire.StepFinished{Step: 1}),
		entry(0, wire.NoticeMessageAppended, turn("left", "r1")),
		entry(2, wire.EntrySteered, wire.Steered{RunID: "r1", SteerRunID: "r2", MessageID: "left", Steps: 1}),
		item(3, wire.ItemTextContent, wire.Delta{MessageID: "n", Delta: "step two"}),
	} {
		if err := v.Apply(f); err != nil {
			t.Fatal(err)
		}
	}
	check := func(when string, want ...string) {
		t.Helper()
		if diff := cmp.Diff("RUNNING\n"+strings.Join(want, "\n")+"\n", show(v)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", when, diff)
		}
	}
	check("live", "user [text go]", "assistant [text step one]", "user [text left]", "... assistant [text step two]")
	if len(v.Queue()) != 0 {
		t.Errorf("the queue: %+v", v.Queue())
	}
	after := spool.MessageID("go")
	said := spool.Message{
		ID: "saved", ThreadID: "t", Role: spool.RoleAssistant, RunID: "r1", Content: spool.TextContent("step one"),
	}
	if err := v.Apply(wire.Frame{Kind: wire.FrameSnapshot, Snapshot: &wire.Snapshot{
		Thread: wire.Thread{ID: "t", State: wire.Running}, AfterMessageID: &after, LastEventSeq: 2,
		Messages: []spool.Message{said, turn("left", "r1")},
	}}); err != nil {
		t.Fatal(err)
	}
	check("corrected", "user [text go]", "assistant [text step one]", "user [text left]")
}
