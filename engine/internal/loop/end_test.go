package loop

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/active"
	"github.com/spoolhq/spool/engine/internal/budget"
	"github.com/spoolhq/spool/engine/internal/chat"
	"github.com/spoolhq/spool/engine/internal/history"
	"github.com/spoolhq/spool/engine/internal/toolresult"
	"github.com/spoolhq/spool/internal/testing/maptx"
	"github.com/spoolhq/spool/internal/testing/stage"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// tokens is the budget of 100 tokens, of which some are spent.
func tokens(spent int64) *wire.Allowance {
	return &wire.Allowance{Budget: spool.Budget{Tokens: 100}, Spent: wire.Spent{Tokens: spent}}
}

// A run without room for another step parks if somebody can raise the budget. Otherwise it ends.
func TestExhausted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		on       spool.BudgetAction
		reason   wire.StopReason
		most     spool.Budget
		overTime bool
		stop     bool
		state    wire.State
		record   wire.EntryType
	}{
		"ends":  {on: spool.BudgetEnd, state: wire.Completed, record: wire.EntryTokenBudgetExhausted},
		"parks": {on: spool.BudgetPark, state: wire.WaitingForInput, record: wire.EntryInputRequired},
		"parks, may have more": {
			on: spool.BudgetPark, most: spool.Budget{Tokens: 101}, state: wire.WaitingForInput, record: wire.EntryInputRequired,
		},
		"has the most there is": {
			on: spool.BudgetPark, most: spool.Budget{Tokens: 100}, state: wire.Completed, record: wire.EntryTokenBudgetExhausted,
		},
		"most of another budget": {
			on: spool.BudgetPark, most: spool.Budget{ToolCalls: 1}, state: wire.WaitingForInput, record: wire.EntryInputRequired,
		},
		"nobody raises storage": {
			on: spool.BudgetPark, reason: wire.StopStorageLimit, state: wire.Completed, record: wire.EntryStorageLimitReached,
		},
		"nobody raises the limit": {
			on: spool.BudgetPark, reason: wire.StopTimeLimit, overTime: true, state: wire.Completed,
			record: wire.EntryTimeLimitReached,
		},
		"stopped":                      {on: spool.BudgetEnd, stop: true, state: wire.Cancelled, record: wire.EntryRunEnded},
		"stopped while it has to park": {on: spool.BudgetPark, stop: true, state: wire.Cancelled, record: wire.EntryRunEnded},
	} {
		run := store.RunRow{Run: wire.Run{Allowance: tokens(100)}}
		if c.stop {
			run.StopAt = stage.Noon
		}
		s := newScene(t, spool.Agent{OnBudget: c.on}, run)
		s.Host().Budget.Max = c.most
		if c.overTime {
			s.Segment().EndTime(active.ErrTimeLimit)
		}
		reason := c.reason
		if reason == "" {
			reason = wire.StopTokenBudget
		}
		s.Check(s.exhausted(t.Context(), exhaustedError{reason: reason}))
		got := s.Saved()
		if got.State != c.state || c.state == wire.Completed && got.StopReason != reason || s.record()[0] != c.record ||
			s.record()[len(s.record())-1] != wire.EntryRunEnded {
			t.Errorf("%s: %s %s, %v", name, got.State, got.StopReason, s.record())
		}
		if parks := s.Rows.Rows.Parks; (len(parks) == 1) != (c.state == wire.WaitingForInput) {
			t.Errorf("%s: the parks are %v", name, parks)
		}
	}
}

