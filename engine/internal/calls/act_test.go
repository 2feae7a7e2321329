package calls

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/active"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/internal/testing/stage"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// planned returns the plan of one call, after changes.
func (s *scene) planned(name string, changes ...func(p *Call)) *Call {
	tool, _ := s.Agent().Tool(name)
	p := &Call{call: s.toolCall("c1", name, json.RawMessage("{}"), 1), tool: tool, state: callBegun}
	for _, change := range changes {
		change(p)
	}
	return p
}

// An error of a tool is a result for the model, a question, a wait, or a call whose outcome is unknown.
func TestFailedCall(t *testing.T) {
	t.Parallel()
	yes := &spool.Answer{Approved: true}
	answered := func(park store.Park) func(p *Call) {
		park.State, park.Answer = cmp.Or(park.State, wire.ParkAnswered), yes
		return func(p *Call) { p.answered, p.call.Answer = &park, yes }
	}
	overdue := func(p *Call) { p.overdue = true }
	unknown, again := &spool.OutcomeUnknownError{Err: stage.ErrDial}, &spool.ParkRequest{Resume: json.RawMessage("1")}
	for name, c := range map[string]struct {
		tool   string
		change func(p *Call)
		err    error
		want   string
	}{
		"error": {err: errors.New("no such city"), want: `"error: no such city"`},
		"coded error": {
			err: spool.Wrap(spool.Invalid, "no such city", stage.ErrDial), want: `"error: no such city"`,
		},
		"error after an approval": {
			change: answered(store.Park{}), err: errors.New("no such city"), want: `{"error":"no such city"}`,
		},
		"question":                {err: &spool.ParkRequest{}, want: "park input"},
		"question with a reason":  {err: &spool.ParkRequest{Reason: "job"}, want: "park job"},
		"claims to be the client": {err: &spool.ParkRequest{Reason: wire.ParkClientTool}, want: "park input"},
		"question cannot be stored": {
			err: &spool.ParkRequest{Resume: json.RawMessage("{")}, want: `"error: the state of the question is not JSON"`,
		},
		"question is too large": {
			err:  &spool.ParkRequest{Schema: make(json.RawMessage, maxParkState+1)},
			want: `"error: the schema of the question has more than 2097152 bytes"`,
		},
		"schema cannot be stored": {
			err: &spool.ParkRequest{Schema: json.RawMessage("{")}, want: `"error: the schema of the question is not JSON"`,
		},
		"schema is empty": {
			err: &spool.ParkRequest{Schema: json.RawMessage("")}, want: `"error: the schema of the question is not JSON"`,
		},
		"state is too large": {
			err:  &spool.ParkRequest{Resume: make(json.RawMessage, maxParkState+1)},
			want: `"error: the state of the question has more than 2097152 bytes"`,
		},
		"second question": {
			change: answered(store.Park{}), err: &spool.ParkRequest{},
			want: `{"error":"the tool parked again after it was answered"}`,
		},
		"second, with a state": {change: answered(store.Park{}), err: again, want: "park input"},
		"twentieth, with a state": {
			change: answered(store.Park{Occurrence: maxQuestions - 1}), err: again, want: "park input",
		},
		"one too many": {
			change: answered(store.Park{Occurrence: maxQuestions}), err: again,
			want: `{"error":"the tool parked again after it was answered"}`,
		},
		"after the outcome was asked": {
			change: answered(store.Park{Reason: wire.ParkOutcomeUnknown}), err: &spool.ParkRequest{}, want: "park input",
		},
		"asked before the outcome": {
			change: answered(store.Park{Reason: wire.ParkOutcomeUnknown, Before: yes}), err: &spool.ParkRequest{},
			want: `{"error":"the tool parked again after it was answered"}`,
		},
		"pending": {err: spool.Pending(1, nil), want: "pending"},
		"pending cannot be stored": {
			err: spool.Pending(1, json.RawMessage("{")), want: `"error: the state of the pending call is not JSON"`,
		},
		"pending is too large": {
			err:  spool.Pending(1, make(json.RawMessage, maxParkState+1)),
			want: `"error: the state of the pending call has more than 2097152 bytes"`,
		},
		"overdue": {
			change: overdue, err: spool.Pending(1, nil),
			want: `"error: the work of the call was not done within 24h0m0s, and was given up"`,
		},
		"overdue, and asks": {change: overdue, err: &spool.ParkRequest{}, want: "park input"},
		"outcome unknown":   {err: unknown, want: "park outcome_unknown"},
		"unknown, but safe": {tool: "safe", err: unknown, want: `"error: outcome unknown: dial: refused"`},
		"internal":          {err: spool.Wrap(spool.Internal, panicked, stage.ErrDial), want: `"error: the tool panicked"`},
	} {
		s := desk(t, store.RunRow{})
		p := s.planned(cmp.Or(c.tool, "look"))
		if c.change != nil {
			c.change(p)
		}
		s.failedCall(t.Context(), p, c.err)
		if got := p.says(); got != c.want || (p.state == callOverdue) != strings.Contains(got, "was given up") {
			t.Errorf("%s: %s, want %s (%s)", name, got, c.want, p.state)
		}
	}
}

