package calls

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/testing/stage"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
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
	park := func(id spool.ToolCallID, state wire.ParkState, change func(p *store.Park)) store.Park {
		p := store.Park{RunID: "r", ToolCallID: id, ToolName: "look", Step: 1, Args: json.RawMessage("{}"), State: state}
		if state == wire.ParkAnswered {
			p.Answer = &spool.Answer{Approved: true}
		}
		if change != nil {
			change(&p)
		}
		return p
	}
	ready := func(p *store.Park) { p.Pending = &wire.PendingCall{Ready: true, Until: stage.Noon} }
	done := store.Effect{RunID: "r", Step: 1, ToolCallID: "c1", State: wire.EffectDone, Result: json.RawMessage("5")}
	for name, c := range map[string]struct {
		segments int
		parks    []store.Park
		effects  []store.Effect
		want     []string
		open     int
		pending  []spool.ToolCallID // the ledger has them as about to run
	}{
		"first segment":      {segments: 1, parks: []store.Park{park("c1", wire.ParkAnswered, nil)}},
		"nothing has waited": {segments: 2},
		"answered": {
			segments: 2,
			parks:    []store.Park{park("c1", wire.ParkAnswered, nil)},
			want:     []string{"c1 run"},
			pending:  []spool.ToolCallID{"c1"},
		},
		"one of two": {
			segments: 2,
			parks:    []store.Park{park("c1", wire.ParkOpen, nil), park("c2", wire.ParkAnswered, nil)},
			want:     []string{"c2 run"},
			open:     1,
			pending:  []spool.ToolCallID{"c2"},
		},
		"none of two": {
			segments: 2, parks: []store.Park{park("c1", wire.ParkOpen, nil), park("c2", wire.ParkOpen, nil)}, open: 2,
		},
		"pending is ready": {
			segments: 2,
			parks:    []store.Park{park("c1", wire.ParkPending, ready)},
			want:     []string{"c1 repeat"},
		},
		"ready, has a result": {
			segments: 2,
			parks:    []store.Park{park("c1", wire.ParkPending, ready)},
			effects:  []store.Effect{done},
			want:     []string{"c1 saved 5"},
		},
		"has a result": {
			segments: 2,
			parks:    []store.Park{park("c1", wire.ParkAnswered, nil)},
			effects:  []store.Effect{done},
			want:     []string{"c1 saved 5"},
		},
	} {
		s := desk(t, store.RunRow{Run: wire.Run{Segments: c.segments}})
		s.Rows.Rows.Parks, s.Rows.Rows.Effects = c.parks, c.effects
		planned, err := s.PlanWaited(t.Context())
		s.Check(err)
		if diff := cmp.Diff(c.want, s.plans()); diff != "" || planned != (c.want != nil) || s.open != c.open {
			t.Errorf("%s: planned %t, %d open (-want +got):\n%s", name, planned, s.open, diff)
		}
		var pending []spool.ToolCallID
		for _, e := range s.Rows.Rows.Effects {
			if e.State == wire.EffectPending {
				pending = append(pending, e.ToolCallID)
			}
		}
		if !slices.Equal(pending, c.pending) {
			t.Errorf("%s: the ledger has %v", name, pending)
		}
	}
	s := desk(t, store.RunRow{Run: wire.Run{Steps: 1}})
	child := s.nested(store.RunRow{Run: wire.Run{State: wire.WaitingForInput, Steps: 1}})
	s.Rows.Rows.Effects = []store.Effect{{RunID: "r", Step: 1, ToolCallID: "c1", State: wire.EffectWaiting}}
	s.Rows.Rows.Parks = []store.Park{
		park("c2", wire.ParkAnswered, nil),
		park("c3", wire.ParkAnswered, func(p *store.Park) { p.AgentID = child.Row().AgentID() }),
	}
	if planned, err := s.PlanWaited(t.Context()); !planned || err != nil ||
		!slices.Equal(s.plans(), []string{"c1 run", "c2 run"}) {
		t.Errorf("a nested run waited: %v, %v", s.plans(), err)
	}
	if _, err := child.PlanWaited(t.Context()); err != nil || child.Saved().State != wire.Running ||
		!slices.Equal(child.plans(), []string{"c3 run"}) {
		t.Errorf("the nested run is %s: %v, %v", child.Saved().State, child.plans(), err)
	}
}

