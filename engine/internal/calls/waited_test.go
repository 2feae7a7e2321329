package calls

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/testing/stage"
)

// plans returns what is planned for each call.
func (s *scene) plans() (all []string) {
	for _, p := range s.plan {
		all = append(all, string(p.call.ID)+" "+p.says())
	}
	return all
}

// A run whose parks are resolved goes on with their calls, after those whose nested runs waited.
func TestPlanWaited(t *testing.T) {
	t.Parallel()
	park := func(id spool.ToolCallID, state spool.ParkState, change func(p *spool.Park)) spool.Park {
		p := spool.Park{RunID: "r", ToolCallID: id, ToolName: "look", Step: 1, Args: json.RawMessage("{}"), State: state}
		if state == spool.ParkAnswered {
			p.Answer = &spool.Answer{Approved: true}
		}
		if change != nil {
			change(&p)
		}
		return p
	}
	ready := func(p *spool.Park) { p.Pending = &spool.PendingCall{Ready: true, Until: stage.Noon} }
	done := spool.Effect{RunID: "r", Step: 1, ToolCallID: "c1", State: spool.EffectDone, Result: json.RawMessage("5")}
	for name, c := range map[string]struct {
		segments int
		parks    []spool.Park
		effects  []spool.Effect
		want     []string
		open     int
		pending  []spool.ToolCallID // the ledger has them as about to run
	}{
		"first segment":       {segments: 1, parks: []spool.Park{park("c1", spool.ParkAnswered, nil)}},
		"nothing has waited":  {segments: 2},
		"answered":            {segments: 2, parks: []spool.Park{park("c1", spool.ParkAnswered, nil)}, want: []string{"c1 run"}, pending: []spool.ToolCallID{"c1"}},
		"one of two":          {segments: 2, parks: []spool.Park{park("c1", spool.ParkOpen, nil), park("c2", spool.ParkAnswered, nil)}, want: []string{"c2 run"}, open: 1, pending: []spool.ToolCallID{"c2"}},
		"none of two":         {segments: 2, parks: []spool.Park{park("c1", spool.ParkOpen, nil), park("c2", spool.ParkOpen, nil)}, open: 2},
		"pending is ready":    {segments: 2, parks: []spool.Park{park("c1", spool.ParkPending, ready)}, want: []string{"c1 repeat"}},
		"ready, has a result": {segments: 2, parks: []spool.Park{park("c1", spool.ParkPending, ready)}, effects: []spool.Effect{done}, want: []string{"c1 saved 5"}},
		"has a result":        {segments: 2, parks: []spool.Park{park("c1", spool.ParkAnswered, nil)}, effects: []spool.Effect{done}, want: []string{"c1 saved 5"}},
	} {
		s := desk(t, spool.RunRow{Run: spool.Run{Segments: c.segments}})
		s.Rows.Rows.Parks, s.Rows.Rows.Effects = c.parks, c.effects
		planned, err := s.PlanWaited(t.Context())
		s.Check(err)
		if diff := cmp.Diff(c.want, s.plans()); diff != "" || planned != (c.want != nil) || s.open != c.open {
			t.Errorf("%s: planned %t, %d open (-want +got):\n%s", name, planned, s.open, diff)
		}
		var pending []spool.ToolCallID
		for _, e := range s.Rows.Rows.Effects {
			if e.State == spool.EffectPending {
				pending = append(pending, e.ToolCallID)
			}
		}
		if !slices.Equal(pending, c.pending) {
			t.Errorf("%s: the ledger has %v", name, pending)
		}
	}
	s := desk(t, spool.RunRow{Run: spool.Run{Steps: 1}})
	child := s.nested(spool.RunRow{Run: spool.Run{State: spool.WaitingForInput, Steps: 1}})
	s.Rows.Rows.Effects = []spool.Effect{{RunID: "r", Step: 1, ToolCallID: "c1", State: spool.EffectWaiting}}
	s.Rows.Rows.Parks = []spool.Park{park("c2", spool.ParkAnswered, nil), park("c3", spool.ParkAnswered, func(p *spool.Park) { p.AgentID = child.Row().AgentID() })}
	if planned, err := s.PlanWaited(t.Context()); !planned || err != nil || !slices.Equal(s.plans(), []string{"c1 run", "c2 run"}) {
		t.Errorf("a nested run waited: %v, %v", s.plans(), err)
	}
	if _, err := child.PlanWaited(t.Context()); err != nil || child.Saved().State != spool.Running || !slices.Equal(child.plans(), []string{"c3 run"}) {
		t.Errorf("the nested run is %s: %v, %v", child.Saved().State, child.plans(), err)
	}
}

