package agent

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/registry"
)

// A parent's model reads the answer of a nested run, and how it ended if that was not by itself.
func TestNestedResult(t *testing.T) {
	t.Parallel()
	text := func(s string) *spool.NestedResult { return &spool.NestedResult{Text: s} }
	value := &spool.RunOutput{Value: json.RawMessage(`{"at":1}`)}
	for name, c := range map[string]struct {
		run  spool.Run
		out  *spool.RunOutput
		want string
	}{
		"answer":        {run: spool.Run{State: spool.Completed, StopReason: spool.StopCompleted, Result: text("21")}, want: `{"agentId":"sub","result":"21"}`},
		"nothing":       {run: spool.Run{State: spool.Completed, StopReason: spool.StopCompleted}, want: `{"agentId":"sub","result":""}`},
		"ended early":   {run: spool.Run{State: spool.Completed, StopReason: spool.StopMaxSteps, Result: text("half")}, want: `{"agentId":"sub","result":"half","note":"it ended early: max steps"}`},
		"failed":        {run: spool.Run{State: spool.Failed, Error: "down", Result: text("half")}, want: `{"agentId":"sub","error":"down"}`},
		"failed mutely": {run: spool.Run{State: spool.Failed}, want: `{"agentId":"sub","error":"the nested run failed"}`},
		"value":         {run: spool.Run{State: spool.Completed, StopReason: spool.StopCompleted, Result: text(`{"at":1}`)}, out: value, want: `{"agentId":"sub","result":{"at":1}}`},
		"value, cut":    {run: spool.Run{State: spool.Completed, StopReason: spool.StopCompleted, Result: text(`{"at`)}, out: value, want: `{"agentId":"sub","result":"{\"at"}`},
		"text is JSON":  {run: spool.Run{State: spool.Completed, StopReason: spool.StopCompleted, Result: text(`{"at":1}`)}, want: `{"agentId":"sub","result":"{\"at\":1}"}`},
	} {
		c.run.ID, c.run.RootID = "sub", "r"
		if got := string(nestedResult(spool.RunRow{Run: c.run, RunState: spool.RunState{Output: c.out}})); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// A spawn call has one nested run, however often it is made.
func TestSpawn(t *testing.T) {
	t.Parallel()
	s := newScene(t, spool.Agent{
		Spawn: &spool.Spawn{Open: true, Profiles: map[string]spool.Profile{"expert": {Model: "spare"}}},
	}, spool.RunRow{Run: spool.Run{StartedBy: "ann"}, RunState: spool.RunState{HostState: json.RawMessage("{}"), Scopes: []string{"x"}}})
	s.self.Model = "last" // of the start
	for call, c := range map[spool.ToolCallID]struct{ args, model string }{
		"c1": {`{"name":"helper","instructions":"find"}`, "last"},
		"c2": {`{"name":"expert","instructions":"find"}`, "spare"},
		"c3": {`{"name":"expert","instructions":"find","model":"m"}`, "m"},
		"c4": {`{"name":"expert","instructions":"find","model":"none"}`, "spare"},
	} {
		p := &plannedCall{call: s.toolCall(call, spool.SpawnTool, json.RawMessage(c.args), 1), spawns: true, state: callNew}
		run, err := s.spawn(t.Context(), p)
		s.check(err)
		if run.Model != c.model || run.ParentID != "r" || run.RootID != "r" || run.CallID != call || run.Depth != 1 || run.State != spool.Running || run.Prompt != "find" {
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
	s.rows.Rows.Runs = append(s.rows.Rows.Runs, spool.RunRow{Run: spool.Run{ID: nestedID("r", "c5"), ParentID: "other"}})
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
	s := newScene(t, spool.Agent{Spawn: &spool.Spawn{Open: true, MaxDepth: 5}}, spool.RunRow{})
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
	s := newScene(t, spool.Agent{Spawn: &spool.Spawn{Open: true}}, spool.RunRow{Run: spool.Run{Steps: 1}})
	s.rows.Rows.Effects = []spool.Effect{
		{RunID: "r", Step: 1, ToolCallID: "c1", State: spool.EffectWaiting}, {RunID: "r", Step: 1, ToolCallID: "c2", State: spool.EffectDone},
	}
	if plan, err := s.waitingCalls(s.rows); len(plan) != 0 || err != nil { // the run has no nested runs
		t.Errorf("without nested runs: %v, %v", plan, err)
	}
	child := s.nested(spool.RunRow{Run: spool.Run{State: spool.WaitingForInput}})
	plan, err := s.waitingCalls(s.rows)
	s.check(err)
	if len(plan) != 1 || plan[0].call.ID != "c1" || !plan[0].spawns || plan[0].says() != "run" {
		t.Fatalf("the plan is %v", plan)
	}
	s.plan, s.run.Steps = plan, 1
	s.rows.Rows.Runs[0].StopAt = noon
	s.check(s.stopNested(context.WithoutCancel(t.Context())))
	if state := child.saved().State; state != spool.Cancelled || plan[0].nested == nil {
		t.Errorf("the nested run is %s", state)
	}
}

// A run whose time is up keeps a nested run that waits if it parks for more time itself.
func TestOutOfTimeNested(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		on          spool.BudgetAction
		state, want spool.State
		says        string
	}{
		"ends, active":    {spool.BudgetEnd, spool.Running, spool.Completed, `{"agentId":"` + string(nestedID("r", "c1")) + `","result":"","note":"it ended early: time budget"}`},
		"ends, waiting":   {spool.BudgetEnd, spool.WaitingForInput, spool.Completed, `{"agentId":"` + string(nestedID("r", "c1")) + `","result":"","note":"it ended early: time budget"}`},
		"parks, active":   {spool.BudgetPark, spool.Running, spool.WaitingForInput, "wait"},
		"parks, waiting":  {spool.BudgetPark, spool.WaitingForInput, spool.WaitingForInput, "wait"},
		"ended by itself": {spool.BudgetPark, spool.Completed, spool.Completed, `{"agentId":"` + string(nestedID("r", "c1")) + `","result":"","note":"it ended early: "}`},
	} {
		s := newScene(t, spool.Agent{OnBudget: c.on, Spawn: &spool.Spawn{Open: true}}, spool.RunRow{
			Run: spool.Run{Allowance: &spool.Allowance{Budget: spool.Budget{WallTime: 1}}},
		})
		child := s.nested(spool.RunRow{Run: spool.Run{State: c.state}})
		p := &plannedCall{call: s.toolCall("c1", spool.SpawnTool, nil, 1), spawns: true, state: callNew}
		s.plan = []*plannedCall{p}
		s.check(s.outOfTimeNested(t.Context(), errOutOfTime))
		if state := child.saved().State; state != c.want || p.says() != c.says {
			t.Errorf("%s: the nested run is %s, and its call: %s", name, state, p.says())
		}
	}
}