// A step whose worker died shows its draft again and goes on with the calls that have no result.
func TestPlanDraft(t *testing.T) {
	t.Parallel()
	draft := &store.Draft{
		Message: spool.Message{Content: append(spool.TextContent("wait"), stage.Asked("look", "look", "look")...)},
	}
	s := desk(t, store.RunRow{Run: wire.Run{Steps: 1}, RunState: store.RunState{Draft: draft}})
	s.Rows.Rows.Effects = []store.Effect{
		{RunID: "r", Step: 2, ToolCallID: "c1", State: wire.EffectDone, Result: json.RawMessage("5")},
		{RunID: "r", Step: 1, ToolCallID: "c2", State: wire.EffectDone},
		{RunID: "r", Step: 2, ToolCallID: "c3", State: wire.EffectVoid},
	}
	s.Rows.Rows.Parks = []store.Park{
		{RunID: "r", ToolCallID: "c3", Step: 2, State: wire.ParkPending, Pending: &wire.PendingCall{}},
	}
	planned, err := s.PlanDraft(t.Context())
	s.Check(err)
	if want := []string{"c1 saved 5", "c2 run", "c3 pending"}; !planned || !slices.Equal(s.plans(), want) {
		t.Errorf("the plan is %q", s.plans())
	}
	if effects := s.Rows.Rows.Effects; len(effects) != 4 || effects[3].ToolCallID != "c2" || effects[3].Step != 2 ||
		effects[3].State != wire.EffectPending {
		t.Errorf("the ledger has %v", effects)
	}
	want := []wire.ItemType{wire.ItemTextStart, wire.ItemTextContent, wire.ItemTextEnd}
	for range 3 {
		want = append(want, wire.ItemToolStart, wire.ItemToolEnd)
	}
	if diff := cmp.Diff(want, s.Screen.Items); diff != "" {
		t.Errorf("clients see (-want +got):\n%s", diff)
	}
	s = desk(t, store.RunRow{})
	if planned, err := s.PlanDraft(t.Context()); planned || err != nil {
		t.Errorf("between two steps: %t, %v", planned, err)
	}
}

// A run that has nothing to do before an answer parks again. Its nested runs stay as they are.
func TestParkAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stop, nested bool
		want         wire.State
	}{
		"parks":   {want: wire.WaitingForInput},
		"stopped": {stop: true, want: wire.Cancelled},
		"nested":  {nested: true, want: wire.Running},
	} {
		run := store.RunRow{}
		if c.stop {
			run.StopAt = stage.Noon
		}
		s := desk(t, run)
		if c.nested {
			s = s.nested(store.RunRow{})
		}
		s.Check(s.ParkAgain(t.Context()))
		if got := s.Saved().State; got != c.want || (s.Screen.Woken == 1) != (c.want == wire.WaitingForInput) {
			t.Errorf("%s: %s, and workers were woken %d times", name, got, s.Screen.Woken)
		}
	}
}

// Runs that wait for nested runs go on with those whose answers have come.
func TestWaitingCalls(t *testing.T) {
	t.Parallel()
	s := newScene(t, spool.Agent{Spawn: &spool.Spawn{Open: true}}, store.RunRow{Run: wire.Run{Steps: 1}})
	s.Rows.Rows.Effects = []store.Effect{
		{RunID: "r", Step: 1, ToolCallID: "c1", State: wire.EffectWaiting},
		{RunID: "r", Step: 1, ToolCallID: "c2", State: wire.EffectDone},
	}
	if plan, err := s.waitingCalls(s.Rows); len(plan) != 0 || err != nil { // the run has no nested runs
		t.Errorf("without nested runs: %v, %v", plan, err)
	}
	s.nested(store.RunRow{Run: wire.Run{State: wire.WaitingForInput}})
	plan, err := s.waitingCalls(s.Rows)
	s.Check(err)
	if len(plan) != 1 || plan[0].call.ID != "c1" || !plan[0].spawns || plan[0].says() != "run" {
		t.Fatalf("the plan is %v", plan)
	}
}
