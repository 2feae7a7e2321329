package enginetest

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/compare"
	"github.com/spoolhq/spool/wire"
)

// resumeTest is the fixture of the cases about tools that park with a state, or do not know their outcome.
type resumeTest struct{ *engineTest }

var resumeTests = map[string]func(s resumeTest){
	"Twice":             testResumeTwice,
	"AfterApproval":     testResumeAfterApproval,
	"Denied":            testResumeDenied,
	"Expired":           testResumeExpired,
	"ForEver":           testResumeForEver,
	"Schema":            testResumeSchema,
	"DeepSchema":        testResumeDeepSchema,
	"Crash":             testResumeCrash,
	"Broken":            testBroken,
	"BrokenDenied":      testBrokenDenied,
	"BrokenAfterAnswer": testBrokenAfterAnswer,
}

// visit is what a call of an asking tool was given.
type visit struct{ resume, answer string }

// asking returns a tool that parks with the given states, one after another, and then returns "done". It
// appends what each call was given to visits.
func asking(visits *[]visit, states ...string) spool.Tool {
	t := plain("send", "")
	t.Call = func(_ context.Context, c spool.ToolCall) (json.RawMessage, error) {
		v := visit{resume: string(compare.Canonical(c.Resume)), answer: "none"}
		if c.Answer != nil {
			v.answer = "denied"
		}
		if c.Answer != nil && c.Answer.Approved {
			v.answer = string(compare.Canonical(c.Answer.Payload))
		}
		*visits = append(*visits, v)
		next := 0
		for i, state := range states {
			if state == v.resume {
				next = i + 1
			}
		}
		if next == len(states) {
			return json.RawMessage(`"done"`), nil
		}
		return nil, &spool.ParkRequest{
			Reason: "question", Payload: map[string]int{"question": next + 1}, Resume: json.RawMessage(states[next]),
			Schema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`),
		}
	}
	return t
}

func (s resumeTest) visits(got []visit, want ...visit) {
	s.Helper()
	s.same("calls", got, want)
}

func testResumeTwice(s resumeTest) {
	var got []visit
	e := s.working(s.config(sending(), asking(&got, `"s1"`, `"s2"`)))
	s.start(e, "r1", "go")
	s.becomes(wire.WaitingForInput)
	first := s.shown("c1")
	s.answer(e, "c1", true, `{"n":1}`)
	s.until("the second question", func() bool {
		return s.shown("c1").Occurrence == 2 && s.thread().State == wire.WaitingForInput
	})
	approveTest(s).refused(e, wire.Response{
		ToolCallID: "c1", Approved: true, Payload: json.RawMessage(`{"n":1}`), Digest: first.Digest,
	}, wire.ReasonChanged)
	s.answer(e, "c1", true, `{"n":2}`)
	s.ended(wire.Completed)
	s.visits(got, visit{"", "none"}, visit{`"s1"`, `{"n":1}`}, visit{`"s2"`, `{"n":2}`})
	s.lines("messages", s.script(), "user go", `assistant c1=send{"to":"bob"}`, `tool c1:"done"`, "assistant done")
	for _, entry := range s.entriesOf(chat) {
		if strings.Contains(string(entry.Payload), "s1") || strings.Contains(string(entry.Payload), "s2") {
			s.Errorf("the record has the state: %s", entry.Payload)
		}
	}
}

func testResumeAfterApproval(s resumeTest) {
	var got []visit
	send := asking(&got, `"s1"`)
	send.Approval = spool.AlwaysApprove
	e := s.working(s.config(sending(), send))
	s.start(e, "r1", "go")
	s.becomes(wire.WaitingForInput)
	s.answer(e, "c1", true, "")
	s.until("the question", func() bool {
		return s.shown("c1").Reason == "question" && s.thread().State == wire.WaitingForInput
	})
	s.answer(e, "c1", true, `{"n":1}`)
	s.ended(wire.Completed)
	s.visits(got, visit{"", ""}, visit{`"s1"`, `{"n":1}`})
}

func testResumeDenied(s resumeTest) {
	var got []visit
	e := s.working(s.config(sending(), asking(&got, `"s1"`)))
	s.start(e, "r1", "go")
	s.becomes(wire.WaitingForInput)
	s.answer(e, "c1", false, "")
	s.ended(wire.Completed)
	s.visits(got, visit{"", "none"}, visit{`"s1"`, "denied"})
	s.lines("messages", s.script(), "user go", `assistant c1=send{"to":"bob"}`, `tool c1:"done"`, "assistant done")
}

func testResumeExpired(s resumeTest) {
	var got []visit
	e := s.working(s.config(sending(), asking(&got, `"s1"`)))
	begin := time.Now()
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	if took := time.Since(begin); took < 15*time.Minute {
		s.Errorf("it took %s", took)
	}
	s.visits(got, visit{"", "none"}, visit{`"s1"`, "none"})
}

// testResumeForEver answers a tool that never stops asking.
func testResumeForEver(s resumeTest) {
	var calls atomic.Int64
	send := plain("send", "")
	send.Call = func(context.Context, spool.ToolCall) (json.RawMessage, error) {
		calls.Add(1)
		return nil, &spool.ParkRequest{Resume: json.RawMessage(`1`)}
	}
	e := s.working(s.config(sending(), send))
	s.start(e, "r1", "go")
	for range 20 {
		asked := calls.Load()
		s.until("a question", func() bool {
			return s.thread().State == wire.WaitingForInput && s.shown("c1").State == wire.ParkOpen
		})
		s.answer(e, "c1", true, "")
		s.until("the next call", func() bool { return calls.Load() > asked })
	}
	s.ended(wire.Completed)
	if got := s.script()[2]; calls.Load() != 21 || !strings.HasPrefix(got, `tool c1:{"error":"the tool parked again`) {
		s.Errorf("after %d calls the result is %s", calls.Load(), got)
	}
}

func testResumeSchema(s resumeTest) {
	var got []visit
	e := s.working(s.config(sending(), asking(&got, `"s1"`)))
	s.start(e, "r1", "go")
	s.becomes(wire.WaitingForInput)
	for _, payload := range []string{`{"n":"x"}`, `{}`, `7`, ""} {
		r := wire.Response{ToolCallID: "c1", Approved: true}
		if payload != "" {
			r.Payload = json.RawMessage(payload)
		}
		if _, err := s.respondWith(e, r); spool.CodeOf(err) != spool.Invalid ||
			!strings.HasPrefix(spool.MessageOf(err), "payload: ") {
			s.Errorf("payload %s: %v", payload, err)
		}
	}
	if s.shown("c1").State != wire.ParkOpen {
		s.Error("a wrong answer has closed the question")
	}
	s.answer(e, "c1", true, `{"n":3}`)
	s.ended(wire.Completed)
	s.visits(got, visit{"", "none"}, visit{`"s1"`, `{"n":3}`})
}

// testResumeDeepSchema asks with a schema that could be saved and never be read again.
func testResumeDeepSchema(s resumeTest) {
	send := plain("send", "")
	send.Call = func(context.Context, spool.ToolCall) (json.RawMessage, error) {
		return nil, &spool.ParkRequest{
			Resume: json.RawMessage(`1`),
			Schema: json.RawMessage(strings.Repeat(`{"a":`, 9998) + "1" + strings.Repeat("}", 9998)),
		}
	}
	e := s.working(s.config(sending(), send))
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	if got := s.script()[2]; !strings.HasPrefix(got, `tool c1:"error: the schema of the question is nested deeper`) {
		s.Errorf("the result is %s", got)
	}
}

// testResumeCrash kills the process after the question, and again in the call with the answer.
func testResumeCrash(s resumeTest) {
	var got []visit
	send, d := asking(&got, `"s1"`), newDying(1)
	ask := send.Call
	send.Call = func(ctx context.Context, c spool.ToolCall) (json.RawMessage, error) {
		if c.Resume != nil && d.calls.Load() == 0 {
			return d.Call(ctx, c)
		}
		return ask(ctx, c)
	}
	c := s.config(sending(), send)
	p := s.process(c)
	s.start(p.Engine, "r1", "go")
	s.becomes(wire.WaitingForInput)
	p.kill()
	p = s.process(c)
	s.answer(p.Engine, "c1", true, `{"n":1}`)
	receive(s.engineTest, d.called, bubbleWait, "the call of the tool")
	p.kill()
	close(d.gate)
	e := s.working(c)
	s.becomes(wire.WaitingForInput)
	if got := s.shown("c1"); got.Reason != wire.ParkOutcomeUnknown || string(compare.Canonical(got.Resume)) != `"s1"` {
		s.Errorf("the park is %+v", got)
	}
	s.answer(e, "c1", true, "")
	s.ended(wire.Completed)
	s.visits(got, visit{"", "none"}, visit{`"s1"`, `{"n":1}`})
}

// broken returns a tool whose first call does not know its outcome.
func broken(calls *int) spool.Tool {
	t := plain("send", "")
	t.Call = func(context.Context, spool.ToolCall) (json.RawMessage, error) {
		if *calls++; *calls == 1 {
			return nil, &spool.OutcomeUnknownError{Err: spool.Errorf(spool.Unavailable, "the connection broke")}
		}
		return json.RawMessage(`"sent"`), nil
	}
	return t
}

func testBroken(s resumeTest) {
	calls := 0
	e := s.working(s.config(sending(), broken(&calls)))
	s.start(e, "r1", "go")
	s.becomes(wire.WaitingForInput)
	all := s.all(chat, "r1")
	if got := s.shown("c1"); got.Reason != wire.ParkOutcomeUnknown ||
		len(all.Effects) != 0 && all.Effects[0].State != wire.EffectPending {
		s.Errorf("the park is %+v, the effects are %+v", got, all.Effects)
	}
	s.answer(e, "c1", true, "")
	s.ended(wire.Completed)
	s.lines("messages", s.script(), "user go", `assistant c1=send{"to":"bob"}`, `tool c1:"sent"`, "assistant done")
	if calls != 2 {
		s.Errorf("%d calls", calls)
	}
}

func testBrokenDenied(s resumeTest) {
	calls := 0
	e := s.working(s.config(sending(), broken(&calls)))
	s.start(e, "r1", "go")
	s.becomes(wire.WaitingForInput)
	s.answer(e, "c1", false, `{"n":1}`)
	s.ended(wire.Completed)
	s.lines("messages", s.script(), "user go", `assistant c1=send{"to":"bob"}`, `tool c1:{"n":1}`, "assistant done")
	if calls != 1 {
		s.Errorf("%d calls", calls)
	}
}

// testBrokenAfterAnswer loses the connection in the call with the answer. A repeat gets the same answer.
func testBrokenAfterAnswer(s resumeTest) {
	var got []visit
	send, failed := asking(&got, `"s1"`), false
	ask := send.Call
	send.Call = func(ctx context.Context, c spool.ToolCall) (json.RawMessage, error) {
		result, err := ask(ctx, c)
		if c.Resume != nil && !failed {
			failed = true
			return nil, &spool.OutcomeUnknownError{Err: errors.New("broke")}
		}
		return result, err
	}
	e := s.working(s.config(sending(), send))
	s.start(e, "r1", "go")
	s.becomes(wire.WaitingForInput)
	s.answer(e, "c1", true, `{"n":1}`)
	s.until("the question", func() bool {
		return s.shown("c1").Reason == wire.ParkOutcomeUnknown && s.thread().State == wire.WaitingForInput
	})
	s.answer(e, "c1", true, "")
	s.ended(wire.Completed)
	s.visits(got, visit{"", "none"}, visit{`"s1"`, `{"n":1}`}, visit{`"s1"`, `{"n":1}`})
}
