package config

import (
	"slices"
	"time"

	"github.com/spoolhq/spool/model/openai"
)

// OpenAI has the fields of a model of the provider openai. An empty field has the default of the profile.
type OpenAI struct {
	// Profile is the name of a profile. Empty: the one of the host.
	Profile                         string
	MaxTokensField                  string
	ReasoningField, ReasoningNeeded string
	ReceiptCurrency                 string
	// Negative timeouts stand for no limit.
	FirstByteTimeout, IdleTimeout time.Duration
	// Nil switches are not in the file.
	StreamUsage, StrictSchemas, ParallelToolCalls, ResultImages, ThinkingTags, OutputFromTotal, AnswerAfterResults *bool
	// Set are the names of the fields of the profile that the file has.
	Set []string
}

// openAIOptions are the options of a model of the provider openai.
func openAIOptions(m *Model) table {
	var effort string
	return slices.Concat(m.serverRows(ProviderOpenAI, "/chat/completions"), table{
		row("profile", oneOf(&m.OpenAI.Profile, profileNames()...),
			"What the server sends and wants (openai), by the name of a known server, such as deepseek or ollama. "+
				"Default: by the host of base_url."),
		m.promptCache("none", "key", "marks"),
		temperature(func(v value, t float64) { m.extra(v, "temperature", t) }),
		m.maxOutputTokens(),
		reasoningEffort(&effort, func(v value) {
			if effort != "" {
				m.extra(v, "reasoning_effort", effort)
			}
		}),
		structuredOutput(&m.StructuredOutput),
	}, m.OpenAI.profileOptions(), m.requestRows(ownFields))
}

// profileOptions change single points of a profile.
func (o *OpenAI) profileOptions() table {
	t := table{
		row("max_tokens_field", oneOf(&o.MaxTokensField, "max_tokens", "max_completion_tokens"),
			"The field of max_output_tokens in requests (openai): max_tokens or max_completion_tokens. Default: the "+
				"profile's."),
		row("reasoning_field", optionalWord(&o.ReasoningField),
			"The field in which requests repeat earlier reasoning (openai), such as reasoning_content; content for "+
				"a part of the content; none. Default: the profile's."),
		row("reasoning_needed", oneOf(&o.ReasoningNeeded, "never", "calls", "always"),
			"Which messages of the model must have reasoning_field (openai): never, calls or always. Default: the "+
				"profile's."),
		row("stream_usage", optionalBoolean(&o.StreamUsage),
			"false: do not send stream_options, for servers that refuse it (openai). Default: the profile's."),
		row("strict_schemas", optionalBoolean(&o.StrictSchemas),
			"false: do not mark schemas of answers as strict (openai). Default: the profile's."),
		row("parallel_tool_calls", optionalBoolean(&o.ParallelToolCalls),
			"false: remove the field of this name from extra_body and provider options, for servers that refuse it "+
				"(openai). Default: the profile's."),
		row("result_images", optionalBoolean(&o.ResultImages),
			"false: do not send the images and PDFs of tool results (openai). Default: the profile's."),
		row("thinking_tags", optionalBoolean(&o.ThinkingTags),
			"Whether text between <think> and </think> at the beginning of an answer is reasoning (openai). "+
				"Default: the profile's."),
		row("output_from_total", optionalBoolean(&o.OutputFromTotal),
			"true: the server counts the output without the reasoning, so it is the total without the prompt "+
				"(openai). Default: the profile's."),
		row("answer_after_results", optionalBoolean(&o.AnswerAfterResults),
			"true: put a short answer between tool results and a user's message, which Mistral's models refuse "+
				"without (openai). Default: the profile's."),
		row("receipt_currency", optionalWord(&o.ReceiptCurrency).then(func(v value) {
			if o.ReceiptCurrency != "" && o.ReceiptCurrency != "none" && !currency(o.ReceiptCurrency) {
				v.problemf(`must be none, or three capitals such as "USD"`)
			}
		}),
			"The currency of the costs that the server reports, such as USD, or none to ignore them (openai). "+
				"Default: the profile's."),
		row("first_byte_timeout", durationOrNone(&o.FirstByteTimeout, "for no limit", "10m"),
			"How long the server may take until the first byte of an answer (openai), or 0 for no limit. Default: "+
				"the profile's, or else 120s."),
		row("idle_timeout", durationOrNone(&o.IdleTimeout, "for no limit", "2m"),
			"How long the server may send nothing within an answer (openai), or 0 for no limit. Default: the "+
				"profile's, or else 60s."),
	}
	for i, each := range t {
		t[i].kind = each.then(func(value) { o.Set = append(o.Set, each.key) })
	}
	return t
}

// profileNames returns the names of the profiles, each once.
func profileNames() []string {
	var names []string
	for _, p := range openai.Profiles() {
		names = with(names, p.Name)
	}
	return names
}

// currency reports whether a text has the form of a currency's code.
func currency(text string) bool {
	return len(text) == 3 && !slices.ContainsFunc([]byte(text), func(c byte) bool { return c < 'A' || c > 'Z' })
}
