package enginetest

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/internal/compare"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// approveTest is the fixture of the cases about approvals.
type approveTest struct{ *engineTest }

var approveTests = map[string]func(s approveTest){
	"Schema":         testApproveSchema,
	"Edited":         testApproveEdited,
	"EditedToSame":   testApproveEditedToSame,
	"EditedBadly":    testApproveEditedBadly,
	"EditedNoTool":   testApproveEditedNoTool,
	"EditedLater":    testApproveEditedLater,
	"EditedFails":    testApproveEditedFails,
	"EditedUnknown":  testApproveEditedUnknown,
	"Why":            testApproveWhy,
	"DeniedWhy":      testApproveDeniedWhy,
	"ReportedWhy":    testApproveReportedWhy,
	"Digest":         testApproveDigest,
	"DigestOfBefore": testApproveDigestOfBefore,
	"Tampered":       testApproveTampered,
	"WithoutDigest":  testApproveWithoutDigest,
}

// checked returns a tool whose calls need an approval, and a "to" that is a word.
func checked() spool.Tool {
	t := approved("send", `{"sent":true}`)
	t.Parameters = json.RawMessage(`{"type":"object","properties":{"to":{"type":"string"}}}`)
	t.Check = func(args json.RawMessage) error {
		var in struct{ To string }
		switch err := json.Unmarshal(args, &in); {
		case err != nil:
			return err
		case in.To == "panic":
			panic("no such person")
		case in.To == "":
			return errors.New("argument to: is required")
		}
		return nil
	}
	return t
}

// edit is an approval of c1 with other arguments.
func edit(args string) wire.Response {
	return wire.Response{ToolCallID: "c1", Approved: true, Args: json.RawMessage(args)}
}

// delivered gives an answer. The answer must be delivered.
func (s approveTest) delivered(e *engine.Engine, r wire.Response) {
	s.Helper()
	if result, err := s.respondWith(e, r); err != nil || !result.Delivered {
		s.Fatalf("answer %+v: %+v, %v", r, result, err)
	}
}

// refused gives an answer that must be refused with the given reason. The run must keep waiting.
func (s approveTest) refused(e *engine.Engine, r wire.Response, reason string) {
	s.Helper()
	if result, err := s.respondWith(e, r); err != nil || result.Delivered || result.Reason != reason ||
		result.Error == "" {
		s.Errorf("answer %+v: %+v, %v, want %s", r, result, err, reason)
	}
	if state := s.thread().State; state != wire.WaitingForInput {
		s.Errorf("the run is %s", state)
	}
}

// parked starts a run whose first call waits, and then stops the worker.
func (s approveTest) parked(m *spooltest.Model, tools ...spool.Tool) *engine.Engine {
	s.Helper()
	e := s.engine(s.config(m, tools...))
	stop := s.work(e)
	s.start(e, "r1", "go")
	s.becomes(wire.WaitingForInput)
	stop()
	return e
}

// park returns the park of c1.
func (s approveTest) park() store.Park {
	s.Helper()
	for _, p := range s.parksOf(chat, "r1") {
		if p.ToolCallID == "c1" {
			return p
		}
	}
	s.Fatal("there is no park")
	return store.Park{}
}

// putPark replaces a park without the engine noticing.
func (s approveTest) putPark(p store.Park) {
	s.Helper()
	err := s.backend.Store.Update(context.Background(), chat, 0,
		func(tx store.Tx) error { return tx.Write(store.Changes{Parks: []store.Park{p}}) })
	if err != nil {
		s.Fatal(err)
	}
}

// answers returns the answers in the record.
func (s approveTest) answers() (answers []wire.HITLResponse) {
	s.Helper()
	for _, e := range s.entriesOf(chat) {
		if e.Type == wire.EntryHITLResponse {
			var r wire.HITLResponse
			_ = json.Unmarshal(e.Payload, &r)
			answers = append(answers, r)
		}
	}
	return answers
}

