package enginetest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// marching returns a model that finds the next step from the prompt, so that a repeated step gets the
// same answer. The third step asks for an approval.
func marching(window, steps int) *spooltest.Model {
	return counting(window, func(r spool.ModelRequest) spooltest.Turn { return march(r, steps) })
}

func march(r spool.ModelRequest, steps int) spooltest.Turn {
	step := 1
	for _, m := range r.Messages {
		var n int
		if _, err := fmt.Sscanf(m.Text(), "step-%d.", &n); err == nil && m.Role == spool.RoleAssistant {
			step = n + 1
		}
	}
	if step > steps {
		return spooltest.Say("over")
	}
	t := spooltest.Turn{Text: []string{fmt.Sprintf("step-%d.", step)}}
	names := []string{"look", "once"}
	if step == 3 {
		names = []string{"look", "send"}
	}
	for i, name := range names {
		t.Calls = append(t.Calls, spooltest.Call{ID: spool.ToolCallID(fmt.Sprintf("c%d.%d", step, i)), Name: name})
	}
	return t
}

// compactScript runs a script of several steps in which the history is summarised twice, the second
// time after a park. The first process has faults; if it crashes, a second one continues. compactScript
// returns how many calls the first process made.
func compactScript(t *engineTest, own bool, faults ...spooltest.Fault) int {
	s := contextTest{t}
	m := marching(900, 7) // room for 675, compacted at 540, of which 168 stay
	sums := spooltest.NewModelFunc(func(_ context.Context, r spool.ModelRequest) spooltest.Turn {
		return spooltest.Turn{
			Text:  []string{fmt.Sprintf("SUM of %d lines", strings.Count(r.Messages[0].Text(), "\n")+1)},
			Usage: spooltest.Tokens(7, 3),
		}
	})
	look := plain("look", result("seen", 640))
	look.Idempotent = true
	config := s.contextConfig(m, sums, look, plain("once", `"done"`), approved("send", `"sent"`))
	c := newCampaign(s.engineTest, config, 1, own)
	first, stop := c.survive(faults, []string{"a"}, func(n *node) {
		c.answerAll(n.Engine, func(p store.Park) wire.Response {
			if p.Reason == wire.ParkOutcomeUnknown {
				return wire.Response{Approved: false, Payload: json.RawMessage(`"a person looked"`)}
			}
			return wire.Response{Approved: true}
		})
	})
	if got := s.thread(); got.State != wire.Completed {
		s.Errorf("the run ended as %s: %+v", got.State, s.run("r1"))
	}
	text := strings.Join(s.script(), "\n")
	for step := 1; step <= 7; step++ {
		if said := fmt.Sprintf("step-%d.", step); strings.Count(text, said) != 1 {
			s.Errorf("step %d is in %s", step, text)
		}
	}
	if told := s.compactions(); len(told) < 2 || strings.Count(text, "SUM of") != len(told) {
		s.Errorf("the record tells of %d summaries: %s", len(told), text)
	}
	s.fits(m, 675)
	for i, r := range m.Requests() {
		if !strings.HasSuffix(r.Messages[0].Text(), "go") {
			s.Errorf("prompt %d begins with %s", i, r.Messages[0].Text())
		}
	}
	c.finish(stop)
	return first.faulty.Calls()
}
