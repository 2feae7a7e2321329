package config

// Responses has the fields of a model of the provider responses. An empty field has the adapter's default.
type Responses struct {
	// ReasoningEffort and ReasoningSummary are fields of the object reasoning of each request.
	ReasoningEffort, ReasoningSummary string
	// Background lets the provider go on with an answer whose reader is gone. Store lets it keep the answers.
	Background, Store bool
	// ItemIDs sends the ids of earlier items back.
	ItemIDs bool
}

// responsesFields are the fields of a model of the provider responses.
var responsesFields = []string{
	"base_url", "api_key", "model", "temperature", "max_output_tokens", "reasoning_effort", "reasoning_summary", "background", "store", "item_ids",
	"headers", "extra_body",
}

// responsesOwnFields are the fields of a request that only the adapter sets. The list of tools is not one of them: the
// provider's own tools are added to the agent's.
var responsesOwnFields = []string{
	"model", "input", "instructions", "stream", "stream_options", "store", "background", "previous_response_id", "conversation", "max_output_tokens",
	"max_tokens", "max_completion_tokens", "prompt_cache_key",
}

func (m *Model) responses(f map[string]value) {
	m.server(f, responsesOwnFields)
	m.temperature(f["temperature"])
	m.Responses = Responses{
		ReasoningEffort: f["reasoning_effort"].optionalWord(), ReasoningSummary: f["reasoning_summary"].text(),
		Background: f["background"].boolean(), Store: f["store"].boolean(), ItemIDs: f["item_ids"].boolean(),
	}
	f["reasoning_summary"].among(m.Responses.ReasoningSummary, "auto", "concise", "detailed")
	if m.Responses.Background && f["store"].present() && !m.Responses.Store {
		f["store"].problemf("must be true with background: the provider keeps the answers with which it goes on")
	}
}
