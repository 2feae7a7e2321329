package enginetest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// repeatTest is the fixture of the cases about calls that repeat.
type repeatTest struct{ *engineTest }

var repeatTests = map[string]func(s repeatTest){
	"Ends":    testRepeatEnds,
	"Polling": testRepeatPolling,
	"Between": testRepeatBetween,
	"Taken":   testRepeatTaken,
}

// again returns a model that calls a tool with the same arguments in each step, in another order of their keys.
func again() *spooltest.Model {
	return spooltest.NewModelFunc(func(_ context.Context, r spool.ModelRequest) spooltest.Turn {
		step := spooltest.StepOf(r)
		args := []string{`{"a":1,"b":2}`, `{"b":2, "a":1}`}[step%2]
		return spooltest.Turn{
			Text:  []string{fmt.Sprintf("try %d", step)},
			Calls: []spooltest.Call{{ID: spool.ToolCallID(fmt.Sprintf("c%d", step)), Name: "look", Args: args}},
		}
	})
}

// notes returns for each result of a request whether it has a note for the model.
func notes(r spool.ModelRequest) string {
	var b strings.Builder
	for _, m := range r.Messages {
		for _, p := range m.ToolResults() {
			if strings.Contains(string(p.Result), "with nothing in between") {
				b.WriteString("n")
			} else {
				b.WriteString("-")
			}
		}
	}
	return b.String()
}

// testRepeatEnds has a model that makes the same call for ever. It is told from the third on, and the run ends at the
// sixth. Clients see the results as they were.
func testRepeatEnds(s repeatTest) {
	m := again()
	s.start(s.working(s.config(m, plain("look", `"none"`))), "r1", "go")
	s.ended(wire.Completed)
	emptyTest(s).tellsEnd(wire.StopRepeated)
	var told []string
	for _, r := range m.Requests() {
		told = append(told, notes(r))
	}
	s.same("notes", told, []string{"", "-", "--", "--n", "--nn", "--nnn"})
	for _, message := range s.messagesOf(chat) {
		for _, p := range message.ToolResults() {
			if string(p.Result) != `"none"` {
				s.Errorf("a client sees %s", p.Result)
			}
		}
	}
	// The next turn begins anew.
	s.start(s.engine(s.config(m, plain("look", `"none"`))), "r2", "go on")
	s.ended(wire.Completed)
	if run := s.run("r2"); run.Steps != 6 || run.StopReason != wire.StopRepeated {
		s.Errorf("the second run is %+v", run.Run)
	}
}

// goesOn checks that a run that calls the tool in each step is neither told so nor ended.
func (s repeatTest) goesOn(look spool.Tool) {
	s.Helper()
	m := again()
	c := s.config(m, look)
	c.Agents[0].MaxSteps, c.Agents[0].NoFinalAnswer = 8, true
	s.start(s.working(c), "r1", "go")
	s.ended(wire.Completed)
	requests := m.Requests()
	if run := s.run("r1"); run.StopReason != wire.StopMaxSteps || strings.Contains(notes(requests[len(requests)-1]), "n") {
		s.Errorf("the run is %+v, with the notes %s", run.Run, notes(requests[len(requests)-1]))
	}
}

func testRepeatPolling(s repeatTest) {
	look := plain("look", `"none"`)
	look.Polling = true
	s.goesOn(look)
}

// testRepeatBetween has a tool whose result changes with each second call.
func testRepeatBetween(s repeatTest) {
	n := 0
	s.goesOn(spool.Tool{
		ToolSpec: spool.ToolSpec{Name: "look"},
		Call: func(context.Context, spool.ToolCall) (json.RawMessage, error) {
			n++
			return json.RawMessage(strconv.Itoa(n / 2)), nil
		},
	})
}

// testRepeatTaken has a worker for each two steps. Each sends the prompts that one worker alone would send.
func testRepeatTaken(s repeatTest) {
	m := again()
	look := approved("look", `"none"`)
	c := s.config(m, look)
	for n := range 6 {
		e := s.engine(c)
		stop := s.work(e)
		if n == 0 {
			s.start(e, "r1", "go")
		}
		call := spool.ToolCallID(fmt.Sprintf("c%d", n))
		s.until("the question", func() bool {
			return slices.ContainsFunc(s.parksOf(chat, "r1"),
				func(p store.Park) bool { return p.ToolCallID == call && p.State == wire.ParkOpen })
		})
		stop()
		s.answer(e, call, true, "")
	}
	s.working(c)
	s.ended(wire.Completed)
	if run := s.run("r1"); run.StopReason != wire.StopRepeated || run.Steps != 6 {
		s.Errorf("the run is %+v", run.Run)
	}
	requests := m.Requests()
	for i, r := range requests[:len(requests)-1] {
		next := requests[i+1].Messages[:len(r.Messages)]
		s.same("the beginning of the next request", next, r.Messages)
	}
}
