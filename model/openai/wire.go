package openai

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/openaiwire"
)

// wireMessage is a message of a request. It is a map because Config.ReasoningField names one of its
// fields.
type wireMessage map[string]any

// The types of the following structs accept any JSON, except in what carries text and calls: choices, deltas and
// lists of calls. A server that sends a count as a text, or a list where others have an object, loses only that field.

// chunk is one event of an answer, or the whole answer of a server that does not stream.
type chunk struct {
	Model   word     `json:"model"`
	Choices []choice `json:"choices"`
	Usage   *usage   `json:"usage"`
	Object  word     `json:"object"`
	// XGroq is where Groq reports the usage if a request does not ask for it.
	XGroq loose[struct {
		Usage *usage `json:"usage"`
	}] `json:"x_groq"` //nolint:tagliatelle // the provider's word

	// Citations and SearchResults are Perplexity's sources.
	Citations     loose[[]json.RawMessage] `json:"citations"`
	SearchResults loose[[]json.RawMessage] `json:"search_results"` //nolint:tagliatelle // the provider's word

	openaiwire.Failure
}

type choice struct {
	Index        position `json:"index"`
	Delta        *delta   `json:"delta"`
	Message      *delta   `json:"message"`
	FinishReason word     `json:"finish_reason"` //nolint:tagliatelle // the provider's word
}

//nolint:tagliatelle // the provider's words
type delta struct {
	Content          content                  `json:"content"`
	Refusal          word                     `json:"refusal"`
	Reasoning        thought                  `json:"reasoning"`
	ReasoningContent thought                  `json:"reasoning_content"`
	ReasoningDetails loose[[]json.RawMessage] `json:"reasoning_details"`
	ToolCalls        callList                 `json:"tool_calls"`
	// Images are those of OpenRouter, parts of the type image_url.
	Images      loose[[]json.RawMessage] `json:"images"`
	Annotations loose[[]json.RawMessage] `json:"annotations"`
}

// empty reports whether a delta has nothing of an answer.
func (d *delta) empty() bool {
	return d.Content == (content{}) && d.Refusal == "" && d.Reasoning == "" && d.ReasoningContent == "" &&
		len(d.ReasoningDetails.v) == 0 && len(d.ToolCalls) == 0 && len(d.Images.v) == 0
}

//nolint:tagliatelle // the provider's words
type callDelta struct {
	Index    *position       `json:"index"`
	ID       openaiwire.Text `json:"id"`
	Function struct {
		Name openaiwire.Text `json:"name"`
		// Arguments is a fragment. Some servers send an object instead of text.
		Arguments openaiwire.Text `json:"arguments"`
	} `json:"function"`
	ExtraContent json.RawMessage `json:"extra_content"`
}

// callList is a list of calls. Gateways send {}, "" or false for an empty list, and some servers one call without a
// list.
type callList []callDelta

// UnmarshalJSON accepts a list, one call, and what stands for an empty list.
func (l *callList) UnmarshalJSON(raw []byte) error {
	switch string(raw) {
	case "null", `""`, "false": // {} is a call without a name, which is dropped
		return nil
	}
	if raw[0] == '{' {
		*l = make(callList, 1)
		return json.Unmarshal(raw, &(*l)[0])
	}
	return json.Unmarshal(raw, (*[]callDelta)(l))
}

// loose is a value that a server may send in any type. It is zero for another type than T.
type loose[T any] struct{ v T }

// UnmarshalJSON accepts any JSON.
func (l *loose[T]) UnmarshalJSON(raw []byte) error {
	var v T
	if json.Unmarshal(raw, &v) == nil {
		l.v = v
	}
	return nil
}

// word is a text, and empty for a value of another type.
type word string

// UnmarshalJSON accepts any JSON.
func (w *word) UnmarshalJSON(raw []byte) error {
	if raw[0] == '"' {
		*w = word(openaiwire.RawText(raw))
	}
	return nil
}

// position is a place in a list, and zero for what is no number.
type position int

// UnmarshalJSON accepts any JSON.
func (p *position) UnmarshalJSON(raw []byte) error {
	if n := countOf(raw); n != nil {
		*p = position(*n)
	}
	return nil
}

// count is a number of tokens. It is nil for what is no number.
type count struct{ n *int64 }

// UnmarshalJSON accepts any JSON.
func (c *count) UnmarshalJSON(raw []byte) error {
	c.n = countOf(raw)
	return nil
}

// maxCount is the largest count that a float has exactly.
const maxCount = 1 << 53