// The outcome of a call is in the ledger before it is announced. The last one is saved with its step.
func TestAccept(t *testing.T) {
	t.Parallel()
	value := json.RawMessage("7")
	for name, c := range map[string]struct {
		o         Outcome
		spawns    bool
		last      bool
		want      string
		effect    wire.EffectState // "" for none
		parks     int
		announced bool
	}{
		"result":      {o: Outcome{Result: value}, want: "saved 7", effect: wire.EffectDone, announced: true},
		"last result": {o: Outcome{Result: value}, last: true, want: "7"},
		"error": {
			o: Outcome{Err: stage.ErrDown}, want: `saved "error: model: down (status 503)"`, effect: wire.EffectDone,
			announced: true,
		},
		"question":        {o: Outcome{Err: &spool.ParkRequest{}}, want: "park input", effect: wire.EffectVoid},
		"last question":   {o: Outcome{Err: &spool.ParkRequest{}}, last: true, want: "park input"},
		"unknown":         {o: Outcome{Err: &spool.OutcomeUnknownError{Err: stage.ErrDial}}, want: "park outcome_unknown"},
		"pending":         {o: Outcome{Err: spool.Pending(1, nil)}, want: "pending", effect: wire.EffectVoid, parks: 1},
		"nested result":   {o: Outcome{Result: value}, spawns: true, want: "7", announced: true},
		"nested waits":    {o: Outcome{Waits: true}, spawns: true, want: "wait"},
		"nested, stopped": {o: Outcome{Stopped: true}, spawns: true, want: "run"},
	} {
		s := desk(t, store.RunRow{})
		p := s.planned("look", func(p *Call) { p.spawns = c.spawns })
		s.plan, s.resultRoom, c.o.call = []*Call{p}, 100, p
		s.Check(s.accept(t.Context(), c.o, c.last))
		s.announceInOrder(t.Context())
		var effect wire.EffectState
		for _, e := range s.Rows.Rows.Effects {
			effect = e.State
		}
		if got := p.says(); got != c.want || effect != c.effect || len(s.Rows.Rows.Parks) != c.parks ||
			(p.announced > 0) != c.announced {
			t.Errorf("%s: %s, the ledger has %q, %d parks, announced %d", name, got, effect, len(s.Rows.Rows.Parks), p.announced)
		}
	}
	s := desk(t, store.RunRow{})
	if err := s.accept(
		t.Context(), Outcome{call: s.planned("look"), Err: active.FromStore(stage.ErrDial)}, false,
	); !active.IsStoreError(err) {
		t.Errorf("an error of the store: %v", err)
	}
}

