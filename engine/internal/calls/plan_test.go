package calls

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/testing/stage"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Each call of a new step runs, parks, or has its result at once.
func TestPlanNewCalls(t *testing.T) {
	t.Parallel()
	brief := json.RawMessage(`{"name":"x","instructions":"go"}`)
	for name, c := range map[string]struct {
		run  store.RunRow
		call spool.Part
		want string
	}{
		"plain":             {call: spool.Part{ToolName: "look"}, want: "run"},
		"idempotent":        {call: spool.Part{ToolName: "safe"}, want: "run"},
		"unknown tool":      {call: spool.Part{ToolName: "find"}, want: `"error: unknown tool find"`},
		"approval":          {call: spool.Part{ToolName: "send"}, want: "park approval"},
		"approval not need": {call: spool.Part{ToolName: "free"}, want: "run"},
		"approval fails":    {call: spool.Part{ToolName: "torn"}, want: `"error: no policy"`},
		"check before ask":  {call: spool.Part{ToolName: "strict"}, want: `"error: city is missing"`},
		"check panics":      {call: spool.Part{ToolName: "broken"}, want: `"error: the tool panicked"`},
		"no object": {
			call: spool.Part{ToolName: "send", Args: json.RawMessage(`"{"`)},
			want: `"error: the arguments are not a JSON object"`,
		},
		"no JSON": {
			call: spool.Part{ToolName: "send", Args: json.RawMessage(`"{\"to\":"`)},
			want: `"error: the arguments are not a JSON object"`,
		},
		"an array": {
			call: spool.Part{ToolName: "send", Args: json.RawMessage(`[1]`)},
			want: `"error: the arguments are not a JSON object"`,
		},
		"of the client": {
			run:  store.RunRow{RunState: store.RunState{Client: &wire.ClientInput{}}},
			call: spool.Part{ToolName: "look"},
			want: "park client_tool",
		},
		"spawn": {call: spool.Part{ToolName: spool.SpawnTool, Args: brief}, want: "run"},
		"spawn without name": {
			call: spool.Part{ToolName: spool.SpawnTool}, want: `"error: name is required: any name will do"`,
		},
		"spawn too deep": {
			run:  store.RunRow{Run: wire.Run{Depth: 1}},
			call: spool.Part{ToolName: spool.SpawnTool, Args: brief},
			want: `"error: runs may not be nested deeper than 1"`,
		},
	} {
		s := desk(t, c.run)
		if c.call.Args == nil {
			c.call.Args = json.RawMessage("{}")
		}
		c.call.ToolCallID = "c1"
		plan := s.planCalls(t.Context(), []spool.Part{c.call}, 3, nil, nil)
		if got := plan[0].says(); len(plan) != 1 || got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		if p := plan[0]; p.call.ID != "c1" || p.call.Step != 3 || p.call.Key != s.Row().CallKey(3, "c1") ||
			p.spawns != (c.call.ToolName == spool.SpawnTool) {
			t.Errorf("%s: the call is %+v", name, p)
		}
		if pending := pendingEffects(plan); (len(pending) > 0) != (c.want == "run" && !plan[0].spawns) {
			t.Errorf("%s: the ledger gets %v", name, pending)
		}
	}
}

