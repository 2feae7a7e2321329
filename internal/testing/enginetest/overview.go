package enginetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/compare"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

var overviewTests = map[string]func(s *engineTest){
	"Overview":     testOverview,
	"Active":       testOverviewActive,
	"Jobs":         testOverviewJobs,
	"Detail":       testRunDetail,
	"DetailUnseen": testRunDetailUnseen,
	"DetailNested": testRunDetailNested,
}

func testOverview(s *engineTest) {
	e := s.engine(s.config(spooltest.NewModel(spooltest.Turn{Text: []string{"hi"}, Usage: spooltest.Tokens(3, 4)})))
	s.start(e, "r1", "go")
	s.startAs(e, of("acme", "t2"), wire.StartRequest{Prompt: "go", RunID: "r2"})
	s.startAs(e, of("other", "t3"), wire.StartRequest{Prompt: "go", RunID: "r3"})
	redriveTest{s}.die(e)
	<-time.After(1500 * time.Millisecond)
	o, err := e.Overview(context.Background(), "acme")
	if err != nil {
		s.Fatal(err)
	}
	s.same("active", compare.Spaced(o.Active, func(r wire.Run) spool.RunID { return r.ID }), "r2")
	if o.Bytes <= 0 {
		s.Errorf("two threads have %d bytes", o.Bytes)
	}
	o.Active, o.Queue.Extra, o.Bytes = nil, nil, 0
	s.same("overview", o, wire.Overview{
		Tenant: "acme", Threads: 2, Runs: 2, RunsByState: map[wire.State]int64{wire.Failed: 1, wire.Queued: 1},
		Queue: wire.QueueStats{Ready: 1, Dead: 1, OldestMS: 1500},
	})
	none, err := e.Overview(context.Background(), "nobody")
	if err != nil || none.Runs != 0 || len(none.Active) != 0 || none.Active == nil {
		s.Errorf("of nobody: %+v, %v", none, err)
	}
	s.work(e)
	s.until("the end", func() bool {
		o, err = e.Overview(context.Background(), "acme")
		return err == nil && len(o.Active) == 0
	})
	other, err := e.Overview(context.Background(), "other")
	if got := o.Tokens.TotalTokens + other.Tokens.TotalTokens; err != nil || got != 7 {
		s.Errorf("%d tokens, %v", got, err)
	}
}

func testOverviewActive(s *engineTest) {
	e := s.engine(s.config(spooltest.NewModel()))
	for i := range 60 {
		s.startAs(e, of("acme", spool.ThreadID(fmt.Sprintf("t%02d", i))), wire.StartRequest{Prompt: "go"})
		<-time.After(time.Millisecond)
	}
	o, err := e.Overview(context.Background(), "acme")
	if err != nil || len(o.Active) != 50 || o.Active[0].ThreadID != "t59" ||
		o.Active[49].ThreadID != "t10" || o.Runs != 60 {
		s.Errorf("%d of %d, %v", len(o.Active), o.Runs, err)
	}
	for _, key := range s.keys {
		if _, err := e.Stop(context.Background(), key); err != nil {
			s.Error(err)
		}
		s.history.Stopped(key)
	}
}

// testOverviewJobs has a job that no worker can execute, so it comes back again and again.
func testOverviewJobs(s *engineTest) {
	c := s.config(spooltest.NewModel(spooltest.Say("hi")))
	starter := s.engine(c)
	renamed := c
	renamed.Agents = []spool.Agent{{Name: "b", Model: "m"}}
	e := s.engine(renamed)
	stop := s.work(e)
	s.start(starter, "r1", "go")
	stuck := func(d time.Duration) string {
		s.Helper()
		jobs, err := e.StuckJobs(context.Background(), "acme", d, 10)
		if err != nil {
			s.Fatal(err)
		}
		return compare.Spaced(jobs, func(j wire.QueuedJob) spool.RunID { return j.RunID })
	}
	<-time.After(10 * time.Minute)
	s.same("after ten minutes", stuck(15*time.Minute), "")
	<-time.After(6 * time.Minute)
	s.same("after sixteen", stuck(15*time.Minute), "r1")
	stop()
	s.work(starter)
	s.ended(wire.Completed)
	s.same("after all", stuck(0), "")
}

