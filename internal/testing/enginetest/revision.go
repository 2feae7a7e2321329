package enginetest

import (
	"context"
	"encoding/json"
	"strings"
	"sync"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/internal/compare"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// revisionTest is the fixture of the cases about revisions of agents.
type revisionTest struct{ approveTest }

var revisionTests = map[string]func(s *engineTest){
	"Follow":      revisionCase(testRevisionFollow),
	"Pin":         revisionCase(testRevisionPin),
	"PinLost":     revisionCase(testRevisionPinLost),
	"PinApproves": revisionCase(testRevisionPinApproves),
	"PinCrash":    revisionCase(testRevisionPinCrash),
	"PinNested":   revisionCase(testRevisionPinNested),
	"PinGone":     revisionCase(testRevisionPinGone),
	"Old":         revisionCase(testRevisionOld),
	"Once":        revisionCase(testRevisionOnce),
	"Digest":      revisionCase(testRevisionDigest),
	"Race":        revisionCase(testRevisionRace),
}

func revisionCase(test func(s revisionTest)) func(s *engineTest) {
	return func(s *engineTest) { test(revisionTest{approveTest{s}}) }
}

// today returns the configuration of a deployment: its day is in the instructions and in the description of
// the tool.
func (s revisionTest) today(day string, rule spool.Revisions, m *spooltest.Model, tools ...spool.Tool) engine.Config {
	c := s.config(m, tools...)
	c.Agents[0].Instructions, c.Agents[0].Revisions = "It is "+day+".", rule
	c.Agents[0].Extra = map[string]any{"temperature": 0.20, "api_key": "key of " + day}
	c.Agents[0].Tools = append([]spool.Tool(nil), c.Agents[0].Tools...)
	for i := range c.Agents[0].Tools {
		c.Agents[0].Tools[i].Description = "Sends on " + day + "."
	}
	return c
}

// started returns the revisions of the run's segments.
func (s revisionTest) started() (ids []wire.RevisionID) {
	for _, e := range s.entriesOf(chat) {
		if e.Type == wire.EntryRunStarted {
			var p wire.RunStarted
			_ = json.Unmarshal(e.Payload, &p)
			ids = append(ids, p.Revision)
		}
	}
	return ids
}

// parkedOnMonday starts a run on Monday, which waits for an approval.
func (s revisionTest) parkedOnMonday(rule spool.Revisions, m *spooltest.Model) {
	s.Helper()
	e := s.engine(s.today("Monday", rule, m, checked()))
	stop := s.work(e)
	s.start(e, "r1", "go")
	s.becomes(wire.WaitingForInput)
	stop()
}

// update changes the store without the engine noticing.
func (s revisionTest) update(key spool.ThreadKey, fn func(tx store.Tx) error) {
	s.Helper()
	if err := s.backend.Store.Update(context.Background(), key, 0, fn); err != nil {
		s.Fatal(err)
	}
}

// asked returns what the model was last asked with: the instructions, the tool and the extra fields.
func (s revisionTest) asked(m *spooltest.Model) string {
	requests := m.Requests()
	last := requests[len(requests)-1]
	described := make([]string, len(last.Tools))
	for i, t := range last.Tools {
		described[i] = t.Name + ": " + t.Description
	}
	return last.Instructions + " " + strings.Join(described, " ") + " " + string(encoded(s.engineTest, last.Extra))
}

// testRevisionFollow continues a parked run with the agent of the next day. The answer to the question of the
// day before counts.
func testRevisionFollow(s revisionTest) {
	m := sending()
	s.parkedOnMonday("", m)
	asked := s.park()
	e := s.working(s.today("Tuesday", spool.RevisionsFollow, m, checked()))
	s.delivered(e, wire.Response{ToolCallID: "c1", Approved: true, Digest: asked.Digest})
	s.ended(wire.Completed)
	ids := s.started()
	if len(ids) != 2 || ids[0] == ids[1] || ids[0] != asked.Revision || s.run("r1").Revision != ids[1] {
		s.Errorf("the segments have the revisions %s, the park %s, the run %s", ids, asked.Revision, s.run("r1").Revision)
	}
	s.same("the request", s.asked(m),
		`It is Tuesday. send: Sends on Tuesday. {"api_key":"key of Tuesday","temperature":0.2}`)
	for i, day := range []string{"Monday", "Tuesday"} {
		r, err := e.Revision(context.Background(), ids[i])
		if err != nil || r.ID != ids[i] || r.Agent.Instructions != "It is "+day+"." ||
			r.Agent.Tools[0].Description != "Sends on "+day+"." ||
			r.Agent.Tools[0].Approval != wire.ApprovalAlways || r.FirstUsedAt.IsZero() || r.Agent.Revision() != ids[i] {
			s.Errorf("revision %d is %+v, %v", i, r, err)
		}
		s.same("the extra fields", string(compare.Canonical(r.Agent.Extra)), `{"api_key":"(hidden)","temperature":0.2}`)
	}
	d, err := e.RunDetail(context.Background(), chat.Tenant, "r1")
	if err != nil || d.Revision != ids[1] || len(d.Parks) != 1 || d.Parks[0].Revision != ids[0] {
		s.Errorf("the detail: %s, %+v, %v", d.Revision, d.Parks, err)
	}
	audit, err := e.Audit(context.Background(), chat.Tenant, wire.AuditQuery{Action: wire.AuditAnswer})
	if err != nil || len(audit) != 1 || string(compare.Canonical(audit[0].Detail)) != `{"revision":"`+string(ids[0])+`"}` {
		s.Errorf("the audit log: %+v, %v", audit, err)
	}
	list, err := e.Revisions(context.Background(), wire.RevisionQuery{})
	if err != nil || len(list) != 2 || list[0].Model == "" || list[0].Tools != 1 ||
		list[0].FirstUsedAt.Before(list[1].FirstUsedAt) {
		s.Errorf("the list: %+v, %v", list, err)
	}
}

// testRevisionPin continues a parked run as it began. Its secret and the function of its tool are of the next
// day.
func testRevisionPin(s revisionTest) {
	m := sending()
	s.parkedOnMonday(spool.RevisionsPin, m)
	asked := s.park()
	send := checked()
	send.Parameters = json.RawMessage(`{"type":"object","properties":{"to":{"type":"string"},"from":{"type":"string"}}}`)
	send.Call = func(context.Context, spool.ToolCall) (json.RawMessage, error) {
		return json.RawMessage(`{"sent":"on Tuesday"}`), nil
	}
	c := s.today("Tuesday", spool.RevisionsPin, m, send, plain("look", "1"))
	c.Agents[0].MaxSteps = 1
	e := s.working(c)
	s.delivered(e, wire.Response{ToolCallID: "c1", Approved: true, Digest: asked.Digest})
	s.ended(wire.Completed)
	if ids := s.started(); len(ids) != 2 || ids[0] != ids[1] || ids[0] != asked.Revision {
		s.Errorf("the segments have the revisions %s", ids)
	}
	s.same("the request", s.asked(m),
		`It is Monday. send: Sends on Monday. {"api_key":"key of Tuesday","temperature":0.2}`)
	requests := m.Requests()
	s.same("the schema", string(compare.Canonical(requests[len(requests)-1].Tools[0].Parameters)),
		string(compare.Canonical(checked().Parameters)))
	s.lines("messages", s.script(), "user go", `assistant c1=send{"to":"bob"}`, `tool c1:{"sent":"on Tuesday"}`,
		"assistant done")

	s.start(e, "r2", "go")
	s.until("the next run's question", func() bool { return s.run("r2").State == wire.WaitingForInput })
	s.answer(e, s.parksOf(chat, "r2")[0].ToolCallID, true, "")
	s.until("the next run's end", func() bool { return s.run("r2").State.Terminal() })
	if got := s.run("r2").Revision; got == asked.Revision {
		s.Error("a new run has the old revision")
	}
}

// testRevisionPinLost continues a pinned run in a process that has lost its tool.
func testRevisionPinLost(s revisionTest) {
	m := sending()
	s.parkedOnMonday(spool.RevisionsPin, m)
	e := s.working(s.today("Tuesday", spool.RevisionsPin, m, plain("look", "1")))
	s.answer(e, "c1", true, "")
	s.ended(wire.Completed)
	s.lines("messages", s.script(), "user go", `assistant c1=send{"to":"bob"}`,
		`tool c1:{"error":"the tool send no longer exists"}`, "assistant done")
	s.same("the request", s.asked(m),
		`It is Monday. send: Sends on Monday. {"api_key":"key of Tuesday","temperature":0.2}`)
}

// testRevisionPinApproves pins a run to an agent whose tool needed an approval. It still needs one, although
// the tool of the process does not.
func testRevisionPinApproves(s revisionTest) {
	call := func(id spool.ToolCallID) spooltest.Turn {
		return spooltest.Use(spooltest.Call{ID: id, Name: "send", Args: `{"to":"bob"}`})
	}
	m := spooltest.NewReplayModel(call("c1"), call("c2"), spooltest.Say("done"))
	s.parkedOnMonday(spool.RevisionsPin, m)
	e := s.working(s.today("Tuesday", spool.RevisionsPin, m, plain("send", "1")))
	s.answer(e, "c1", true, "")
	s.until("the second question", func() bool { return len(s.parksOf(chat, "r1")) == 2 })
	s.becomes(wire.WaitingForInput)
	s.answer(e, "c2", false, "")
	s.ended(wire.Completed)
}

// testRevisionPinCrash kills the worker of a pinned run in its tool, and asks about the call's outcome.
func testRevisionPinCrash(s revisionTest) {
	m, d := sending(), newDying(1)
	p := s.process(s.today("Monday", spool.RevisionsPin, m, d.Tool))
	s.start(p.Engine, "r1", "go")
	receive(s, d.called, bubbleWait, "the call of the tool")
	p.kill()
	close(d.gate)
	idempotent := d.Tool
	idempotent.Idempotent = true
	e := s.working(s.today("Tuesday", spool.RevisionsPin, m, idempotent))
	s.becomes(wire.WaitingForInput)
	if got := s.park(); got.Reason != wire.ParkOutcomeUnknown || got.Revision != s.run("r1").Revision {
		s.Errorf("the park is %+v", got)
	}
	s.answer(e, "c1", true, "")
	s.ended(wire.Completed)
	ids := s.started()
	for _, id := range ids {
		if id != ids[0] || id == "" {
			s.Errorf("the segments have the revisions %s", ids)
		}
	}
	s.same("the request", s.asked(m),
		`It is Monday. send: Sends on Monday. {"api_key":"key of Tuesday","temperature":0.2}`)
}

// testRevisionPinNested lets a nested run of a pinned run wait. It continues with the profile of its revision.
func testRevisionPinNested(s revisionTest) {
	m := spooltest.NewModelFunc(func(_ context.Context, r spool.ModelRequest) spooltest.Turn {
		switch {
		case spooltest.StepOf(r) > 0:
			return spooltest.Say("done")
		case roleOf(r) == "go":
			return spooltest.Use(spawn("c1", "helper", "help"))
		default:
			return spooltest.Use(spooltest.Call{ID: "c2", Name: "send", Args: `{"to":"bob"}`})
		}
	})
	on := func(day string) engine.Config {
		c := s.today(day, spool.RevisionsPin, m)
		c.Agents[0].Spawn = &spool.Spawn{Profiles: map[string]spool.Profile{
			"helper": {Description: "Helps.", Instructions: "Help on " + day + ".", Tools: []spool.Tool{checked()}},
		}}
		return c
	}
	first := s.engine(on("Monday"))
	stop := s.work(first)
	s.start(first, "r1", "go")
	s.becomes(wire.WaitingForInput)
	stop()
	e := s.working(on("Tuesday"))
	s.answer(e, s.parksOf(chat, "r1")[0].ToolCallID, true, "")
	s.ended(wire.Completed)
	for _, r := range m.Requests() {
		if strings.Contains(r.Instructions, "Tuesday") {
			s.Errorf("a request has the instructions %q", r.Instructions)
		}
	}
	for _, r := range s.parksOf(chat, "r1") {
		if r.Revision != s.run("r1").Revision || r.AgentID == "" {
			s.Errorf("the park is %+v", r)
		}
	}
}

// testRevisionPinGone removes the stored revision of a pinned run. The run fails and says so, and does not
// continue with another agent.
func testRevisionPinGone(s revisionTest) {
	m := sending()
	s.parkedOnMonday(spool.RevisionsPin, m)
	id := s.run("r1").Revision
	s.update(spool.ThreadKey{}, func(tx store.Tx) error {
		return tx.Write(store.Changes{
			Rows: []store.Row{{Kind: "agent_revision", Key: string(id), Version: store.AnyVersion}},
		})
	})
	c := s.today("Tuesday", spool.RevisionsPin, m, checked())
	c.Retry.Attempts = 2
	e := s.working(c)
	s.answer(e, "c1", true, "")
	s.ended(wire.Failed)
	if run := s.run("r1"); !strings.Contains(run.Error, string(id)) || run.Revision != id || len(m.Requests()) != 1 ||
		s.executed() != 0 {
		s.Errorf("the run is %+v after %d requests", run, len(m.Requests()))
	}
}

// testRevisionOld pins a run that an older version has begun, which has no revision.
func testRevisionOld(s revisionTest) {
	m := sending()
	s.parkedOnMonday(spool.RevisionsPin, m)
	s.update(chat, func(tx store.Tx) error {
		run, err := store.FindRun(tx, "r1")
		run.Revision = ""
		if err != nil {
			return err
		}
		return tx.Write(store.Changes{Runs: []store.RunRow{run}})
	})
	e := s.working(s.today("Tuesday", spool.RevisionsPin, m, checked()))
	s.delivered(e, wire.Response{ToolCallID: "c1", Approved: true, Digest: s.park().Digest})
	s.ended(wire.Completed)
	s.same("the request", s.asked(m),
		`It is Tuesday. send: Sends on Tuesday. {"api_key":"key of Tuesday","temperature":0.2}`)
	if id := s.run("r1").Revision; id == "" || id == s.park().Revision {
		s.Errorf("the run has the revision %q", id)
	}
}

// testRevisionOnce executes runs of two processes with the same agent. The agent has one revision.
func testRevisionOnce(s revisionTest) {
	m := spooltest.NewReplayModel(spooltest.Say("hello"))
	first := s.working(s.today("Monday", "", m, checked()))
	s.start(first, "r1", "go")
	s.ended(wire.Completed)
	list, err := first.Revisions(context.Background(), wire.RevisionQuery{})
	if err != nil || len(list) != 1 || list[0].ID != s.run("r1").Revision {
		s.Fatalf("the list: %+v, %v", list, err)
	}
	second := s.working(s.today("Monday", "", m, checked()))
	s.start(second, "r2", "go")
	s.until("the second end", func() bool { return s.run("r2").State.Terminal() })
	if again, err := second.Revisions(context.Background(), wire.RevisionQuery{}); err != nil || len(again) != 1 ||
		again[0] != list[0] {
		s.Errorf("the list: %+v, %v, want %+v", again, err, list)
	}
	if _, err := second.Revision(context.Background(), "rev_none"); spool.CodeOf(err) != spool.NotFound {
		s.Errorf("an unknown revision: %v", err)
	}
}

// testRevisionDigest asks the same question with two revisions. The digests differ.
func testRevisionDigest(s revisionTest) {
	s.parkedOnMonday("", sending())
	p := s.park()
	if p.Revision == "" || p.Digest != p.DigestOf(nil) {
		s.Errorf("the park is %+v", p)
	}
	p.Revision = "rev_tuesday"
	if p.Digest == p.DigestOf(nil) {
		s.Error("the question of another revision has the same digest")
	}
}

// testRevisionRace executes the first segments of several processes at the same time.
func testRevisionRace(s revisionTest) {
	const processes = 4
	m := spooltest.NewReplayModel(spooltest.Say("hello"))
	engines := make([]*engine.Engine, processes)
	for i := range engines {
		engines[i] = s.working(s.today("Monday", "", m, checked()))
	}
	var starts sync.WaitGroup
	for i, e := range engines {
		key := spool.ThreadKey{Tenant: chat.Tenant, ID: spool.ThreadID("t" + string(rune('a'+i)))}
		starts.Go(func() { s.startAs(e, key, wire.StartRequest{Prompt: "go"}) })
	}
	starts.Wait()
	s.until("the ends", func() bool {
		runs, err := engines[0].Runs(context.Background(), chat.Tenant, wire.RunQuery{State: wire.Completed})
		return err == nil && len(runs) == processes
	})
	if list, err := engines[0].Revisions(context.Background(), wire.RevisionQuery{}); err != nil || len(list) != 1 {
		s.Errorf("the list: %+v, %v", list, err)
	}
}