// The tool's text is kept as it is if a store takes it.
func TestRunTool(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		result string
		err    error
		want   string
	}{
		"json": {result: `{"a": 1}`, want: `{"a": 1}`}, "nothing": {want: "null"}, "no json": {result: "{", want: `"{"`},
		"error": {result: "{", err: stage.ErrDial, want: "{"},
	} {
		p := &Call{
			tool: stage.Tool("look", func(tool *spool.Tool) { tool.Call = stage.Returns(json.RawMessage(c.result), c.err) }),
		}
		if c.result == "" {
			p.tool.Call = stage.Returns(nil, nil)
		}
		if got, err := run(t.Context(), p); string(got) != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
	p := &Call{tool: stage.Tool("look", func(tool *spool.Tool) { tool.Call = nil })}
	if _, err := run(t.Context(), p); spool.CodeOf(err) != spool.Internal || toolMessage(err) != panicked {
		t.Errorf("a tool that panics: %v", err)
	}
	d := desk(t, store.RunRow{})
	d.Lease.Err = active.ErrLost
	p = d.planned("look", func(p *Call) { p.tool.Call = nil })
	if _, err := run(t.Context(), p); !errors.Is(err, active.ErrLost) || p.call.Fence != 1 {
		t.Errorf("a worker that has lost the run calls a tool with the fence %d: %v", p.call.Fence, err)
	}
}

// A result that does not fit into the step is replaced by its length.
func TestFitResult(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		size   int
		change func(p *Call)
		whole  bool
		left   int
	}{
		"fits exactly":           {size: 10, whole: true},
		"fits":                   {size: 4, whole: true, left: 6},
		"too long":               {size: 11, left: 10},
		"too long, after a park": {size: 11, change: func(p *Call) { p.answered = &store.Park{} }, left: 10},
		"of a nested run":        {size: 11, change: func(p *Call) { p.spawns = true }, whole: true, left: -1},
		"none":                   {whole: true, left: 10},
	} {
		s := desk(t, store.RunRow{})
		s.resultRoom = 10
		p := s.planned("look")
		if c.change != nil {
			c.change(p)
		}
		p.result = json.RawMessage(strings.Repeat("1", c.size))
		s.fitResult(p)
		told := strings.Contains(string(p.result), "of 11 bytes is longer than the 10 bytes")
		if told == c.whole || s.resultRoom != c.left {
			t.Errorf("%s: %s, and %d bytes are left", name, p.result, s.resultRoom)
		}
	}
	part := spool.Part{Text: "12345", Args: json.RawMessage("{}"), Provider: json.RawMessage("{}")}
	s := desk(t, store.RunRow{
		RunState: store.RunState{Draft: &store.Draft{Message: spool.Message{Content: spool.Content{part}}}},
	})
	s.plan = []*Call{{result: json.RawMessage("123")}, {}}
	if room := s.stepRoom(); room != 1000-9-3 {
		t.Errorf("a step of 1000 bytes has %d bytes left", room)
	}
}

