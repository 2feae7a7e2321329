package view_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/client/view"
)

// The message of a steer stands between the steps of the run, and stays there when a snapshot of the run corrects
// what its segment said.
func TestSteered(t *testing.T) {
	t.Parallel()

	turn := func(id spool.MessageID, run spool.RunID) spool.Message {
		return spool.Message{ID: id, ThreadID: "t", Role: spool.RoleUser, RunID: run, Content: spool.TextContent(string(id))}
	}
	queue := []spool.QueuedRun{{RunID: "r2", Position: 1, WhenBusy: spool.BusySteer}}
	v := view.New(nil)
	for _, f := range []spool.Frame{
		entry(0, spool.NoticeMessageAppended, turn("go", "r1")),
		entry(1, spool.EntryRunStarted, spool.RunStarted{RunID: "r1", StreamID: "r1:1", Segment: 1}),
		item(1, spool.ItemTextContent, spool.Delta{MessageID: "m", Delta: "step one"}),
		entry(0, spool.NoticeStateChange, spool.StateChange{State: spool.Running, RunID: "r1", Queue: queue}),
		item(2, spool.ItemStepFinished, spool.StepFinished{Step: 1}),
		entry(0, spool.NoticeMessageAppended, turn("left", "r1")),
		entry(2, spool.EntrySteered, spool.Steered{RunID: "r1", SteerRunID: "r2", MessageID: "left", Steps: 1}),
		item(3, spool.ItemTextContent, spool.Delta{MessageID: "n", Delta: "step two"}),
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
	said := spool.Message{ID: "saved", ThreadID: "t", Role: spool.RoleAssistant, RunID: "r1", Content: spool.TextContent("step one")}
	if err := v.Apply(spool.Frame{Kind: spool.FrameSnapshot, Snapshot: &spool.Snapshot{
		Thread: spool.Thread{ID: "t", State: spool.Running}, AfterMessageID: &after, LastEventSeq: 2,
		Messages: []spool.Message{said, turn("left", "r1")},
	}}); err != nil {
		t.Fatal(err)
	}
	check("corrected", "user [text go]", "assistant [text step one]", "user [text left]")
}
