package enginetest

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/compare"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

var parkTests = map[string]func(s *engineTest){
	"Approved":          testParkApproved,
	"Denied":            testParkDenied,
	"Expired":           testParkExpired,
	"ByItself":          testParkByItself,
	"Several":           testParkSeveral,
	"SomeExpire":        testParkSomeExpire,
	"SecondAnswer":      testParkSecondAnswer,
	"NoPark":            testParkNoPark,
	"EightAnswers":      testParkEightAnswers,
	"AnswerRacesExpiry": testParkAnswerRacesExpiry,
	"OldRun":            testParkOldRun,
	"Reclaim":           testParkReclaim,
	"ToolGone":          testParkToolGone,
}

// sending returns a model that calls the mail tool and then says so.
func sending() *spooltest.Model {
	return spooltest.NewReplayModel(spooltest.Use(spooltest.Call{ID: "c1", Name: "send", Args: `{"to":"bob"}`}),
		spooltest.Say("done"))
}

func testParkApproved(s *engineTest) {
	var got spool.ToolCall
	send := approved("send", "")
	send.Call = func(_ context.Context, c spool.ToolCall) (json.RawMessage, error) {
		got = c
		return json.RawMessage(`{"sent":true}`), nil
	}
	e := s.working(s.config(sending(), send))
	s.start(e, "r1", "go")
	s.becomes(wire.WaitingForInput)
	if thread := s.thread(); !thread.LeaseUntil.IsZero() {
		s.Errorf("a parked run holds a lease: %+v", thread)
	}
	all := s.all(chat, "r1")
	if len(all.Parks) != 1 || all.Parks[0].State != wire.ParkOpen ||
		all.Parks[0].ExpiresAt.Sub(all.Parks[0].CreatedAt) != 15*time.Minute {
		s.Errorf("parks: %+v", all.Parks)
	}
	if len(all.Effects) != 0 || s.executed() != 0 {
		s.Errorf("effects: %+v", all.Effects)
	}
	s.answer(e, "c1", true, `{"note":1}`)
	s.ended(wire.Completed)
	s.lines("messages", s.script(), "user go", `assistant c1=send{"to":"bob"}`, `tool c1:{"sent":true}`, "assistant done")
	s.lines("record", s.record(), "RUN_STARTED r1:1", "INPUT_REQUIRED c1 approval", "RUN_ENDED r1:1 parked",
		"HITL_RESPONSE c1 approved", "RUN_STARTED r1:2", "RUN_ENDED r1:2 finished")
	if string(got.Args) != `{"to":"bob"}` || got.Answer == nil ||
		string(compare.Canonical(got.Answer.Payload)) != `{"note":1}` || got.Answer.By != "ann" {
		s.Errorf("the tool was called with %+v", got)
	}
	if s.executed() != 1 {
		s.Errorf("the tool was called %d times", s.executed())
	}
}

func testParkDenied(s *engineTest) {
	e := s.working(s.config(sending(), approved("send", "1")))
	s.start(e, "r1", "go")
	s.becomes(wire.WaitingForInput)
	s.answer(e, "c1", false, `"because"`)
	s.ended(wire.Completed)
	s.lines("messages", s.script(), "user go", `assistant c1=send{"to":"bob"}`, `tool c1:{"denied":true}`,
		"assistant done")
	if s.executed() != 0 {
		s.Error("the tool was called")
	}
}

func testParkExpired(s *engineTest) {
	e := s.working(s.config(sending(), approved("send", "1")))
	begin := time.Now()
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	if took := time.Since(begin); took < 15*time.Minute || took > 15*time.Minute+5*time.Second {
		s.Errorf("it took %s", took)
	}
	s.lines("messages", s.script(), "user go", `assistant c1=send{"to":"bob"}`,
		`tool c1:{"cancelled":true,"reason":"timeout","responded":false}`, "assistant done")
	s.lines("record", s.record(), "RUN_STARTED r1:1", "INPUT_REQUIRED c1 approval", "RUN_ENDED r1:1 parked",
		"INPUT_EXPIRING c1", "INPUT_EXPIRED c1", "RUN_STARTED r1:2", "RUN_ENDED r1:2 finished")
	if r, err := s.respond(e, "c1", true, ""); err != nil || r.Delivered {
		s.Errorf("an answer after the expiry: %+v, %v", r, err)
	}
}

