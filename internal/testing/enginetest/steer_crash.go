package enginetest

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

// steerScript steers a run while its tool runs, between its steps, and while it gives its last answer, in a process
// with faults. Whatever the fault is, each message is there once, in order.
func steerScript(s *engineTest, own bool, faults ...spooltest.Fault) int {
	m := spooltest.NewModelFunc(func(_ context.Context, r spool.ModelRequest) spooltest.Turn {
		last := r.Messages[len(r.Messages)-1]
		t := spooltest.Say("re: ", last.Text())
		if last.Text() == "go" || last.Text() == "s2" {
			t.Calls = []spooltest.Call{{ID: spool.ToolCallID("c-" + last.Text()), Name: "look"}}
		}
		t.Before = func(ctx context.Context) error {
			select {
			case <-time.After(2 * time.Second):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return t
	})
	look := plain("look", `"seen"`)
	look.Idempotent = true
	c := newCampaign(s, s.config(m, look), 1, own)
	// calls of an idle worker are all alike
	c.config.Worker.Poll, c.config.Worker.SweepEvery = 4*time.Second, 20*time.Second
	n := c.boot(faults...)
	first := n
	n = c.begin(n)
	stop := c.clients("a", "b")
	c.hire(n)
	for _, id := range []spool.RunID{"s1", "s2", "s3", "s4"} {
		n = c.insist(n, wire.StartRequest{
			Prompt: string(id), RunID: id, IdempotencyKey: "steer-" + string(id), WhenBusy: spool.BusySteer,
		})
		<-time.After(1500 * time.Millisecond)
	}
	c.outlive(n, func(*node) {})
	said := slices.DeleteFunc(s.script(), func(line string) bool { return !strings.HasPrefix(line, "user ") })
	s.lines("the turns", said, "user go", "user s1", "user s2", "user s3", "user s4")
	for _, r := range s.runsOf(chat) {
		if r.State != wire.Completed {
			s.Errorf("run %s is %s", r.ID, r.State)
		}
	}
	c.finish(stop)
	return first.faulty.Calls()
}