// A step whose worker died shows its draft again and goes on with the calls that have no result.
func TestPlanDraft(t *testing.T) {
	t.Parallel()
	draft := &spool.Draft{Message: spool.Message{Content: append(spool.TextContent("wait"), stage.Asked("look", "look", "look")...)}}
	s := desk(t, spool.RunRow{Run: spool.Run{Steps: 1}, RunState: spool.RunState{Draft: draft}})
	s.Rows.Rows.Effects = []spool.Effect{
		{RunID: "r", Step: 2, ToolCallID: "c1", State: spool.EffectDone, Result: json.RawMessage("5")},
		{RunID: "r", Step: 1, ToolCallID: "c2", State: spool.EffectDone},
		{RunID: "r", Step: 2, ToolCallID: "c3", State: spool.EffectVoid},
	}
	s.Rows.Rows.Parks = []spool.Park{{RunID: "r", ToolCallID: "c3", Step: 2, State: spool.ParkPending, Pending: &spool.PendingCall{}}}
	planned, err := s.PlanDraft(t.Context())
	s.Check(err)
	if want := []string{"c1 saved 5", "c2 run", "c3 pending"}; !planned || !slices.Equal(s.plans(), want) {
		t.Errorf("the plan is %q", s.plans())
	}
	if effects := s.Rows.Rows.Effects; len(effects) != 4 || effects[3].ToolCallID != "c2" || effects[3].Step != 2 || effects[3].State != spool.EffectPending {
		t.Errorf("the ledger has %v", effects)
	}
	want := []spool.ItemType{spool.ItemTextStart, spool.ItemTextContent, spool.ItemTextEnd}
	for range 3 {
		want = append(want, spool.ItemToolStart, spool.ItemToolEnd)
	}
	if diff := cmp.Diff(want, s.Screen.Items); diff != "" {
		t.Errorf("clients see (-want +got):\n%s", diff)
	}
	s = desk(t, spool.RunRow{})
	if planned, err := s.PlanDraft(t.Context()); planned || err != nil {
		t.Errorf("between two steps: %t, %v", planned, err)
	}
}

// A run that has nothing to do before an answer parks again. Its nested runs stay as they are.
func TestParkAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stop, nested bool
		want         spool.State
	}{"parks": {want: spool.WaitingForInput}, "stopped": {stop: true, want: spool.Cancelled}, "nested": {nested: true, want: spool.Running}} {
		run := spool.RunRow{}
		if c.stop {
			run.StopAt = stage.Noon
		}
		s := desk(t, run)
		if c.nested {
			s = s.nested(spool.RunRow{})
		}
		s.Check(s.ParkAgain(t.Context()))
		if got := s.Saved().State; got != c.want || (s.Screen.Woken == 1) != (c.want == spool.WaitingForInput) {
			t.Errorf("%s: %s, and workers were woken %d times", name, got, s.Screen.Woken)
		}
	}
}

// Runs that wait for nested runs go on with those whose answers have come.
func TestWaitingCalls(t *testing.T) {
	t.Parallel()
	s := newScene(t, spool.Agent{Spawn: &spool.Spawn{Open: true}}, spool.RunRow{Run: spool.Run{Steps: 1}})
	s.Rows.Rows.Effects = []spool.Effect{
		{RunID: "r", Step: 1, ToolCallID: "c1", State: spool.EffectWaiting}, {RunID: "r", Step: 1, ToolCallID: "c2", State: spool.EffectDone},
	}
	if plan, err := s.waitingCalls(s.Rows); len(plan) != 0 || err != nil { // the run has no nested runs
		t.Errorf("without nested runs: %v, %v", plan, err)
	}
	s.nested(spool.RunRow{Run: spool.Run{State: spool.WaitingForInput}})
	plan, err := s.waitingCalls(s.Rows)
	s.Check(err)
	if len(plan) != 1 || plan[0].call.ID != "c1" || !plan[0].spawns || plan[0].says() != "run" {
		t.Fatalf("the plan is %v", plan)
	}
}