// outside returns a tool that parks itself and continues with the answer.
func outside(resume func(a *spool.Answer) (json.RawMessage, error)) spool.Tool {
	t := plain("job", "")
	t.Call = func(_ context.Context, c spool.ToolCall) (json.RawMessage, error) {
		if c.Answer == nil {
			return nil, spool.ParkFor("job", map[string]int{"ticket": 7}, time.Hour)
		}
		return resume(c.Answer)
	}
	return t
}

func testParkByItself(s *engineTest) {
	e := s.working(s.config(spooltest.NewModel(spooltest.Use(spooltest.Call{ID: "c1", Name: "job", Args: `{"n":1}`}),
		spooltest.Say("done")),
		outside(func(a *spool.Answer) (json.RawMessage, error) { return a.Payload, nil })))
	s.start(e, "r1", "go")
	s.becomes(wire.WaitingForInput)
	var asked wire.InputRequired
	for _, entry := range s.entriesOf(chat) {
		if entry.Type == wire.EntryInputRequired {
			_ = json.Unmarshal(entry.Payload, &asked)
		}
	}
	if string(compare.Canonical(asked.Arguments)) != `{"ticket":7}` || asked.Reason != "job" ||
		asked.ExpiresAt.Sub(s.now()) < 59*time.Minute {
		s.Errorf("asked: %+v", asked)
	}
	s.answer(e, "c1", true, `{"result":[1]}`)
	s.ended(wire.Completed)
	s.lines("messages", s.script(), "user go", `assistant c1=job{"n":1}`, `tool c1:{"result":[1]}`, "assistant done")
}

// testParkSeveral answers the parks of one step in another order than they were opened. The results of
// earlier calls are kept.
func testParkSeveral(s *engineTest) {
	m := spooltest.NewModel(spooltest.Use(
		spooltest.Call{ID: "c1", Name: "send"}, spooltest.Call{ID: "c2", Name: "look"},
		spooltest.Call{ID: "c3", Name: "send"}, spooltest.Call{ID: "c4", Name: "send"},
	), spooltest.Say("done"))
	e := s.engine(s.config(m, approved("send", `"sent"`), plain("look", `"seen"`)))
	s.start(e, "r1", "go")
	client := s.watch(e, &spooltest.Client{Name: "live", FromStart: true}, wire.FollowOptions{})
	s.work(e)
	s.becomes(wire.WaitingForInput)
	s.lines("messages", s.script(), "user go", "assistant c1=send{} c2=look{} c3=send{} c4=send{}", `tool c2:"seen"`)
	s.answer(e, "c4", true, "")
	s.answer(e, "c1", false, "")
	<-time.After(time.Minute)
	if s.thread().State != wire.WaitingForInput || m.Asked() != 1 {
		s.Errorf("the run is %s with a park open", s.thread().State)
	}
	s.answer(e, "c3", true, "")
	s.ended(wire.Completed)
	<-time.After(quiet)
	client()
	s.lines("messages", s.script(), "user go", "assistant c1=send{} c2=look{} c3=send{} c4=send{}", `tool c2:"seen"`,
		`tool c1:{"denied":true} c3:"sent" c4:"sent"`, "assistant done")
	if s.executed() != 3 {
		s.Errorf("%d calls of tools", s.executed())
	}
	asked := m.Requests()[1].Messages
	if len(asked) != 3 || messageLine(asked[2]) != `tool c1:{"denied":true} c2:"seen" c3:"sent" c4:"sent"` {
		s.Errorf("the model was asked with %d messages: %s", len(asked), messageLine(asked[len(asked)-1]))
	}
}

