package openai

import (
	"encoding/json"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/openaiwire"
)

// wireMessage is a message of a request. It is a map because Config.ReasoningField names one of its
// fields.
type wireMessage map[string]any

// chunk is one event of an answer, or the whole answer of a server that does not stream.
type chunk struct {
	Model   string   `json:"model"`
	Choices []choice `json:"choices"`
	Usage   *usage   `json:"usage"`
	Object  string   `json:"object"`

	openaiwire.Failure
}

type choice struct {
	Index        int     `json:"index"`
	Delta        *delta  `json:"delta"`
	Message      *delta  `json:"message"`
	FinishReason *string `json:"finish_reason"` //nolint:tagliatelle // the provider's word
}

//nolint:tagliatelle // the provider's words
type delta struct {
	Content          content           `json:"content"`
	Refusal          string            `json:"refusal"`
	Reasoning        string            `json:"reasoning"`
	ReasoningContent string            `json:"reasoning_content"`
	ReasoningDetails []json.RawMessage `json:"reasoning_details"`
	ToolCalls        []callDelta       `json:"tool_calls"`
}

//nolint:tagliatelle // the provider's words
type callDelta struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
	ExtraContent json.RawMessage `json:"extra_content"`
}

// args returns the fragment of the arguments. Some servers send an object instead of text.
func (c callDelta) args() string { return openaiwire.RawText(c.Function.Arguments) }

// content is the text of a delta. Most servers send a string; some send a list of parts.
type content string

// UnmarshalJSON accepts any JSON. For an object, number or boolean, the text is its JSON.
func (c *content) UnmarshalJSON(raw []byte) error {
	if raw[0] != '[' {
		*c = content(openaiwire.RawText(raw))
		return nil
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		parts = nil
	}
	var text strings.Builder
	for _, p := range parts {
		if p.Type == "text" {
			text.WriteString(p.Text)
		}
	}
	*c = content(text.String())
	return nil
}

//nolint:tagliatelle // the provider's words
type usage struct {
	PromptTokens        *int64 `json:"prompt_tokens"`
	CompletionTokens    *int64 `json:"completion_tokens"`
	PromptTokensDetails *struct {
		CachedTokens     *int64 `json:"cached_tokens"`
		CacheWriteTokens *int64 `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionTokensDetails *struct {
		ReasoningTokens *int64 `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
	// PromptCacheHitTokens is DeepSeek's name for cached tokens.
	PromptCacheHitTokens *int64 `json:"prompt_cache_hit_tokens"`
	// Cost is the cost of the answer, as OpenRouter and its imitators report it.
	Cost json.RawMessage `json:"cost"`
}

// usage returns the reported counts. Counts that were not reported are nil.
func (u usage) usage() spool.Usage {
	out := spool.Usage{Input: u.PromptTokens, Output: u.CompletionTokens, CacheRead: u.PromptCacheHitTokens}
	if d := u.PromptTokensDetails; d != nil {
		if d.CachedTokens != nil {
			out.CacheRead = d.CachedTokens
		}
		out.CacheWrite = d.CacheWriteTokens
	}
	if d := u.CompletionTokensDetails; d != nil {
		out.Reasoning = d.ReasoningTokens
	}
	return out
}
