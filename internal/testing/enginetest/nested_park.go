package enginetest

import (
	"context"
	"encoding/json"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/compare"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

// mailing returns a model for a tree with a park at depth 1.
func mailing() *spooltest.Model {
	return casting(map[string][]spooltest.Turn{
		"go": {spooltest.Use(spawn("c1", "helper", "mail"), spooltest.Call{ID: "c2", Name: "look"}), spooltest.Say("done")},
		"mail": {
			spooltest.Use(spooltest.Call{ID: "c1", Name: "send", Args: `{"to":"bob"}`}, spooltest.Call{ID: "c2", Name: "look"}),
			spooltest.Say("sent"),
		},
	})
}

// testNestedPark parks below the main agent and continues in another process: only the waiting agent is
// asked again.
func testNestedPark(s nestedTest) {
	m := mailing()
	c := s.treeConfig(m, plain("look", `"seen"`), approved("send", `"sent"`))
	e := s.engine(c)
	s.start(e, "r1", "go")
	client := s.watch(e, &spooltest.Client{Name: "live", FromStart: true}, wire.FollowOptions{})
	stop := s.work(e)
	s.becomes(wire.WaitingForInput)
	stop()
	run := s.nested()["mail"]
	if run.State != wire.WaitingForInput {
		s.Errorf("the nested run is %s", run.State)
	}
	s.lines("messages", s.tree(), "user go", "mail: user mail", `mail: assistant c1=send{"to":"bob"} c2=look{}`,
		`mail: tool c2:"seen"`,
		`assistant c1=spawnSubagent{"instructions":"mail","name":"helper"} c2=look{}`, `tool c2:"seen"`)
	park := s.waiting()["mail:send"]
	if park.RunID != "r1" || park.AgentID != run.AgentID() || len(park.Frames) != 1 || park.Frames[0].ToolCallID != "c1" ||
		park.Frames[0].AgentID != nil ||
		park.ExpiresAt.Sub(park.CreatedAt) != 15*time.Minute {
		s.Errorf("the park: %+v", park)
	}
	asked := s.required()[0]
	if asked.AgentID == nil || *asked.AgentID != run.AgentID() || len(asked.Frames) != 1 || asked.Nested == nil ||
		*asked.Nested != (wire.NestedCaller{AgentID: run.AgentID(), Name: "helper", Model: "m", Depth: 1}) {
		s.Errorf("asked: %+v", asked)
	}
	other := s.engine(c)
	s.answerAs(other, "mail:send", true)
	s.work(other)
	s.ended(wire.Completed)
	<-time.After(quiet)
	client()
	s.lines("record", s.record(), "RUN_STARTED r1:1", "INPUT_REQUIRED "+string(park.ToolCallID)+" approval",
		"RUN_ENDED r1:1 parked",
		"HITL_RESPONSE "+string(park.ToolCallID)+" approved", "RUN_STARTED r1:2", "RUN_ENDED r1:2 finished")
	s.lines("messages", s.tree()[6:], `mail: tool c1:"sent"`, "mail: assistant sent",
		`tool c1:{"agentId":"ID","result":"sent"}`, "assistant done")
	if askedAs(m, "go") != 2 || askedAs(m, "mail") != 2 || s.executed() != 3 {
		s.Errorf("asked %d and %d times, %d calls", askedAs(m, "go"), askedAs(m, "mail"), s.executed())
	}
}

// required returns the questions in the record.
func (s nestedTest) required() (asked []wire.InputRequired) {
	s.Helper()
	for _, entry := range s.entriesOf(chat) {
		if entry.Type == wire.EntryInputRequired {
			var p wire.InputRequired
			_ = json.Unmarshal(entry.Payload, &p)
			asked = append(asked, p)
		}
	}
	return asked
}

// testNestedParkDeep parks at depth 2, beside a nested run that has ended.
func testNestedParkDeep(s nestedTest) {
	m := casting(map[string][]spooltest.Turn{
		"go":   {spooltest.Use(spawn("c1", "lead", "plan"), spawn("c2", "helper", "side")), spooltest.Say("done")},
		"plan": {spooltest.Use(spawn("c1", "helper", "mail")), spooltest.Say("planned")},
		"mail": {spooltest.Use(spooltest.Call{ID: "c1", Name: "send"}), spooltest.Say("sent")},
		"side": {spooltest.Use(spooltest.Call{ID: "c1", Name: "once"}), spooltest.Say("aside")},
	})
	c := s.treeConfig(m, approved("send", `"sent"`), plain("once", "1"))
	e := s.engine(c)
	s.start(e, "r1", "go")
	client := s.watch(e, &spooltest.Client{Name: "live", FromStart: true}, wire.FollowOptions{})
	stop := s.work(e)
	s.becomes(wire.WaitingForInput)
	stop()
	plan, mail := s.nested()["plan"], s.nested()["mail"]
	if plan.State != wire.WaitingForInput || mail.State != wire.WaitingForInput || mail.Depth != 2 ||
		mail.ParentID != plan.ID || mail.RootID != "r1" {
		s.Errorf("the nested runs: %+v, %+v", plan, mail)
	}
	frames := s.waiting()["mail:send"].Frames
	if len(frames) != 2 || frames[0].AgentID == nil || *frames[0].AgentID != plan.AgentID() ||
		frames[0].ToolCallID != mail.CallID ||
		frames[1].AgentID != nil || frames[1].ToolCallID != "c1" {
		s.Errorf("frames: %+v", frames)
	}
	e = s.engine(c)
	list, _ := s.inbox(context.Background(), e, wire.ParkQuery{Agent: "helper"})
	if len(list) != 1 || len(list[0].Path) != 3 || list[0].Path[0] != list[0].Agent || list[0].Path[1] != "lead" ||
		list[0].Path[2] != "helper" ||
		list[0].Nested == nil || list[0].Nested.Depth != 2 {
		s.Errorf("the inbox: %+v", list)
	}
	s.answerAs(e, "mail:send", true)
	s.work(e)
	s.ended(wire.Completed)
	<-time.After(quiet)
	client()
	for _, role := range []string{"go", "plan", "mail", "side"} {
		if n := askedAs(m, role); n != 2 {
			s.Errorf("%s was asked %d times", role, n)
		}
	}
	if s.executed() != 2 {
		s.Errorf("%d calls of tools", s.executed())
	}
}

// testNestedParkSeveral has parks at three depths, which are answered in another order.
func testNestedParkSeveral(s nestedTest) {
	m := casting(map[string][]spooltest.Turn{
		"go": {
			spooltest.Use(spawn("c1", "helper", "a"), spooltest.Call{ID: "c2", Name: "send"}, spawn("c3", "lead", "b"),
				spooltest.Call{ID: "c4", Name: "look"}),
			spooltest.Say("done"),
		},
		"a": {
			spooltest.Use(spooltest.Call{ID: "c1", Name: "send"}, spooltest.Call{ID: "c2", Name: "job"}), spooltest.Say("a!"),
		},
		"b": {spooltest.Use(spawn("c1", "helper", "c")), spooltest.Say("b!")},
		"c": {spooltest.Use(spooltest.Call{ID: "c1", Name: "send"}), spooltest.Say("c!")},
	})
	c := s.treeConfig(m, plain("look", `"seen"`), approved("send", `"sent"`),
		outside(func(*spool.Answer) (json.RawMessage, error) { return json.RawMessage(`"job"`), nil }))
	e := s.engine(c)
	s.start(e, "r1", "go")
	client := s.watch(e, &spooltest.Client{Name: "live", FromStart: true}, wire.FollowOptions{})
	s.work(e)
	s.becomes(wire.WaitingForInput)
	if n := len(s.waiting()); n != 4 {
		s.Fatalf("%d parks: %v", n, s.waiting())
	}
	for _, who := range []string{"c:send", "main:send", "a:job"} {
		s.answerAs(e, who, who != "main:send")
		<-time.After(30 * time.Second)
		if got := s.thread().State; got != wire.WaitingForInput {
			s.Fatalf("the run is %s with a park open", got)
		}
	}
	if m.Asked() != 4 {
		s.Errorf("the model was asked %d times with a park open", m.Asked())
	}
	s.answerAs(e, "a:send", true)
	s.ended(wire.Completed)
	<-time.After(quiet)
	client()
	if m.Asked() != 8 || s.executed() != 4 {
		s.Errorf("the model was asked %d times, and %d tools called", m.Asked(), s.executed())
	}
	s.lines("messages", s.of("a"), "user a", "assistant c1=send{} c2=job{}", `tool c1:"sent" c2:"job"`, "assistant a!")
	s.lines("messages", s.of("b"), "user b", `assistant c1=spawnSubagent{"instructions":"c","name":"helper"}`,
		`tool c1:{"agentId":"ID","result":"c!"}`, "assistant b!")
}

// testNestedParkAgain parks a nested run in each of its steps.
func testNestedParkAgain(s nestedTest) {
	m := casting(map[string][]spooltest.Turn{
		"go": {spooltest.Use(spawn("c1", "helper", "mail")), spooltest.Say("done")},
		"mail": {
			spooltest.Use(spooltest.Call{ID: "c1", Name: "send"}),
			spooltest.Use(spooltest.Call{ID: "c2", Name: "send"}, spooltest.Call{ID: "c3", Name: "send"}), spooltest.Say("sent"),
		},
	})
	e := s.working(s.treeConfig(m, approved("send", `"sent"`)))
	s.start(e, "r1", "go")
	s.becomes(wire.WaitingForInput)
	s.answerAs(e, "mail:send", true)
	s.until("two more", func() bool { return len(s.required()) == 3 && s.thread().State == wire.WaitingForInput })
	for range 2 {
		s.answerAs(e, "mail:send", true)
	}
	s.ended(wire.Completed)
	if askedAs(m, "go") != 2 || askedAs(m, "mail") != 3 || s.executed() != 3 {
		s.Errorf("asked %d and %d times, %d calls", askedAs(m, "go"), askedAs(m, "mail"), s.executed())
	}
}

func testNestedParkExpires(s nestedTest) {
	m := mailing()
	e := s.working(s.treeConfig(m, plain("look", `"seen"`), approved("send", `"sent"`)))
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	s.lines("messages", s.of("mail")[3:], `tool c1:{"cancelled":true,"reason":"timeout","responded":false}`,
		"assistant sent")
}

// testNestedParkEdited edits the arguments of a nested call. The check of the nested agent's tool
// applies.
func testNestedParkEdited(s nestedTest) {
	var got spool.ToolCall
	send := approved("send", "")
	send.Check = func(args json.RawMessage) error {
		if string(compare.Canonical(args)) == `{"to":"nobody"}` {
			return spool.Errorf(spool.Invalid, "to: there is nobody")
		}
		return nil
	}
	send.Call = func(_ context.Context, c spool.ToolCall) (json.RawMessage, error) {
		got = c
		return json.RawMessage("1"), nil
	}
	e := s.working(s.treeConfig(mailing(), plain("look", `"seen"`), send))
	s.start(e, "r1", "go")
	s.becomes(wire.WaitingForInput)
	id := s.waiting()["mail:send"].ToolCallID
	if _, err := s.respondWith(
		e, wire.Response{ToolCallID: id, Approved: true, Args: json.RawMessage(`{"to":"nobody"}`)},
	); spool.CodeOf(err) != spool.Invalid {
		s.Errorf("a bad edit: %v", err)
	}
	if r, err := s.respondWith(
		e, wire.Response{ToolCallID: id, Approved: true, Args: json.RawMessage(`{"to":"eve"}`)},
	); err != nil || !r.Delivered {
		s.Fatalf("an edit: %+v, %v", r, err)
	}
	s.ended(wire.Completed)
	run := s.nested()["mail"]
	if string(compare.Canonical(got.Args)) != `{"to":"eve"}` || got.RunID != run.ID ||
		got.IdempotencyKey() != run.CallKey(1, id) {
		s.Errorf("the tool was called with %+v", got)
	}
}

// testNestedDistinct has an agent that needs another subject's approval, also for nested runs.
func testNestedDistinct(s nestedTest) {
	c := s.treeConfig(mailing(), plain("look", `"seen"`), approved("send", `"sent"`))
	c.Agents[0].DistinctApprover = true
	e := s.working(c)
	s.startAs(e, chat, wire.StartRequest{Prompt: "go", RunID: "r1", By: "ann"})
	s.becomes(wire.WaitingForInput)
	r, err := s.respond(e, s.waiting()["mail:send"].ToolCallID, true, "") // as ann
	if err != nil || r.Delivered || r.Reason != wire.ReasonSameApprover {
		s.Errorf("an answer of who asked: %+v, %v", r, err)
	}
	s.stop(e)
}

// testNestedFailUnwinding has a nested run that fails after its park was answered.
func testNestedFailUnwinding(s nestedTest) {
	m := casting(map[string][]spooltest.Turn{
		"go":   {spooltest.Use(spawn("c1", "lead", "plan")), spooltest.Say("sorry")},
		"plan": {spooltest.Use(spawn("c1", "helper", "mail")), spooltest.Say("it failed")},
		"mail": {
			spooltest.Use(spooltest.Call{ID: "c1", Name: "send"}), {Err: &spool.ModelError{Status: 401, Message: "who?"}},
		},
	})
	e := s.working(s.treeConfig(m, approved("send", `"sent"`)))
	s.start(e, "r1", "go")
	s.becomes(wire.WaitingForInput)
	s.answerAs(e, "mail:send", true)
	s.ended(wire.Completed)
	s.lines("messages of the one above", s.of("plan")[2:], `tool c1:{"agentId":"ID","error":"model: who? (status 401)"}`,
		"assistant it failed")
	s.lines("messages of the main agent", s.of("")[2:], `tool c1:{"agentId":"ID","result":"it failed"}`, "assistant sorry")
	if r := s.nested()["plan"]; r.State != wire.Completed {
		s.Errorf("the one above is %s", r.State)
	}
}

// testNestedProfileGone resumes in a process that no longer has the profile.
func testNestedProfileGone(s nestedTest) {
	m := mailing()
	c := s.treeConfig(m, plain("look", `"seen"`), approved("send", `"sent"`))
	e := s.engine(c)
	stop := s.work(e)
	s.start(e, "r1", "go")
	s.becomes(wire.WaitingForInput)
	stop()
	c = s.treeConfig(m)
	delete(c.Agents[0].Spawn.Profiles, "helper")
	e = s.working(c)
	s.answerAs(e, "mail:send", true)
	s.ended(wire.Completed)
	s.lines("messages", s.of("mail")[3:], `tool c1:{"error":"Unknown tool: send"}`, "assistant sent")
}
