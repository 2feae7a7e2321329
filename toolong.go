package spool

import "strings"

// tooLongTypes are the words by which providers name the error of a prompt that has no room.
var tooLongTypes = map[string]bool{
	"context_length_exceeded":   true, // OpenAI, Azure, Groq
	"exceed_context_size_error": true, // llama.cpp
	"request_too_large":         true, // Anthropic, for bytes
}

// tooLongTexts are what providers say of one, in lower case. Each entry's words must all be
// there.
var tooLongTexts = [][]string{
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
	{"context length exceeded"},                  // and whoever says it in plain words
}

// otherTexts are what providers say of something else in similar words: that the answer was
// allowed to be too long, or that too much was asked in too short a time.
var otherTexts = []string{
	"max_tokens is too large", "max_completion_tokens' is too large", "max_completion_tokens is too large",
	"max_tokens' is too large", "maximum allowed number of output tokens",
	"per minute", "per day", "rate limit", "rate_limit", "quota",
}

// TooLong reports whether the provider refused the request because the prompt has no room in
// the model's window. A shorter prompt may be accepted; the same one never is.
func (e *ModelError) TooLong() bool {
	switch e.Status {
	case 400, 413, 422:
	case 0: // a stream may tell of it without a status
		if e.Type == "" {
			return false
		}
	default:
		return false
	}
	text := strings.ToLower(e.Message)
	for _, other := range otherTexts {
		if strings.Contains(text, other) || strings.Contains(e.Type, other) {
			return false
		}
	}
	if tooLongTypes[e.Type] {
		return true
	}
	for _, words := range tooLongTexts {
		all := true
		for _, w := range words {
			all = all && strings.Contains(text, w)
		}
		if all {
			return true
		}
	}
	return false
}
