package spooltest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
)

// signedBlock is a block of [ModelSigned] with data.
type signedBlock struct {
	kind spool.PartType
	data string
}

// signedBlocks returns the blocks with data that the interface can express.
func (s modelSuite) signedBlocks() []signedBlock {
	var blocks []signedBlock
	add := func(feature bool, kind spool.PartType, data string) {
		if feature {
			blocks = append(blocks, signedBlock{kind, data})
		}
	}
	add(s.features.SignedReasoning, spool.PartReasoning, "sigR1/+A")
	add(s.features.SealedReasoning, spool.PartReasoning, "sealed/A")
	add(s.features.SignedText, spool.PartText, "sigT1/+A")
	add(s.features.ProviderParts, spool.PartProvider, "part/++A")
	add(s.features.SignedReasoning, spool.PartReasoning, "sigR2/+A")
	add(s.features.SignedCalls, spool.PartToolCall, "sigC1/+A")
	return blocks
}

// signed sends data back to a strict provider, and checks that the provider is strict.
func (s modelSuite) signed(t *testing.T) {
	blocks := s.signedBlocks()
	if len(blocks) == 0 || s.features.Local {
		t.Skip("the provider wants no data back")
	}
	p := s.open(t, ModelSigned)
	r := spool.ModelRequest{Messages: []spool.Message{userText("How is Oslo?")}, Tools: modelTools()}
	got := askModel(t.Context(), t, p.Model, r, nil)
	got.mustFinish(t, spool.FinishToolCalls)
	calls := got.calls()
	if len(calls) != 2 || got.content.Text() != "Looking." {
		t.Fatalf("answer %+v", got.content)
	}
	answer := got.stored(t)
	for _, b := range blocks {
		if holder(answer.Content, b) < 0 {
			t.Errorf("no %s part has the data %s: %s", b.kind, b.data, mustJSON(t, answer.Content))
		}
	}
	if t.Failed() {
		return
	}
	results := toolResults(calls, `"sunny"`, `"noon"`)
	send := func(m spool.Model, content spool.Content, more ...spool.Message) modelAnswer {
		next := r
		answer := spool.Message{Role: spool.RoleAssistant, Content: content}
		next.Messages = append(slices.Concat(r.Messages, []spool.Message{answer, results}), more...)
		return askModel(t.Context(), t, m, next, nil)
	}

	send(p.Model, answer.Content).mustFinish(t, spool.FinishStop)
	s.renamedCalls(t, p, r, answer, results)
	send(p.Model, answer.Content, assistantText("Done."), userText("Sure?")).mustFinish(t, spool.FinishStop)
	for name, content := range tampered(answer.Content, blocks) {
		if err := send(p.Model, content).mustFail(t); err.Status != http.StatusBadRequest {
			t.Errorf("%s: the provider is not strict: %v", name, err)
		}
	}
	s.otherModel(t, p, blocks, func() modelAnswer { return send(p.Other, answer.Content) })
}

// renamedCalls sends the calls of an answer with the ids that the engine gives them in a nested run. The provider may
// have signed its own ids, and gets those.
func (s modelSuite) renamedCalls(t *testing.T, p ModelPeer, r spool.ModelRequest, answer, results spool.Message) {
	t.Helper()

	const end = "-renamed"
	for _, m := range []*spool.Message{&answer, &results} {
		m.Content = slices.Clone(m.Content)
		for i := range m.Content {
			if m.Content[i].ToolCallID != "" {
				m.Content[i].ToolCallID += end
			}
		}
	}
	r.Messages = slices.Concat(r.Messages, []spool.Message{answer, results})
	askModel(t.Context(), t, p.Model, r, nil).mustFinish(t, spool.FinishStop)
	if sent := p.Requests(); strings.Contains(sent[len(sent)-1], end) {
		t.Errorf("the provider does not get the ids that it gave: %s", sent[len(sent)-1])
	}
}

// otherModel checks that another model of the adapter gets the texts and the calls, and none of the data.
func (s modelSuite) otherModel(t *testing.T, p ModelPeer, blocks []signedBlock, ask func() modelAnswer) {
	t.Helper()

	if p.Other == nil {
		t.Fatal("the peer has no other model")
	}
	before := len(p.Requests())
	ask().mustFinish(t, spool.FinishStop)
	s.wantInRequest(t, p, before, "Looking.", "Oslo", "sunny")
	for _, b := range blocks {
		if hasData(p.Requests()[before], b.data) {
			t.Errorf("another model gets the data %s of a %s part", b.data, b.kind)
		}
	}
}