// testApproveSchema checks that approvals, and no other parks, show the schema of the arguments.
func testApproveSchema(s approveTest) {
	tool := checked()
	s.parked(spooltest.NewModel(
		spooltest.Use(spooltest.Call{ID: "c1", Name: "send", Args: `{"to":"bob"}`}, spooltest.Call{ID: "c2", Name: "job"}),
		spooltest.Say("done"),
	),
		tool, outside(func(a *spool.Answer) (json.RawMessage, error) { return a.Payload, nil }))
	for _, e := range s.entriesOf(chat) {
		if e.Type != wire.EntryInputRequired {
			continue
		}
		var in wire.InputRequired
		if err := json.Unmarshal(e.Payload, &in); err != nil {
			s.Fatal(err)
		}
		want := "null"
		if in.ToolCallID == "c1" {
			want = string(compare.Canonical(tool.Parameters))
		}
		if got := string(compare.Canonical(in.InputSchema)); got != want {
			s.Errorf("%s: the schema is %s, want %s", in.ToolCallID, got, want)
		}
	}
}

func testApproveEdited(s approveTest) {
	m := sending()
	e := s.parked(m, checked())
	asked := s.park()
	r := edit(`{"to":"eve"}`)
	r.Reason, r.Digest = "bob has left", asked.Digest
	s.delivered(e, r)
	got := s.answers()[0]
	if got.AnsweredBy != "ann" || got.Reason != "bob has left" ||
		string(compare.Canonical(got.Arguments)) != `{"to":"eve"}` ||
		got.Digest != asked.DigestOf(r.Args) || got.Digest == asked.Digest {
		s.Errorf("the record has %+v", got)
	}
	if a := s.park().Answer; a == nil || a.By != "ann" || a.Reason != r.Reason || a.At.IsZero() ||
		string(compare.Canonical(a.Args)) != `{"to":"eve"}` {
		s.Errorf("the park has the answer %+v", a)
	}
	s.work(e)
	s.ended(wire.Completed)
	result := `c1:{"approved":true,"arguments":{"to":"eve"},"reason":"bob has left","result":{"sent":true}}`
	s.lines("messages", s.script(), "user go", `assistant c1=send{"to":"bob"}`, "tool "+result, "assistant done")
	asking := m.Requests()[1].Messages
	if line := messageLine(asking[len(asking)-1]); line != "tool "+result {
		s.Errorf("the model reads %s", line)
	}
	if s.executed() != 1 || string(compare.Canonical(s.history.Executions[0].Call.Args)) != `{"to":"eve"}` {
		s.Errorf("executions: %+v", s.history.Executions)
	}
}

// testApproveEditedToSame sends the shown arguments back unchanged, as an untouched form does.
func testApproveEditedToSame(s approveTest) {
	e := s.parked(sending(), checked())
	s.delivered(e, edit(` { "to" : "bob" } `))
	if got := s.answers()[0]; got.Arguments != nil || got.Digest != s.park().Digest {
		s.Errorf("the record has %+v", got)
	}
	s.work(e)
	s.ended(wire.Completed)
	s.lines("messages", s.script(), "user go", `assistant c1=send{"to":"bob"}`, `tool c1:{"sent":true}`, "assistant done")
}

