package enginetest

import (
	"context"
	"strconv"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// backgroundScript is a run whose answers can be asked for again, with a call and a park in between. The first process
// has faults; if it crashes, a second one continues. Once a resume point is saved, no second request is made for
// the same answer, and the answer is charged once. backgroundScript returns how many calls the first process made.
func backgroundScript(s *engineTest, own bool, faults ...spooltest.Fault) int {
	m := spooltest.NewModelFunc(func(_ context.Context, r spool.ModelRequest) spooltest.Turn {
		if run := s.run("r1"); run.Resume != nil {
			s.Errorf("a new request for step %d, while %s is under way", run.Steps+1, run.Resume.Data)
		}
		n := spooltest.StepOf(r)
		t := spooltest.Turn{
			Background: true, Text: []string{"part ", strconv.Itoa(n)}, Early: spooltest.Tokens(5, 1),
			Usage: spooltest.Tokens(5, 7),
		}
		if n == 0 {
			t.Midway = breaking(overloaded()) // each answer breaks once
			t.Calls = []spooltest.Call{{ID: "c1", Name: "once"}, {ID: "c2", Name: "send"}}
		}
		return t
	})
	c := newCampaign(s, s.config(m, plain("once", `"done"`), approved("send", `"sent"`)), 1, own)
	first, stop := c.survive(faults, []string{"a"}, func(n *node) {
		c.answerAll(n.Engine, func(p store.Park) wire.Response {
			return wire.Response{Approved: p.Reason != wire.ParkOutcomeUnknown, Digest: p.Digest}
		})
	})
	run := s.run("r1")
	if run.State != wire.Completed || run.Steps != 2 || run.Resume != nil {
		s.Errorf("the run ended as %s: %+v", run.State, run)
	}
	if text := strings.Join(s.script(), "\n"); strings.Count(text, "part 0") != 1 || strings.Count(text, "part 1") != 1 {
		s.Errorf("messages: %s", text)
	}
	finished, counted := 0, 0
	for _, r := range s.usage(wire.UsageQuery{}) {
		if r.Outcome == wire.OutcomeFinished {
			finished++
		}
		if r.Usage.Input != nil {
			counted++
		}
	}
	// Only an answer whose resume point could not be saved is asked for anew.
	if finished != 2 || counted > m.Fresh() || m.Fresh() > 3 || m.Fresh() == 2 && run.TotalTokens != 24 {
		s.Errorf("%d answers of %d are charged, after %d requests, %d of them new: %+v", finished, counted, m.Asked(),
			m.Fresh(), run.TokenCount)
	}
	c.finish(stop)
	return first.faulty.Calls()
}
