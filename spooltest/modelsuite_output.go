package spooltest

import (
	"encoding/json"
	"testing"

	"github.com/spoolhq/spool"
)

func modelOutput() *spool.OutputSchema {
	return &spool.OutputSchema{
		Name:        "weather_report",
		Description: "Says how the weather is.",
		Schema: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"},"degrees":{"type":"integer"}},` +
			`"required":["city","degrees"],"additionalProperties":false}`),
	}
}

func (s modelSuite) output(t *testing.T) {
	p := s.open(t, ModelOutput)
	r := spool.ModelRequest{Messages: []spool.Message{userText("How is Oslo?")}, Output: modelOutput()}
	got := askModel(t.Context(), t, p.Model, r, nil)
	s.wantOutput(t, got)
	s.wantInRequest(t, p, 0, "degrees", "additionalProperties")

	// The engine asks again, for example if the value breaks a rule that no schema can express.
	r.Messages = append(r.Messages, got.stored(t), userText("Once more, please."))
	s.wantOutput(t, askModel(t.Context(), t, p.Model, r, nil))
	s.wantInRequest(t, p, 1, "Oslo", "Once more, please.")
}

func (s modelSuite) outputAfterTool(t *testing.T) {
	p := s.open(t, ModelOutput)
	r := spool.ModelRequest{
		Messages: []spool.Message{userText(`use weather with {"city":"Oslo"}`)}, Tools: modelTools(), Output: modelOutput(),
	}
	got := askModel(t.Context(), t, p.Model, r, nil)
	got.mustFinish(t, spool.FinishToolCalls)
	calls := got.calls()
	if len(calls) != 1 || calls[0].ToolName != "weather" {
		t.Fatalf("calls %+v", calls)
	}
	r.Messages = append(r.Messages, got.stored(t), toolResults(calls, `{"degrees":21}`))
	s.wantOutput(t, askModel(t.Context(), t, p.Model, r, nil))
	s.wantInRequest(t, p, 1, "weather", "degrees")
}

// wantOutput checks an answer that is the value and nothing else.
func (s modelSuite) wantOutput(t *testing.T, got modelAnswer) {
	t.Helper()

	got.mustFinish(t, spool.FinishStop)
	if calls := got.calls(); len(calls) > 0 {
		t.Errorf("the model shows its own call: %+v", calls)
	}
	text := json.RawMessage(got.content.Text())
	if !s.features.Local {
		wantJSON(t, text, `{"city":"Oslo","degrees":21}`)
		return
	}
	var value struct {
		City    *string
		Degrees *int
	}
	if err := json.Unmarshal(text, &value); err != nil || value.City == nil || value.Degrees == nil {
		t.Errorf("%s does not fit the schema: %v", text, err)
	}
}