func testRunDetail(s *engineTest) {
	m := spooltest.NewModel(
		spooltest.Turn{Calls: []spooltest.Call{{ID: "c1", Name: "look"}}, Usage: spooltest.Tokens(10, 1)},
		spooltest.Turn{Err: errors.New("overloaded"), Usage: spooltest.Tokens(20, 2)},
		spooltest.Turn{
			Calls: []spooltest.Call{{ID: "c2", Name: "send", Args: `{"to":"bob"}`}}, Usage: spooltest.Tokens(30, 3),
		},
		spooltest.Turn{Text: []string{"done"}, Usage: spooltest.Tokens(40, 4)},
	)
	slow := plain("look", "1")
	call := slow.Call
	slow.Call = func(ctx context.Context, c spool.ToolCall) (json.RawMessage, error) {
		<-time.After(2 * time.Second)
		return call(ctx, c)
	}
	e := s.working(s.config(m, slow, approved("send", "1")))
	s.start(e, "r1", "go")
	s.becomes(wire.WaitingForInput)
	<-time.After(time.Minute)
	s.answer(e, "c2", true, "")
	s.ended(wire.Completed)

	d, err := e.RunDetail(context.Background(), "acme", "r1")
	if err != nil {
		s.Fatal(err)
	}
	s.same("the run", d.Run, s.run("r1").Run)
	lines := make([]string, len(d.Steps))
	for i, step := range d.Steps {
		lines[i] = fmt.Sprintf("%d %s attempts=%d tokens=%d", step.Index, step.Outcome, step.Attempts, step.TotalTokens)
		for _, c := range step.Calls {
			lines[i] += fmt.Sprintf(" %s=%s:%s:%s", c.ToolCallID, c.ToolName, c.Effect, c.Park)
		}
	}
	s.lines("steps", lines,
		"1 finished attempts=1 tokens=11 c1=look:done:",
		"2 finished attempts=2 tokens=55 c2=send:done:answered",
		"3 finished attempts=1 tokens=44")
	// The wait between two attempts does not count as work, but the tool before the first attempt does.
	if took := d.Steps[0].DurationMS + d.Steps[1].DurationMS + d.Steps[2].DurationMS; took > 1000 {
		s.Errorf("the steps took %d ms: %+v", took, d.Steps)
	}
	s.same("entries", len(d.Entries), len(s.record()))
	s.same("rows of the ledger", len(d.Usage), 4)
	if len(d.Parks) != 1 || d.Parks[0].ToolName != "send" || d.Parks[0].Answer == nil ||
		string(compare.Canonical(d.Parks[0].Asked)) != `{"to":"bob"}` {
		s.Errorf("parks: %+v", d.Parks)
	}
	s.same("children", len(d.Children), 0)
	for tenant, id := range map[spool.Tenant]spool.RunID{"acme": "r2", "other": "r1"} {
		if _, err := e.RunDetail(context.Background(), tenant, id); spool.CodeOf(err) != spool.NotFound ||
			spool.MessageOf(err) != "Run not found" {
			s.Errorf("run %s of %s: %v", id, tenant, err)
		}
	}
	if _, err := e.RunDetail(context.Background(), "acme", ""); spool.CodeOf(err) != spool.Invalid {
		s.Errorf("no run: %v", err)
	}
}

// testRunDetailUnseen has a run whose messages were edited away: the ledgers still have its steps.
func testRunDetailUnseen(s *engineTest) {
	m := spooltest.NewModel(spooltest.Use(spooltest.Call{ID: "c1", Name: "look"}), spooltest.Say("hi"),
		spooltest.Say("hi again"))
	e := s.working(s.config(m, plain("look", "1")))
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	var turn spool.MessageID
	s.view(func(v store.View) error {
		messages, err := v.Messages(store.MessageQuery{Role: spool.RoleUser})
		turn = messages[0].ID
		return err
	})
	s.startAs(e, chat, wire.StartRequest{Prompt: "again", RunID: "r2", EditMessageID: turn})
	s.until("the second end", func() bool { return s.run("r2").State == wire.Completed })
	d, err := e.RunDetail(context.Background(), "acme", "r1")
	if err != nil || len(d.Steps) != 2 || len(d.Steps[0].Calls) != 1 ||
		d.Steps[0].Calls[0] != (wire.CallRecord{ToolCallID: "c1", Effect: wire.EffectDone}) {
		s.Errorf("the detail: %+v, %v", d, err)
	}
}

