package calls

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/testing/stage"
)

// Each call of a new step runs, parks, or has its result at once.
func TestPlanNewCalls(t *testing.T) {
	t.Parallel()
	brief := json.RawMessage(`{"name":"x","instructions":"go"}`)
	for name, c := range map[string]struct {
		run  spool.RunRow
		call spool.Part
		want string
	}{
		"plain":              {call: spool.Part{ToolName: "look"}, want: "run"},
		"idempotent":         {call: spool.Part{ToolName: "safe"}, want: "run"},
		"unknown tool":       {call: spool.Part{ToolName: "find"}, want: `"error: unknown tool find"`},
		"approval":           {call: spool.Part{ToolName: "send"}, want: "park approval"},
		"approval not need":  {call: spool.Part{ToolName: "free"}, want: "run"},
		"approval fails":     {call: spool.Part{ToolName: "torn"}, want: `"error: no policy"`},
		"check before ask":   {call: spool.Part{ToolName: "strict"}, want: `"error: city is missing"`},
		"check panics":       {call: spool.Part{ToolName: "broken"}, want: `"error: the tool panicked"`},
		"no object":          {call: spool.Part{ToolName: "send", Args: json.RawMessage(`"{"`)}, want: `"error: the arguments are not a JSON object"`},
		"no JSON":            {call: spool.Part{ToolName: "send", Args: json.RawMessage(`"{\"to\":"`)}, want: `"error: the arguments are not a JSON object"`},
		"an array":           {call: spool.Part{ToolName: "send", Args: json.RawMessage(`[1]`)}, want: `"error: the arguments are not a JSON object"`},
		"of the client":      {run: spool.RunRow{RunState: spool.RunState{Client: &spool.ClientInput{}}}, call: spool.Part{ToolName: "look"}, want: "park client_tool"},
		"spawn":              {call: spool.Part{ToolName: spool.SpawnTool, Args: brief}, want: "run"},
		"spawn without name": {call: spool.Part{ToolName: spool.SpawnTool}, want: `"error: name is required: any name will do"`},
		"spawn too deep":     {run: spool.RunRow{Run: spool.Run{Depth: 1}}, call: spool.Part{ToolName: spool.SpawnTool, Args: brief}, want: `"error: runs may not be nested deeper than 1"`},
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
		if p := plan[0]; p.call.ID != "c1" || p.call.Step != 3 || p.call.Key != s.Row().CallKey(3, "c1") || p.spawns != (c.call.ToolName == spool.SpawnTool) {
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
	s := desk(t, spool.RunRow{})
	names := []string{"look", "look", "look", "safe", "send", "send", "look", "find"}
	plan := s.planCalls(t.Context(), stage.Asked(names...), 1, []spool.Effect{
		{ToolCallID: "c2", State: spool.EffectDone, Result: json.RawMessage("2")},
		{ToolCallID: "c3", State: spool.EffectPending},
		{ToolCallID: "c4", State: spool.EffectPending},
		{ToolCallID: "c6", State: spool.EffectVoid},
		{ToolCallID: "c7", State: spool.EffectVoid},
		{ToolCallID: "c8", State: spool.EffectDone, Result: json.RawMessage("8")}, // this process lacks the tool
	}, map[spool.ToolCallID]spool.Park{"c7": {ToolCallID: "c7", State: spool.ParkPending}})
	want := []string{"run", "saved 2", "park outcome_unknown", "repeat", "park approval", "park approval", "pending", "saved 8"}
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
	s := newScene(t, spool.Agent{}, spool.RunRow{})
	plan := s.planCalls(t.Context(), stage.Asked("a", "b", "c", "d", "e"), 1, nil, nil)
	for i, p := range plan {
		p.result, p.spawns, p.state = nil, i == 2, callNew
	}
	plan[3].decide(json.RawMessage("1"))
	plan[1].begin()
	plan[4].ask(&spool.Park{})
	s.plan = plan
	s.Check(s.VoidUnmade(s.Tx()))
	if got := s.Rows.Rows.Effects; len(got) != 1 || got[0].ToolCallID != "c1" || got[0].State != spool.EffectVoid {
		t.Errorf("the ledger gets %v", got)
	}
}

// A step hands the thread over once, and a turn a limited number of times.
func TestPlanTransfers(t *testing.T) {
	t.Parallel()
	twice := `"error: another call of this step has handed the conversation over"`
	for name, c := range map[string]struct {
		handovers int
		effects   []spool.Effect
		want      [2]string
	}{
		"first":          {want: [2]string{"run", twice}},
		"first was done": {effects: []spool.Effect{{ToolCallID: "c1", State: spool.EffectDone, Result: json.RawMessage(`{"transferredTo":"b"}`)}}, want: [2]string{`saved {"transferredTo":"b"}`, twice}},
		"first failed":   {effects: []spool.Effect{{ToolCallID: "c1", State: spool.EffectDone, Result: json.RawMessage(`{"error":"no"}`)}}, want: [2]string{`saved {"error":"no"}`, "run"}},
		"too many": {handovers: maxHandovers, want: [2]string{
			`"error: the conversation was handed over 8 times in this turn: answer the user yourself"`,
			`"error: the conversation was handed over 8 times in this turn: answer the user yourself"`,
		}},
		"one left": {handovers: maxHandovers - 1, want: [2]string{"run", twice}},
	} {
		s := desk(t, spool.RunRow{RunState: spool.RunState{Handovers: make([]spool.Handover, c.handovers)}})
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
	pending, done := spool.EffectPending, spool.EffectDone
	for name, c := range map[string]struct {
		park   spool.Park
		effect spool.EffectState
		want   string
	}{
		"approved":                     {park: spool.Park{ToolName: "look", Answer: yes}, want: "run"},
		"denied":                       {park: spool.Park{ToolName: "look", Answer: no}, want: `{"denied":true,"reason":"why"}`},
		"expired":                      {park: spool.Park{ToolName: "look"}, want: `{"responded":false,"cancelled":true,"reason":"timeout"}`},
		"denied, tool goes on":         {park: spool.Park{ToolName: "look", Answer: no, Resume: resume}, want: "run"},
		"expired, tool goes on":        {park: spool.Park{ToolName: "look", Resume: resume}, want: "run"},
		"expired, tool is gone":        {park: spool.Park{ToolName: "find", Resume: resume}, want: `{"responded":false,"cancelled":true,"reason":"timeout"}`},
		"approved, tool is gone":       {park: spool.Park{ToolName: "find", Answer: yes}, want: `{"error":"Unknown tool: find"}`},
		"has its result":               {park: spool.Park{ToolName: "look", Answer: no}, effect: done, want: "saved 5"},
		"died after the answer":        {park: spool.Park{ToolName: "look", Answer: yes}, effect: pending, want: "park outcome_unknown"},
		"died, and is safe":            {park: spool.Park{ToolName: "safe", Answer: yes}, effect: pending, want: "repeat"},
		"died with the denial":         {park: spool.Park{ToolName: "look", Answer: no, Resume: resume}, effect: pending, want: "park outcome_unknown"},
		"died, pending is safe":        {park: spool.Park{ToolName: "work", Answer: yes, Pending: &spool.PendingCall{State: resume}}, effect: pending, want: "repeat"},
		"died, only pending is safe":   {park: spool.Park{ToolName: "work", Answer: yes}, effect: pending, want: "park outcome_unknown"},
		"unknown, again":               {park: spool.Park{ToolName: "look", Reason: spool.ParkOutcomeUnknown, Answer: yes}, want: "run"},
		"unknown, reported":            {park: spool.Park{ToolName: "look", Reason: spool.ParkOutcomeUnknown, Answer: &spool.Answer{Payload: json.RawMessage("7")}}, want: "7"},
		"unknown, not again":           {park: spool.Park{ToolName: "look", Reason: spool.ParkOutcomeUnknown, Answer: no}, want: `{"cancelled":true,"reason":"the outcome of this call is not known, and it is not to be repeated: why","outcome":"unknown"}`},
		"unknown, denied with a state": {park: spool.Park{ToolName: "look", Reason: spool.ParkOutcomeUnknown, Answer: no, Resume: resume}, want: `{"cancelled":true,"reason":"the outcome of this call is not known, and it is not to be repeated: why","outcome":"unknown"}`},
		"of the client":                {park: spool.Park{ToolName: "look", Reason: spool.ParkClientTool, Answer: value}, want: "7"},
		"of a client, now unknown":     {park: spool.Park{ToolName: "find", Reason: spool.ParkClientTool, Answer: value}, want: "7"},
		"another question":             {park: spool.Park{ToolName: "look", Digest: "d", Answer: &spool.Answer{Approved: true, Digest: "e"}}, want: `{"error":"this call is not the one that was approved"}`},
		"edited":                       {park: spool.Park{ToolName: "look", Answer: edited}, want: "run"},
		"edited, and wrong":            {park: spool.Park{ToolName: "strict", Answer: edited}, want: `{"error":"city is missing"}`},
		"not edited: checked before":   {park: spool.Park{ToolName: "strict", Answer: yes}, want: "run"},
		"no object":                    {park: spool.Park{ToolName: "look", Args: json.RawMessage(`"x"`), Answer: yes}, want: `{"error":"the arguments are not a JSON object"}`},
	} {
		s := desk(t, spool.RunRow{})
		c.park.ToolCallID, c.park.State = "c1", spool.ParkExpired
		if c.park.Answer != nil {
			c.park.State = spool.ParkAnswered
		}
		if c.park.Args == nil {
			c.park.Args = json.RawMessage("{}")
		}
		p := s.planAnswered(c.park, spool.Effect{ToolCallID: "c1", State: c.effect, Result: json.RawMessage("5")})
		if got := p.says(); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// An approval counts for the arguments that were shown, or that came with it.
func TestPlanAnsweredDigest(t *testing.T) {
	t.Parallel()
	s := desk(t, spool.RunRow{})
	park := spool.Park{RunID: "r", ToolCallID: "c1", ToolName: "look", Args: json.RawMessage(`{"to":"a"}`), State: spool.ParkAnswered}
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
		p := s.planAnswered(asked, spool.Effect{})
		if p.runs() != (c.args != "") || p.runs() && string(p.call.Args) != c.args {
			t.Errorf("%s: %s with %s", name, p.says(), p.call.Args)
		}
	}
}

// The tool of an answered call gets what belongs to the question, and to the call before it.
func TestPlanAnsweredCall(t *testing.T) {
	t.Parallel()
	s := desk(t, spool.RunRow{})
	answer, before := &spool.Answer{Approved: true, Payload: json.RawMessage("2")}, &spool.Answer{Approved: true, Payload: json.RawMessage("1")}
	park := spool.Park{
		ToolName: "look", State: spool.ParkAnswered, Args: json.RawMessage("{}"), Answer: answer, Before: before,
		Resume: json.RawMessage(`"s"`), Pending: &spool.PendingCall{State: json.RawMessage(`"p"`)},
	}
	p := s.planAnswered(park, spool.Effect{})
	if p.call.Answer != answer || string(p.call.Resume) != `"s"` || string(p.call.Pending) != `"p"` {
		t.Errorf("a question of the tool: %+v", p.call)
	}
	park.Reason = spool.ParkOutcomeUnknown
	if p := s.planAnswered(park, spool.Effect{}); p.call.Answer != before {
		t.Errorf("the engine's question about the outcome: %+v", p.call.Answer)
	}
}

// A run goes on with the calls whose parks are resolved, and counts the others.
func TestResolved(t *testing.T) {
	t.Parallel()
	ready := &spool.PendingCall{Ready: true}
	for name, c := range map[string]struct {
		park     spool.Park
		resolved bool
		open     int
	}{
		"open":                 {park: spool.Park{State: spool.ParkOpen}, open: 1},
		"answered":             {park: spool.Park{State: spool.ParkAnswered}, resolved: true},
		"expired":              {park: spool.Park{State: spool.ParkExpired}, resolved: true},
		"closed":               {park: spool.Park{State: spool.ParkClosed}},
		"done":                 {park: spool.Park{State: spool.ParkDone}},
		"landed":               {park: spool.Park{State: spool.ParkAnswered, Landed: true}},
		"pending":              {park: spool.Park{State: spool.ParkPending, Pending: &spool.PendingCall{}}, open: 1},
		"ready":                {park: spool.Park{State: spool.ParkPending, Pending: ready}, resolved: true},
		"pending, saved step":  {park: spool.Park{State: spool.ParkPending, Pending: &spool.PendingCall{}, Step: 2}, open: 1},
		"pending in the draft": {park: spool.Park{State: spool.ParkPending, Pending: &spool.PendingCall{}, Step: 3}},
		"answered, later step": {park: spool.Park{State: spool.ParkAnswered, Step: 3}, resolved: true},
		"budget":               {park: spool.Park{State: spool.ParkAnswered, Reason: spool.ParkBudget}},
		"open budget":          {park: spool.Park{State: spool.ParkOpen, Reason: spool.ParkBudget}},
		"of a nested run":      {park: spool.Park{State: spool.ParkOpen, AgentID: "sub"}},
	} {
		s := desk(t, spool.RunRow{Run: spool.Run{Steps: 2}, RunState: spool.RunState{Draft: &spool.Draft{}}})
		parks, open := s.resolved([]spool.Park{c.park})
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
		effect  spool.EffectState
		until   time.Duration
		want    string
		overdue bool
	}{
		"in time":         {tool: "look", until: time.Second, want: "repeat"},
		"at its end":      {tool: "look", want: "repeat", overdue: true},
		"has its result":  {tool: "look", until: time.Second, effect: spool.EffectDone, want: "saved 5"},
		"voided":          {tool: "look", until: time.Second, effect: spool.EffectVoid, want: "repeat"},
		"without its own": {tool: "find", until: time.Second, want: `{"error":"Unknown tool: find"}`},
	} {
		s := desk(t, spool.RunRow{})
		park := spool.Park{ToolName: c.tool, State: spool.ParkPending, Pending: &spool.PendingCall{State: json.RawMessage("1"), Until: stage.Noon.Add(c.until)}}
		p := s.planPending(park, spool.Effect{State: c.effect, Result: json.RawMessage("5")}, stage.Noon)
		if got := p.says(); got != c.want || p.overdue != c.overdue || string(p.call.Pending) != "1" {
			t.Errorf("%s: %s, overdue %t", name, got, p.overdue)
		}
	}
}
