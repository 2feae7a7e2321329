package loop

import (
	"encoding/json"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/history"
	"github.com/spoolhq/spool/engine/internal/registry"
	"github.com/spoolhq/spool/internal/testing/stage"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// transferred is a step with a transfer call to the agent "other", and its result.
func transferred(run spool.RunID, result string) []spool.Message {
	calls := stage.Asked("look", spool.TransferTool)
	calls[1].Args = json.RawMessage(`{"agent":"other","brief":"a letter"}`)
	return []spool.Message{
		{ID: "m1", Role: spool.RoleUser, RunID: run},
		{ID: "m2", Role: spool.RoleAssistant, RunID: run, Content: calls},
		{ID: "m3", Role: spool.RoleTool, RunID: run, Content: spool.Content{
			{
				Type: spool.PartToolResult, ToolCallID: "c1", ToolName: "look",
				Result: json.RawMessage(`{"transferredTo":"other"}`),
			},
			{Type: spool.PartToolResult, ToolCallID: "c2", ToolName: spool.TransferTool, Result: json.RawMessage(result)},
		}},
	}
}

// A run hands its thread over if its last step has a transfer call that succeeded.
func TestTransferOf(t *testing.T) {
	t.Parallel()
	done := `{"transferredTo":"other"}`
	late := func(messages []spool.Message) []spool.Message { // the result of a call that waited
		last := messages[2]
		first := last
		first.Content, last.Content = last.Content[:1], last.Content[1:]
		return append(messages[:2:2], first, last)
	}
	for name, c := range map[string]struct {
		messages []spool.Message
		want     bool
	}{
		"done":             {transferred("r", done), true},
		"refused":          {transferred("r", `"error: no"`), false},
		"result came late": {late(transferred("r", done)), true},
		"in another run":   {transferred("before", done), false},
		"answered since":   {append(transferred("r", done), spool.Message{Role: spool.RoleAssistant, RunID: "r"}), false},
		"has a next turn":  {append(transferred("r", done), spool.Message{Role: spool.RoleUser, RunID: "r"}), false},
		"nothing":          {nil, false},
	} {
		args, called := transferOf(c.messages, "r")
		if want := (registry.TransferArgs{Agent: "other", Brief: "a letter"}); called != c.want || called && args != want {
			t.Errorf("%s: %+v, %t", name, args, called)
		}
	}
}

// The other agent takes the thread over once, if it may still have it and nobody has stopped the run.
func TestHandOver(t *testing.T) {
	t.Parallel()
	to := map[string]spool.Transfer{"other": {}}
	for name, c := range map[string]struct {
		transfers map[string]spool.Transfer
		run       store.RunRow
		over      bool
	}{
		"hands over":   {transfers: to, over: true},
		"not any more": {},
		"stopped":      {transfers: to, run: store.RunRow{RunState: store.RunState{StopAt: stage.Noon}}},
		"did so before": {
			transfers: to, run: store.RunRow{RunState: store.RunState{Handovers: []store.Handover{{Step: 1}}}},
		},
		"in an older step": {
			transfers: to, run: store.RunRow{RunState: store.RunState{Handovers: []store.Handover{{Step: 0}}}}, over: true,
		},
	} {
		c.run.Steps = 1
		s := newScene(t, spool.Agent{Transfers: c.transfers}, c.run)
		over, err := s.handOver(t.Context(), history.New(transferred("r", `{"transferredTo":"other"}`), 0, nil))
		s.Check(err)
		if run := s.Saved(); over != c.over || (run.Agent == "other") != c.over || (run.State == wire.Queued) != c.over ||
			(s.Screen.Woken == 1) != c.over {
			t.Errorf("%s: %s of %s; workers were woken %d times", name, run.State, run.Agent, s.Screen.Woken)
		}
	}
}
