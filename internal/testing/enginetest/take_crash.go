package enginetest

import (
	"slices"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// takeScript is a run that its start claims, in a process that has a worker and has executed a run before.
func takeScript(s *engineTest, own bool, faults ...spooltest.Fault) int {
	m := spooltest.NewReplayModel(
		spooltest.Turn{
			Text:  []string{"one ", "two"},
			Usage: spooltest.Tokens(5, 7),
			Calls: []spooltest.Call{{ID: "c1", Name: "look"}},
		},
		spooltest.Turn{Text: []string{"three"}, Calls: []spooltest.Call{{ID: "c2", Name: "once"}}},
		spooltest.Turn{Text: []string{"four"}, Usage: spooltest.Tokens(11, 13)},
	)
	look := plain("look", `"seen"`)
	look.Idempotent = true
	c := newCampaign(s, s.config(m, look, plain("once", `"done"`)), 1, own)
	first := c.boot()
	c.hire(first)
	warm := spool.ThreadKey{Tenant: "first", ID: "first"}
	s.startAs(first.Engine, warm, wire.StartRequest{Prompt: "first", RunID: "first"})
	fairTest{s}.endsWithin(warm, time.Minute)
	<-time.After(still)
	before := first.faulty.Calls()
	for i := range faults {
		faults[i].Call += before
	}
	first.faulty.Plan(faults...)
	n := c.begin(first)
	if n != first {
		c.hire(n)
	}
	stop := c.clients("a", "b")
	c.outlive(n, func(n *node) { // a call with an unknown outcome waits for a person
		c.answerAll(n.Engine, func(store.Park) wire.Response { return wire.Response{Approved: true} })
	})
	calls := first.faulty.Calls() - before
	if got := s.thread(); got.State != wire.Completed {
		s.Errorf("the run ended as %s: %+v", got.State, s.run("r1"))
	}
	claimed := slices.ContainsFunc(s.history.Commits, func(of spooltest.Commit) bool { return len(of.Claimed) > 0 })
	if len(faults) == 0 && (!claimed || m.Asked() != 6) {
		s.Errorf("the start has claimed its run: %t; the model was asked %d times", claimed, m.Asked())
	}
	if text := strings.Join(s.script(), "\n"); strings.Count(text, "one two") != 1 || strings.Count(text, "three") != 1 ||
		strings.Count(text, "four") != 1 {
		s.Errorf("messages: %s", text)
	}
	c.finish(stop)
	return calls
}
