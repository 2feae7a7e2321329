package client_test

import (
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/client"
	"github.com/spoolhq/spool/internal/testing/testwait"
	"github.com/spoolhq/spool/wire"
)

// A client steers a run that waits for an answer, withdraws one of the messages, and learns where the other one is.
func TestSteer(t *testing.T) {
	t.Parallel()

	_, c := setup(t)
	ctx := testwait.Context(t, "the operations")
	o := run(t, c, client.RunRequest{ThreadID: "t1", RunID: "r1", Prompt: `use send with {"to":"bob"}`})
	if o.State != wire.WaitingForInput || len(o.Parks) != 1 {
		t.Fatalf("outcome %+v", o)
	}
	for _, id := range []spool.RunID{"r2", "r3"} {
		r := must(
			c.Run(ctx, client.RunRequest{ThreadID: "t1", RunID: id, Prompt: "steer " + string(id), WhenBusy: spool.BusySteer}),
		)(t)
		if !r.Accepted || r.Steers != "r1" {
			t.Errorf("%s: %+v", id, r)
		}
	}
	if r := must(c.Stop(ctx, "t1", "r3"))(t); !r.Accepted {
		t.Errorf("the withdrawal: %+v", r)
	}
	s := must(c.Snapshot(ctx, "t1", wire.SnapshotOptions{}))(t)
	if len(s.Queue) != 1 || s.Queue[0].RunID != "r2" || s.Queue[0].WhenBusy != spool.BusySteer ||
		s.Queue[0].Content.Text() != "steer r2" {
		t.Errorf("the queue is %+v", s.Queue)
	}
	answer := client.RespondRequest{ToolCallID: o.Parks[0].ToolCallID, Approved: true, Digest: o.Parks[0].Digest}
	if r := must(c.Respond(ctx, "t1", answer))(t); !r.Delivered {
		t.Fatalf("the answer: %+v", r)
	}
	if o := await(t, c, "r1"); o.State != wire.Completed {
		t.Errorf("outcome %+v", o)
	}
	steer := await(t, c, "r2")
	if steer.State != wire.Completed || steer.StopReason != wire.StopSteered || steer.Delivered == nil ||
		steer.Delivered.RunID != "r1" {
		t.Fatalf("the steer: %+v", steer)
	}
	if o := await(t, c, "r3"); o.State != wire.Cancelled || o.Delivered != nil {
		t.Errorf("the withdrawn steer: %+v", o)
	}
	if r := must(c.Stop(ctx, "t1", "r2"))(t); r.Accepted || r.Reason != wire.ReasonNotActive {
		t.Errorf("a withdrawal that is too late: %+v", r)
	}
	s = must(c.Snapshot(ctx, "t1", wire.SnapshotOptions{}))(t)
	var turns []string
	for _, m := range s.Messages {
		if m.Role == spool.RoleUser {
			turns = append(turns, string(m.RunID)+": "+m.Text())
		}
		if m.ID == steer.Delivered.MessageID && m.Text() != "steer r2" {
			t.Errorf("delivered as %+v", m)
		}
	}
	if len(turns) != 2 || turns[1] != "r1: steer r2" {
		t.Errorf("the turns are %q", turns)
	}
}