// The answer to a question about the budget lets the run go on, or ends it.
func TestAfterBudgetAnswer(t *testing.T) {
	t.Parallel()
	question := toolresult.JSON(budget.Question{Exhausted: wire.StopTokenBudget})
	for name, c := range map[string]struct {
		park  store.Park
		stop  bool
		state wire.State
	}{
		"approved": {
			park: store.Park{State: wire.ParkAnswered, Answer: &spool.Answer{Approved: true}}, state: wire.Running,
		},
		"denied":  {park: store.Park{State: wire.ParkAnswered, Answer: &spool.Answer{}}, state: wire.Completed},
		"expired": {park: store.Park{State: wire.ParkExpired}, state: wire.Completed},
		"denied, stop": {
			park: store.Park{State: wire.ParkAnswered, Answer: &spool.Answer{}}, stop: true, state: wire.Cancelled,
		},
		"open":          {park: store.Park{State: wire.ParkOpen}, state: wire.Running},
		"landed before": {park: store.Park{State: wire.ParkExpired, Landed: true}, state: wire.Running},
		"of a call":     {park: store.Park{State: wire.ParkExpired, Reason: wire.ParkApproval}, state: wire.Running},
	} {
		run := store.RunRow{Run: wire.Run{Allowance: tokens(100)}}
		if c.stop {
			run.StopAt = stage.Noon
		}
		s := newScene(t, spool.Agent{}, run)
		c.park.RunID, c.park.ToolCallID, c.park.Args = "r", "b1", question
		resolved := c.park.State != wire.ParkOpen && c.park.Reason == ""
		if c.park.Reason == "" {
			c.park.Reason = wire.ParkBudget
		}
		s.Rows.Rows.Parks = []store.Park{c.park}
		done, err := s.afterBudgetAnswer(t.Context(), nil)
		s.Check(err)
		if run := s.Saved(); run.State != c.state || done != c.state.Terminal() ||
			c.state == wire.Completed && run.StopReason != wire.StopTokenBudget {
			t.Errorf("%s: %s %s, done %t", name, run.State, run.StopReason, done)
		}
		if landed := s.Rows.Rows.Parks[0].Landed; landed != resolved {
			t.Errorf("%s: the park has landed: %t", name, landed)
		}
	}
}

// A run that a worker takes over ends if its last message is its answer, or if it has had its steps.
func TestFinishIfDone(t *testing.T) {
	t.Parallel()
	answer := spool.Message{Role: spool.RoleAssistant, RunID: "r", Content: spool.TextContent("hello")}
	calls, results, older := answer, answer, answer
	calls.Content = append(spool.TextContent("hello"), stage.Asked("look")...)
	results.Role, older.RunID = spool.RoleTool, "before"
	cut := func() *wire.Allowance { a := tokens(1); a.Cut = true; return a }
	for name, c := range map[string]struct {
		last   spool.Message
		run    store.RunRow
		final  bool            // whether an answer comes behind the last step
		reason wire.StopReason // "" if the run goes on
	}{
		"answered":              {last: answer, run: store.RunRow{Run: wire.Run{Steps: 1}}, reason: wire.StopCompleted},
		"before its first step": {last: answer},
		"has calls":             {last: calls, run: store.RunRow{Run: wire.Run{Steps: 1}}},
		"results of calls":      {last: results, run: store.RunRow{Run: wire.Run{Steps: 1}}},
		"answer to another run": {last: older, run: store.RunRow{Run: wire.Run{Steps: 1}}},
		"paused": {
			last: answer, run: store.RunRow{Run: wire.Run{Steps: 1}, RunState: store.RunState{Paused: true}},
		},
		"cut off by the budget": {last: answer, run: store.RunRow{Run: wire.Run{Steps: 1, Allowance: cut()}}},
		"had all steps":         {last: results, run: store.RunRow{Run: wire.Run{Steps: 4}}, reason: wire.StopMaxSteps},
		"had those of its start": {
			last: results, run: store.RunRow{Run: wire.Run{Steps: 2, MaxSteps: 2}}, reason: wire.StopMaxSteps,
		},
		"start asks for more": {
			last: results, run: store.RunRow{Run: wire.Run{Steps: 4, MaxSteps: 9}}, reason: wire.StopMaxSteps,
		},
		"answer behind them": {last: results, run: store.RunRow{Run: wire.Run{Steps: 4}}, final: true},
		"budget before answer": {
			last: results, run: store.RunRow{Run: wire.Run{Steps: 4, Allowance: tokens(100)}}, final: true,
			reason: wire.StopTokenBudget,
		},
		"one step left": {last: results, run: store.RunRow{Run: wire.Run{Steps: 3, MaxSteps: 9}}},
		"steps before budget": {
			last: results, run: store.RunRow{Run: wire.Run{Steps: 4, Allowance: tokens(99)}}, reason: wire.StopMaxSteps,
		},
		"budget before steps": {
			last: results, run: store.RunRow{Run: wire.Run{Steps: 4, Allowance: tokens(100)}}, reason: wire.StopTokenBudget,
		},
		"answer before budget": {
			last: answer, run: store.RunRow{Run: wire.Run{Steps: 4, Allowance: tokens(100)}}, reason: wire.StopCompleted,
		},
	} {
		s := newScene(t, spool.Agent{MaxSteps: 4, NoFinalAnswer: !c.final}, c.run)
		done, err := s.finishIfDone(t.Context(), history.New([]spool.Message{c.last}, 0, nil))
		s.Check(err)
		if run := s.Saved(); done != (c.reason != "") || run.StopReason != c.reason ||
			done != (run.State == wire.Completed) || s.asker.final != (c.final && !done) {
			t.Errorf("%s: %s %q", name, run.State, run.StopReason)
		}
	}
}

