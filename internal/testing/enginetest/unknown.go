package enginetest

import (
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

var unknownTests = map[string]func(s *engineTest){
	"Approved":      func(s *engineTest) { testUnknown(s, false, true, "", `"sent"`, 2) },
	"Denied":        func(s *engineTest) { testUnknown(s, false, false, "", `{"cancelled":true,`, 1) },
	"DeniedWith":    func(s *engineTest) { testUnknown(s, false, false, `{"n":1}`, `{"n":1}`, 1) },
	"Expired":       func(s *engineTest) { testUnknown(s, false, false, "expire", `{"error":"the call was cut off`, 1) },
	"AfterApproval": func(s *engineTest) { testUnknown(s, true, true, "", `"sent"`, 2) },
	"DeniedAfter":   func(s *engineTest) { testUnknown(s, true, false, `{"n":1}`, `{"n":1}`, 1) },
	"Idempotent":    testUnknownIdempotent,
	"Siblings":      testUnknownSiblings,
	"Twice":         testUnknownTwice,
	"SentAgain":     testUnknownSentAgain,
}

// dying is a tool whose first calls return only when their process is dead.
type dying struct {
	spool.Tool

	called chan struct{}
	gate   chan struct{}
	calls  atomic.Int64
}

func newDying(deaths int) *dying {
	d := &dying{called: make(chan struct{}, deaths), gate: make(chan struct{})}
	d.Tool = plain("send", "")
	d.Call = func(context.Context, spool.ToolCall) (json.RawMessage, error) {
		if d.calls.Add(1) <= int64(deaths) {
			d.called <- struct{}{}
			<-d.gate
		}
		return json.RawMessage(`"sent"`), nil
	}
	return d
}

// testUnknown lets a worker die in a tool that is not idempotent, and answers the resulting park.
func testUnknown(s *engineTest, parked, approve bool, payload, result string, calls int) {
	d := newDying(1)
	if parked {
		d.Approval = spool.AlwaysApprove
	}
	c := s.config(sending(), d.Tool)
	p := s.process(c)
	s.start(p.Engine, "r1", "go")
	if parked {
		s.becomes(wire.WaitingForInput)
		s.answer(p.Engine, "c1", true, `"first"`)
	}
	receive(s, d.called, bubbleWait, "the call of the tool")
	p.kill()
	close(d.gate)
	killed := time.Now()
	e := s.working(c)
	s.becomes(wire.WaitingForInput)
	if took := time.Since(killed); took > 40*time.Second {
		s.Errorf("it took %s to move again", took)
	}
	all := s.all(chat, "r1")
	if got := all.Parks[len(all.Parks)-1]; got.Reason != wire.ParkOutcomeUnknown || got.State != wire.ParkOpen {
		s.Errorf("the park is %+v", got)
	}
	if payload != "expire" {
		s.answer(e, "c1", approve, payload)
	}
	s.ended(wire.Completed)
	if got := s.script()[2]; !strings.HasPrefix(got, "tool c1:"+result) {
		s.Errorf("the result is %s, want %s", got, result)
	}
	if s.executed() != calls {
		s.Errorf("the tool was called %d times, want %d", s.executed(), calls)
	}
}

func testUnknownIdempotent(s *engineTest) {
	d := newDying(1)
	d.Idempotent = true
	c := s.config(sending(), d.Tool)
	p := s.process(c)
	s.start(p.Engine, "r1", "go")
	receive(s, d.called, bubbleWait, "the call of the tool")
	p.kill()
	close(d.gate)
	s.working(c)
	s.ended(wire.Completed)
	s.lines("record", s.record(), "RUN_STARTED r1:1", "RUN_ENDED r1:1 lost", "RUN_STARTED r1:2", "RUN_ENDED r1:2 finished")
	s.lines("messages", s.script(), "user go", `assistant c1=send{"to":"bob"}`, `tool c1:"sent"`, "assistant done")
	keys := s.history.Executions
	if len(keys) != 2 || keys[0].Call.IdempotencyKey() != keys[1].Call.IdempotencyKey() {
		s.Errorf("executions: %+v", keys)
	}
}

// testUnknownSiblings checks that results that were known when the worker died are kept.
func testUnknownSiblings(s *engineTest) {
	d := newDying(1)
	m := spooltest.NewReplayModel(
		spooltest.Turn{
			Text:  []string{"x"},
			Calls: []spooltest.Call{{ID: "c1", Name: "look"}, {ID: "c2", Name: "send"}, {ID: "c3", Name: "ask"}},
		},
		spooltest.Say("done"),
	)
	c := s.config(m, d.Tool, plain("look", `"seen"`), approved("ask", `"yes"`))
	p := s.process(c)
	s.start(p.Engine, "r1", "go")
	receive(s, d.called, bubbleWait, "the call of the tool")
	s.until("the sibling's result", func() bool {
		for _, e := range s.all(chat, "r1").Effects {
			if e.ToolCallID == "c1" && e.State == wire.EffectDone {
				return true
			}
		}
		return false
	})
	p.kill()
	close(d.gate)
	e := s.working(c)
	s.becomes(wire.WaitingForInput)
	s.answer(e, "c3", true, "")
	s.answer(e, "c2", false, `"it was sent"`)
	s.ended(wire.Completed)
	s.lines("messages", s.script(), "user go", "assistant x c1=look{} c2=send{} c3=ask{}", `tool c1:"seen"`,
		`tool c2:"it was sent" c3:"yes"`, "assistant done")
	if s.executed() != 3 || m.Asked() != 2 {
		s.Errorf("%d calls of tools, %d questions", s.executed(), m.Asked())
	}
}

// testUnknownTwice lets the worker die again in the call that a person has allowed to repeat.
func testUnknownTwice(s *engineTest) {
	d := newDying(2)
	c := s.config(sending(), d.Tool)
	p := s.process(c)
	s.start(p.Engine, "r1", "go")
	for range 2 {
		receive(s, d.called, bubbleWait, "the call of the tool")
		p.kill()
		p = s.process(c)
		s.becomes(wire.WaitingForInput)
		s.answer(p.Engine, "c1", true, "")
	}
	close(d.gate)
	s.ended(wire.Completed)
	if s.executed() != 3 {
		s.Errorf("%d calls of tools", s.executed())
	}
}

// testUnknownSentAgain lets the worker die twice in one call. The answer to the first question does not
// count for the second one, even if it is sent again, and neither does an answer without a digest.
func testUnknownSentAgain(s *engineTest) {
	d := newDying(2)
	c := s.config(sending(), d.Tool)
	p := s.process(c)
	s.start(p.Engine, "r1", "go")
	receive(s, d.called, bubbleWait, "the call of the tool")
	p.kill()
	p = s.process(c)
	s.becomes(wire.WaitingForInput)
	first := s.shown("c1")
	approval := wire.Response{ToolCallID: "c1", Approved: true, Digest: first.Digest}
	approveTest{s}.delivered(p.Engine, approval)
	receive(s, d.called, bubbleWait, "the call of the tool")
	p.kill()
	close(d.gate)
	e := s.working(c)
	s.becomes(wire.WaitingForInput)
	second := s.shown("c1")
	if first.Occurrence != 0 || second.Occurrence != 2 || second.Digest == first.Digest || second.Reason != first.Reason {
		s.Errorf("the questions are %+v and %+v", first, second)
	}
	approveTest{s}.refused(e, approval, wire.ReasonChanged)
	for _, approved := range []bool{true, false} {
		approveTest{s}.refused(e, wire.Response{ToolCallID: "c1", Approved: approved}, wire.ReasonChanged)
	}
	if s.executed() != 2 {
		s.Errorf("%d calls of tools", s.executed())
	}
	approval.Digest = second.Digest
	approveTest{s}.delivered(e, approval)
	s.ended(wire.Completed)
	if s.executed() != 3 {
		s.Errorf("%d calls of tools", s.executed())
	}
}

// shown returns the last park of a call of the chat's run, at any depth.
func (s *engineTest) shown(id spool.ToolCallID) (park store.Park) {
	s.Helper()
	for _, p := range s.parksOf(chat, s.thread().RunID) {
		if p.ToolCallID == id {
			park = p
		}
	}
	return park
}
