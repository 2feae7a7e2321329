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
)

// tokens is the budget of 100 tokens, of which some are spent.
func tokens(spent int64) *spool.Allowance {
	return &spool.Allowance{Budget: spool.Budget{Tokens: 100}, Spent: spool.Spent{Tokens: spent}}
}

// A run without room for another step parks if somebody can raise the budget. Otherwise it ends.
func TestExhausted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		on       spool.BudgetAction
		reason   spool.StopReason
		most     spool.Budget
		overTime bool
		stop     bool
		state    spool.State
		record   spool.EntryType
	}{
		"ends":                         {on: spool.BudgetEnd, state: spool.Completed, record: spool.EntryTokenBudgetExhausted},
		"parks":                        {on: spool.BudgetPark, state: spool.WaitingForInput, record: spool.EntryInputRequired},
		"parks, may have more":         {on: spool.BudgetPark, most: spool.Budget{Tokens: 101}, state: spool.WaitingForInput, record: spool.EntryInputRequired},
		"has the most there is":        {on: spool.BudgetPark, most: spool.Budget{Tokens: 100}, state: spool.Completed, record: spool.EntryTokenBudgetExhausted},
		"most of another budget":       {on: spool.BudgetPark, most: spool.Budget{ToolCalls: 1}, state: spool.WaitingForInput, record: spool.EntryInputRequired},
		"nobody raises storage":        {on: spool.BudgetPark, reason: spool.StopStorageLimit, state: spool.Completed, record: spool.EntryStorageLimitReached},
		"nobody raises the limit":      {on: spool.BudgetPark, reason: spool.StopTimeLimit, overTime: true, state: spool.Completed, record: spool.EntryTimeLimitReached},
		"stopped":                      {on: spool.BudgetEnd, stop: true, state: spool.Cancelled, record: spool.EntryRunEnded},
		"stopped while it has to park": {on: spool.BudgetPark, stop: true, state: spool.Cancelled, record: spool.EntryRunEnded},
	} {
		run := spool.RunRow{Run: spool.Run{Allowance: tokens(100)}}
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
			reason = spool.StopTokenBudget
		}
		s.Check(s.exhausted(t.Context(), exhaustedError{reason: reason}))
		got := s.Saved()
		if got.State != c.state || c.state == spool.Completed && got.StopReason != reason || s.record()[0] != c.record || s.record()[len(s.record())-1] != spool.EntryRunEnded {
			t.Errorf("%s: %s %s, %v", name, got.State, got.StopReason, s.record())
		}
		if parks := s.Rows.Rows.Parks; (len(parks) == 1) != (c.state == spool.WaitingForInput) {
			t.Errorf("%s: the parks are %v", name, parks)
		}
	}
}