func testApproveEditedBadly(s approveTest) {
	e := s.parked(sending(), checked())
	invalid := func(r wire.Response, message string) {
		s.Helper()
		result, err := s.respondWith(e, r)
		if spool.CodeOf(err) != spool.Invalid || spool.MessageOf(err) != message || result.Delivered {
			s.Errorf("answer %s: %+v, %v, want %q", r.Args, result, err, message)
		}
	}
	invalid(edit(`{"two":1}`), "argument to: is required")
	invalid(edit(`{"to":"panic"}`), "the arguments could not be checked")
	invalid(edit(`["to"]`), "the arguments are not a JSON object")
	invalid(edit(`{`), "arguments is not JSON")
	denied := edit(`{"to":"eve"}`)
	denied.Approved = false
	invalid(denied, "arguments are only for an approved call")
	invalid(wire.Response{ToolCallID: "c1", Reason: strings.Repeat("x", 4097)}, "reason is longer than 4096 bytes")
	long := json.RawMessage(`"` + strings.Repeat("x", 256<<10) + `"`)
	invalid(wire.Response{ToolCallID: "c1", Payload: long}, "payload is longer than 262144 bytes")
	invalid(wire.Response{ToolCallID: "c1", Approved: true, Args: long}, "arguments is longer than 262144 bytes")
	deep := json.RawMessage(`{"to":` + strings.Repeat("[", 256) + strings.Repeat("]", 256) + `}`)
	invalid(wire.Response{ToolCallID: "c1", Payload: deep}, "payload is nested deeper than 256 arrays and objects")
	invalid(edit(string(deep)), "arguments is nested deeper than 256 arrays and objects")
	invalid(edit("{\"to\":\"\xff\"}"), "arguments is not valid UTF-8")
	if p := s.park(); p.State != wire.ParkOpen || len(s.answers()) != 0 {
		s.Errorf("an answer that was wrong has changed something: %+v", p)
	}
	s.delivered(e, edit("null")) // which is none
	s.work(e)
	s.ended(wire.Completed)
	if got := string(compare.Canonical(s.history.Executions[0].Call.Args)); got != `{"to":"bob"}` {
		s.Errorf("the tool was called with %s", got)
	}
}

// testApproveEditedNoTool edits arguments in a process that lacks the tool and so cannot check them.
func testApproveEditedNoTool(s approveTest) {
	s.parked(sending(), checked())
	e := s.engine(s.config(sending(), plain("look", "1")))
	if r, err := s.respondWith(e, edit(`{"to":"eve"}`)); spool.CodeOf(err) != spool.Invalid || r.Delivered {
		s.Errorf("answer: %+v, %v", r, err)
	}
	if p := s.park(); p.State != wire.ParkOpen {
		s.Errorf("the park is %s", p.State)
	}
}

// testApproveEditedLater resumes the run in a process whose tool has become stricter.
func testApproveEditedLater(s approveTest) {
	e := s.parked(sending(), approved("send", "1"))
	s.delivered(e, edit(`{"too":"eve"}`))
	s.working(s.config(sending(), checked()))
	s.ended(wire.Completed)
	s.lines("messages", s.script(), "user go", `assistant c1=send{"to":"bob"}`,
		`tool c1:{"error":"argument to: is required"}`, "assistant done")
	if s.executed() != 0 {
		s.Error("the tool was called")
	}
}

func testApproveEditedFails(s approveTest) {
	send := checked()
	send.Call = func(context.Context, spool.ToolCall) (json.RawMessage, error) { return nil, errors.New("no such box") }
	e := s.parked(sending(), send)
	s.delivered(e, edit(`{"to":"eve"}`))
	s.work(e)
	s.ended(wire.Completed)
	s.lines("messages", s.script(), "user go", `assistant c1=send{"to":"bob"}`,
		`tool c1:{"approved":true,"arguments":{"to":"eve"},"error":"no such box"}`, "assistant done")
}

