package enginetest

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// outputTest is the fixture of the cases about answers that are JSON values.
type outputTest struct{ *engineTest }

var outputTests = map[string]func(s outputTest){
	"Fits":       testOutputFits,
	"Start":      testOutputStart,
	"Refused":    testOutputRefused,
	"Repaired":   testOutputRepaired,
	"AfterTools": testOutputAfterTools,
	"Fails":      testOutputFails,
	"Empty":      testOutputEmpty,
	"EmptyEnd":   testOutputEmptyEnd,
	"LeftCalls":  testOutputLeftCalls,
	"Large":      testOutputLarge,
	"Settle":     testOutputSettle,
	"Nested":     testOutputNested,
	"Redrive":    testOutputRedrive,
	"RunFor":     testOutputRunFor,
}

// report is the schema of the cases.
func report() *spool.OutputSchema {
	return &spool.OutputSchema{Name: "report", Schema: json.RawMessage(
		`{"type":"object","properties":{"city":{"type":"string"},"degrees":{"type":"integer"}},"required":["city","degrees"],"additionalProperties":false}`)}
}

const (
	goodReport  = `{"city": "Oslo", "degrees": 21}`
	wrongReport = `{"city": "Oslo", "degrees": "warm"}`
)

// reporting returns a configuration whose agent answers with a report.
func (s outputTest) reporting(m spool.Model, tools ...spool.Tool) engine.Config {
	c := s.config(m, tools...)
	c.Agents[0].Output = report()
	return c
}

// hasValue checks the value of r1 in its outcome and its detail, and in the events of its end.
func (s outputTest) hasValue(e *engine.Engine, want string) {
	s.Helper()
	s.sees(e, want)
	run := s.run("r1")
	entries := s.entriesOf(chat)
	var ended wire.RunEnded
	if err := json.Unmarshal(entries[len(entries)-1].Payload, &ended); err != nil {
		s.Fatal(err)
	}
	items := emptyTest(s).streamOf(run.Stream())
	var finished wire.StreamFinished
	if err := json.Unmarshal(items[len(items)-1].Data, &finished); err != nil {
		s.Fatal(err)
	}
	if compact(ended.Output) != compact([]byte(want)) || compact(finished.Output) != compact([]byte(want)) {
		s.Errorf("the record has %s and the stream %s, want %s", ended.Output, finished.Output, want)
	}
}

// sees checks the value of r1 in its outcome and its detail.
func (s outputTest) sees(e *engine.Engine, want string) {
	s.Helper()
	o, err := e.Outcome(context.Background(), chat, "r1")
	d, failed := e.RunDetail(context.Background(), chat.Tenant, "r1")
	if err != nil || failed != nil || compact(o.Output) != compact([]byte(want)) ||
		compact(d.Output) != compact([]byte(want)) {
		s.Errorf("the outcome has %s (%v) and the detail %s (%v), want %s", o.Output, err, d.Output, failed, want)
	}
}

// compact returns JSON without blanks, "" for none.
func compact(value []byte) string {
	var v any
	if len(value) == 0 || json.Unmarshal(value, &v) != nil {
		return string(value)
	}
	text, _ := json.Marshal(v) //nolint:errchkjson // it was JSON
	return string(text)
}

// rejections returns the payloads of the record's entries about answers that do not fit.
func (s outputTest) rejections() []wire.OutputRejected {
	s.Helper()
	var all []wire.OutputRejected
	for _, e := range s.entriesOf(chat) {
		if e.Type != wire.EntryOutputRejected {
			continue
		}
		var p wire.OutputRejected
		if err := json.Unmarshal(e.Payload, &p); err != nil {
			s.Fatal(err)
		}
		all = append(all, p)
	}
	return all
}

func testOutputFits(s outputTest) {
	m := spooltest.NewModel(spooltest.Say("\n", goodReport))
	e := s.working(s.reporting(m))
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	s.hasValue(e, goodReport)
	if r := m.Requests()[0]; r.Output == nil || r.Output.Name != "report" || len(s.rejections()) != 0 {
		s.Errorf("the request asks for %+v, and the record has %v", r.Output, s.rejections())
	}
}