// The answer to a question about the budget lets the run go on, or ends it.
func TestAfterBudgetAnswer(t *testing.T) {
	t.Parallel()
	question := toolresult.JSON(budget.Question{Exhausted: spool.StopTokenBudget})
	for name, c := range map[string]struct {
		park  spool.Park
		stop  bool
		state spool.State
	}{
		"approved":      {park: spool.Park{State: spool.ParkAnswered, Answer: &spool.Answer{Approved: true}}, state: spool.Running},
		"denied":        {park: spool.Park{State: spool.ParkAnswered, Answer: &spool.Answer{}}, state: spool.Completed},
		"expired":       {park: spool.Park{State: spool.ParkExpired}, state: spool.Completed},
		"denied, stop":  {park: spool.Park{State: spool.ParkAnswered, Answer: &spool.Answer{}}, stop: true, state: spool.Cancelled},
		"open":          {park: spool.Park{State: spool.ParkOpen}, state: spool.Running},
		"landed before": {park: spool.Park{State: spool.ParkExpired, Landed: true}, state: spool.Running},
		"of a call":     {park: spool.Park{State: spool.ParkExpired, Reason: spool.ParkApproval}, state: spool.Running},
	} {
		run := spool.RunRow{Run: spool.Run{Allowance: tokens(100)}}
		if c.stop {
			run.StopAt = stage.Noon
		}
		s := newScene(t, spool.Agent{}, run)
		c.park.RunID, c.park.ToolCallID, c.park.Args = "r", "b1", question
		resolved := c.park.State != spool.ParkOpen && c.park.Reason == ""
		if c.park.Reason == "" {
			c.park.Reason = spool.ParkBudget
		}
		s.Rows.Rows.Parks = []spool.Park{c.park}
		done, err := s.afterBudgetAnswer(t.Context(), nil)
		s.Check(err)
		if run := s.Saved(); run.State != c.state || done != c.state.Terminal() || c.state == spool.Completed && run.StopReason != spool.StopTokenBudget {
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
	cut := func() *spool.Allowance { a := tokens(1); a.Cut = true; return a }
	for name, c := range map[string]struct {
		last   spool.Message
		run    spool.RunRow
		final  bool             // whether an answer comes behind the last step
		reason spool.StopReason // "" if the run goes on
	}{
		"answered":               {last: answer, run: spool.RunRow{Run: spool.Run{Steps: 1}}, reason: spool.StopCompleted},
		"before its first step":  {last: answer},
		"has calls":              {last: calls, run: spool.RunRow{Run: spool.Run{Steps: 1}}},
		"results of calls":       {last: results, run: spool.RunRow{Run: spool.Run{Steps: 1}}},
		"answer to another run":  {last: older, run: spool.RunRow{Run: spool.Run{Steps: 1}}},
		"paused":                 {last: answer, run: spool.RunRow{Run: spool.Run{Steps: 1}, RunState: spool.RunState{Paused: true}}},
		"cut off by the budget":  {last: answer, run: spool.RunRow{Run: spool.Run{Steps: 1, Allowance: cut()}}},
		"had all steps":          {last: results, run: spool.RunRow{Run: spool.Run{Steps: 4}}, reason: spool.StopMaxSteps},
		"had those of its start": {last: results, run: spool.RunRow{Run: spool.Run{Steps: 2, MaxSteps: 2}}, reason: spool.StopMaxSteps},
		"start asks for more":    {last: results, run: spool.RunRow{Run: spool.Run{Steps: 4, MaxSteps: 9}}, reason: spool.StopMaxSteps},
		"answer behind them":     {last: results, run: spool.RunRow{Run: spool.Run{Steps: 4}}, final: true},
		"budget before answer":   {last: results, run: spool.RunRow{Run: spool.Run{Steps: 4, Allowance: tokens(100)}}, final: true, reason: spool.StopTokenBudget},
		"one step left":          {last: results, run: spool.RunRow{Run: spool.Run{Steps: 3, MaxSteps: 9}}},
		"steps before budget":    {last: results, run: spool.RunRow{Run: spool.Run{Steps: 4, Allowance: tokens(99)}}, reason: spool.StopMaxSteps},
		"budget before steps":    {last: results, run: spool.RunRow{Run: spool.Run{Steps: 4, Allowance: tokens(100)}}, reason: spool.StopTokenBudget},
		"answer before budget":   {last: answer, run: spool.RunRow{Run: spool.Run{Steps: 4, Allowance: tokens(100)}}, reason: spool.StopCompleted},
	} {
		s := newScene(t, spool.Agent{MaxSteps: 4, NoFinalAnswer: !c.final}, c.run)
		done, err := s.finishIfDone(t.Context(), history.New([]spool.Message{c.last}, 0, nil))
		s.Check(err)
		if run := s.Saved(); done != (c.reason != "") || run.StopReason != c.reason || done != (run.State == spool.Completed) || s.asker.final != (c.final && !done) {
			t.Errorf("%s: %s %q", name, run.State, run.StopReason)
		}
	}
}

// The last answer ends the run, with the reason that cut it short, if any.
func TestSaveLastStep(t *testing.T) {
	t.Parallel()
	text := func(reason spool.FinishReason) chat.Turn {
		return chat.Turn{Message: spool.Message{Role: spool.RoleAssistant, Content: spool.TextContent("half")}, Reason: reason}
	}
	capped, itself := text(spool.FinishLength), text(spool.FinishStop)
	capped.Capped, itself.Capped = spool.StopTokenBudget, spool.StopTokenBudget
	called := text(spool.FinishLength)
	called.Message.Content = append(called.Message.Content, stage.Asked("look")...)
	for name, c := range map[string]struct {
		turn   chat.Turn
		on     spool.BudgetAction
		schema *spool.OutputSchema
		run    spool.RunRow
		state  spool.State
		reason spool.StopReason
		texts  int // the messages
	}{
		"answer":           {turn: text(spool.FinishStop), state: spool.Completed, reason: spool.StopCompleted, texts: 1},
		"other reason":     {turn: text("other"), state: spool.Completed, reason: spool.StopUnknown, texts: 1},
		"too long":         {turn: text(spool.FinishLength), state: spool.Completed, reason: spool.StopLength, texts: 1},
		"too long a value": {turn: text(spool.FinishLength), schema: degrees, state: spool.Completed, reason: spool.StopLength, texts: 1},
		"calls do not run": {turn: called, state: spool.Completed, reason: spool.StopLength, texts: 2},
		"refused":          {turn: text(spool.FinishFilter), state: spool.Completed, reason: spool.StopFilter, texts: 1},
		"empty":            {turn: chat.Turn{Reason: spool.FinishStop}, state: spool.Completed, reason: spool.StopEmpty},
		"stopped":          {turn: text(spool.FinishStop), run: spool.RunRow{RunState: spool.RunState{StopAt: stage.Noon}}, state: spool.Cancelled, reason: spool.StopCancelled, texts: 1},
		"cut by budget":    {turn: capped, run: spool.RunRow{Run: spool.Run{Allowance: tokens(1)}}, state: spool.Completed, reason: spool.StopTokenBudget, texts: 1},
		"ends by itself":   {turn: itself, on: spool.BudgetPark, run: spool.RunRow{Run: spool.Run{Allowance: tokens(1)}}, state: spool.Completed, reason: spool.StopCompleted, texts: 1},
		"cut, and parks":   {turn: capped, on: spool.BudgetPark, run: spool.RunRow{Run: spool.Run{Allowance: tokens(1)}}, state: spool.WaitingForInput, texts: 1},
		"budget used up":   {turn: text(spool.FinishStop), on: spool.BudgetPark, run: spool.RunRow{Run: spool.Run{Allowance: tokens(100)}}, state: spool.Completed, reason: spool.StopTokenBudget, texts: 1},
	} {
		s := newScene(t, spool.Agent{OnBudget: c.on, Output: c.schema}, c.run)
		_, done, err := s.saveLastStep(t.Context(), c.turn)
		s.Check(err)
		run := s.Saved()
		if !done || run.State != c.state || run.StopReason != c.reason || run.Steps != 1 || len(s.Rows.Rows.Messages) != c.texts {
			t.Errorf("%s: %s %s, %d messages", name, run.State, run.StopReason, len(s.Rows.Rows.Messages))
		}
		if a := run.Allowance; a != nil && a.Cut != (c.state == spool.WaitingForInput) {
			t.Errorf("%s: the next worker takes the answer for whole: %t", name, !a.Cut)
		}
	}
}

// weighed is a store whose tenants store 100 bytes each.
type weighed struct{ maptx.Store }

func (w weighed) Stats(_ context.Context, q spool.StatsQuery) (spool.Stats, error) {
	if q.Tenant != "t" || !q.Tally {
		return spool.Stats{}, errors.New("the statistics are not those of the tenant")
	}
	return spool.Stats{Tally: spool.Tally{Bytes: 100}}, nil
}

// A tenant that stores as much as it may starts nothing, and its runs end before their next step.
func TestStorageLimit(t *testing.T) {
	t.Parallel()
	for limit, full := range map[int64]bool{0: false, 99: true, 100: true, 101: false} {
		s := newScene(t, spool.Agent{OnBudget: spool.BudgetPark}, spool.RunRow{})
		s.Host().Store, s.Host().Limits.TenantBytes = weighed{maptx.Store{Tx: s.Rows}}, limit
		if err := s.Host().CheckRoom(t.Context(), "t"); (spool.CodeOf(err) == spool.StorageFull) != full || !full && err != nil {
			t.Errorf("%d: %v", limit, err)
		}
		done, err := s.finishIfStorageFull(t.Context(), nil)
		s.Check(err)
		if run := s.Saved(); done != full || (run.StopReason == spool.StopStorageLimit) != full {
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
		s := newScene(t, spool.Agent{OnBudget: spool.BudgetPark}, spool.RunRow{Run: spool.Run{Allowance: &spool.Allowance{Budget: spool.Budget{WallTime: 1}}}})
		turn := chat.Turn{Message: spool.Message{Role: spool.RoleAssistant, Content: c.content}}
		s.Check(s.OutOfTime(t.Context(), &chat.CutOffError{Turn: turn, Err: context.Canceled}))
		run := s.Saved()
		if run.State != spool.WaitingForInput || len(s.Rows.Rows.Messages) != c.texts || run.Allowance.Cut != (c.texts > 0) {
			t.Errorf("%s: %s, %d messages, cut %t", name, run.State, len(s.Rows.Rows.Messages), run.Allowance.Cut)
		}
		if u := s.Rows.Rows.Usage; len(u) != 1 || u[0].Outcome != spool.OutcomeAborted {
			t.Errorf("%s: the ledger has %v", name, u)
		}
	}
}

// degrees is the schema of an answer.
var degrees = &spool.OutputSchema{Name: "degrees", Schema: json.RawMessage(`{"type":"object","required":["at"]}`)}

// An answer that does not fit its schema is asked for once more, and then ends the run.
func TestCheckOutput(t *testing.T) {
	t.Parallel()
	completed := spool.Ending{State: spool.Completed, Reason: spool.StopCompleted}
	with := func(reason spool.StopReason) spool.Ending {
		return spool.Ending{State: spool.Completed, Reason: reason}
	}
	before := &spool.RunOutput{Problem: "no", RejectedStep: 1}
	for name, c := range map[string]struct {
		text   string
		ending spool.Ending
		run    spool.RunRow
		want   spool.Ending // zero if the model is asked once more
		value  string
		repair string // what the record says
	}{
		"fits":               {text: ` {"at":1} `, ending: completed, want: completed, value: `{"at":1}`},
		"fits the second":    {text: `{"at":1}`, ending: completed, run: spool.RunRow{RunState: spool.RunState{Output: before}}, want: completed, value: `{"at":1}`},
		"earlier part fits":  {text: `{"at":1}`, ending: with(spool.StopEmpty), want: completed, value: `{"at":1}`},
		"does not fit":       {text: `{}`, ending: completed, repair: "true"},
		"empty":              {ending: with(spool.StopEmpty), repair: "true"},
		"does not fit again": {text: `{}`, ending: completed, run: spool.RunRow{RunState: spool.RunState{Output: before}}, want: spool.Ending{State: spool.Failed, Reason: spool.StopOutput}, repair: "false"},
		"no step left":       {text: `{}`, ending: completed, run: spool.RunRow{Run: spool.Run{Steps: 25}}, want: spool.Ending{State: spool.Failed, Reason: spool.StopOutput}, repair: "false"},
		"one step left":      {text: `{}`, ending: completed, run: spool.RunRow{Run: spool.Run{Steps: 24}}, repair: "true"},
		"budget is used up":  {text: `{}`, ending: with(spool.StopTokenBudget), want: with(spool.StopTokenBudget)},
		"behind the steps":   {text: `{"at":1}`, ending: with(spool.StopMaxSteps), run: spool.RunRow{Run: spool.Run{Steps: 25}}, want: with(spool.StopMaxSteps), value: `{"at":1}`},
		"does not fit there": {text: `{}`, ending: with(spool.StopMaxSteps), run: spool.RunRow{Run: spool.Run{Steps: 25}}, want: spool.Ending{State: spool.Failed, Reason: spool.StopOutput}, repair: "false"},
		"budget, but fits":   {text: `{"at":1}`, ending: with(spool.StopTokenBudget), want: with(spool.StopTokenBudget), value: `{"at":1}`},
	} {
		s := newScene(t, spool.Agent{Output: degrees}, c.run)
		tx := s.Tx()
		got, err := s.checkOutput(tx, c.ending, []spool.Message{{ID: "m1", Content: spool.TextContent(c.text)}})
		s.Check(err)
		if got.State != c.want.State || got.Reason != c.want.Reason || string(tx.Run.OutputValue()) != c.value {
			t.Errorf("%s: %+v, %s", name, got, tx.Run.OutputValue())
		}
		if got.State == spool.Failed && !strings.HasPrefix(got.Error, "the answer does not fit its schema: ") {
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
		if again := s.rejected(); again != (c.want.State == "") || again && (tx.Run.Output.Rejected != "m1" || tx.Run.Output.RejectedStep != tx.Run.Steps) {
			t.Errorf("%s: the model has to answer again: %t, %+v", name, again, tx.Run.Output)
		}
	}
	s := newScene(t, spool.Agent{}, spool.RunRow{})
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
		state spool.State
	}{
		"fits": {`{"at":1}`, false, spool.Completed}, "does not fit": {"{}", false, spool.Running}, "stopped": {"{}", true, spool.Cancelled},
	} {
		run := spool.RunRow{Run: spool.Run{Steps: 1}}
		if c.stop {
			run.StopAt = stage.Noon
		}
		s := newScene(t, spool.Agent{Output: degrees}, run)
		done, err := s.finishAnswered(t.Context(), spool.Message{ID: "m1", Content: spool.TextContent(c.text)})
		s.Check(err)
		if got := s.Saved(); got.State != c.state || done != (c.state != spool.Running) {
			t.Errorf("%s: %s, done %t", name, got.State, done)
		}
	}
}

// The prompt of a repair stands behind the answer that did not fit and the results of its calls.
func TestWithRepair(t *testing.T) {
	t.Parallel()
	message := func(id spool.MessageID, role spool.Role) spool.Message { return spool.Message{ID: id, Role: role} }
	messages := []spool.Message{
		message("m1", spool.RoleUser), message("m2", spool.RoleAssistant), message("m3", spool.RoleTool), message("m4", spool.RoleAssistant),
	}
	for name, c := range map[string]struct {
		output *spool.RunOutput
		want   []spool.MessageID
	}{
		"nothing was wrong":   {nil, []spool.MessageID{"m1", "m2", "m3", "m4"}},
		"last answer":         {&spool.RunOutput{Problem: "no", Rejected: "m4"}, []spool.MessageID{"m1", "m2", "m3", "m4", ""}},
		"with results":        {&spool.RunOutput{Problem: "no", Rejected: "m2"}, []spool.MessageID{"m1", "m2", "m3", "", "m4"}},
		"answer was empty":    {&spool.RunOutput{Problem: "no"}, []spool.MessageID{"m1", "m2", "m3", "m4", ""}},
		"answer is not there": {&spool.RunOutput{Problem: "no", Rejected: "m0"}, []spool.MessageID{"m1", "m2", "m3", "m4", ""}},
	} {
		s := newScene(t, spool.Agent{Output: degrees}, spool.RunRow{RunState: spool.RunState{Output: c.output}})
		got, weight := s.asker.withRepair(messages)
		var ids []spool.MessageID
		for _, m := range got {
			ids = append(ids, m.ID)
		}
		if diff := cmp.Diff(c.want, ids); diff != "" || (weight.Bytes > 0) != (len(got) > 4) || len(messages) != 4 || messages[3].ID != "m4" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
