package responses

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/lenient"
	"github.com/spoolhq/spool/internal/openaiwire"
	"github.com/spoolhq/spool/internal/plainjson"
	"github.com/spoolhq/spool/internal/surrogate"
)

// event is one event of a stream. Each type of event has some of the fields.
//
//nolint:tagliatelle // the provider's words
type event struct {
	Type string `json:"type"`
	// Sequence is the event's number in its response, if the server counts.
	Sequence lenient.Count   `json:"sequence_number"`
	Response json.RawMessage `json:"response"`
	// ItemID is the id of the item that a piece belongs to.
	ItemID       string          `json:"item_id"`
	OutputIndex  lenient.Count   `json:"output_index"`
	SummaryIndex int             `json:"summary_index"`
	Item         json.RawMessage `json:"item"`
	Delta        surrogate.Text  `json:"delta"`
	Annotation   json.RawMessage `json:"annotation"`

	openaiwire.Failure

	// counts are what Sequence and OutputIndex point to if plain has read them, so that no event allocates them.
	counts [2]int64
}

// response is the state of an answer.
//
//nolint:tagliatelle // the provider's words
type response struct {
	ID     string `json:"id"`
	Model  string `json:"model"`
	Status string `json:"status"`
	// Output is the list of the items so far.
	Output            json.RawMessage `json:"output"`
	Usage             *usage          `json:"usage"`
	IncompleteDetails *struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`

	openaiwire.Failure
}

// items returns the items of the output.
func (r *response) items() (list []json.RawMessage, err error) {
	if len(r.Output) > 0 {
		err = json.Unmarshal(r.Output, &list)
	}
	return list, err
}

// The states in which a response goes on. It ends in any other.
const (
	statusQueued     = "queued"
	statusInProgress = "in_progress"
)

// statusIncomplete is the state of a response or of an item that the provider cut.
const statusIncomplete = "incomplete"

//nolint:tagliatelle // the provider's words
type usage struct {
	InputTokens  lenient.Count `json:"input_tokens"`
	OutputTokens lenient.Count `json:"output_tokens"`
	InputDetails struct {
		CachedTokens     lenient.Count `json:"cached_tokens"`
		CacheWriteTokens lenient.Count `json:"cache_write_tokens"`
	} `json:"input_tokens_details"`
	OutputDetails struct {
		ReasoningTokens lenient.Count `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
}

// usage returns the reported counts. Counts that were not reported are nil.
func (u *usage) usage() spool.Usage {
	if u == nil {
		return spool.Usage{}
	}
	return spool.Usage{
		Input: u.InputTokens.N, Output: u.OutputTokens.N, Reasoning: u.OutputDetails.ReasoningTokens.N,
		CacheRead: u.InputDetails.CachedTokens.N, CacheWrite: u.InputDetails.CacheWriteTokens.N,
	}
}

// output is an item of an answer.
//
//nolint:tagliatelle // the provider's words
type output struct {
	Type      string         `json:"type"`
	ID        string         `json:"id"`
	Status    string         `json:"status"`
	CallID    string         `json:"call_id"`
	Name      string         `json:"name"`
	Arguments surrogate.Text `json:"arguments"`
	Phase     string         `json:"phase"`
	Summary   pieces         `json:"summary"`
	// Content is the content of a message or of reasoning.
	Content pieces `json:"content"`
}

// pieces are the parts of an item.
type pieces []piece

type piece struct {
	Type    string         `json:"type"`
	Text    surrogate.Text `json:"text"`
	Refusal surrogate.Text `json:"refusal"`
	// Annotations are the sources of the text.
	Annotations lenient.List `json:"annotations"`
}

// UnmarshalJSON accepts any JSON. Some servers send a text in place of the parts.
func (p *pieces) UnmarshalJSON(raw []byte) error {
	*p = nil
	var list []json.RawMessage
	switch {
	case raw[0] == '"':
		*p = pieces{{Text: surrogate.Text(surrogate.Decode(raw))}}
	case json.Unmarshal(raw, &list) == nil:
		for _, each := range list {
			var one piece
			if lenient.Object(each, &one) != nil {
				one.Text = surrogate.Text(surrogate.Decode(each))
			}
			*p = append(*p, one)
		}
	}
	return nil
}

// pause stands between two parts of a reasoning, whose summaries have headings.
const pause = "\n\n"

// text returns the whole text of a message or of a reasoning.
func (o output) text() string {
	pieces, between := o.Content, ""
	if o.Type == "reasoning" {
		between = pause
		if len(o.Summary) > 0 {
			pieces = o.Summary
		}
	}
	texts := make([]string, len(pieces))
	for i, p := range pieces {
		texts[i] = string(p.Text + p.Refusal)
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
	return lenient.Object([]byte(data), e)
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
			e.Sequence = count(r, &e.counts[0])
		case "output_index":
			e.OutputIndex = count(r, &e.counts[1])
		case "summary_index":
			e.SummaryIndex = number(r)
		case "item_id":
			e.ItemID = r.Str()
		case "content_index", "obfuscation":
			r.Scalar()
		case "logprobs":
			r.None()
		case "delta":
			e.Delta = surrogate.Text(r.Str())
		default:
			return false
		}
	}
	return r.End()
}

// count reads a whole number that is not negative into n.
func count(r *plainjson.Reader, n *int64) lenient.Count {
	if *n = int64(number(r)); *n < 0 {
		r.Fail()
	}
	return lenient.Count{N: n}
}

// number reads a whole number.
func number(r *plainjson.Reader) int {
	n, err := strconv.Atoi(r.Scalar())
	if err != nil {
		r.Fail()
	}
	return n
}