// testApproveEditedUnknown lets the worker die in an edited call. The question about the outcome is
// about the edited call, and that call runs again.
func testApproveEditedUnknown(s approveTest) {
	d := newDying(1)
	d.Approval = spool.AlwaysApprove
	c := s.config(sending(), d.Tool)
	p := s.process(c)
	s.start(p.Engine, "r1", "go")
	s.becomes(wire.WaitingForInput)
	s.delivered(p.Engine, edit(`{"to":"eve"}`))
	receive(s, d.called, bubbleWait, "the call of the tool")
	p.kill()
	close(d.gate)
	e := s.working(c)
	s.becomes(wire.WaitingForInput)
	if got := s.park(); got.Reason != wire.ParkOutcomeUnknown || string(compare.Canonical(got.Args)) != `{"to":"eve"}` {
		s.Errorf("the park is %+v", got)
	}
	edited := edit(`{"to":"bob"}`)
	edited.Digest = s.park().Digest
	s.refused(e, edited, wire.ReasonNotEditable)
	s.delivered(e, wire.Response{
		ToolCallID: "c1", Approved: true, Reason: "it is not in the outbox", Digest: s.park().Digest,
	})
	s.ended(wire.Completed)
	for _, run := range s.history.Executions {
		if got := string(compare.Canonical(run.Call.Args)); got != `{"to":"eve"}` {
			s.Errorf("the tool was called with %s", got)
		}
	}
	s.lines("messages", s.script(), "user go", `assistant c1=send{"to":"bob"}`,
		`tool c1:{"approved":true,"arguments":{"to":"eve"},"reason":"it is not in the outbox","result":"sent"}`,
		"assistant done")
}

func testApproveWhy(s approveTest) {
	e := s.parked(sending(), checked())
	s.delivered(e, wire.Response{ToolCallID: "c1", Approved: true, Reason: "just this once"})
	s.work(e)
	s.ended(wire.Completed)
	s.lines("messages", s.script(), "user go", `assistant c1=send{"to":"bob"}`,
		`tool c1:{"approved":true,"reason":"just this once","result":{"sent":true}}`, "assistant done")
}

func testApproveDeniedWhy(s approveTest) {
	m := sending()
	e := s.parked(m, checked())
	s.delivered(e, wire.Response{ToolCallID: "c1", Reason: "not on a Friday"})
	if got := s.answers()[0]; got.Reason != "not on a Friday" || got.Approved || got.AnsweredBy != "ann" {
		s.Errorf("the record has %+v", got)
	}
	s.work(e)
	s.ended(wire.Completed)
	s.lines("messages", s.script(), "user go", `assistant c1=send{"to":"bob"}`,
		`tool c1:{"denied":true,"reason":"not on a Friday"}`, "assistant done")
	if s.executed() != 0 {
		s.Error("the tool was called")
	}
}

// testApproveReportedWhy reports the outcome of a call of unknown outcome, with a reason.
func testApproveReportedWhy(s approveTest) {
	for _, test := range []struct {
		run             spool.RunID
		payload, result string
	}{
		{"r1", `{"sent":true}`, `{"reason":"it is in the outbox","result":{"sent":true}}`},
		{
			"r2", "",
			`{"cancelled":true,"outcome":"unknown","reason":"the outcome of this call is not known, and it is not to be repeated: it is in the outbox"}`,
		},
	} {
		d := newDying(1)
		c := s.config(sending(), d.Tool)
		p := s.process(c)
		s.start(p.Engine, test.run, "go")
		receive(s, d.called, bubbleWait, "the call of the tool")
		p.kill()
		close(d.gate)
		e := s.engine(c)
		stop := s.work(e)
		s.becomes(wire.WaitingForInput)
		parks := s.parksOf(chat, test.run)
		r := wire.Response{ToolCallID: parks[0].ToolCallID, Reason: "it is in the outbox"}
		if test.payload != "" {
			r.Payload = json.RawMessage(test.payload)
		}
		s.delivered(e, r)
		s.ended(wire.Completed)
		stop()
		lines := s.script()
		if got := lines[len(lines)-2]; !strings.HasSuffix(got, ":"+test.result) {
			s.Errorf("the result is %s, want %s", got, test.result)
		}
	}
	if s.executed() != 2 {
		s.Errorf("%d calls of tools", s.executed())
	}
}

