package calls

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/chat"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/internal/testing/stage"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Before a call runs, the answer and the call are durable. A call beyond the budget has its result with them.
func TestSaveDraft(t *testing.T) {
	t.Parallel()
	s := desk(t, store.RunRow{Run: wire.Run{Allowance: &wire.Allowance{Budget: spool.Budget{ToolCalls: 2}}}})
	turn := chat.Turn{
		Message: spool.Message{Role: spool.RoleAssistant, Content: stage.Asked("look", "find", "send", "look")},
		Reason:  spool.FinishToolCalls,
	}
	charge := func(tx *thread.Tx) error { return turn.Charge(tx, wire.OutcomeFinished) }
	s.Check(s.SaveDraft(t.Context(), store.Draft{Message: turn.Message, Usage: turn.Usage.Count()}, charge))
	refused := `"error: the run's budget of tool calls was used up, and this call did not run"`
	if diff := cmp.Diff(
		[]string{"c1 run", `c2 "error: unknown tool find"`, "c3 park approval", "c4 saved " + refused}, s.plans(),
	); diff != "" {
		t.Errorf("the plan (-want +got):\n%s", diff)
	}
	want := []store.Effect{
		{RunID: "r", Step: 1, ToolCallID: "c4", State: wire.EffectDone, Result: json.RawMessage(refused)},
		{RunID: "r", Step: 1, ToolCallID: "c1", State: wire.EffectPending},
	}
	run := s.Saved()
	if diff := cmp.Diff(want, s.Rows.Rows.Effects); diff != "" || run.Draft == nil ||
		len(run.Draft.Message.Content) != 4 || run.Steps != 0 || run.Allowance.Refused != 1 {
		t.Errorf("the run is %+v, and the ledger (-want +got):\n%s", run, diff)
	}
	if u := s.Rows.Rows.Usage; len(u) != 1 || u[0].Outcome != wire.OutcomeFinished {
		t.Errorf("the ledger of usage has %+v", u)
	}
}
