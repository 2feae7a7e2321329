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

// profileFields are the fields that change single points of a profile.
var profileFields = []string{
	"max_tokens_field", "reasoning_field", "reasoning_needed", "stream_usage", "strict_schemas", "parallel_tool_calls", "result_images", "thinking_tags",
	"output_from_total", "answer_after_results", "receipt_currency", "first_byte_timeout", "idle_timeout",
}

// openAIFields are the fields of a model of the provider openai.
var openAIFields = slices.Concat([]string{
	"base_url", "api_key", "model", "profile", "prompt_cache", "temperature", "max_output_tokens", "reasoning_effort", "structured_output",
}, profileFields, []string{"headers", "extra_body"})

func (m *Model) openAI(f map[string]value) {
	m.server(f, ownFields)
	m.PromptCache = f["prompt_cache"].text()
	f["prompt_cache"].among(m.PromptCache, "none", "key", "marks")
	m.temperature(f["temperature"])
	m.StructuredOutput = f["structured_output"].text()
	f["structured_output"].among(m.StructuredOutput, "native", "tool")
	if effort := f["reasoning_effort"].optionalWord(); effort != "" {
		m.extra(f["reasoning_effort"], "reasoning_effort", effort)
	}
	o := OpenAI{
		Profile: f["profile"].text(), MaxTokensField: f["max_tokens_field"].text(), ReasoningField: f["reasoning_field"].optionalWord(),
		ReasoningNeeded: f["reasoning_needed"].text(), ReceiptCurrency: f["receipt_currency"].optionalWord(),
		FirstByteTimeout: durationOrNone(f["first_byte_timeout"], "for no limit", "10m"), IdleTimeout: durationOrNone(f["idle_timeout"], "for no limit", "2m"),
		StreamUsage: f["stream_usage"].optionalBoolean(), StrictSchemas: f["strict_schemas"].optionalBoolean(),
		ParallelToolCalls: f["parallel_tool_calls"].optionalBoolean(), ResultImages: f["result_images"].optionalBoolean(),
		ThinkingTags: f["thinking_tags"].optionalBoolean(), OutputFromTotal: f["output_from_total"].optionalBoolean(),
		AnswerAfterResults: f["answer_after_results"].optionalBoolean(),
	}
	f["profile"].among(o.Profile, profileNames()...)
	f["max_tokens_field"].among(o.MaxTokensField, "max_tokens", "max_completion_tokens")
	f["reasoning_needed"].among(o.ReasoningNeeded, "never", "calls", "always")
	if o.ReceiptCurrency != "" && o.ReceiptCurrency != "none" && !currency(o.ReceiptCurrency) {
		f["receipt_currency"].problemf(`must be none, or three capitals such as "USD"`)
	}
	for _, name := range profileFields {
		if f[name].present() {
			o.Set = append(o.Set, name)
		}
	}
	m.OpenAI = o
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