// tampered returns versions of an answer in which a block lacks its data or has the data of another one.
func tampered(answer spool.Content, blocks []signedBlock) map[string]spool.Content {
	out := make(map[string]spool.Content)
	at := make(map[string]int)
	for _, b := range blocks {
		i := holder(answer, b)
		at[b.data] = i
		stripped := slices.Clone(answer)
		if stripped[i].Provider = nil; b.kind == spool.PartProvider ||
			b.kind != spool.PartToolCall && stripped[i].Text == "" {
			stripped = slices.Delete(stripped, i, i+1)
		}
		out["stripped "+b.data] = stripped
	}
	swap := func(name string, i, j int) {
		moved := slices.Clone(answer)
		moved[i].Provider, moved[j].Provider = answer[j].Provider, answer[i].Provider
		out["moved "+name] = moved
	}
	first, ok := at["sigR1/+A"]
	if second := at["sigR2/+A"]; ok && first != second {
		swap("signatures of reasoning", first, second)
	}
	if call, ok := at["sigC1/+A"]; ok {
		swap("signature of a call", call, slices.IndexFunc(answer, func(p spool.Part) bool { return p.ToolName == "clock" }))
	}
	return out
}

// holder returns the index of the part that has the data of a block, or -1.
func holder(content spool.Content, b signedBlock) int {
	return slices.IndexFunc(content, func(p spool.Part) bool {
		return p.Type == b.kind && hasData(string(p.Provider), b.data)
	})
}

// foreign sends a history whose data belong to another adapter.
func (s modelSuite) foreign(t *testing.T) {
	p := s.open(t, ModelForeign)
	data := json.RawMessage(`{"spooltest-foreign":{"model":"foreign-1","data":"foreign+","signature":"foreign+"}}`)
	call := spool.Part{
		Type: spool.PartToolCall, ToolCallID: "call_1", ToolName: "weather", Args: json.RawMessage(`{"city":"Oslo"}`),
		Provider: data,
	}
	r := spool.ModelRequest{Tools: modelTools(), Messages: []spool.Message{
		userText("How is Oslo?"),
		{Role: spool.RoleAssistant, Content: spool.Content{
			{Type: spool.PartReasoning, Text: "A thought.", Provider: data},
			{Type: spool.PartReasoning, Provider: data},
			{Type: spool.PartText, Text: "I looked.", Provider: data},
			{Type: spool.PartProvider, Provider: data},
			call,
		}},
		toolResults([]spool.Part{call}, `"sunny"`),
		{
			Role:    spool.RoleAssistant,
			Content: spool.Content{{Type: spool.PartReasoning, Provider: data}, {Type: spool.PartProvider, Provider: data}},
		},
		userText("Thanks."),
	}}
	got := askModel(t.Context(), t, p.Model, r, nil)
	got.mustFinish(t, spool.FinishStop)
	s.wantText(t, got.content.Text(), "Fine.")
	s.wantInRequest(t, p, 0, "I looked.", "weather", "sunny", "Thanks.")
	if !s.features.Local && strings.Contains(p.Requests()[0], "foreign") {
		t.Errorf("another adapter's data are in the request %s", p.Requests()[0])
	}
}

// callIDs sends calls whose ids other providers have given, in every form that the engine stores, and some of them
// twice. Their models have made up the names of some tools.
func (s modelSuite) callIDs(t *testing.T) {
	p := s.open(t, ModelCallIDs)
	r := spool.ModelRequest{Tools: modelTools(), Messages: []spool.Message{userText("How is Oslo?")}}
	long := spool.ToolCallID(strings.Repeat("x", 127))
	names := []string{"weather", "functions.weather", "weather<|channel|>commentary", strings.Repeat("x", 200), "größe"}
	for n, ids := range [][]spool.ToolCallID{
		{"call_0", "functions.weather:0", "functions_weather_0", "functions.weather.0"},
		{"call_0", long + "1", long + "2"},
		{long[:39] + "1", long[:40] + "1", long[:64] + "1", "9", "-", "_", "."},
		{"functions.weather:0", "call_0-0a1b2c3d", "ü"},
	} {
		answer, results := spool.Message{Role: spool.RoleAssistant}, spool.Message{Role: spool.RoleTool}
		for i, id := range ids {
			result := mustJSON(t, "sunny"+strings.Repeat("!", n*10+i))
			call := spool.Part{
				Type: spool.PartToolCall, ToolCallID: id, ToolName: names[(n+i)%len(names)],
				Args: json.RawMessage(`{"city":"Oslo"}`),
			}
			answer.Content = append(answer.Content, call)
			results.Content = append(results.Content, toolResults([]spool.Part{call}, result).Content...)
		}
		r.Messages = append(r.Messages, answer, results)
	}
	r.Messages = append(r.Messages, userText("Thanks."))
	for range 2 { // the same messages make the same request
		got := askModel(t.Context(), t, p.Model, r, nil)
		got.mustFinish(t, spool.FinishStop)
		s.wantText(t, got.content.Text(), "Fine.")
	}
	s.wantInRequest(t, p, 1, "sunny!!", "Thanks.")
	if sent := p.Requests(); sent[0] != sent[1] {
		t.Errorf("the same messages become %s and %s", sent[0], sent[1])
	}
}

func assistantText(text string) spool.Message {
	return spool.Message{Role: spool.RoleAssistant, Content: spool.TextContent(text)}
}

func mustJSON(t *testing.T, value any) string {
	t.Helper()

	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
