package loop

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/active"
	"github.com/spoolhq/spool/engine/internal/chat"
	"github.com/spoolhq/spool/internal/testing/stage"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// A run that is stopped keeps the part of its answer that has arrived, and cancels the calls without a result.
func TestStopped(t *testing.T) {
	t.Parallel()
	draft := &store.Draft{
		Message: spool.Message{
			Role: spool.RoleAssistant, Content: append(spool.TextContent("wait"), stage.Asked("look", "look")...),
		},
	}
	half := chat.Turn{Message: spool.Message{Role: spool.RoleAssistant, Content: spool.TextContent("half")}}
	for name, c := range map[string]struct {
		run     store.RunRow
		cause   error
		effects []store.Effect
		parks   []store.Park
		want    []string // the messages
		charged int
	}{
		"between two steps": {cause: context.Canceled},
		"in an answer": {
			cause:   &chat.CutOffError{Turn: half, Err: context.Canceled},
			want:    []string{"half"},
			charged: 1,
		},
		"before its answer": {cause: &chat.CutOffError{Err: context.Canceled}, charged: 1},
		"with a draft": {
			run: store.RunRow{RunState: store.RunState{Draft: draft}}, cause: active.ErrStopped,
			effects: []store.Effect{
				{RunID: "r", Step: 1, ToolCallID: "c2", State: wire.EffectDone, Result: json.RawMessage("5")},
			},
			want: []string{"wait", `{"cancelled":true,"reason":"stopped"} 5`},
		},
		"with calls that an earlier worker began": {
			run: store.RunRow{
				RunState: store.RunState{
					Draft: &store.Draft{
						Message: spool.Message{Role: spool.RoleAssistant, Content: stage.Asked("look", "safe", "look")},
					},
				},
			}, cause: active.ErrStopped,
			effects: []store.Effect{
				{RunID: "r", Step: 1, ToolCallID: "c1", State: wire.EffectPending},
				{RunID: "r", Step: 1, ToolCallID: "c2", State: wire.EffectPending},
			},
			want: []string{
				"",
				`{"cancelled":true,"reason":"stopped","outcome":"unknown"} {"cancelled":true,"reason":"stopped","outcome":"unknown"} {"cancelled":true,"reason":"stopped"}`,
			},
		},
		"with an answer to a call": {
			cause: active.ErrStopped, want: []string{`{"cancelled":true,"reason":"stopped"}`},
			parks: []store.Park{
				{
					RunID: "r", ToolCallID: "c1", ToolName: "look", Args: json.RawMessage("{}"), State: wire.ParkAnswered,
					Answer: &spool.Answer{Approved: true},
				},
			},
		},
	} {
		c.run.StopAt, c.run.Segments = stage.Noon, 2
		s := desk(t, c.run)
		s.Rows.Rows.Effects, s.Rows.Rows.Parks = c.effects, c.parks
		s.Check(s.Stopped(t.Context(), c.cause))
		var got []string
		for _, m := range s.Rows.Rows.Messages {
			var results []string
			for _, p := range m.ToolResults() {
				results = append(results, string(p.Result))
			}
			got = append(got, m.Text()+strings.Join(results, " "))
		}
		run := s.Saved()
		if diff := cmp.Diff(c.want, got); diff != "" || run.State != wire.Cancelled || run.StopReason != wire.StopCancelled {
			t.Errorf("%s: %s %s (-want +got):\n%s", name, run.State, run.StopReason, diff)
		}
		if u := s.Rows.Rows.Usage; len(u) != c.charged || c.charged > 0 && u[0].Outcome != wire.OutcomeAborted {
			t.Errorf("%s: the ledger has %+v", name, u)
		}
	}
}