// The last answer ends the run, with the reason that cut it short, if any.
func TestSaveLastStep(t *testing.T) {
	t.Parallel()
	text := func(reason spool.FinishReason) chat.Turn {
		return chat.Turn{
			Message: spool.Message{Role: spool.RoleAssistant, Content: spool.TextContent("half")}, Reason: reason,
		}
	}
	capped, itself := text(spool.FinishLength), text(spool.FinishStop)
	capped.Capped, itself.Capped = wire.StopTokenBudget, wire.StopTokenBudget
	called := text(spool.FinishLength)
	called.Message.Content = append(called.Message.Content, stage.Asked("look")...)
	for name, c := range map[string]struct {
		turn   chat.Turn
		on     spool.BudgetAction
		schema *spool.OutputSchema
		run    store.RunRow
		state  wire.State
		reason wire.StopReason
		texts  int // the messages
	}{
		"answer":       {turn: text(spool.FinishStop), state: wire.Completed, reason: wire.StopCompleted, texts: 1},
		"other reason": {turn: text("other"), state: wire.Completed, reason: wire.StopUnknown, texts: 1},
		"too long":     {turn: text(spool.FinishLength), state: wire.Completed, reason: wire.StopLength, texts: 1},
		"too long a value": {
			turn: text(spool.FinishLength), schema: degrees, state: wire.Completed, reason: wire.StopLength, texts: 1,
		},
		"calls do not run": {turn: called, state: wire.Completed, reason: wire.StopLength, texts: 2},
		"refused":          {turn: text(spool.FinishFilter), state: wire.Completed, reason: wire.StopFilter, texts: 1},
		"empty":            {turn: chat.Turn{Reason: spool.FinishStop}, state: wire.Completed, reason: wire.StopEmpty},
		"stopped": {
			turn: text(spool.FinishStop), run: store.RunRow{RunState: store.RunState{StopAt: stage.Noon}}, state: wire.Cancelled,
			reason: wire.StopCancelled, texts: 1,
		},
		"cut by budget": {
			turn: capped, run: store.RunRow{Run: wire.Run{Allowance: tokens(1)}}, state: wire.Completed,
			reason: wire.StopTokenBudget, texts: 1,
		},
		"ends by itself": {
			turn: itself, on: spool.BudgetPark, run: store.RunRow{Run: wire.Run{Allowance: tokens(1)}}, state: wire.Completed,
			reason: wire.StopCompleted, texts: 1,
		},
		"cut, and parks": {
			turn: capped, on: spool.BudgetPark, run: store.RunRow{Run: wire.Run{Allowance: tokens(1)}},
			state: wire.WaitingForInput, texts: 1,
		},
		"budget used up": {
			turn: text(spool.FinishStop), on: spool.BudgetPark, run: store.RunRow{Run: wire.Run{Allowance: tokens(100)}},
			state: wire.Completed, reason: wire.StopTokenBudget, texts: 1,
		},
	} {
		s := newScene(t, spool.Agent{OnBudget: c.on, Output: c.schema}, c.run)
		_, done, err := s.saveLastStep(t.Context(), c.turn)
		s.Check(err)
		run := s.Saved()
		if !done || run.State != c.state || run.StopReason != c.reason || run.Steps != 1 ||
			len(s.Rows.Rows.Messages) != c.texts {
			t.Errorf("%s: %s %s, %d messages", name, run.State, run.StopReason, len(s.Rows.Rows.Messages))
		}
		if a := run.Allowance; a != nil && a.Cut != (c.state == wire.WaitingForInput) {
			t.Errorf("%s: the next worker takes the answer for whole: %t", name, !a.Cut)
		}
	}
}

// weighed is a store whose tenants store 100 bytes each.
type weighed struct{ maptx.Store }

func (w weighed) Stats(_ context.Context, q wire.StatsQuery) (wire.Stats, error) {
	if q.Tenant != "t" || !q.Tally {
		return wire.Stats{}, errors.New("the statistics are not those of the tenant")
	}
	return wire.Stats{Tally: wire.Tally{Bytes: 100}}, nil
}

