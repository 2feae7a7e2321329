package enginetest

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// providerScript is a run whose answers are signed and paused, with a park in between. The first process has faults;
// if it crashes, a second one continues. providerScript returns how many calls the first process made.
func providerScript(s *engineTest, own bool, faults ...spooltest.Fault) int {
	m := newStrictModel("m", func(r spool.ModelRequest) spooltest.Turn {
		n := spooltest.StepOf(r)
		t := spooltest.Turn{
			Reasoning: []string{"hm"},
			Text:      []string{"part ", strconv.Itoa(n)},
			Usage:     spooltest.Tokens(5, 7),
		}
		switch n {
		case 0, 2:
			t.FinishReason = spool.FinishPause
		case 1:
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
	if got := s.thread(); got.State != wire.Completed || s.run("r1").Steps != 4 {
		s.Errorf("the run ended as %s: %+v", got.State, s.run("r1"))
	}
	text := strings.Join(s.script(), "\n")
	for n := range 4 {
		if said := fmt.Sprintf("part %d", n); strings.Count(text, said) != 1 {
			s.Errorf("%q is there %d times: %s", said, strings.Count(text, said), text)
		}
	}
	m.accepts(s)
	c.finish(stop)
	return first.faulty.Calls()
}
