package enginetest

import (
	"strings"

	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// nestedScript runs a tree of three agents, with tools of every kind and parks at two depths. The first
// process has faults; if it crashes, a second one continues. nestedScript returns how many calls the
// first process made.
func nestedScript(t *engineTest, own bool, faults ...spooltest.Fault) int {
	s := nestedTest{t}
	m := casting(map[string][]spooltest.Turn{
		"go": {
			{
				Text:  []string{"to ", "work"},
				Usage: spooltest.Tokens(5, 7),
				Calls: []spooltest.Call{spawn("c1", "lead", "plan"), spawn("c2", "helper", "side"), {ID: "c3", Name: "once"}},
			},
			{Text: []string{"all ", "done"}, Usage: spooltest.Tokens(11, 13)},
		},
		"plan": {
			{
				Text:  []string{"let me ", "see"},
				Usage: spooltest.Tokens(1, 1),
				Calls: []spooltest.Call{spawn("c1", "helper", "mail")},
			},
			{Text: []string{"it is ", "planned"}, Usage: spooltest.Tokens(1, 2)},
		},
		"mail": {
			{
				Reasoning: []string{"hm"},
				Usage:     spooltest.Tokens(2, 1),
				Calls:     []spooltest.Call{{ID: "c1", Name: "send"}, {ID: "c2", Name: "look"}},
			},
			{Text: []string{"I ", "mailed"}, Usage: spooltest.Tokens(2, 2)},
		},
		"side": {
			{
				Text:  []string{"aside"},
				Usage: spooltest.Tokens(3, 1),
				Calls: []spooltest.Call{{ID: "c1", Name: "once"}, {ID: "c2", Name: "send"}},
			},
			{Text: []string{"be", "side"}, Usage: spooltest.Tokens(3, 2)},
		},
	})
	look := plain("look", `"seen"`)
	look.Idempotent = true
	c := newCampaign(s.engineTest, s.treeConfig(m, look, plain("once", `"done"`), approved("send", `"sent"`)), 1, own)
	first, stop := c.survive(faults, []string{"a", "b"}, func(n *node) {
		c.answerAll(n.Engine, func(p store.Park) wire.Response {
			return wire.Response{Approved: p.Reason != wire.ParkOutcomeUnknown, Digest: p.Digest}
		})
	})
	calls := first.faulty.Calls()
	if got := s.thread(); got.State != wire.Completed {
		s.Errorf("the run ended as %s: %+v", got.State, s.run("r1"))
	}
	text := strings.Join(s.tree(), "\n")
	for _, said := range []string{
		"assistant to work", "assistant all done", "plan: assistant let me see", "plan: assistant it is planned",
		"mail: assistant (hm)", "mail: assistant I mailed", "side: assistant aside", "side: assistant beside",
	} {
		if strings.Count(text, said) != 1 {
			s.Errorf("%q is there %d times:\n%s", said, strings.Count(text, said), text)
		}
	}
	c.finish(stop)
	return calls
}

// nestedLateScript does the same as nestedScript for a tree whose time is used up while nested runs are
// active. Their output so far is saved once, even if the update that saves it seems to fail.
func nestedLateScript(t *engineTest, own bool, faults ...spooltest.Fault) int {
	s := nestedTest{t}
	c := newCampaign(s.engineTest, s.late(), 1, own)
	first, stop := c.survive(faults, []string{"a"}, func(*node) {})
	if r := s.run("r1"); r.State != wire.Completed {
		s.Errorf("the run ended as %s: %+v", r.State, r)
	}
	text := strings.Join(s.tree(), "\n")
	for _, said := range []string{
		"talk: assistant so far", "talk: assistant and on", "work: assistant c1=slow{} c2=look{}", "work: tool ",
	} {
		if strings.Count(text, said) > 1 {
			s.Errorf("%q is there %d times:\n%s", said, strings.Count(text, said), text)
		}
	}
	c.finish(stop)
	return first.faulty.Calls()
}