// A tenant that stores as much as it may starts nothing, and its runs end before their next step.
func TestStorageLimit(t *testing.T) {
	t.Parallel()
	for limit, full := range map[int64]bool{0: false, 99: true, 100: true, 101: false} {
		s := newScene(t, spool.Agent{OnBudget: spool.BudgetPark}, store.RunRow{})
		s.Host().Store, s.Host().Limits.TenantBytes = weighed{maptx.Store{Tx: s.Rows}}, limit
		if err := s.Host().CheckRoom(t.Context(), "t"); (spool.CodeOf(err) == spool.StorageFull) != full ||
			!full && err != nil {
			t.Errorf("%d: %v", limit, err)
		}
		done, err := s.finishIfStorageFull(t.Context(), nil)
		s.Check(err)
		if run := s.Saved(); done != full || (run.StopReason == wire.StopStorageLimit) != full {
			t.Errorf("%d: %s %s", limit, run.State, run.StopReason)
		}
	}
}

// An answer that the time limit cut off is kept, and is not taken for the answer of the run.
func TestOutOfTime(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		content spool.Content
		texts   int
	}{"text": {spool.TextContent("half"), 1}, "only a call": {spool.Content(stage.Asked("look")), 0}} {
		s := newScene(t, spool.Agent{OnBudget: spool.BudgetPark},
			store.RunRow{Run: wire.Run{Allowance: &wire.Allowance{Budget: spool.Budget{WallTime: 1}}}})
		turn := chat.Turn{Message: spool.Message{Role: spool.RoleAssistant, Content: c.content}}
		s.Check(s.OutOfTime(t.Context(), &chat.CutOffError{Turn: turn, Err: context.Canceled}))
		run := s.Saved()
		if run.State != wire.WaitingForInput || len(s.Rows.Rows.Messages) != c.texts || run.Allowance.Cut != (c.texts > 0) {
			t.Errorf("%s: %s, %d messages, cut %t", name, run.State, len(s.Rows.Rows.Messages), run.Allowance.Cut)
		}
		if u := s.Rows.Rows.Usage; len(u) != 1 || u[0].Outcome != wire.OutcomeAborted {
			t.Errorf("%s: the ledger has %v", name, u)
		}
	}
}

// degrees is the schema of an answer.
var degrees = &spool.OutputSchema{Name: "degrees", Schema: json.RawMessage(`{"type":"object","required":["at"]}`)}

// An answer that does not fit its schema is asked for once more, and then ends the run.
func TestCheckOutput(t *testing.T) {
	t.Parallel()
	completed := store.Ending{State: wire.Completed, Reason: wire.StopCompleted}
	with := func(reason wire.StopReason) store.Ending {
		return store.Ending{State: wire.Completed, Reason: reason}
	}
	before := &store.RunOutput{Problem: "no", RejectedStep: 1}
	for name, c := range map[string]struct {
		text   string
		ending store.Ending
		run    store.RunRow
		want   store.Ending // zero if the model is asked once more
		value  string
		repair string // what the record says
	}{
		"fits": {text: ` {"at":1} `, ending: completed, want: completed, value: `{"at":1}`},
		"fits the second": {
			text: `{"at":1}`, ending: completed, run: store.RunRow{RunState: store.RunState{Output: before}}, want: completed,
			value: `{"at":1}`,
		},
		"earlier part fits": {text: `{"at":1}`, ending: with(wire.StopEmpty), want: completed, value: `{"at":1}`},
		"does not fit":      {text: `{}`, ending: completed, repair: "true"},
		"empty":             {ending: with(wire.StopEmpty), repair: "true"},
		"does not fit again": {
			text: `{}`, ending: completed, run: store.RunRow{RunState: store.RunState{Output: before}},
			want: store.Ending{State: wire.Failed, Reason: wire.StopOutput}, repair: "false",
		},
		"no step left": {
			text: `{}`, ending: completed, run: store.RunRow{Run: wire.Run{Steps: 25}},
			want: store.Ending{State: wire.Failed, Reason: wire.StopOutput}, repair: "false",
		},
		"one step left":     {text: `{}`, ending: completed, run: store.RunRow{Run: wire.Run{Steps: 24}}, repair: "true"},
		"budget is used up": {text: `{}`, ending: with(wire.StopTokenBudget), want: with(wire.StopTokenBudget)},
		"behind the steps": {
			text: `{"at":1}`, ending: with(wire.StopMaxSteps), run: store.RunRow{Run: wire.Run{Steps: 25}},
			want: with(wire.StopMaxSteps), value: `{"at":1}`,
		},
		"does not fit there": {
			text: `{}`, ending: with(wire.StopMaxSteps), run: store.RunRow{Run: wire.Run{Steps: 25}},
			want: store.Ending{State: wire.Failed, Reason: wire.StopOutput}, repair: "false",
		},
		"budget, but fits": {
			text: `{"at":1}`, ending: with(wire.StopTokenBudget), want: with(wire.StopTokenBudget), value: `{"at":1}`,
		},
	} {
		s := newScene(t, spool.Agent{Output: degrees}, c.run)
		tx := s.Tx()
		got, err := s.checkOutput(tx, c.ending, []spool.Message{{ID: "m1", Content: spool.TextContent(c.text)}})
		s.Check(err)
		if got.State != c.want.State || got.Reason != c.want.Reason || string(tx.Run.OutputValue()) != c.value {
			t.Errorf("%s: %+v, %s", name, got, tx.Run.OutputValue())
		}
		if got.State == wire.Failed && !strings.HasPrefix(got.Error, "the answer does not fit its schema: ") {
			t.Errorf("%s: it fails with %s", name, got.Error)
		}
		var repairs []string
		for _, e := range s.Rows.Rows.Entries {
			var r struct{ Repair json.RawMessage }
			s.Check(json.Unmarshal(e.Payload, &r))
			repairs = append(repairs, string(r.Repair))
		}
		if c.repair == "" && repairs != nil || c.repair != "" && !slices.Equal(repairs, []string{c.repair}) {
			t.Errorf("%s: the record says %v", name, repairs)
		}
		s.Check(tx.Put())
		s.Refresh()
		if again := s.rejected(); again != (c.want.State == "") ||
			again && (tx.Run.Output.Rejected != "m1" || tx.Run.Output.RejectedStep != tx.Run.Steps) {
			t.Errorf("%s: the model has to answer again: %t, %+v", name, again, tx.Run.Output)
		}
	}
	s := newScene(t, spool.Agent{}, store.RunRow{})
	if got, err := s.checkOutput(s.Tx(), completed, nil); got != completed || err != nil {
		t.Errorf("any text: %+v, %v", got, err)
	}
}

