package enginetest

import (
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

// testNestedFails has a nested run with a permanent error. The parent run reads about it.
func testNestedFails(s nestedTest) {
	m := casting(map[string][]spooltest.Turn{
		"go": {spooltest.Use(spawn("c1", "helper", "find"), spawn("c2", "helper", "fine")), spooltest.Say("sorry")},
		"find": {
			spooltest.Use(spooltest.Call{ID: "c1", Name: "look"}),
			{Text: []string{"half"}, Err: &spool.ModelError{Status: 400, Message: "no"}},
		},
		"fine": {spooltest.Say("fine")},
	})
	e := s.engine(s.treeConfig(m, plain("look", `"seen"`)))
	s.start(e, "r1", "go")
	client := s.watch(e, &spooltest.Client{Name: "live", FromStart: true}, wire.FollowOptions{})
	s.work(e)
	s.ended(wire.Completed)
	<-time.After(quiet)
	client()
	run := s.nested()["find"]
	if run.State != wire.Failed || run.StopReason != wire.StopFailed || run.Error != "model: no (status 400)" ||
		run.Result != nil || run.Attempts != 1 {
		s.Errorf("the nested run: %+v", run)
	}
	s.lines("messages", s.of(""), "user go",
		`assistant c1=spawnSubagent{"instructions":"find","name":"helper"} c2=spawnSubagent{"instructions":"fine","name":"helper"}`,
		`tool c1:{"agentId":"ID","error":"model: no (status 400)"} c2:{"agentId":"ID","result":"fine"}`, "assistant sorry")
	if n := s.run("r1").Attempts; n != 0 {
		s.Errorf("the main run counts %d attempts", n)
	}
}

// testNestedRetried has a nested run with a temporary error. The other nested runs end first, and the
// next attempt does not touch them.
func testNestedRetried(s nestedTest) {
	var failed atomic.Bool
	m := spooltest.NewModelFunc(func(_ context.Context, r spool.ModelRequest) spooltest.Turn {
		script := map[string][]spooltest.Turn{
			"go": {
				spooltest.Use(spawn("c1", "helper", "find"), spawn("c2", "helper", "slow"), spooltest.Call{ID: "c3", Name: "once"}),
				spooltest.Say("ok"),
			},
			"find": {spooltest.Use(spooltest.Call{ID: "c1", Name: "once"}), spooltest.Say("found")},
			"slow": {spooltest.Use(spooltest.Call{ID: "c1", Name: "nap"}), spooltest.Say("slept")},
		}
		if roleOf(r) == "find" && spooltest.StepOf(r) == 1 && !failed.Swap(true) {
			return spooltest.Turn{Text: []string{"fo"}, Usage: spooltest.Tokens(3, 1), Err: overloaded()}
		}
		return turnAt(script[roleOf(r)], spooltest.StepOf(r))
	})
	nap := plain("nap", "")
	nap.Call = func(ctx context.Context, _ spool.ToolCall) (json.RawMessage, error) {
		select {
		case <-time.After(time.Minute):
			return json.RawMessage(`"rested"`), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	e := s.engine(s.treeConfig(m, plain("once", `"done"`), nap))
	s.start(e, "r1", "go")
	client := s.watch(e, &spooltest.Client{Name: "live", FromStart: true}, wire.FollowOptions{})
	s.work(e)
	s.until("the failed attempt", failed.Load)
	<-time.After(30 * time.Second)
	if got := s.thread(); got.State != wire.Running {
		s.Errorf("the run is %s while another nested run works", got.State)
	}
	s.ended(wire.Completed)
	<-time.After(quiet)
	client()
	s.lines("record", s.record(), "RUN_STARTED r1:1", "RUN_ENDED r1:1 error", "RUN_STARTED r1:2",
		"RUN_ENDED r1:2 finished")
	for brief, want := range map[string]int{"go": 2, "find": 3, "slow": 2} {
		if n := askedAs(m, brief); n != want {
			s.Errorf("%s was asked %d times, want %d", brief, n, want)
		}
	}
	if n := s.executed(); n != 3 {
		s.Errorf("%d calls of tools", n)
	}
	if r := s.run("r1"); r.Attempts != 0 || r.Error != "" {
		s.Errorf("the main run: %+v", r)
	}
}

// testNestedRetriesEnd lets a nested run use up its attempts.
func testNestedRetriesEnd(s nestedTest) {
	m := casting(map[string][]spooltest.Turn{
		"go":   {spooltest.Use(spawn("c1", "helper", "find")), spooltest.Say("sorry")},
		"find": {{Err: overloaded()}},
	})
	e := s.working(s.treeConfig(m))
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	if r := s.nested()["find"]; r.State != wire.Failed || r.Attempts != 3 || askedAs(m, "find") != 3 {
		s.Errorf("asked %d times: %+v", askedAs(m, "find"), r)
	}
	if !strings.Contains(s.of("")[2], `"error":"model: `) {
		s.Errorf("the result is %s", s.of("")[2])
	}
}

func testNestedUsage(s nestedTest) {
	m := casting(map[string][]spooltest.Turn{
		"go": {
			{Usage: spooltest.Tokens(1, 2), Calls: []spooltest.Call{spawn("c1", "helper", "find")}},
			{Text: []string{"ok"}, Usage: spooltest.Tokens(10, 20)},
		},
		"find": {{Text: []string{"x"}, Usage: spooltest.Tokens(100, 200)}},
	})
	e := s.working(s.treeConfig(m))
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	if got := s.run("r1").TotalTokens; got != 333 {
		s.Errorf("the main run counts %d tokens, want 333", got)
	}
	run := s.nested()["find"]
	if run.TotalTokens != 300 {
		s.Errorf("the nested run counts %d tokens, want 300", run.TotalTokens)
	}
	u, err := e.Usage(context.Background(), chat)
	if err != nil || len(u.Tokens.Lines) != 2 || u.Tokens.Lines[1].AgentID == nil ||
		*u.Tokens.Lines[1].AgentID != run.AgentID() ||
		u.Tokens.Lines[1].AgentName != "helper" || u.Tokens.TotalTokens != 333 {
		s.Errorf("usage %+v, %v", u.Tokens, err)
	}
}

// testNestedEdit edits the turn above a nested run, and tries to edit a nested run's brief, which is
// not the user's.
func testNestedEdit(s nestedTest) {
	m := casting(map[string][]spooltest.Turn{
		"go": {spooltest.Use(spawn("c1", "helper", "find")), spooltest.Say("ok")}, "find": {spooltest.Say("x")},
		"again": {spooltest.Say("fine")},
	})
	e := s.working(s.treeConfig(m))
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	var turn, brief spool.MessageID
	for _, m := range s.messagesOf(chat) {
		switch {
		case m.Role == spool.RoleUser && m.AgentID == "":
			turn = m.ID
		case m.Role == spool.RoleUser:
			brief = m.ID
		}
	}
	r, err := e.Run(context.Background(), chat, wire.StartRequest{Prompt: "again", EditMessageID: brief})
	if err != nil || r.Accepted || r.Reason != wire.ReasonNotEditable {
		s.Errorf("an edit of the brief: %+v, %v", r, err)
	}
	s.startAs(e, chat, wire.StartRequest{Prompt: "again", RunID: "r2", EditMessageID: turn})
	s.ended(wire.Completed)
	s.lines("messages", s.script(), "user again", "assistant fine")
}
