package enginetest

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

// clears returns how many results of a request are cleared.
func clears(r spool.ModelRequest) (n int) {
	for _, m := range r.Messages {
		for _, p := range m.ToolResults() {
			if strings.Contains(string(p.Result), "This old result of look was left out") {
				n++
			}
		}
	}
	return n
}

// testContextClears has a run with long results. Old ones are cleared, several at a time, and nothing is summarised.
// The process of the next run sends the same prompt.
func testContextClears(s contextTest) {
	m, sums := stepping(4000, 10, "look"), summing() // room for 3000, cleared at 2400, of which 750 stay
	c := s.contextConfig(m, sums, plain("look", result("seen", 2000)))
	e := s.engine(c)
	stop := s.work(e)
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	stop()
	s.working(c)
	s.start(e, "r2", "and?")
	s.ended(wire.Completed)
	if sums.Asked() != 0 || len(s.compactions()) != 0 || s.run("r1").Cleared == "" ||
		s.run("r2").Cleared != s.run("r1").Cleared {
		s.Errorf("%d summaries, and what is cleared is %s and %s", sums.Asked(), s.run("r1").Cleared, s.run("r2").Cleared)
	}
	s.fits(m, 3000)
	requests := m.Requests()
	changed := 0
	for i, r := range requests[1:] {
		before := requests[i].Messages
		if !reflect.DeepEqual(r.Messages[:len(before)], before) {
			changed++
			if more := clears(r) - clears(requests[i]); more < 2 {
				s.Errorf("request %d clears %d results", i+1, more)
			}
		}
	}
	if last := clears(requests[len(requests)-1]); changed == 0 || changed > 3 || last == 0 || last > 9 {
		s.Errorf("the beginning of the prompt changed %d times, and %d results are cleared", changed, last)
	}
	for _, message := range s.messagesOf(chat) {
		for _, p := range message.ToolResults() {
			if string(p.Result) != result("seen", 2000) {
				s.Errorf("a client sees %s", p.Result)
			}
		}
	}
}

// testContextClearsTooLittle has a run whose results are long, and whose texts are longer. A summary, of the results as
// they were, replaces both.
func testContextClearsTooLittle(s contextTest) {
	step := 0
	m := counting(4000, func(spool.ModelRequest) spooltest.Turn {
		if step++; step > 6 {
			return spooltest.Say("done")
		}
		return spooltest.Turn{
			Text: []string{long(fmt.Sprintf("step-%d", step), 2400)},
			Calls: []spooltest.Call{
				{ID: spool.ToolCallID(fmt.Sprintf("c%d", step)), Name: "look", Args: fmt.Sprintf(`{"n":%d}`, step)},
			},
		}
	})
	sums := summing()
	s.start(s.working(s.contextConfig(m, sums, plain("look", result("seen", 1100)))), "r1", "go")
	s.ended(wire.Completed)
	if len(s.compactions()) == 0 || strings.Contains(sums.Requests()[0].Messages[0].Text(), "left out to save room") {
		s.Errorf("%d summaries", len(s.compactions()))
	}
	s.fits(m, 3000)
}
