package agent

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/registry"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// A parent's model reads the answer of a nested run, and how it ended if that was not by itself.
func TestNestedResult(t *testing.T) {
	t.Parallel()
	text := func(s string) *wire.NestedResult { return &wire.NestedResult{Text: s} }
	value := &store.RunOutput{Value: json.RawMessage(`{"at":1}`)}
	for name, c := range map[string]struct {
		run  wire.Run
		out  *store.RunOutput
		want string
	}{
		"answer":        {run: wire.Run{State: wire.Completed, StopReason: wire.StopCompleted, Result: text("21")}, want: `{"agentId":"sub","result":"21"}`},
		"nothing":       {run: wire.Run{State: wire.Completed, StopReason: wire.StopCompleted}, want: `{"agentId":"sub","result":""}`},
		"ended early":   {run: wire.Run{State: wire.Completed, StopReason: wire.StopMaxSteps, Result: text("half")}, want: `{"agentId":"sub","result":"half","note":"it ended early: max steps"}`},
		"failed":        {run: wire.Run{State: wire.Failed, Error: "down", Result: text("half")}, want: `{"agentId":"sub","error":"down"}`},
		"failed mutely": {run: wire.Run{State: wire.Failed}, want: `{"agentId":"sub","error":"the nested run failed"}`},
		"value":         {run: wire.Run{State: wire.Completed, StopReason: wire.StopCompleted, Result: text(`{"at":1}`)}, out: value, want: `{"agentId":"sub","result":{"at":1}}`},
		"value, cut":    {run: wire.Run{State: wire.Completed, StopReason: wire.StopCompleted, Result: text(`{"at`)}, out: value, want: `{"agentId":"sub","result":"{\"at"}`},
		"text is JSON":  {run: wire.Run{State: wire.Completed, StopReason: wire.StopCompleted, Result: text(`{"at":1}`)}, want: `{"agentId":"sub","result":"{\"at\":1}"}`},
	} {
		c.run.ID, c.run.RootID = "sub", "r"
		if got := string(nestedResult(store.RunRow{Run: c.run, RunState: store.RunState{Output: c.out}})); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// A spawn call has one nested run, however often it is made.
func TestSpawn(t *testing.T) {
	t.Parallel()
	s := newScene(t, spool.Agent{
		Spawn: &spool.Spawn{Open: true, Profiles: map[string]spool.Profile{"expert": {Model: "spare"}}},
	}, store.RunRow{Run: wire.Run{StartedBy: "ann"}, RunState: store.RunState{HostState: json.RawMessage("{}"), Scopes: []string{"x"}}})
	s.self.Model = "last" // of the start
	for call, c := range map[spool.ToolCallID]struct{ args, model string }{
		"c1": {`{"name":"helper","instructions":"find"}`, "last"},
		"c2": {`{"name":"expert","instructions":"find"}`, "spare"},
		"c3": {`{"name":"expert","instructions":"find","model":"m"}`, "m"},
		"c4": {`{"name":"expert","instructions":"find","model":"none"}`, "spare"},
	} {
		p := &plannedCall{call: s.toolCall(call, spool.SpawnTool, json.RawMessage(c.args), 1), spawns: true}
		run, err := s.spawn(t.Context(), p)
		s.check(err)
		if run.Model != c.model || run.ParentID != "r" || run.RootID != "r" || run.CallID != call || run.Depth != 1 || run.State != wire.Running || run.Prompt != "find" {
			t.Errorf("%s: %+v", call, run)
		}
		if run.StartedBy != "ann" || string(run.HostState) != "{}" || len(run.Scopes) != 1 || run.Nonce == "" {
			t.Errorf("%s: the run has not what its tree has: %+v", call, run)
		}
		if again, err := s.spawn(t.Context(), p); err != nil || again.ID != run.ID || again.Nonce != run.Nonce {
			t.Errorf("%s, again: %+v, %v", call, again, err)
		}
	}
	if n := s.saved().Children; n != 4 {
		t.Errorf("the run has %d nested runs", n)
	}
	s.rows.Rows.Runs = append(s.rows.Rows.Runs, store.RunRow{Run: wire.Run{ID: nestedID("r", "c5"), ParentID: "other"}})
	p := &plannedCall{call: s.toolCall("c5", spool.SpawnTool, json.RawMessage(`{"name":"x","instructions":"y"}`), 1)}
	if _, err := s.spawn(t.Context(), p); spool.CodeOf(err) != spool.Conflict {
		t.Errorf("an id that another run has: %v", err)
	}
	first, again := nestedID("r", "c1"), nestedID("r", "c1")
	if first != again || first == nestedID("r1", "c") {
		t.Error("the ids of nested runs do not follow from their calls")
	}
}

// The limits of nested runs are those of the dispatched run's agent.
func TestSpawnLimits(t *testing.T) {
	t.Parallel()
	s := newScene(t, spool.Agent{Spawn: &spool.Spawn{Open: true, MaxDepth: 5}}, store.RunRow{})
	if got := s.s.limits(); got.MaxDepth != 5 || got.MaxConcurrent != registry.DefaultMaxConcurrent {
		t.Errorf("%+v", got)
	}
	s.s.main.agent = nil
	if got := s.s.limits(); got.MaxDepth != registry.DefaultMaxDepth || got.ResultCap != registry.DefaultResultCap {
		t.Errorf("without the agent: %+v", got)
	}
}

// Runs that wait for nested runs go on with those whose answers have come, and end the others with themselves.
func TestWaitingCalls(t *testing.T) {
	t.Parallel()
	s := newScene(t, spool.Agent{Spawn: &spool.Spawn{Open: true}}, store.RunRow{Run: wire.Run{Steps: 1}})
	s.rows.Rows.Effects = []store.Effect{
		{RunID: "r", Step: 1, ToolCallID: "c1", State: wire.EffectWaiting}, {RunID: "r", Step: 1, ToolCallID: "c2", State: wire.EffectDone},
	}
	if plan, err := s.waitingCalls(s.rows); len(plan) != 0 || err != nil { // the run has no nested runs
		t.Errorf("without nested runs: %v, %v", plan, err)
	}
	child := s.nested(store.RunRow{Run: wire.Run{State: wire.WaitingForInput}})
	plan, err := s.waitingCalls(s.rows)
	s.check(err)
	if len(plan) != 1 || plan[0].call.ID != "c1" || !plan[0].spawns || plan[0].says() != "run" {
		t.Fatalf("the plan is %v", plan)
	}
	s.plan, s.run.Steps = plan, 1
	s.rows.Rows.Runs[0].StopAt = noon
	s.check(s.stopNested(context.WithoutCancel(t.Context())))
	if state := child.saved().State; state != wire.Cancelled || plan[0].nested == nil {
		t.Errorf("the nested run is %s", state)
	}
}

// A run whose time is up keeps a nested run that waits if it parks for more time itself.
func TestOutOfTimeNested(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		on          spool.BudgetAction
		state, want wire.State
		says        string
	}{
		"ends, active":    {spool.BudgetEnd, wire.Running, wire.Completed, `{"agentId":"` + string(nestedID("r", "c1")) + `","result":"","note":"it ended early: time budget"}`},
		"ends, waiting":   {spool.BudgetEnd, wire.WaitingForInput, wire.Completed, `{"agentId":"` + string(nestedID("r", "c1")) + `","result":"","note":"it ended early: time budget"}`},
		"parks, active":   {spool.BudgetPark, wire.Running, wire.WaitingForInput, "wait"},
		"parks, waiting":  {spool.BudgetPark, wire.WaitingForInput, wire.WaitingForInput, "wait"},
		"ended by itself": {spool.BudgetPark, wire.Completed, wire.Completed, `{"agentId":"` + string(nestedID("r", "c1")) + `","result":"","note":"it ended early: "}`},
	} {
		s := newScene(t, spool.Agent{OnBudget: c.on, Spawn: &spool.Spawn{Open: true}}, store.RunRow{
			Run: wire.Run{Allowance: &wire.Allowance{Budget: spool.Budget{WallTime: 1}}},
		})
		child := s.nested(store.RunRow{Run: wire.Run{State: c.state}})
		p := &plannedCall{call: s.toolCall("c1", spool.SpawnTool, nil, 1), spawns: true}
		s.plan = []*plannedCall{p}
		s.check(s.outOfTimeNested(t.Context(), errOutOfTime))
		if state := child.saved().State; state != c.want || p.says() != c.says {
			t.Errorf("%s: the nested run is %s, and its call: %s", name, state, p.says())
		}
	}
}