// The calls of a step whose worker died go on from the ledger of effects.
func TestPlanRepeatedCalls(t *testing.T) {
	t.Parallel()
	s := desk(t, store.RunRow{})
	names := []string{"look", "look", "look", "safe", "send", "send", "look", "find"}
	plan := s.planCalls(t.Context(), stage.Asked(names...), 1, []store.Effect{
		{ToolCallID: "c2", State: wire.EffectDone, Result: json.RawMessage("2")},
		{ToolCallID: "c3", State: wire.EffectPending},
		{ToolCallID: "c4", State: wire.EffectPending},
		{ToolCallID: "c6", State: wire.EffectVoid},
		{ToolCallID: "c7", State: wire.EffectVoid},
		{ToolCallID: "c8", State: wire.EffectDone, Result: json.RawMessage("8")}, // this process lacks the tool
	}, map[spool.ToolCallID]store.Park{"c7": {ToolCallID: "c7", State: wire.ParkPending}})
	want := []string{
		"run", "saved 2", "park outcome_unknown", "repeat", "park approval", "park approval", "pending", "saved 8",
	}
	var got []string
	for _, p := range plan {
		got = append(got, p.says())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if pending := pendingEffects(plan); len(pending) != 1 || pending[0].ToolCallID != "c1" {
		t.Errorf("the ledger gets %v", pending)
	}
}

// A worker that gives its calls up voids those that were about to run, and no others.
func TestVoidUnmade(t *testing.T) {
	t.Parallel()
	s := newScene(t, spool.Agent{}, store.RunRow{})
	plan := s.planCalls(t.Context(), stage.Asked("a", "b", "c", "d", "e"), 1, nil, nil)
	for i, p := range plan {
		p.result, p.spawns, p.state = nil, i == 2, callNew
	}
	plan[3].decide(json.RawMessage("1"))
	plan[1].begin()
	plan[4].ask(&store.Park{})
	s.plan = plan
	s.Check(s.VoidUnmade(s.Tx()))
	if got := s.Rows.Rows.Effects; len(got) != 1 || got[0].ToolCallID != "c1" || got[0].State != wire.EffectVoid {
		t.Errorf("the ledger gets %v", got)
	}
}

// A step hands the thread over once, and a turn a limited number of times.
func TestPlanTransfers(t *testing.T) {
	t.Parallel()
	twice := `"error: another call of this step has handed the conversation over"`
	for name, c := range map[string]struct {
		handovers int
		effects   []store.Effect
		want      [2]string
	}{
		"first": {want: [2]string{"run", twice}},
		"first was done": {
			effects: []store.Effect{
				{ToolCallID: "c1", State: wire.EffectDone, Result: json.RawMessage(`{"transferredTo":"b"}`)},
			},
			want: [2]string{`saved {"transferredTo":"b"}`, twice},
		},
		"first failed": {
			effects: []store.Effect{{ToolCallID: "c1", State: wire.EffectDone, Result: json.RawMessage(`{"error":"no"}`)}},
			want:    [2]string{`saved {"error":"no"}`, "run"},
		},
		"too many": {handovers: maxHandovers, want: [2]string{
			`"error: the conversation was handed over 8 times in this turn: answer the user yourself"`,
			`"error: the conversation was handed over 8 times in this turn: answer the user yourself"`,
		}},
		"one left": {handovers: maxHandovers - 1, want: [2]string{"run", twice}},
	} {
		s := desk(t, store.RunRow{RunState: store.RunState{Handovers: make([]store.Handover, c.handovers)}})
		s.SetAgent(s.Agent().WithTool(stage.Tool(spool.TransferTool)))
		plan := s.planCalls(t.Context(), stage.Asked(spool.TransferTool, spool.TransferTool), 1, c.effects, nil)
		if got := [2]string{plan[0].says(), plan[1].says()}; got != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// An answered or expired call runs, gets a result that the tool has not given, or asks again.
func TestPlanAnswered(t *testing.T) {
	t.Parallel()
	yes, no := &spool.Answer{Approved: true}, &spool.Answer{Reason: "why"}
	value := &spool.Answer{Approved: true, Payload: json.RawMessage("7")}
	edited := &spool.Answer{Approved: true, Args: json.RawMessage(`{"a":1}`)}
	resume := json.RawMessage(`"state"`)
	pending, done := wire.EffectPending, wire.EffectDone
	for name, c := range map[string]struct {
		park   store.Park
		effect wire.EffectState
		want   string
	}{
		"approved": {park: store.Park{ToolName: "look", Answer: yes}, want: "run"},
		"denied": {
			park: store.Park{ToolName: "look", Answer: no}, want: `{"denied":true,"reason":"why"}`,
		},
		"expired": {
			park: store.Park{ToolName: "look"}, want: `{"responded":false,"cancelled":true,"reason":"timeout"}`,
		},
		"denied, tool goes on":  {park: store.Park{ToolName: "look", Answer: no, Resume: resume}, want: "run"},
		"expired, tool goes on": {park: store.Park{ToolName: "look", Resume: resume}, want: "run"},
		"expired, tool is gone": {
			park: store.Park{ToolName: "find", Resume: resume}, want: `{"responded":false,"cancelled":true,"reason":"timeout"}`,
		},
		"approved, tool is gone": {
			park: store.Park{ToolName: "find", Answer: yes}, want: `{"error":"Unknown tool: find"}`,
		},
		"has its result": {park: store.Park{ToolName: "look", Answer: no}, effect: done, want: "saved 5"},
		"died after the answer": {
			park: store.Park{ToolName: "look", Answer: yes}, effect: pending, want: "park outcome_unknown",
		},
		"died, and is safe": {park: store.Park{ToolName: "safe", Answer: yes}, effect: pending, want: "repeat"},
		"died with the denial": {
			park: store.Park{ToolName: "look", Answer: no, Resume: resume}, effect: pending, want: "park outcome_unknown",
		},
		"died, pending is safe": {
			park: store.Park{ToolName: "work", Answer: yes, Pending: &wire.PendingCall{State: resume}}, effect: pending,
			want: "repeat",
		},
		"died, only pending is safe": {
			park: store.Park{ToolName: "work", Answer: yes}, effect: pending, want: "park outcome_unknown",
		},
		"unknown, again": {
			park: store.Park{ToolName: "look", Reason: wire.ParkOutcomeUnknown, Answer: yes}, want: "run",
		},
		"unknown, reported": {
			park: store.Park{
				ToolName: "look", Reason: wire.ParkOutcomeUnknown, Answer: &spool.Answer{Payload: json.RawMessage("7")},
			},
			want: "7",
		},
		"unknown, not again": {
			park: store.Park{ToolName: "look", Reason: wire.ParkOutcomeUnknown, Answer: no},
			want: `{"cancelled":true,"reason":"the outcome of this call is not known, and it is not to be repeated: why","outcome":"unknown"}`,
		},
		"unknown, denied with a state": {
			park: store.Park{ToolName: "look", Reason: wire.ParkOutcomeUnknown, Answer: no, Resume: resume},
			want: `{"cancelled":true,"reason":"the outcome of this call is not known, and it is not to be repeated: why","outcome":"unknown"}`,
		},
		"of the client": {
			park: store.Park{ToolName: "look", Reason: wire.ParkClientTool, Answer: value}, want: "7",
		},
		"of a client, now unknown": {
			park: store.Park{ToolName: "find", Reason: wire.ParkClientTool, Answer: value}, want: "7",
		},
		"another question": {
			park: store.Park{ToolName: "look", Digest: "d", Answer: &spool.Answer{Approved: true, Digest: "e"}},
			want: `{"error":"this call is not the one that was approved"}`,
		},
		"edited": {park: store.Park{ToolName: "look", Answer: edited}, want: "run"},
		"edited, and wrong": {
			park: store.Park{ToolName: "strict", Answer: edited}, want: `{"error":"city is missing"}`,
		},
		"not edited: checked before": {park: store.Park{ToolName: "strict", Answer: yes}, want: "run"},
		"no object": {
			park: store.Park{ToolName: "look", Args: json.RawMessage(`"x"`), Answer: yes},
			want: `{"error":"the arguments are not a JSON object"}`,
		},
	} {
		s := desk(t, store.RunRow{})
		c.park.ToolCallID, c.park.State = "c1", wire.ParkExpired
		if c.park.Answer != nil {
			c.park.State = wire.ParkAnswered
		}
		if c.park.Args == nil {
			c.park.Args = json.RawMessage("{}")
		}
		p := s.planAnswered(c.park, store.Effect{ToolCallID: "c1", State: c.effect, Result: json.RawMessage("5")})
		if got := p.says(); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// An approval counts for the arguments that were shown, or that came with it.
func TestPlanAnsweredDigest(t *testing.T) {
	t.Parallel()
	s := desk(t, store.RunRow{})
	park := store.Park{
		RunID: "r", ToolCallID: "c1", ToolName: "look", Args: json.RawMessage(`{"to":"a"}`), State: wire.ParkAnswered,
	}
	park.Digest = park.DigestOf(nil)
	other := json.RawMessage(`{"to":"b"}`)
	for name, c := range map[string]struct {
		answer spool.Answer
		args   string // with which the call runs; "" if it does not
	}{
		"as shown":             {spool.Answer{Approved: true, Digest: park.Digest}, `{"to":"a"}`},
		"edited":               {spool.Answer{Approved: true, Args: other, Digest: park.DigestOf(other)}, `{"to":"b"}`},
		"edited afterwards":    {spool.Answer{Approved: true, Args: other, Digest: park.Digest}, ""},
		"without what is seen": {spool.Answer{Approved: true}, ""},
	} {
		asked := park
		asked.Answer = &c.answer
		p := s.planAnswered(asked, store.Effect{})
		if p.runs() != (c.args != "") || p.runs() && string(p.call.Args) != c.args {
			t.Errorf("%s: %s with %s", name, p.says(), p.call.Args)
		}
	}
}

// The tool of an answered call gets what belongs to the question, and to the call before it.
func TestPlanAnsweredCall(t *testing.T) {
	t.Parallel()
	s := desk(t, store.RunRow{})
	answer, before := &spool.Answer{Approved: true, Payload: json.RawMessage("2")},
		&spool.Answer{Approved: true, Payload: json.RawMessage("1")}
	park := store.Park{
		ToolName: "look", State: wire.ParkAnswered, Args: json.RawMessage("{}"), Answer: answer, Before: before,
		Resume: json.RawMessage(`"s"`), Pending: &wire.PendingCall{State: json.RawMessage(`"p"`)},
	}
	p := s.planAnswered(park, store.Effect{})
	if p.call.Answer != answer || string(p.call.Resume) != `"s"` || string(p.call.Pending) != `"p"` {
		t.Errorf("a question of the tool: %+v", p.call)
	}
	park.Reason = wire.ParkOutcomeUnknown
	if p := s.planAnswered(park, store.Effect{}); p.call.Answer != before {
		t.Errorf("the engine's question about the outcome: %+v", p.call.Answer)
	}
}

// A run goes on with the calls whose parks are resolved, and counts the others.
func TestResolved(t *testing.T) {
	t.Parallel()
	ready := &wire.PendingCall{Ready: true}
	for name, c := range map[string]struct {
		park     store.Park
		resolved bool
		open     int
	}{
		"open":                 {park: store.Park{State: wire.ParkOpen}, open: 1},
		"answered":             {park: store.Park{State: wire.ParkAnswered}, resolved: true},
		"expired":              {park: store.Park{State: wire.ParkExpired}, resolved: true},
		"closed":               {park: store.Park{State: wire.ParkClosed}},
		"done":                 {park: store.Park{State: wire.ParkDone}},
		"landed":               {park: store.Park{State: wire.ParkAnswered, Landed: true}},
		"pending":              {park: store.Park{State: wire.ParkPending, Pending: &wire.PendingCall{}}, open: 1},
		"ready":                {park: store.Park{State: wire.ParkPending, Pending: ready}, resolved: true},
		"pending, saved step":  {park: store.Park{State: wire.ParkPending, Pending: &wire.PendingCall{}, Step: 2}, open: 1},
		"pending in the draft": {park: store.Park{State: wire.ParkPending, Pending: &wire.PendingCall{}, Step: 3}},
		"answered, later step": {park: store.Park{State: wire.ParkAnswered, Step: 3}, resolved: true},
		"budget":               {park: store.Park{State: wire.ParkAnswered, Reason: wire.ParkBudget}},
		"open budget":          {park: store.Park{State: wire.ParkOpen, Reason: wire.ParkBudget}},
		"of a nested run":      {park: store.Park{State: wire.ParkOpen, AgentID: "sub"}},
	} {
		s := desk(t, store.RunRow{Run: wire.Run{Steps: 2}, RunState: store.RunState{Draft: &store.Draft{}}})
		parks, open := s.resolved([]store.Park{c.park})
		if (len(parks) == 1) != c.resolved || open != c.open {
			t.Errorf("%s: %d resolved, %d open", name, len(parks), open)
		}
	}
}

// A look at a pending call asks its tool again, with the state that it gave.
func TestPlanPending(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tool    string
		effect  wire.EffectState
		until   time.Duration
		want    string
		overdue bool
	}{
		"in time":         {tool: "look", until: time.Second, want: "repeat"},
		"at its end":      {tool: "look", want: "repeat", overdue: true},
		"has its result":  {tool: "look", until: time.Second, effect: wire.EffectDone, want: "saved 5"},
		"voided":          {tool: "look", until: time.Second, effect: wire.EffectVoid, want: "repeat"},
		"without its own": {tool: "find", until: time.Second, want: `{"error":"Unknown tool: find"}`},
	} {
		s := desk(t, store.RunRow{})
		park := store.Park{
			ToolName: c.tool, State: wire.ParkPending,
			Pending: &wire.PendingCall{State: json.RawMessage("1"), Until: stage.Noon.Add(c.until)},
		}
		p := s.planPending(park, store.Effect{State: c.effect, Result: json.RawMessage("5")}, stage.Noon)
		if got := p.says(); got != c.want || p.overdue != c.overdue || string(p.call.Pending) != "1" {
			t.Errorf("%s: %s, overdue %t", name, got, p.overdue)
		}
	}
}