// countOf returns a number, also of a float or of a text.
func countOf(raw []byte) *int64 {
	text := strings.Trim(string(raw), `"`)
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		float, err := strconv.ParseFloat(text, 64)
		if err != nil || !(math.Abs(float) < maxCount) { // also if it is not a number
			return nil
		}
		n = int64(math.Round(float))
	}
	return &n
}

// content is the text of a delta. Most servers send a string; some send a list of parts, which may be reasoning.
type content struct {
	text, thought string
	// images are the URLs of images, nil for none.
	images *[]string
}

// UnmarshalJSON accepts any JSON. For an object, number or boolean, the text is its JSON.
func (c *content) UnmarshalJSON(raw []byte) error {
	if raw[0] != '[' {
		c.text = openaiwire.RawText(raw)
		return nil
	}
	var parts []json.RawMessage
	if err := json.Unmarshal(raw, &parts); err != nil {
		return err
	}
	for _, raw := range parts {
		if raw[0] == '"' {
			c.text += openaiwire.RawText(raw)
			continue
		}
		var part struct {
			Type word            `json:"type"`
			Text openaiwire.Text `json:"text"`
		}
		if json.Unmarshal(raw, &part) != nil {
			continue
		}
		switch part.Type {
		case "text":
			c.text += string(part.Text)
		case "thinking", "reasoning":
			var t thought
			_ = t.UnmarshalJSON(raw)
			c.thought += string(t)
		case "image_url", "image", "output_image":
			if from := imageURL(raw); from != "" {
				if c.images == nil {
					c.images = new([]string)
				}
				*c.images = append(*c.images, from)
			}
		}
	}
	return nil
}

// thought is a text of reasoning. Most servers send a string; some send an object with a text, or a list.
type thought string

// UnmarshalJSON accepts any JSON. What has no text is empty.
func (t *thought) UnmarshalJSON(raw []byte) error {
	*t = thought(textIn(raw))
	return nil
}

// textIn returns the texts in a value, joined.
func textIn(raw json.RawMessage) string {
	var list []json.RawMessage
	var fields map[string]json.RawMessage
	switch {
	case len(raw) == 0:
	case raw[0] == '"':
		return openaiwire.RawText(raw)
	case json.Unmarshal(raw, &list) == nil:
		var b strings.Builder
		for _, part := range list {
			b.WriteString(textIn(part))
		}
		return b.String()
	case json.Unmarshal(raw, &fields) == nil:
		for _, name := range []string{"text", "content", "thinking", "summary"} {
			if text := textIn(fields[name]); text != "" {
				return text
			}
		}
	}
	return ""
}

// usage is what a server counts.
//
//nolint:tagliatelle // the provider's words
type usage struct {
	PromptTokens        count `json:"prompt_tokens"`
	CompletionTokens    count `json:"completion_tokens"`
	TotalTokens         count `json:"total_tokens"`
	PromptTokensDetails loose[struct {
		CachedTokens     count `json:"cached_tokens"`
		CacheWriteTokens count `json:"cache_write_tokens"`
	}] `json:"prompt_tokens_details"`
	CompletionTokensDetails loose[struct {
		ReasoningTokens count `json:"reasoning_tokens"`
	}] `json:"completion_tokens_details"`
	// PromptCacheHitTokens is DeepSeek's name for cached tokens.
	PromptCacheHitTokens count `json:"prompt_cache_hit_tokens"`
	// Cost is the cost of the answer, as OpenRouter and its imitators report it.
	Cost json.RawMessage `json:"cost"`
	// Ticks is the cost as xAI reports it.
	Ticks json.RawMessage `json:"cost_in_usd_ticks"`

	// none is true for a value that is no object.
	none bool
}

// UnmarshalJSON accepts any JSON.
func (u *usage) UnmarshalJSON(raw []byte) error {
	type plain usage // without this method
	u.none = raw[0] != '{' || json.Unmarshal(raw, (*plain)(u)) != nil
	return nil
}

// usage returns the reported counts. Counts that were not reported are nil. If fromTotal is true, the server's count of
// the output leaves the reasoning out, and its total has it.
func (u *usage) usage(fromTotal bool) spool.Usage {
	out := spool.Usage{Input: u.PromptTokens.n, Output: u.CompletionTokens.n, CacheRead: u.PromptCacheHitTokens.n}
	if cached := u.PromptTokensDetails.v.CachedTokens.n; cached != nil {
		out.CacheRead = cached
	}
	out.CacheWrite = u.PromptTokensDetails.v.CacheWriteTokens.n
	out.Reasoning = u.CompletionTokensDetails.v.ReasoningTokens.n
	if total := u.TotalTokens.n; fromTotal && total != nil && out.Input != nil && out.Output != nil {
		if remaining := *total - *out.Input; remaining > *out.Output {
			out.Output = &remaining
		}
	}
	return out
}