// A step is saved with the results of its calls, and the run goes on, parks or ends.
func TestSaveCalls(t *testing.T) {
	t.Parallel()
	draft := &store.Draft{
		Message: spool.Message{
			Role: spool.RoleAssistant, Content: append(spool.TextContent("wait"), stage.Asked("look", "send")...),
		},
	}
	done := func(p *Call) { p.Finish(json.RawMessage("1")) }
	waits := func(p *Call) { p.Wait() }
	parks := func(p *Call) {
		p.state = callNew
		p.ask(&store.Park{RunID: "r", ToolCallID: p.call.ID, Reason: wire.ParkApproval, State: wire.ParkOpen})
	}
	for name, c := range map[string]struct {
		run    store.RunRow
		second func(p *Call)
		open   int
		late   bool
		off    bool // no answer comes behind the last step
		state  wire.State
		reason wire.StopReason
		result string // of the second call
	}{
		"go on":     {second: done, state: wire.Running, result: "1"},
		"last step": {run: store.RunRow{Run: wire.Run{MaxSteps: 1}}, second: done, state: wire.Running, result: "1"},
		"last step, late": {
			run: store.RunRow{Run: wire.Run{MaxSteps: 1}}, second: done, late: true, state: wire.Completed,
			reason: wire.StopMaxSteps, result: "1",
		},
		"no answer behind": {
			run: store.RunRow{Run: wire.Run{MaxSteps: 1}}, off: true, second: done, state: wire.Completed,
			reason: wire.StopMaxSteps, result: "1",
		},
		"park":              {second: parks, state: wire.WaitingForInput},
		"park in last step": {run: store.RunRow{Run: wire.Run{MaxSteps: 1}}, second: parks, state: wire.WaitingForInput},
		"nested run waits":  {second: waits, state: wire.WaitingForInput},
		"earlier park open": {second: done, open: 1, state: wire.WaitingForInput, result: "1"},
		"stopped": {
			run: store.RunRow{RunState: store.RunState{StopAt: stage.Noon}}, second: parks, state: wire.Cancelled,
			reason: wire.StopCancelled, result: `{"cancelled":true,"reason":"stopped"}`,
		},
		"late": {
			second: func(*Call) {}, late: true, state: wire.Running,
			result: `{"cancelled":true,"reason":"time_budget","outcome":"unknown"}`,
		},
		"late, nested waits": {second: waits, late: true, state: wire.WaitingForInput},
		"budget used up": {
			run: store.RunRow{
				Run: wire.Run{MaxSteps: 1, Allowance: &wire.Allowance{Budget: spool.Budget{ToolCalls: 1}, Refused: 1}},
			},
			second: done, state: wire.Running, result: "1",
		},
	} {
		c.run.Draft = draft
		s := desk(t, c.run)
		s.open, s.Agent().NoFinalAnswer = c.open, c.off
		first, second := s.planned("look", done), s.planned("send", func(p *Call) { p.call.ID = "c2" }, c.second)
		s.plan = []*Call{first, second}
		saved, finished, err := s.Save(t.Context(), c.late)
		s.Check(err)
		run := s.Saved()
		if run.State != c.state || run.StopReason != c.reason || finished != (c.state != wire.Running) || run.Steps != 1 ||
			run.Draft != nil || s.plan != nil {
			t.Errorf("%s: %s %s after %d steps, ended %t", name, run.State, run.StopReason, run.Steps, finished)
		}
		results := saved[1].Content
		if got := string(results[len(results)-1].Result); len(results) != 1 && got != c.result ||
			len(results) == 1 && c.result != "" {
			t.Errorf("%s: the results are %v", name, results)
		}
		if s.Answer() != "wait" {
			t.Errorf("%s: the answer so far is %q", name, s.Answer())
		}
	}
}

// The ledger and the park of a call say whether its tool has given the result.
func TestNoteResult(t *testing.T) {
	t.Parallel()
	pending := store.Park{RunID: "r", ToolCallID: "c1", State: wire.ParkPending, Pending: &wire.PendingCall{}}
	answered := store.Park{RunID: "r", ToolCallID: "c1", State: wire.ParkAnswered}
	began := answered
	began.Pending = &wire.PendingCall{}
	for name, c := range map[string]struct {
		change func(p *Call)
		effect wire.EffectState
		park   wire.ParkState
		cancel bool
	}{
		"ran":            {change: func(*Call) {}, effect: wire.EffectDone},
		"saved before":   {change: func(p *Call) { p.save(p.result) }},
		"was not called": {change: func(p *Call) { p.decide(p.result) }},
		"nested run":     {change: func(p *Call) { p.spawns = true; p.decide(p.result) }, effect: wire.EffectDone},
		"answered": {
			change: func(p *Call) { p.answered = &answered }, effect: wire.EffectDone, park: wire.ParkAnswered,
		},
		"denied": {
			change: func(p *Call) { p.answered = &answered; p.decide(p.result) }, park: wire.ParkAnswered,
		},
		"work is done": {
			change: func(p *Call) { p.answered = &pending }, effect: wire.EffectDone, park: wire.ParkDone,
		},
		"work is given up": {
			change: func(p *Call) { p.answered = &pending; p.overrun(p.result) }, effect: wire.EffectDone, park: wire.ParkClosed,
			cancel: true,
		},
		"work, tool is gone": {
			change: func(p *Call) { p.answered = &pending; p.decide(p.result) }, park: wire.ParkClosed, cancel: true,
		},
		"work, result was saved": {change: func(p *Call) { p.answered = &pending; p.save(p.result) }, park: wire.ParkDone},
		"work, denied": {
			change: func(p *Call) { p.answered = &began; p.decide(p.result) }, park: wire.ParkAnswered, cancel: true,
		},
		"pending, then cancelled": {
			change: func(p *Call) { p.ask(&pending); p.cancel("stopped") }, park: wire.ParkClosed, cancel: true,
		},
	} {
		s := desk(t, store.RunRow{})
		p := s.planned("look", func(p *Call) { p.Finish(json.RawMessage("1")) }, c.change)
		var changes store.Changes
		noteResult(s.Tx(), &changes, p)
		var effect wire.EffectState
		for _, e := range changes.Effects {
			effect = e.State
		}
		var park wire.ParkState
		for _, p := range changes.Parks {
			if park = p.State; !p.Landed || p.CreatedAt.IsZero() {
				t.Errorf("%s: the park is %+v", name, p)
			}
		}
		cancels := len(changes.Jobs) == 1 && changes.Jobs[0].Key == thread.CancelKey(pending)
		if effect != c.effect || park != c.park || cancels != c.cancel {
			t.Errorf("%s: the ledger has %q, the park is %q, the work is cancelled: %t", name, effect, park, cancels)
		}
	}
}