// testApproveDigest answers with the right digest, and with a wrong one.
func testApproveDigest(s approveTest) {
	e := s.parked(sending(), checked())
	asked := s.park()
	var shown wire.InputRequired
	for _, entry := range s.entriesOf(chat) {
		if entry.Type == wire.EntryInputRequired {
			_ = json.Unmarshal(entry.Payload, &shown)
		}
	}
	if shown.Digest == "" || shown.Digest != asked.Digest ||
		shown.Digest != asked.DigestOf(json.RawMessage(` {"to":"bob"}`)) {
		s.Errorf("shown %q, asked %+v", shown.Digest, asked)
	}
	for _, approved := range []bool{true, false} {
		s.refused(e, wire.Response{
			ToolCallID: "c1", Approved: approved, Digest: asked.DigestOf(json.RawMessage(`{"to":"eve"}`)),
		}, wire.ReasonChanged)
	}
	s.delivered(e, wire.Response{ToolCallID: "c1", Approved: true, Digest: shown.Digest})
	s.work(e)
	s.ended(wire.Completed)
}

// testApproveDigestOfBefore sends the approval of a call as the answer to the later question about its
// outcome, as a page does that was open all the time.
func testApproveDigestOfBefore(s approveTest) {
	d := newDying(1)
	d.Approval = spool.AlwaysApprove
	c := s.config(sending(), d.Tool)
	p := s.process(c)
	s.start(p.Engine, "r1", "go")
	s.becomes(wire.WaitingForInput)
	approval := wire.Response{ToolCallID: "c1", Approved: true, Digest: s.park().Digest}
	s.delivered(p.Engine, approval)
	receive(s, d.called, bubbleWait, "the call of the tool")
	p.kill()
	close(d.gate)
	e := s.working(c)
	s.becomes(wire.WaitingForInput)
	s.refused(e, approval, wire.ReasonChanged)
	s.answer(e, "c1", false, `"sent"`)
	s.ended(wire.Completed)
	if s.executed() != 1 {
		s.Errorf("%d calls of tools", s.executed())
	}
}

// testApproveTampered changes the stored call after the approval.
func testApproveTampered(s approveTest) {
	for n, tamper := range []func(p *store.Park){
		func(p *store.Park) { p.Args = json.RawMessage(`{"to":"eve"}`) },
		func(p *store.Park) { p.Answer.Args = json.RawMessage(`{"to":"eve"}`) },
		func(p *store.Park) { p.Answer.Digest = "" },
	} {
		id := spool.RunID("r" + string(rune('1'+n)))
		e := s.engine(
			s.config(
				spooltest.NewReplayModel(
					spooltest.Use(spooltest.Call{ID: spool.ToolCallID("c" + string(rune('1'+n))), Name: "send", Args: `{"to":"bob"}`}),
					spooltest.Say("done"),
				),
				checked(),
			),
		)
		stop := s.work(e)
		s.start(e, id, "go")
		s.becomes(wire.WaitingForInput)
		stop()
		p := s.parksOf(chat, id)[0]
		s.answer(e, p.ToolCallID, true, "")
		p = s.parksOf(chat, id)[0]
		tamper(&p)
		s.putPark(p)
		stop = s.work(e)
		s.ended(wire.Completed)
		stop()
		lines := s.script()
		if got, want := lines[len(lines)-2],
			"tool "+string(p.ToolCallID)+`:{"error":"this call is not the one that was approved"}`; got != want {
			s.Errorf("got %s, want %s", got, want)
		}
	}
	if s.executed() != 0 {
		s.Errorf("the tool was called %d times", s.executed())
	}
}

// testApproveWithoutDigest answers a park from before digests existed.
func testApproveWithoutDigest(s approveTest) {
	e := s.parked(sending(), checked())
	p := s.park()
	shown := p.Digest
	p.Digest = ""
	s.putPark(p)
	s.refused(e, wire.Response{ToolCallID: "c1", Approved: true, Digest: shown}, wire.ReasonChanged)
	s.delivered(e, edit(`{"to":"eve"}`))
	s.work(e)
	s.ended(wire.Completed)
	if s.executed() != 1 {
		s.Errorf("%d calls of tools", s.executed())
	}
}