func testParkSomeExpire(s *engineTest) {
	e := s.working(s.config(spooltest.NewModel(
		spooltest.Use(spooltest.Call{ID: "c1", Name: "send"}, spooltest.Call{ID: "c2", Name: "job"}), spooltest.Say("done"),
	),
		approved("send", "1"), outside(func(a *spool.Answer) (json.RawMessage, error) { return a.Payload, nil })))
	s.start(e, "r1", "go")
	s.becomes(wire.WaitingForInput)
	<-time.After(30 * time.Minute)
	if s.thread().State != wire.WaitingForInput {
		s.Errorf("the run is %s with a park open", s.thread().State)
	}
	if r, err := s.respond(e, "c1", true, ""); err != nil || r.Delivered {
		s.Errorf("an answer to a park that has expired: %+v, %v", r, err)
	}
	s.answer(e, "c2", true, "2")
	s.ended(wire.Completed)
	s.lines("messages", s.script(), "user go", "assistant c1=send{} c2=job{}",
		`tool c1:{"cancelled":true,"reason":"timeout","responded":false} c2:2`, "assistant done")
}

func testParkSecondAnswer(s *engineTest) {
	c := s.config(
		spooltest.NewModel(spooltest.Use(spooltest.Call{ID: "c1", Name: "send"}, spooltest.Call{ID: "c2", Name: "send"}),
			spooltest.Say("done")),
		approved("send", "1"),
	)
	e := s.engine(c)
	stop := s.work(e)
	s.start(e, "r1", "go")
	s.becomes(wire.WaitingForInput)
	stop()
	s.answer(e, "c1", true, "")
	for range 2 {
		r, err := s.respond(e, "c1", false, "")
		if err != nil || r.Delivered || r.Reason != wire.ReasonAnswered || r.Error != "This request was already answered" {
			s.Errorf("a second answer: %+v, %v", r, err)
		}
	}
	s.answer(e, "c2", true, "")
	if r, err := s.respond(e, "c2", true, ""); err != nil || r.Reason != wire.ReasonAnswered {
		s.Errorf("an answer after the last one: %+v, %v", r, err)
	}
	s.work(e)
	s.ended(wire.Completed)
	if s.executed() != 2 {
		s.Errorf("%d calls of tools", s.executed())
	}
}

func testParkNoPark(s *engineTest) {
	e := s.working(s.config(sending(), approved("send", "1")))
	none := func(what string, id spool.ToolCallID) {
		s.Helper()
		r, err := s.respond(e, id, true, "")
		if err != nil || r.Delivered || r.Reason != wire.ReasonNoPark || r.Error != "No matching pending input request" {
			s.Errorf("%s: %+v, %v", what, r, err)
		}
	}
	none("no thread", "c1")
	s.start(e, "r1", "go")
	s.becomes(wire.WaitingForInput)
	none("another call", "c9")
	s.answer(e, "c1", true, "")
	s.ended(wire.Completed)
	none("an ended run", "c1")
	for _, r := range []wire.Response{
		{ToolCallID: "a b"}, {ToolCallID: ""}, {ToolCallID: "c1", Payload: json.RawMessage("{")},
	} {
		if _, err := e.Respond(context.Background(), chat, r); spool.CodeOf(err) != spool.Invalid {
			s.Errorf("%+v: %v", r, err)
		}
	}
}

func testParkEightAnswers(s *engineTest) {
	e := s.working(s.config(sending(), approved("send", "1")))
	s.start(e, "r1", "go")
	s.becomes(wire.WaitingForInput)
	var mu sync.Mutex
	var group sync.WaitGroup
	delivered := 0
	for i := range 8 {
		group.Go(func() {
			r, err := s.respond(e, "c1", i%2 == 0, "")
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil:
				s.Error(err)
			case r.Delivered:
				delivered++
			case r.Reason != wire.ReasonAnswered && r.Reason != wire.ReasonNoPark:
				s.Errorf("refused: %+v", r)
			}
		})
	}
	group.Wait()
	s.ended(wire.Completed)
	if delivered != 1 || s.executed() > 1 {
		s.Errorf("%d answers were delivered, and %d tools called", delivered, s.executed())
	}
}

