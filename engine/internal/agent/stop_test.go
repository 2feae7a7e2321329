package agent

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/chat"
)

// A run that is stopped keeps the part of its answer that has arrived, and cancels the calls without a result.
func TestStopped(t *testing.T) {
	t.Parallel()
	draft := &spool.Draft{Message: spool.Message{Role: spool.RoleAssistant, Content: append(spool.TextContent("wait"), asked("look", "look")...)}}
	half := chat.Turn{Message: spool.Message{Role: spool.RoleAssistant, Content: spool.TextContent("half")}}
	for name, c := range map[string]struct {
		run     spool.RunRow
		cause   error
		effects []spool.Effect
		parks   []spool.Park
		want    []string // the messages
		charged int
	}{
		"between two steps": {cause: context.Canceled},
		"in an answer":      {cause: &chat.CutOffError{Turn: half, Err: context.Canceled}, want: []string{"half"}, charged: 1},
		"before its answer": {cause: &chat.CutOffError{Err: context.Canceled}, charged: 1},
		"with a draft": {
			run: spool.RunRow{RunState: spool.RunState{Draft: draft}}, cause: errStopped,
			effects: []spool.Effect{{RunID: "r", Step: 1, ToolCallID: "c2", State: spool.EffectDone, Result: json.RawMessage("5")}},
			want:    []string{"wait", `{"cancelled":true,"reason":"stopped"} 5`},
		},
		"with calls that an earlier worker began": {
			run: spool.RunRow{RunState: spool.RunState{Draft: &spool.Draft{Message: spool.Message{Role: spool.RoleAssistant, Content: asked("look", "safe", "look")}}}}, cause: errStopped,
			effects: []spool.Effect{
				{RunID: "r", Step: 1, ToolCallID: "c1", State: spool.EffectPending}, {RunID: "r", Step: 1, ToolCallID: "c2", State: spool.EffectPending},
			},
			want: []string{"", `{"cancelled":true,"reason":"stopped","outcome":"unknown"} {"cancelled":true,"reason":"stopped","outcome":"unknown"} {"cancelled":true,"reason":"stopped"}`},
		},
		"with an answer to a call": {
			cause: errStopped, want: []string{`{"cancelled":true,"reason":"stopped"}`},
			parks: []spool.Park{{RunID: "r", ToolCallID: "c1", ToolName: "look", Args: json.RawMessage("{}"), State: spool.ParkAnswered, Answer: &spool.Answer{Approved: true}}},
		},
	} {
		c.run.StopAt = noon
		s := desk(t, c.run)
		s.run.Segments = 2
		s.rows.Rows.Effects, s.rows.Rows.Parks = c.effects, c.parks
		s.check(s.stopped(t.Context(), c.cause))
		var got []string
		for _, m := range s.rows.Rows.Messages {
			var results []string
			for _, p := range m.ToolResults() {
				results = append(results, string(p.Result))
			}
			got = append(got, m.Text()+strings.Join(results, " "))
		}
		run := s.saved()
		if diff := cmp.Diff(c.want, got); diff != "" || run.State != spool.Cancelled || run.StopReason != spool.StopCancelled {
			t.Errorf("%s: %s %s (-want +got):\n%s", name, run.State, run.StopReason, diff)
		}
		if u := s.rows.Rows.Usage; len(u) != c.charged || c.charged > 0 && u[0].Outcome != spool.OutcomeAborted {
			t.Errorf("%s: the ledger has %+v", name, u)
		}
	}
}

// Before a call runs, the answer and the call are durable. A call beyond the budget has its result with them.
func TestSaveDraft(t *testing.T) {
	t.Parallel()
	s := desk(t, spool.RunRow{Run: spool.Run{Allowance: &spool.Allowance{Budget: spool.Budget{ToolCalls: 2}}}})
	turn := chat.Turn{Message: spool.Message{Role: spool.RoleAssistant, Content: asked("look", "find", "send", "look")}, Reason: spool.FinishToolCalls}
	s.check(s.saveDraft(t.Context(), turn))
	refused := `"error: the run's budget of tool calls was used up, and this call did not run"`
	if diff := cmp.Diff([]string{"c1 run", `c2 "error: unknown tool find"`, "c3 park approval", "c4 saved " + refused}, s.plans()); diff != "" {
		t.Errorf("the plan (-want +got):\n%s", diff)
	}
	want := []spool.Effect{
		{RunID: "r", Step: 1, ToolCallID: "c4", State: spool.EffectDone, Result: json.RawMessage(refused)}, {RunID: "r", Step: 1, ToolCallID: "c1", State: spool.EffectPending},
	}
	run := s.saved()
	if diff := cmp.Diff(want, s.rows.Rows.Effects); diff != "" || run.Draft == nil || len(run.Draft.Message.Content) != 4 || run.Steps != 0 || run.Allowance.Refused != 1 {
		t.Errorf("the run is %+v, and the ledger (-want +got):\n%s", run, diff)
	}
	if u := s.rows.Rows.Usage; len(u) != 1 || u[0].Outcome != spool.OutcomeFinished {
		t.Errorf("the ledger of usage has %+v", u)
	}
}

// The parks of a step are written together. A tool that parked itself is called again with the answer.
func TestParkStep(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err    error // of the tool; nil for an approval before it
		effect spool.EffectState
		state  spool.ParkState
	}{
		"approval": {state: spool.ParkOpen},
		"question": {err: &spool.ParkRequest{}, effect: spool.EffectVoid, state: spool.ParkOpen},
		"unknown":  {err: &spool.OutcomeUnknownError{Err: errDial}, state: spool.ParkOpen},
		"pending":  {err: spool.Pending(1, nil), effect: spool.EffectVoid, state: spool.ParkPending},
	} {
		s := desk(t, spool.RunRow{})
		p := s.planned("look")
		if c.err != nil {
			s.failedCall(t.Context(), p, c.err)
		} else {
			p.state = callNew
			p.ask(s.newPark(p, spool.ParkApproval, 0))
		}
		s.plan = []*plannedCall{p, s.planned("look", func(p *plannedCall) { p.call.ID = "c2"; p.give(json.RawMessage("1")) })}
		s.check(s.commit(t.Context(), s.park))
		park := s.rows.Rows.Parks[0]
		if len(s.rows.Rows.Parks) != 1 || park.State != c.state || !park.CreatedAt.Equal(noon) || (park.Digest == park.DigestOf(nil)) != (c.state == spool.ParkOpen) {
			t.Errorf("%s: the parks are %+v", name, s.rows.Rows.Parks)
		}
		var effect spool.EffectState
		for _, e := range s.rows.Rows.Effects {
			effect = e.State
		}
		if state := s.saved().State; effect != c.effect || state != spool.WaitingForInput {
			t.Errorf("%s: the run is %s, and the ledger has %q", name, state, effect)
		}
	}
}
