package openaiwire

import (
	"slices"
	"strings"

	"github.com/spoolhq/spool"
)

// overflowTypes are the error types with which providers report a context overflow: the prompt does not
// fit into the model's window.
var overflowTypes = map[string]bool{
	"context_length_exceeded":   true, // OpenAI, Azure, Groq
	"exceed_context_size_error": true, // llama.cpp
	"request_too_large":         true, // Anthropic, for bytes
}

// overflowTexts are the providers' messages about a context overflow, in lower case. A message matches
// an entry if it contains all texts of the entry.
var overflowTexts = [][]string{
	{"maximum context length"},                   // OpenAI, vLLM, OpenRouter, DeepSeek, Mistral
	{"exceeds the context window"},               // OpenAI
	{"input tokens exceed the configured limit"}, // OpenAI
	{"model's context length is only"},           // vLLM
	{"longer than the maximum model length"},     // vLLM
	{"prompt is too long"},                       // Anthropic
	{"input length and", "exceed context limit"}, // Anthropic
	{"input token count", "exceeds the maximum"}, // Google
	{"exceeds the available context size"},       // llama.cpp
	{"prompt too long", "max context length"},    // Ollama
	{"input length exceeds", "context length"},   // Ollama
	{"greater than the context length"},          // LM Studio
	{"loaded with context length of only"},       // LM Studio
	{"reduce the length of the messages"},        // Groq, and others after OpenAI
	{"maximum prompt length is"},                 // xAI
	{"input is too long for requested model"},    // Bedrock
	{"inputs", "max_new_tokens", "must be <="},   // Text Generation Inference
	{"inputs", "must have less than", "tokens"},  // Text Generation Inference
	{"context length exceeded"},                  // other servers
}

// otherTexts occur in similar messages about other errors: a bound of the answer that is too large, or
// too many tokens in too short a time.
var otherTexts = []string{
	"max_tokens is too large", "max_completion_tokens' is too large", "max_completion_tokens is too large",
	"max_tokens' is too large", "maximum allowed number of output tokens",
	"per minute", "per day", "rate limit", "rate_limit", "quota",
}

// Classify sets the fields with which the engine decides how to handle a provider's error, and returns e.
func Classify(e *spool.ModelError) *spool.ModelError {
	e.ContextOverflow = overflows(e)
	e.NoRetry = e.Type == "insufficient_quota" || e.Type == "invalid_api_key" || e.Status == 0 && refusedTypes[e.Type]
	return e
}

// refusedTypes are the error types of a request that the provider refuses for ever. They are for errors in a stream,
// which have no status.
var refusedTypes = map[string]bool{
	"authentication_error": true, "BadRequestError": true, "invalid_request_error": true, "model_not_found": true,
	"not_found_error": true, "permission_error": true,
}

func overflows(e *spool.ModelError) bool {
	switch e.Status {
	case 0, 400, 413, 422: // an error in a stream may have no status
	default:
		return false
	}
	text := strings.ToLower(e.Message)
	for _, other := range otherTexts {
		if strings.Contains(text, other) || strings.Contains(e.Type, other) {
			return false
		}
	}
	return overflowTypes[e.Type] || slices.ContainsFunc(overflowTexts, func(words []string) bool {
		return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
	})
}