// testOutputStart has a start that brings its own schema, and a later one that brings none.
func testOutputStart(s outputTest) {
	m := spooltest.NewModel(spooltest.Say(`{"n":1}`), spooltest.Say(goodReport))
	e := s.working(s.reporting(m))
	own := &spool.OutputSchema{
		Name: "number", Schema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`),
	}
	s.startAs(e, chat, wire.StartRequest{RunID: "r1", Prompt: "go", StartOptions: wire.StartOptions{Output: own}})
	s.ended(wire.Completed)
	s.hasValue(e, `{"n":1}`)
	s.start(e, "r2", "go")
	s.ended(wire.Completed)
	if first, second := m.Requests()[0].Output, m.Requests()[1].Output; first.Name != "number" || second.Name != "report" {
		s.Errorf("the requests ask for %s and %s", first.Name, second.Name)
	}
}

func testOutputRefused(s outputTest) {
	c := s.config(spooltest.NewModel())
	c.Agents = append(c.Agents, c.Agents[0])
	c.Agents[1].Name, c.Agents[1].FixedOutput = "fixed", true
	e := s.engine(c)
	object := func(schema string) *spool.OutputSchema {
		return &spool.OutputSchema{Name: "x", Schema: json.RawMessage(schema)}
	}
	for want, asked := range map[string]wire.StartOptions{
		"output is not allowed by the configuration": {Agent: "fixed", Output: report()},
		"output.name must have":                      {Output: &spool.OutputSchema{Name: "a b", Schema: report().Schema}},
		"output.schema is required":                  {Output: &spool.OutputSchema{Name: "x"}},
		"output.schema must be an object":            {Output: object(`[]`)},
		"output.schema: the type of a schema":        {Output: object(`{"type":"string"}`)},
		"output.schema: references are not":          {Output: object(`{"type":"object","$ref":"#"}`)},
		"output.schema is longer than":               {Output: object(`{"title":"` + strings.Repeat("x", 17<<10) + `"}`)},
		"output.description is longer than": {
			Output: &spool.OutputSchema{Name: "x", Schema: report().Schema, Description: strings.Repeat("x", 5000)},
		},
	} {
		r := wire.StartRequest{Prompt: "go", StartOptions: asked}
		if _, err := e.Run(context.Background(), chat, r); spool.CodeOf(err) != spool.Invalid ||
			!strings.Contains(err.Error(), want) {
			s.Errorf("got %v, want %s", err, want)
		}
	}
	if n := len(s.runsOf(chat)); n != 0 {
		s.Errorf("%d runs were stored", n)
	}
	c.Agents[0].Output = object(`{"type":5}`)
	if _, err := engine.New(s.backend, c); spool.CodeOf(err) != spool.Invalid ||
		!strings.Contains(err.Error(), "output.schema") {
		s.Errorf("an engine with a bad schema: %v", err)
	}
}

// repairOf returns the prompt of the repair in a request, and its position from the end. Empty: there is none.
func repairOf(r spool.ModelRequest) (string, int) {
	for i, m := range slices.Backward(r.Messages) {
		if m.Role == spool.RoleUser && strings.HasPrefix(m.Text(), "Your answer is not a JSON value") {
			return m.Text(), len(r.Messages) - 1 - i
		}
	}
	return "", 0
}

func testOutputRepaired(s outputTest) {
	m := spooltest.NewModel(spooltest.Say(wrongReport), spooltest.Say(goodReport), spooltest.Say(goodReport))
	e := s.working(s.reporting(m))
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	s.hasValue(e, goodReport)
	s.lines("record", s.record(), "RUN_STARTED r1:1", "OUTPUT_REJECTED", "RUN_ENDED r1:1 finished")
	s.lines("messages", s.script(), "user go", "assistant "+wrongReport, "assistant "+goodReport)
	text, behind := repairOf(m.Requests()[1])
	if !strings.Contains(text, "degrees") || behind != 0 {
		s.Errorf("the repair is %q, with %d messages behind it", text, behind)
	}
	told := s.rejections()
	if len(told) != 1 || told[0].Step != 1 || !told[0].Repair || !strings.Contains(told[0].Problem, "degrees") ||
		told[0].AgentID != nil {
		s.Errorf("the record says %+v", told)
	}
	if run := s.run("r1"); run.Steps != 2 {
		s.Errorf("%d steps", run.Steps)
	}
	s.start(e, "r2", "again")
	s.ended(wire.Completed)
	if text, _ := repairOf(m.Requests()[2]); text != "" {
		s.Errorf("another run gets the repair %q", text)
	}
}

// testOutputAfterTools has a model that calls a tool before and after the rejected answer. The prompt of the
// repair keeps its place.
func testOutputAfterTools(s outputTest) {
	look := spooltest.Use(spooltest.Call{ID: "c", Name: "look"})
	m := spooltest.NewModel(look, spooltest.Say("It is warm."), look, spooltest.Say(goodReport))
	e := s.working(s.reporting(m, plain("look", `"21"`)))
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	s.hasValue(e, goodReport)
	text, behind := repairOf(m.Requests()[3])
	if !strings.Contains(text, "no JSON") || behind != 2 {
		s.Errorf("the repair is %q, with %d messages behind it", text, behind)
	}
}

func testOutputFails(s outputTest) {
	m := spooltest.NewModel(spooltest.Say(wrongReport), spooltest.Say(`{"city": "Oslo"}`), spooltest.Say("never"))
	e := s.working(s.reporting(m))
	s.start(e, "r1", "go")
	s.ended(wire.Failed)
	s.failsWith(e, "degrees")
	if m.Asked() != 2 {
		s.Errorf("asked %d times", m.Asked())
	}
	told := s.rejections()
	if len(told) != 2 || !told[0].Repair || told[1].Repair {
		s.Errorf("the record says %+v", told)
	}
}

// failsWith checks a run that has failed because its answer does not fit.
func (s outputTest) failsWith(e *engine.Engine, want string) {
	s.Helper()
	o, err := e.Outcome(context.Background(), chat, "r1")
	if err != nil || o.State != wire.Failed || o.StopReason != wire.StopOutput || o.Output != nil ||
		!strings.Contains(o.Error, "does not fit its schema") || !strings.Contains(o.Error, want) {
		s.Errorf("the outcome is %+v, %v", o, err)
	}
}

// testOutputEmpty has a model that says nothing, twice, and then the value.
func testOutputEmpty(s outputTest) {
	m := spooltest.NewModel(spooltest.Turn{}, spooltest.Turn{}, spooltest.Say(goodReport))
	e := s.working(s.reporting(m))
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	s.hasValue(e, goodReport)
	if text, behind := repairOf(m.Requests()[2]); !strings.Contains(text, "empty") || behind != 0 {
		s.Errorf("the repair is %q", text)
	}
}

// testOutputEmptyEnd has an answer that its provider has paused, and nothing behind it. The model is asked for the
// value, although the run's last message is an answer.
func testOutputEmptyEnd(s outputTest) {
	paused := spooltest.Turn{Text: []string{"I look it up."}, FinishReason: spool.FinishPause}
	m := spooltest.NewModel(paused, spooltest.Turn{}, spooltest.Turn{}, spooltest.Say(goodReport))
	e := s.working(s.reporting(m))
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	s.hasValue(e, goodReport)
	if told := s.rejections(); m.Asked() != 4 || len(told) != 1 || !told[0].Repair {
		s.Errorf("asked %d times, and the record says %+v", m.Asked(), told)
	}
}

// testOutputLeftCalls has a rejected answer with a call that does not run. The prompt of the repair comes after
// the call's result.
func testOutputLeftCalls(s outputTest) {
	odd := spooltest.Turn{
		Text: []string{wrongReport}, Calls: []spooltest.Call{{ID: "c1", Name: "look"}}, FinishReason: "out_of_resources",
	}
	m := spooltest.NewModel(odd, spooltest.Say(goodReport))
	e := s.working(s.reporting(m, plain("look", `"21"`)))
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	s.hasValue(e, goodReport)
	var roles []string
	for _, message := range m.Requests()[1].Messages {
		roles = append(roles, string(message.Role))
	}
	s.lines("the prompt of the repair", roles, "user", "assistant", "tool", "user")
}

// testOutputLarge has a value that is too large for the events.
func testOutputLarge(s outputTest) {
	large := `{"city":"` + strings.Repeat("x", wire.MaxOutputEvent) + `","degrees":21}`
	e := s.working(s.reporting(spooltest.NewModel(spooltest.Say(large))))
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	s.sees(e, large)
	for _, entry := range s.entriesOf(chat) {
		if len(entry.Payload) > wire.MaxOutputEvent {
			s.Errorf("an entry of %d bytes", len(entry.Payload))
		}
	}
}

func testOutputSettle(s outputTest) {
	c := s.reporting(spooltest.NewModel(spooltest.Say(goodReport)))
	settled := make(chan wire.Settlement, 1)
	c.OnSettle = func(_ context.Context, settlement wire.Settlement) error {
		settled <- settlement
		return nil
	}
	e := s.working(c)
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	s.hasValue(e, goodReport)
	if got := <-settled; compact(got.Output) != compact([]byte(goodReport)) {
		s.Errorf("the hook gets %+v", got)
	}
}

// testOutputNested has a nested run whose profile has a schema. The spawning model gets the value, and not
// its text.
func testOutputNested(s outputTest) {
	m := spooltest.NewModelFunc(func(_ context.Context, r spool.ModelRequest) spooltest.Turn {
		repair, _ := repairOf(r)
		switch {
		case repair != "":
			return spooltest.Say(goodReport)
		case r.Output != nil:
			return spooltest.Say(wrongReport)
		case spooltest.StepOf(r) == 0:
			return spooltest.Use(spooltest.Call{
				ID: "c1", Name: spool.SpawnTool, Args: `{"name":"reporter","instructions":"report"}`,
			})
		default:
			return spooltest.Say("done")
		}
	})
	c := s.config(m)
	c.Agents[0].Spawn = &spool.Spawn{Profiles: map[string]spool.Profile{"reporter": {Output: report()}}}
	e := s.working(c)
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	var result struct{ Result json.RawMessage }
	for _, r := range m.Requests() {
		for _, message := range r.Messages {
			for _, part := range message.ToolResults() {
				if err := json.Unmarshal(part.Result, &result); err != nil {
					s.Fatal(err)
				}
			}
		}
	}
	if compact(result.Result) != compact([]byte(goodReport)) {
		s.Errorf("the spawning model gets %s", result.Result)
	}
	if told := s.rejections(); len(told) != 1 || told[0].AgentID == nil {
		s.Errorf("the record says %+v", told)
	}
}

// testOutputRedrive has a run that never began. The new run for its turn has the schema of the start.
func testOutputRedrive(s outputTest) {
	e := s.engine(s.config(spooltest.NewModel()))
	s.startAs(e, chat, wire.StartRequest{RunID: "r1", Prompt: "go", StartOptions: wire.StartOptions{Output: report()}})
	job := redriveTest(s).die(e)
	s.ended(wire.Failed)
	next := s.run(redriveTest(s).redrive(e, job).RunID)
	if next.Output == nil || next.Output.Schema == nil || next.Output.Schema.Name != "report" {
		s.Errorf("the new run has %+v", next.Output)
	}
}

// testOutputRunFor gets the value as a Go type, and the reason of a run that has none.
func testOutputRunFor(s outputTest) {
	type weather struct {
		City    string `json:"city"`
		Degrees int    `json:"degrees" jsonschema:"in Celsius"`
	}
	m := spooltest.NewModel(spooltest.Say(goodReport), spooltest.Say(wrongReport), spooltest.Say(wrongReport),
		spooltest.Say(goodReport))
	e := s.working(s.config(m))
	ctx := context.Background()
	got, err := engine.RunFor[weather](ctx, e, chat, wire.StartRequest{RunID: "r1", Prompt: "go", IdempotencyKey: "k"})
	if err != nil || got != (weather{"Oslo", 21}) {
		s.Errorf("got %+v, %v", got, err)
	}
	again, err := engine.RunFor[weather](ctx, e, chat, wire.StartRequest{RunID: "r1", Prompt: "go", IdempotencyKey: "k"})
	if err != nil || again != got || m.Asked() != 1 {
		s.Errorf("the repeated start: %+v, %v, asked %d times", again, err, m.Asked())
	}
	if o := m.Requests()[0].Output; o.Name != "weather" || !strings.Contains(string(o.Schema), "in Celsius") {
		s.Errorf("the request asks for %+v", o)
	}
	_, err = engine.RunFor[weather](ctx, e, chat, wire.StartRequest{RunID: "r2", Prompt: "go"})
	if failed, ok := err.(*engine.OutcomeError); !ok || failed.Outcome.StopReason != wire.StopOutput || !strings.Contains(err.Error(), "degrees") { //nolint:errorlint // the very type
		s.Errorf("got %v", err)
	}
	if _, err := engine.RunFor[[]string](
		ctx, e, chat, wire.StartRequest{Prompt: "go"},
	); spool.CodeOf(err) != spool.Invalid {
		s.Errorf("a list: %v", err)
	}
	text, err := engine.AwaitFor[map[string]any](ctx, e.Watcher, chat, "r1")
	if err != nil || text["city"] != "Oslo" {
		s.Errorf("got %v, %v", text, err)
	}
}

// outputScript has a run whose first answer does not fit, while faults happen. Whatever the fault is, the
// prompt of the repair belongs to one step, and no third answer is saved.
func outputScript(t *engineTest, own bool, faults ...spooltest.Fault) int {
	s := outputTest{t}
	m := spooltest.NewModelFunc(byAnswers(
		spooltest.Use(spooltest.Call{ID: "c1", Name: "look"}),
		spooltest.Say("It is ", "warm."),
		spooltest.Use(spooltest.Call{ID: "c2", Name: "look"}),
		spooltest.Say(goodReport),
	))
	look := plain("look", `"21"`)
	look.Idempotent = true
	c := newCampaign(s.engineTest, s.reporting(m, look), 1, own)
	first, stop := c.survive(faults, []string{"a"}, func(n *node) {
		c.answerAll(n.Engine, func(store.Park) wire.Response { return wire.Response{Approved: true} })
	})
	calls := first.faulty.Calls()
	if run := s.run("r1"); run.State != wire.Completed || run.Steps != 4 ||
		compact(run.OutputValue()) != compact([]byte(goodReport)) {
		s.Errorf("the run: %+v", run)
	}
	if told := s.rejections(); len(told) != 1 || told[0].Step != 2 || !told[0].Repair {
		s.Errorf("the record says %+v", told)
	}
	for _, r := range m.Requests() {
		text, behind := repairOf(r)
		if answers := answersOf(r); (text != "") != (answers >= 2) || text != "" && behind != 2*(answers-2) {
			s.Errorf("a request with %d answers has the repair %q with %d messages behind it", answers, text, behind)
		}
	}
	c.finish(stop)
	return calls
}

// byAnswers gives each run the same turns: the number of answers in a request selects the turn.
func byAnswers(turns ...spooltest.Turn) func(context.Context, spool.ModelRequest) spooltest.Turn {
	return func(_ context.Context, r spool.ModelRequest) spooltest.Turn {
		if n := answersOf(r); n < len(turns) {
			return turns[n]
		}
		return spooltest.Say("one answer too many")
	}
}

func answersOf(r spool.ModelRequest) int {
	n := 0
	for _, m := range r.Messages {
		if m.Role == spool.RoleAssistant {
			n++
		}
	}
	return n
}
