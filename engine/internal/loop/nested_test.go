package loop

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/active"
	"github.com/spoolhq/spool/internal/testing/stage"
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
		"answer": {
			run:  wire.Run{State: wire.Completed, StopReason: wire.StopCompleted, Result: text("21")},
			want: `{"agentId":"sub","result":"21"}`,
		},
		"nothing": {
			run: wire.Run{State: wire.Completed, StopReason: wire.StopCompleted}, want: `{"agentId":"sub","result":""}`,
		},
		"ended early": {
			run:  wire.Run{State: wire.Completed, StopReason: wire.StopMaxSteps, Result: text("half")},
			want: `{"agentId":"sub","result":"half","note":"it ended early: max steps"}`,
		},
		"failed": {
			run: wire.Run{State: wire.Failed, Error: "down", Result: text("half")}, want: `{"agentId":"sub","error":"down"}`,
		},
		"failed mutely": {run: wire.Run{State: wire.Failed}, want: `{"agentId":"sub","error":"the nested run failed"}`},
		"value": {
			run: wire.Run{State: wire.Completed, StopReason: wire.StopCompleted, Result: text(`{"at":1}`)}, out: value,
			want: `{"agentId":"sub","result":{"at":1}}`,
		},
		"value, cut": {
			run: wire.Run{State: wire.Completed, StopReason: wire.StopCompleted, Result: text(`{"at`)}, out: value,
			want: `{"agentId":"sub","result":"{\"at"}`,
		},
		"text is JSON": {
			run:  wire.Run{State: wire.Completed, StopReason: wire.StopCompleted, Result: text(`{"at":1}`)},
			want: `{"agentId":"sub","result":"{\"at\":1}"}`,
		},
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
	}, store.RunRow{
		Run:      wire.Run{Model: "last", StartedBy: "ann"},
		RunState: store.RunState{HostState: json.RawMessage("{}"), Scopes: []string{"x"}},
	})
	for call, c := range map[spool.ToolCallID]struct{ args, model string }{
		"c1": {`{"name":"helper","instructions":"find"}`, "last"},
		"c2": {`{"name":"expert","instructions":"find"}`, "spare"},
		"c3": {`{"name":"expert","instructions":"find","model":"m"}`, "m"},
		"c4": {`{"name":"expert","instructions":"find","model":"none"}`, "spare"},
	} {
		p := spool.ToolCall{RunID: "r", ID: call, Name: spool.SpawnTool, Args: json.RawMessage(c.args)}
		run, err := s.spawn(t.Context(), p)
		s.Check(err)
		if run.Model != c.model || run.ParentID != "r" || run.RootID != "r" || run.CallID != call || run.Depth != 1 ||
			run.State != wire.Running || run.Prompt != "find" {
			t.Errorf("%s: %+v", call, run)
		}
		if run.StartedBy != "ann" || string(run.HostState) != "{}" || len(run.Scopes) != 1 || run.Nonce == "" {
			t.Errorf("%s: the run has not what its tree has: %+v", call, run)
		}
		if again, err := s.spawn(t.Context(), p); err != nil || again.ID != run.ID || again.Nonce != run.Nonce {
			t.Errorf("%s, again: %+v, %v", call, again, err)
		}
	}
	if n := s.Saved().Children; n != 4 {
		t.Errorf("the run has %d nested runs", n)
	}
	s.Rows.Rows.Runs = append(s.Rows.Rows.Runs, store.RunRow{Run: wire.Run{ID: nestedID("r", "c5"), ParentID: "other"}})
	p := spool.ToolCall{
		RunID: "r", ID: "c5", Name: spool.SpawnTool, Args: json.RawMessage(`{"name":"x","instructions":"y"}`),
	}
	if _, err := s.spawn(t.Context(), p); spool.CodeOf(err) != spool.Conflict {
		t.Errorf("an id that another run has: %v", err)
	}
	first, again := nestedID("r", "c1"), nestedID("r", "c1")
	if first != again || first == nestedID("r1", "c") {
		t.Error("the ids of nested runs do not follow from their calls")
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
		"ends, active": {
			spool.BudgetEnd, wire.Running, wire.Completed,
			`{"agentId":"` + string(nestedID("r", "c1")) + `","result":"","note":"it ended early: time budget"}`,
		},
		"ends, waiting": {
			spool.BudgetEnd, wire.WaitingForInput, wire.Completed,
			`{"agentId":"` + string(nestedID("r", "c1")) + `","result":"","note":"it ended early: time budget"}`,
		},
		"parks, active":  {spool.BudgetPark, wire.Running, wire.WaitingForInput, "wait"},
		"parks, waiting": {spool.BudgetPark, wire.WaitingForInput, wire.WaitingForInput, "wait"},
		"ended by itself": {
			spool.BudgetPark, wire.Completed, wire.Completed,
			`{"agentId":"` + string(nestedID("r", "c1")) + `","result":"","note":"it ended early: "}`,
		},
	} {
		s := newScene(t, spool.Agent{OnBudget: c.on, Spawn: &spool.Spawn{Open: true}}, store.RunRow{
			Run: wire.Run{Segments: 2, Allowance: &wire.Allowance{Budget: spool.Budget{WallTime: 1}}},
		})
		child := s.nested(store.RunRow{Run: wire.Run{State: c.state}})
		s.Rows.Rows.Effects = []store.Effect{{RunID: "r", ToolCallID: "c1", State: wire.EffectWaiting}}
		if planned, err := s.calls.PlanWaited(t.Context()); !planned || err != nil {
			t.Fatalf("%s: planned %t, %v", name, planned, err)
		}
		s.Check(s.outOfTimeNested(t.Context(), active.ErrOutOfTime))
		saved, _, err := s.calls.Save(t.Context(), true)
		s.Check(err)
		says := "wait"
		if effects := s.Rows.Rows.Effects; effects[len(effects)-1].State == wire.EffectDone {
			says = string(saved[0].ToolResults()[0].Result)
		}
		if state := child.Saved().State; state != c.want || says != c.says {
			t.Errorf("%s: the nested run is %s, and its call: %s", name, state, says)
		}
	}
}

// A run that is stopped ends its nested runs that wait with itself.
func TestStopNested(t *testing.T) {
	t.Parallel()
	s := newScene(t, spool.Agent{Spawn: &spool.Spawn{Open: true}}, store.RunRow{Run: wire.Run{Steps: 1, Segments: 2}})
	child := s.nested(store.RunRow{Run: wire.Run{State: wire.WaitingForInput}})
	s.Rows.Rows.Effects = []store.Effect{{RunID: "r", Step: 1, ToolCallID: "c1", State: wire.EffectWaiting}}
	planned, err := s.calls.PlanWaited(t.Context())
	s.Check(err)
	s.Rows.Rows.Runs[0].StopAt = stage.Noon
	s.Check(s.stopNested(context.WithoutCancel(t.Context())))
	if state := child.Saved().State; !planned || state != wire.Cancelled || len(s.Loop.nested) != 1 {
		t.Errorf("the nested run is %s, planned %t", state, planned)
	}
}