func testParkAnswerRacesExpiry(s *engineTest) {
	c := s.config(sending(), approved("send", "1"))
	c.ParkTTL = 10 * time.Second
	e := s.working(c)
	for i := range 10 {
		id := spool.RunID("r" + string(rune('a'+i)))
		key := spool.ThreadKey{Tenant: "acme", ID: spool.ThreadID("t" + string(rune('a'+i)))}
		s.startAs(e, key, wire.StartRequest{Prompt: "go", RunID: id})
		var expires time.Time
		s.until("the park", func() bool {
			parks := s.parksOf(key, id)
			if len(parks) > 0 {
				expires = parks[0].ExpiresAt
			}
			return len(parks) > 0
		})
		<-time.After(expires.Sub(s.now()) - time.Duration(i-5)*time.Millisecond)
		r, err := e.Respond(context.Background(), key, wire.Response{ToolCallID: "c1", Approved: true})
		s.history.Answered(spooltest.Answered{Thread: key, Call: "c1", Delivered: r.Delivered, Unknown: err != nil})
		s.until("the end", func() bool { return s.threadOf(key).State == wire.Completed })
		park := s.parksOf(key, id)[0]
		if want := map[bool]wire.ParkState{
			true: wire.ParkAnswered, false: wire.ParkExpired,
		}[r.Delivered]; park.State != want {
			s.Errorf("answer %+v, %v: the park is %s", r, err, park.State)
		}
	}
}

// testParkOldRun answers a park of a run after another run has replaced it.
func testParkOldRun(s *engineTest) {
	m := spooltest.NewModelFunc(func(_ context.Context, r spool.ModelRequest) spooltest.Turn {
		if spooltest.StepOf(r) > 0 {
			return spooltest.Say("done")
		}
		return spooltest.Use(spooltest.Call{ID: spool.ToolCallID("of-" + r.Messages[len(r.Messages)-1].Text()), Name: "send"})
	})
	e := s.working(s.config(m, approved("send", "1")))
	s.start(e, "r1", "one")
	s.becomes(wire.WaitingForInput)
	s.stop(e)
	s.start(e, "r2", "two")
	s.becomes(wire.WaitingForInput)
	if r, err := s.respond(e, "of-one", true, ""); err != nil || r.Delivered || r.Reason != wire.ReasonNoPark {
		s.Errorf("the old park: %+v, %v", r, err)
	}
	for _, p := range s.parksOf(chat, "r1") {
		if p.State != wire.ParkClosed {
			s.Errorf("the old park is %s", p.State)
		}
	}
	s.answer(e, "of-two", true, "")
	s.ended(wire.Completed)
}

func testParkReclaim(s *engineTest) {
	c := s.config(sending(), approved("send", "1"))
	e := s.engine(c)
	stop := s.work(e)
	reclaim := func(want bool) {
		s.Helper()
		if got, err := e.ReclaimIfOrphaned(context.Background(), chat); err != nil || got != want {
			s.Errorf("reclaim: %t, %v, want %t", got, err, want)
		}
	}
	reclaim(false)
	s.start(e, "r1", "go")
	reclaim(false)
	s.becomes(wire.WaitingForInput)
	stop()
	reclaim(false)
	<-time.After(16 * time.Minute)
	reclaim(true)
	reclaim(false)
	s.work(e)
	s.ended(wire.Completed)
}

// testParkToolGone resumes a run in a process that no longer has the tool.
func testParkToolGone(s *engineTest) {
	e := s.engine(s.config(sending(), approved("send", "1")))
	stop := s.work(e)
	s.start(e, "r1", "go")
	s.becomes(wire.WaitingForInput)
	stop()
	e = s.working(s.config(sending(), plain("look", "1")))
	s.answer(e, "c1", true, "")
	s.ended(wire.Completed)
	s.lines("messages", s.script(), "user go", `assistant c1=send{"to":"bob"}`, `tool c1:{"error":"Unknown tool: send"}`,
		"assistant done")
}