// testRunDetailNested has a tree: each run has its own steps and waits, and the dispatched run has all
// model calls.
func testRunDetailNested(s *engineTest) {
	m := casting(map[string][]spooltest.Turn{
		"go": {spooltest.Use(spawn("c1", "helper", "mail")), spooltest.Say("done")},
		"mail": {
			{Calls: []spooltest.Call{{ID: "c1", Name: "send", Args: `{"to":"bob"}`}}, Usage: spooltest.Tokens(3, 4)},
			spooltest.Say("sent"),
		},
	})
	e := s.working(nestedTest{s}.treeConfig(m, approved("send", `"sent"`)))
	s.start(e, "r1", "go")
	s.becomes(wire.WaitingForInput)
	detail := func(id spool.RunID) wire.RunDetail {
		s.Helper()
		d, err := e.RunDetail(context.Background(), "acme", id)
		if err != nil {
			s.Fatal(err)
		}
		return d
	}
	child := nestedTest{s}.nested()["mail"].ID
	top, under := detail("r1"), detail(child)
	if len(top.Children) != 1 || top.Children[0].ID != child || len(top.Parks) != 0 || len(top.Usage) != 2 ||
		len(top.Steps) != 1 || len(top.Steps[0].Calls) != 1 || top.Steps[0].Calls[0].ToolName != spool.SpawnTool ||
		top.Steps[0].Calls[0].Park != "" {
		s.Errorf("the dispatched run: %+v", top)
	}
	if len(under.Children) != 0 || len(under.Parks) != 1 || under.Parks[0].State != wire.ParkOpen ||
		len(under.Usage) != 1 ||
		len(under.Steps) != 1 || under.Steps[0].TotalTokens != 7 || len(under.Steps[0].Calls) != 1 ||
		under.Steps[0].Calls[0].ToolName != "send" || under.Steps[0].Calls[0].Park != wire.ParkOpen {
		s.Errorf("the nested run: %+v", under)
	}
	o, err := e.Overview(context.Background(), "acme")
	if err != nil || o.Runs != 2 || len(o.Active) != 2 {
		s.Errorf("the overview: %+v, %v", o, err)
	}
	nestedTest{s}.answerAs(e, "mail:send", true)
	s.ended(wire.Completed)
	if d := detail(child); d.Run.State != wire.Completed || len(d.Steps) != 2 ||
		d.Steps[0].Calls[0].Effect != wire.EffectDone {
		s.Errorf("the nested run at its end: %+v", d)
	}
}

// tallied checks the store's sums against its contents.
func (s *engineTest) tallied() {
	s.Helper()
	seen := make(map[spool.Tenant]bool)
	for _, key := range s.keys {
		if seen[key.Tenant] {
			continue
		}
		seen[key.Tenant] = true
		ctx := context.Background()
		stats, err := s.backend.Store.Stats(ctx, wire.StatsQuery{Tenant: key.Tenant, Tally: true})
		threads, err2 := s.backend.Store.Threads(ctx, wire.ThreadQuery{Tenant: key.Tenant})
		runs, err3 := s.backend.Store.Runs(ctx, wire.RunQuery{Tenant: key.Tenant})
		if err := errors.Join(err, err2, err3); err != nil {
			s.Errorf("the sums of %s: %v", key.Tenant, err)
			continue
		}
		got := stats.Tally
		storageTest{s}.weighed(got.Bytes, threads)
		want := wire.Tally{Threads: int64(len(threads)), Bytes: got.Bytes, Runs: make(map[wire.State]int64)}
		for _, r := range runs {
			want.Runs[r.State]++
			if r.Depth == 0 {
				want.Tokens.Add(r.TokenCount)
			}
		}
		s.same("the sums of "+string(key.Tenant), got, want)
	}
}