// A worker that takes over an answer that did not fit asks the model again, and ends the run after one that fits.
func TestFinishAnswered(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text  string
		stop  bool
		state wire.State
	}{
		"fits": {`{"at":1}`, false, wire.Completed}, "does not fit": {"{}", false, wire.Running},
		"stopped": {"{}", true, wire.Cancelled},
	} {
		run := store.RunRow{Run: wire.Run{Steps: 1}}
		if c.stop {
			run.StopAt = stage.Noon
		}
		s := newScene(t, spool.Agent{Output: degrees}, run)
		done, err := s.finishAnswered(t.Context(), spool.Message{ID: "m1", Content: spool.TextContent(c.text)})
		s.Check(err)
		if got := s.Saved(); got.State != c.state || done != (c.state != wire.Running) {
			t.Errorf("%s: %s, done %t", name, got.State, done)
		}
	}
}

// The prompt of a repair stands behind the answer that did not fit and the results of its calls.
func TestWithRepair(t *testing.T) {
	t.Parallel()
	message := func(id spool.MessageID, role spool.Role) spool.Message { return spool.Message{ID: id, Role: role} }
	messages := []spool.Message{
		message("m1", spool.RoleUser), message("m2", spool.RoleAssistant), message("m3", spool.RoleTool),
		message("m4", spool.RoleAssistant),
	}
	for name, c := range map[string]struct {
		output *store.RunOutput
		want   []spool.MessageID
	}{
		"nothing was wrong": {nil, []spool.MessageID{"m1", "m2", "m3", "m4"}},
		"last answer": {
			&store.RunOutput{Problem: "no", Rejected: "m4"},
			[]spool.MessageID{"m1", "m2", "m3", "m4", ""},
		},
		"with results": {
			&store.RunOutput{Problem: "no", Rejected: "m2"},
			[]spool.MessageID{"m1", "m2", "m3", "", "m4"},
		},
		"answer was empty": {&store.RunOutput{Problem: "no"}, []spool.MessageID{"m1", "m2", "m3", "m4", ""}},
		"answer is not there": {
			&store.RunOutput{Problem: "no", Rejected: "m0"},
			[]spool.MessageID{"m1", "m2", "m3", "m4", ""},
		},
	} {
		s := newScene(t, spool.Agent{Output: degrees}, store.RunRow{RunState: store.RunState{Output: c.output}})
		got, weight := s.asker.withRepair(messages)
		var ids []spool.MessageID
		for _, m := range got {
			ids = append(ids, m.ID)
		}
		if diff := cmp.Diff(c.want, ids); diff != "" || (weight.Bytes > 0) != (len(got) > 4) || len(messages) != 4 ||
			messages[3].ID != "m4" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
