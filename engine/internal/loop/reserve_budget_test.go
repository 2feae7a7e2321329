package loop

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/history"
	"github.com/spoolhq/spool/internal/testing/stage"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// A question to a model sets aside what it may use, and its answer is bounded by what is left.
func TestReserve(t *testing.T) {
	t.Parallel()
	held := func(agent spool.AgentID, n int64) *wire.Allowance {
		a := tokens(0)
		a.Reservations = []wire.Reservation{{AgentID: agent, Kind: spool.UsageStep, Tokens: n}}
		return a
	}
	row := wire.UsageRow{RunID: "r", Kind: spool.UsageStep, Model: "m"}
	for name, c := range map[string]struct {
		budget *wire.Allowance
		asked  int             // the agent's own bound of the answer
		output int             // the bound of the answer
		capped wire.StopReason // what bounds it
		short  wire.StopReason // the budget without room
		waits  bool
		held   int // reservations
	}{
		"no budget":          {},
		"room for all":       {budget: tokens(0), asked: 50, output: 50, held: 1},
		"room for a part":    {budget: tokens(40), asked: 50, output: 30, capped: wire.StopTokenBudget, held: 1},
		"without a bound":    {budget: tokens(40), output: 30, capped: wire.StopTokenBudget, held: 1},
		"no room":            {budget: tokens(80), asked: 50, short: wire.StopTokenBudget},
		"used up":            {budget: tokens(100), asked: 50, short: wire.StopTokenBudget},
		"others hold a part": {budget: held("sub", 60), asked: 50, waits: true, held: 1},
		"no tokens counted":  {budget: &wire.Allowance{Budget: spool.Budget{ToolCalls: 1}}, asked: 50, output: 50},
		"calls are used up": {
			budget: &wire.Allowance{Budget: spool.Budget{ToolCalls: 1}, Refused: 1}, asked: 50, short: wire.StopToolCallBudget,
		},
	} {
		s := newScene(t, spool.Agent{}, store.RunRow{Run: wire.Run{Allowance: c.budget}})
		ctx, cancel := context.WithCancel(t.Context())
		if c.waits {
			cancel() // it would wait until another call ends
		}
		r := spool.ModelRequest{MaxOutputTokens: c.asked}
		capped, err := s.asker.reserve(ctx, row, stage.Mute{}, &r, 30)
		cancel()
		short, _ := errors.AsType[*exhaustedError](err)
		switch {
		case c.waits:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v", name, err)
			}
		case c.short != "":
			if short == nil || short.reason != c.short {
				t.Errorf("%s: %v", name, err)
			}
		case err != nil || capped != c.capped || r.MaxOutputTokens != c.output:
			t.Errorf("%s: %d tokens by %q, %v", name, r.MaxOutputTokens, capped, err)
		}
		if a := s.Saved().Allowance; a != nil && len(a.Reservations) != c.held {
			t.Errorf("%s: the run holds %+v", name, a.Reservations)
		}
	}
}

// A nested run reserves of its tree's budget. If it has parked for that budget, it goes on.
func TestReserveNested(t *testing.T) {
	t.Parallel()
	s := newScene(t, spool.Agent{Spawn: &spool.Spawn{Open: true}}, store.RunRow{Run: wire.Run{Allowance: tokens(0)}})
	child := s.nested(store.RunRow{Run: wire.Run{State: wire.WaitingForInput}})
	r := spool.ModelRequest{MaxOutputTokens: 50}
	_, err := child.asker.reserve(t.Context(), wire.UsageRow{RunID: "r", AgentID: child.Row().AgentID()}, stage.Mute{}, &r,
		30)
	s.Check(err)
	if a := s.Saved().Allowance; len(a.Reservations) != 1 || a.Reservations[0].AgentID != child.Row().AgentID() ||
		a.Reservations[0].Tokens != 80 || child.Saved().State != wire.Running {
		t.Errorf("the tree holds %+v, and the nested run is %s", a.Reservations, child.Saved().State)
	}
}

// Steers reach a run only if its budget has room for a question with them.
func TestFitsSteers(t *testing.T) {
	t.Parallel()
	steers := []spool.Message{
		{
			Role:    spool.RoleUser,
			Content: spool.TextContent("and then look at the weather in Oslo, and tell me what it will be tomorrow, please"),
		},
	}
	for name, c := range map[string]struct {
		budget *wire.Allowance
		want   bool
	}{
		"no budget": {want: true},
		"room":      {budget: tokens(0), want: true},
		"too long":  {budget: tokens(60)},
		"used up":   {budget: tokens(100)},
	} {
		s := newScene(t, spool.Agent{MaxOutputTokens: 16}, store.RunRow{Run: wire.Run{Allowance: c.budget}})
		fits := s.asker.fitsSteers(t.Context(),
			history.New([]spool.Message{{ID: "m1", Role: spool.RoleUser, Content: spool.TextContent("go")}}, 0, nil))
		if got := fits(c.budget, steers, time.Time{}); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
		if none := fits(c.budget, nil, time.Time{}); none != (name != "used up") {
			t.Errorf("%s, without steers: %t", name, none)
		}
	}
}