// Calls beyond the budget are refused. A call that has its result at once is not counted.
func TestAllowCalls(t *testing.T) {
	t.Parallel()
	s := desk(t, store.RunRow{
		Run: wire.Run{Allowance: &wire.Allowance{Budget: spool.Budget{ToolCalls: 3}, Spent: wire.Spent{ToolCalls: 1}}},
	})
	plan := s.planCalls(t.Context(), stage.Asked("look", "find", "send", "look", "look"), 1, nil, nil)
	tx := s.Tx()
	refused := allowCalls(tx, plan)
	if len(refused) != 2 || refused[0] != plan[3] || refused[1] != plan[4] || tx.Run.Allowance.Refused != 2 {
		t.Errorf("%d calls are refused: %+v", len(refused), tx.Run.Allowance)
	}
}

// Results are announced in the order of the calls. A call that is still running, or whose result is saved with the
// step, holds up those behind it, and one that waits for an answer does not.
func TestAnnounceInOrder(t *testing.T) {
	t.Parallel()
	s := desk(t, store.RunRow{})
	value := json.RawMessage("7")
	running := s.planned("look")
	parked := s.planned("look", func(p *Call) { p.ask(&store.Park{}) })
	saved := func() *Call {
		return s.planned("look", func(p *Call) { p.save(value) })
	}
	refused := s.planned("look", func(p *Call) { p.Finish(value) })
	s.plan = []*Call{parked, saved(), running, saved(), refused, saved()}
	places := func() (all []int) {
		s.announceInOrder(t.Context())
		for _, p := range s.plan {
			all = append(all, p.announced)
		}
		return all
	}
	if got := places(); !slices.Equal(got, []int{0, 1, 0, 0, 0, 0}) {
		t.Errorf("while a call runs, the places are %v", got)
	}
	running.save(value)
	if got := places(); !slices.Equal(got, []int{0, 1, 2, 3, 0, 0}) {
		t.Errorf("then the places are %v", got)
	}
	parked.cancel("stopped")
	if order := asAnnounced(s.plan); order[0] != s.plan[1] || order[3] != parked || order[5] != s.plan[5] {
		t.Error("the results are not saved in the order in which they are announced")
	}
}

// Of several nested runs that try again, the one that has failed most often decides about the wait.
func TestLaterAttempt(t *testing.T) {
	t.Parallel()
	first, second := &AttemptError{Attempts: 1}, &AttemptError{Attempts: 2}
	if first.later(nil) != first || first.later(second) != second || second.later(first) != second {
		t.Error("the longer wait is lost")
	}
}
