package enginetest

import (
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// pendingScript is a run with two pending calls beside another one, in a process with faults. Whatever the fault is,
// the work of a call is begun once, or a person has let it begin again.
func pendingScript(s *engineTest, own bool, faults ...spooltest.Fault) int {
	quick, slow := pendingTest{s}.remote(2*time.Second, time.Second), pendingTest{s}.remote(6*time.Second, 3*time.Second)
	quick.note = func(time.Duration) string { return "half" }
	look := plain("look", `"seen"`)
	look.Idempotent = true
	m := spooltest.NewReplayModel(spooltest.Use(
		spooltest.Call{ID: "c1", Name: "quick"}, spooltest.Call{ID: "c2", Name: "slow"},
		spooltest.Call{ID: "c3", Name: "look"},
	), spooltest.Say("done"))
	c := newCampaign(s, s.config(m, quick.tool("quick"), slow.tool("slow"), look), 1, own)
	// calls of an idle worker are all alike
	c.config.Worker.Poll, c.config.Worker.SweepEvery = 4*time.Second, 20*time.Second
	unknown := make(map[spool.ToolCallID]bool)
	first, stop := c.survive(faults, []string{"a"}, func(n *node) {
		c.answerAll(n.Engine, func(p store.Park) wire.Response {
			unknown[p.ToolCallID] = true
			return wire.Response{Approved: true}
		})
	})
	calls := first.faulty.Calls()
	if got := s.thread(); got.State != wire.Completed {
		s.Errorf("the run ended as %s: %+v", got.State, s.run("r1"))
	}
	text := strings.Join(s.script(), "\n")
	for id, work := range map[spool.ToolCallID]*remoteWork{"c1": quick, "c2": slow} {
		if strings.Count(text, string(id)+`:"made"`) != 1 || work.starts > 1 && !unknown[id] || len(work.wrong) > 0 {
			s.Errorf("%s: %d starts, asked %t, %s, messages: %s", id, work.starts, unknown[id], work.wrong, text)
		}
	}
	c.finish(stop)
	return calls
}
