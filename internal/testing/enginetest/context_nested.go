package enginetest

import (
	"slices"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/compare"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

// testContextNested has two concurrent nested runs whose histories each get too long, with a park in
// each. The agent above them has a short history.
func testContextNested(s contextTest) {
	m := counting(900, func(r spool.ModelRequest) spooltest.Turn {
		text := promptText(r)
		switch {
		case !strings.Contains(text, "go left") && !strings.Contains(text, "go right"):
			return spooltest.Use(spawn("s1", "helper", "go left"), spawn("s2", "helper", "go right"))
		case r.Instructions == "": // the agent above, which has both results
			return spooltest.Say("both are there")
		default:
			return march(r, 7)
		}
	})
	c := nestedTest(s).treeConfig(m, plain("look", result("seen", 640)), plain("once", `"done"`),
		approved("send", `"sent"`))
	c.Agents[0].Spawn.MaxSteps = 40
	c.Models["sums"], c.Context.CompactionModel = summing(), "sums"
	e := s.working(c)
	s.start(e, "r1", "March.")
	client := s.watch(e, &spooltest.Client{Name: "live", FromStart: true}, wire.FollowOptions{Cursor: &wire.Cursor{}})
	s.becomes(wire.WaitingForInput)
	nestedTest(s).answerAs(e, "go right:send", true)
	nestedTest(s).answerAs(e, "go left:send", false)
	s.ended(wire.Completed)
	<-time.After(quiet)
	client()

	nested := nestedTest(s).nested()
	told := s.compactions()
	for _, brief := range []string{"go left", "go right"} {
		id := nested[brief].AgentID()
		if !slices.ContainsFunc(told, func(p wire.ContextCompacted) bool { return p.AgentID == id }) {
			s.Errorf("nothing was summarised of %s: %+v", brief, told)
		}
		if r := nested[brief]; r.State != wire.Completed || r.Steps != 8 {
			s.Errorf("%s: %+v", brief, r)
		}
	}
	if slices.ContainsFunc(told, func(p wire.ContextCompacted) bool { return p.AgentID == "" }) {
		s.Errorf("the agent above was summarised: %+v", told)
	}
	for _, row := range s.rows(spool.UsageCompaction) {
		if row.RunID != "r1" || row.AgentID == "" {
			s.Errorf("the ledger has %s", compare.Dump(row))
		}
	}
	s.fits(m, 675)
	for i, r := range m.Requests() {
		if first := r.Messages[0].Text(); r.Instructions != "" && !strings.HasSuffix(first, "go left") &&
			!strings.HasSuffix(first, "go right") {
			s.Errorf("prompt %d begins with %s", i, first)
		}
	}
}
