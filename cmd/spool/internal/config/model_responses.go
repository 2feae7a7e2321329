package config

import "slices"

// Responses has the fields of a model of the provider responses. An empty field has the adapter's default.
type Responses struct {
	// ReasoningEffort and ReasoningSummary are fields of the object reasoning of each request.
	ReasoningEffort, ReasoningSummary string
	// Background lets the provider go on with an answer whose reader is gone. Store lets it keep the answers.
	Background, Store bool
	// ItemIDs sends the ids of earlier items back.
	ItemIDs bool
}

// responsesOwnFields are the fields of a request that only the adapter sets. The list of tools is not one of them: the
// provider's own tools are added to the agent's.
var responsesOwnFields = []string{
	"model", "input", "instructions", "stream", "stream_options", "store", "background", "previous_response_id",
	"conversation", "max_output_tokens", "max_tokens", "max_completion_tokens", "prompt_cache_key",
}

// responsesOptions are the options of a model of the provider responses.
func responsesOptions(m *Model) table {
	r := &m.Responses
	return slices.Concat(m.serverRows(ProviderResponses, "/responses"), table{
		temperature(func(v value, t float64) { m.extra(v, "temperature", t) }),
		m.maxOutputTokens(),
		reasoningEffort(&r.ReasoningEffort, func(value) {}),
		row("reasoning_summary", oneOf(&r.ReasoningSummary, "auto", "concise", "detailed"),
			"Which summaries of the reasoning are shown (responses): auto, concise or detailed. Default: none."),
		row("background", boolean(&r.Background),
			"true: the provider goes on with an answer when the connection breaks or the process dies, and a "+
				"process comes back to it (responses). It stores the answers. Default: false."),
		row("store", boolean(&r.Store).then(func(v value) {
			if r.Background && !r.Store {
				v.problemf("must be true with background: the provider keeps the answers with which it goes on")
			}
		}), "true: the provider stores the answers (responses). Default: false, but true with background."),
		row("item_ids", boolean(&r.ItemIDs),
			"true: send the ids of earlier items back, for servers that want them (responses). Default: false."),
	}, m.requestRows(responsesOwnFields))
}
