package responses

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/openaiwire"
	"github.com/spoolhq/spool/internal/plainjson"
)

// event is one event of a stream. Each type of event has some of the fields.
//
//nolint:tagliatelle // the provider's words
type event struct {
	Type string `json:"type"`
	// Sequence is the event's number in its response. Nil: the server does not count.
	Sequence     *int64          `json:"sequence_number"`
	Response     *response       `json:"response"`
	OutputIndex  int             `json:"output_index"`
	SummaryIndex int             `json:"summary_index"`
	Item         json.RawMessage `json:"item"`
	Delta        text            `json:"delta"`

	openaiwire.Failure
}

// text is a string. Any other JSON is its own text.
type text string

// UnmarshalJSON accepts any JSON.
func (t *text) UnmarshalJSON(raw []byte) error {
	*t = text(openaiwire.RawText(raw))
	return nil
}

// response is the state of an answer.
//
//nolint:tagliatelle // the provider's words
type response struct {
	ID     string `json:"id"`
	Model  string `json:"model"`
	Status string `json:"status"`
	// Output has the items so far.
	Output            []json.RawMessage `json:"output"`
	Usage             *usage            `json:"usage"`
	IncompleteDetails *struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`

	openaiwire.Failure
}

// The states in which a response goes on. It ends in any other.
const (
	statusQueued     = "queued"
	statusInProgress = "in_progress"
)

//nolint:tagliatelle // the provider's words
type usage struct {
	InputTokens  *int64 `json:"input_tokens"`
	OutputTokens *int64 `json:"output_tokens"`
	InputDetails *struct {
		CachedTokens     *int64 `json:"cached_tokens"`
		CacheWriteTokens *int64 `json:"cache_write_tokens"`
	} `json:"input_tokens_details"`
	OutputDetails *struct {
		ReasoningTokens *int64 `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
}

// usage returns the reported counts. Counts that were not reported are nil.
func (u *usage) usage() spool.Usage {
	if u == nil {
		return spool.Usage{}
	}
	out := spool.Usage{Input: u.InputTokens, Output: u.OutputTokens}
	if d := u.InputDetails; d != nil {
		out.CacheRead, out.CacheWrite = d.CachedTokens, d.CacheWriteTokens
	}
	if d := u.OutputDetails; d != nil {
		out.Reasoning = d.ReasoningTokens
	}
	return out
}

// output is an item of an answer.
//
//nolint:tagliatelle // the provider's words
type output struct {
	Type      string  `json:"type"`
	CallID    string  `json:"call_id"`
	Name      string  `json:"name"`
	Arguments text    `json:"arguments"`
	Phase     string  `json:"phase"`
	Summary   []piece `json:"summary"`
	// Content is that of a message or of reasoning.
	Content []piece `json:"content"`
}

// piece is a part of an item.
type piece struct {
	Type    string `json:"type"`
	Text    string `json:"text"`
	Refusal string `json:"refusal"`
}

// pause stands between two parts of a reasoning, whose summaries have headings.
const pause = "\n\n"

// said returns the whole text of a message or of a reasoning.
func (o output) said() string {
	pieces, between := o.Content, ""
	if o.Type == "reasoning" {
		between = pause
		if len(o.Summary) > 0 {
			pieces = o.Summary
		}
	}
	texts := make([]string, len(pieces))
	for i, p := range pieces {
		texts[i] = p.Text + p.Refusal
	}
	return strings.Join(texts, between)
}

func (o output) refused() bool {
	for _, p := range o.Content {
		if p.Type == "refusal" {
			return true
		}
	}
	return false
}

// kindOf returns the type of an item.
func kindOf(item json.RawMessage) string {
	var o struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(item, &o) != nil {
		return ""
	}
	return o.Type
}

// parse reads an event.
func (e *event) parse(data string) error {
	*e = event{}
	if e.plain(data) {
		return nil
	}
	*e = event{}
	return json.Unmarshal([]byte(data), e)
}

// plain reads an event that has only a piece of a text, as nearly every event of an answer does. It makes one
// pass, without reflection, and returns false for any other event.
func (e *event) plain(data string) bool {
	r := plainjson.New(data)
	var seen plainjson.Fields
	for r.Open('{'); r.More('}'); {
		switch r.Key(&seen) {
		case "type":
			e.Type = r.Str()
		case "sequence_number":
			n := int64(number(r))
			e.Sequence = &n
		case "output_index":
			e.OutputIndex = number(r)
		case "summary_index":
			e.SummaryIndex = number(r)
		case "item_id", "content_index", "obfuscation":
			r.Scalar()
		case "logprobs":
			r.None()
		case "delta":
			e.Delta = text(r.Str())
		default:
			return false
		}
	}
	return r.End()
}

// number reads a whole number.
func number(r *plainjson.Reader) int {
	n, err := strconv.Atoi(r.Scalar())
	if err != nil {
		r.Fail()
	}
	return n
}
