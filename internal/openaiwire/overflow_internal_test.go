package openaiwire

import (
	"testing"

	"github.com/spoolhq/spool"
)

// TestContextOverflow has what providers really say of a context overflow, and of what only sounds
// like it.
func TestContextOverflow(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		status int
		kind   string
		text   string
		want   bool
	}{
		"OpenAI": {
			400, "context_length_exceeded",
			"This model's maximum context length is 8192 tokens. However, your messages resulted in 10031 tokens. Please reduce the length of the messages.",
			true,
		},
		"OpenAI, by type": {400, "context_length_exceeded", "", true},
		"OpenAI, window": {
			400, "invalid_request_error",
			"Your input exceeds the context window of this model. Please adjust your input and try again.", true,
		},
		"OpenAI, configured": {
			400, "invalid_request_error",
			"Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300010 tokens. Please reduce the length of the messages.",
			true,
		},
		"OpenAI, with answer": {
			400, "invalid_request_error",
			"This model's maximum context length is 4097 tokens, however you requested 4927 tokens (3927 in your prompt; 1000 for the completion). Please reduce your prompt; or completion length.",
			true,
		},
		"OpenAI, in a stream": {
			0, "context_length_exceeded", "Your input exceeds the context window of this model.", true,
		},
		"in a stream, no type": {
			0, "", "This model's maximum context length is 8192 tokens. However, your messages resulted in 10031 tokens.", true,
		},
		"Anthropic": {400, "invalid_request_error", "prompt is too long: 213462 tokens > 200000 maximum", true},
		"Anthropic, with answer": {
			400, "invalid_request_error",
			"input length and `max_tokens` exceed context limit: 199758 + 8192 > 200000, decrease input length or `max_tokens` and try again",
			true,
		},
		"Anthropic, bytes": {413, "request_too_large", "Request exceeds the maximum size", true},
		"Google": {
			400, "INVALID_ARGUMENT", "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
			true,
		},
		"vLLM": {
			400, "BadRequestError",
			"This model's maximum context length is 4096 tokens. However, you requested 5033 tokens in the messages, Please reduce the length of the messages.",
			true,
		},
		"vLLM, newer": {
			400, "BadRequestError",
			"You passed 5001 input tokens and requested 128 output tokens. However, the model's context length is only 4096 tokens, resulting in a maximum input length of 3968 tokens.",
			true,
		},
		"vLLM, decoder": {
			400, "BadRequestError",
			"The decoder prompt (length 5001) is longer than the maximum model length of 4096. Make sure that `max_model_len` is no smaller than the number of text tokens.",
			true,
		},
		"llama.cpp": {
			400, "exceed_context_size_error",
			"the request exceeds the available context size. try increasing the context size or enable context shift", true,
		},
		"llama.cpp, newer": {
			400, "exceed_context_size_error",
			"request (14429 tokens) exceeds the available context size (8192 tokens), try increasing it", true,
		},
		"Ollama":        {400, "", "prompt too long; exceeded max context length by 4021 tokens", true},
		"Ollama, input": {400, "api_error", "the input length exceeds the context length", true},
		"OpenRouter": {
			400, "",
			"This endpoint's maximum context length is 131072 tokens. However, you requested about 140123 tokens (139000 of text input, 1123 in the output). Please reduce the length of either one, or use the \"middle-out\" transform to compress your prompt automatically.",
			true,
		},
		"LM Studio": {
			400, "",
			"Trying to keep the first 5391 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.",
			true,
		},
		"LM Studio, older": {
			400, "", "The number of tokens to keep from the initial prompt is greater than the context length.", true,
		},
		"Groq": {400, "context_length_exceeded", "Please reduce the length of the messages or completion.", true},
		"xAI":  {400, "", "This model's maximum prompt length is 131072 but the request contains 537812 tokens.", true},
		"Mistral": {
			400, "", "Prompt contains 40212 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
			true,
		},
		"Bedrock": {400, "ValidationException", "Input is too long for requested model.", true},
		"TGI": {
			422, "validation",
			"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5391 `inputs` tokens and 100 `max_new_tokens`",
			true,
		},
		"TGI, input": {
			422, "validation", "Input validation error: `inputs` must have less than 4095 tokens. Given: 5391", true,
		},

		"OpenAI, max_tokens": {
			400, "invalid_request_error",
			"max_tokens is too large: 100000. This model supports at most 4096 completion tokens, whereas you provided 100000.",
			false,
		},
		"Anthropic, max_tokens": {
			400, "invalid_request_error",
			"max_tokens: 10000 > 8192, which is the maximum allowed number of output tokens for claude-3-5-sonnet-20241022",
			false,
		},
		"vLLM, max_tokens": {
			400, "BadRequestError",
			"'max_tokens' or 'max_completion_tokens' is too large: 5000. This model's maximum context length is 4096 tokens and your request has 200 input tokens (5000 > 4096 - 200).",
			false,
		},
		"OpenAI, throttle": {
			429, "rate_limit_exceeded",
			"Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Requested 31000. The input or output tokens must be reduced in order to run successfully.",
			false,
		},
		"Groq, throttle": {
			413, "rate_limit_exceeded",
			"Request too large for model `llama-3.1-8b-instant` in organization `org_x` on tokens per minute (TPM): Limit 6000, Requested 10000, please reduce your message size and try again.",
			false,
		},
		"Anthropic, throttle": {
			429, "rate_limit_error",
			"This request would exceed your organization's rate limit of 40,000 input tokens per minute.", false,
		},
		"Google, throttle": {
			429, "RESOURCE_EXHAUSTED", "You exceeded your current quota, please check your plan and billing details.", false,
		},
		"a throttle as 400":  {400, "rate_limit_exceeded", "Please reduce the length of the messages.", false},
		"other 400":          {400, "invalid_request_error", "Invalid value for 'temperature'", false},
		"server error":       {500, "context_length_exceeded", "maximum context length", false},
		"no room at the inn": {503, "", "prompt is too long", false},
		"proxy":              {413, "", "<html><head><title>413 Request Entity Too Large</title></head>", false},
		"cut stream":         {0, "", "the answer ended without a finish", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			e := Classify(&spool.ModelError{Status: c.status, Type: c.kind, Message: c.text})
			if e.ContextOverflow != c.want {
				t.Errorf("got %t for %v", !c.want, e)
			}
			if c.want && !e.Permanent() {
				t.Error("it is not permanent")
			}
		})
	}
}

// An error in a stream has no status that says whether the same request can succeed.
func TestRefusedInTheStream(t *testing.T) {
	t.Parallel()

	for kind, want := range map[string]bool{
		"invalid_request_error": true, "BadRequestError": true, "authentication_error": true,
		"server_error": false, "overloaded_error": false, "": false,
	} {
		if e := Classify(&spool.ModelError{Type: kind, Message: "no"}); e.Permanent() != want {
			t.Errorf("%q: permanent %t", kind, !want)
		}
	}
	if e := Classify(&spool.ModelError{Status: 429, Type: "invalid_request_error"}); e.Permanent() {
		t.Error("a rate limit is permanent")
	}
}
