package enginetest

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

// testSteerRedriven rolls back a redriven run that was steered before it failed and is steered again. All turns that
// the run has read go into one branch, as those of a first run would. The steer that no run has read yet comes once,
// after the turn that rolls back.
func testSteerRedriven(s steerTest) {
	gate := make(chan struct{})
	tool, called := holding(gate)
	var down atomic.Bool
	down.Store(true)
	m := spooltest.NewModelFunc(func(_ context.Context, r spool.ModelRequest) spooltest.Turn {
		last := r.Messages[len(r.Messages)-1]
		switch text := last.Text(); {
		case text == "r2." && down.Load():
			return spooltest.Turn{Err: errors.New("overloaded")}
		case last.Role == spool.RoleUser && strings.HasSuffix(text, "."):
			return spooltest.Use(spooltest.Call{ID: spool.ToolCallID("c-" + strings.TrimSuffix(text, ".")), Name: "hold"})
		default:
			return spooltest.Say("re: ", text)
		}
	})
	e := s.engine(s.config(m, tool))
	stop := s.work(e)
	s.start(e, "r1", "go.")
	receive(s, called, bubbleWait, "the call of the tool")
	s.steer(e, "r2.")
	gate <- struct{}{}
	s.until("the failure", func() bool { return s.thread().State == wire.Queued && s.run("r1").Segments == 1 })
	stop()
	redriven := redriveTest(s).redrive(e, redriveTest(s).die(e))
	down.Store(false)
	s.work(e)
	receive(s, called, bubbleWait, "the call for the first steer")
	s.steer(e, "r3.")
	gate <- struct{}{}
	receive(s, called, bubbleWait, "the call for the second steer")
	s.same("the run of the second steer", s.delivered(e, "r3."), redriven.RunID)
	s.steer(e, "r4")
	waitTest(s).busy(e, "r5", spool.BusyRollback)
	s.ended(wire.Completed)
	s.lines("messages", s.script(), "user r5", "user r4", "assistant re: r4")
	s.same("the run of the last steer", s.delivered(e, "r4"), spool.RunID("r5"))
	branches := s.branchesOf(chat)
	if len(branches) != 1 {
		s.Fatalf("the branches: %+v", branches)
	}
	if r, err := e.RestoreBranch(context.Background(), chat, branches[0].ID); err != nil || !r.Accepted {
		s.Fatalf("restore: %+v, %v", r, err)
	}
	turns := strings.Join(s.script(), "\n")
	for _, turn := range []string{"user go.", "user r2.", "user r3."} {
		if strings.Count(turns, turn) != 1 {
			s.Errorf("the branch has %q %d times: %s", turn, strings.Count(turns, turn), turns)
		}
	}
	if strings.Contains(turns, "user r4") {
		s.Errorf("the branch has the steer that was not read: %s", turns)
	}
}
