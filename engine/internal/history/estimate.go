package history

import (
	"encoding/json"
	"math"

	"github.com/spoolhq/spool"
)

const (
	// imageTokens is what an image counts as. Providers count between a hundred and two
	// thousand, by size and detail.
	imageTokens = 1_500
	// guessedBytes is how many bytes of UTF-8 a token has where nothing was counted yet.
	// Tokenizers were measured at two to seven over the scripts of the world, which is closer
	// together than characters are, and a small guess compacts early rather than late.
	guessedBytes = 3
	// maxBytes bounds what is learned from a count. A count implies more where a server counts only
	// what it has not cached.
	maxBytes = 10
	// messageBytes is what stands around a message, toolBytes around a tool or a call.
	messageBytes, toolBytes = 12, 24
)

// Weight is what a prompt consists of.
type Weight struct{ Bytes, Images int64 }

func (w *Weight) Add(o Weight) {
	w.Bytes += o.Bytes
	w.Images += o.Images
}

// Weigh returns the weight of all that a model is asked.
func Weigh(r spool.ModelRequest) Weight {
	w := WeighAround(r)
	w.Add(weighMessages(r.Messages))
	return w
}

// WeighAround returns the weight of a request without its messages.
func WeighAround(r spool.ModelRequest) Weight {
	w := Weight{Bytes: int64(len(r.Instructions))}
	for _, t := range r.Tools {
		w.Bytes += int64(len(t.Name)+len(t.Description)+len(t.Parameters)) + toolBytes
	}
	return w
}

func weighMessages(messages []spool.Message) (w Weight) {
	for _, m := range messages {
		w.Add(weighMessage(m))
	}
	return w
}

func weighMessage(m spool.Message) Weight {
	w := Weight{Bytes: messageBytes}
	for _, p := range m.Content {
		switch p.Type {
		case spool.PartText, spool.PartSummary:
			w.Bytes += int64(len(p.Text))
		case spool.PartReasoning:
			if p.Provider != nil { // else it is not sent again
				w.Bytes += int64(len(p.Text))
			}
		case spool.PartImage:
			w.Images++
		case spool.PartToolCall:
			w.Bytes += int64(len(p.ToolName)+len(p.Args)) + toolBytes
		case spool.PartToolResult:
			w.Bytes += textLen(p.Result) + toolBytes
		}
	}
	return w
}

// textLen returns about how long the text of a result is, without the escapes of JSON.
func textLen(raw json.RawMessage) int64 {
	if len(raw) < 2 || raw[0] != '"' {
		return int64(len(raw))
	}
	n := int64(0)
	for i := 1; i < len(raw)-1; i++ {
		n++
		if raw[i] != '\\' {
			continue
		}
		i++
		if raw[i] == 'u' {
			i += 4
			n++
		}
	}
	return n
}

// Meter turns weights into tokens by what a provider has counted last.
type Meter struct {
	counted Weight
	Tokens  int64 // of what was counted
	perByte float64
}

// NewMeter returns a meter by a count, nil for none.
func NewMeter(c *spool.ContextCount) Meter {
	if c == nil || c.Tokens <= 0 || c.Bytes <= 0 {
		return Meter{perByte: 1.0 / guessedBytes}
	}
	m := Meter{counted: Weight{c.Bytes, c.Images}, Tokens: c.Tokens}
	m.perByte = min(max(float64(c.Tokens-c.Images*imageTokens)/float64(c.Bytes), 1.0/maxBytes), 1)
	return m
}

// Of returns the tokens of a prompt: of one that has grown since the last count, what was
// counted and an estimate of what has come.
func (m Meter) Of(w Weight) int64 {
	n := m.Part(w)
	if m.Tokens > 0 && w.Bytes >= m.counted.Bytes && w.Images >= m.counted.Images {
		grown := m.Part(Weight{w.Bytes - m.counted.Bytes, w.Images - m.counted.Images})
		return max(m.Tokens, int64(float64(m.counted.Bytes)/maxBytes)) + grown
	}
	return n
}

// Part returns the tokens of a part of a prompt.
func (m Meter) Part(w Weight) int64 {
	return int64(math.Ceil(float64(w.Bytes)*m.perByte)) + w.Images*imageTokens
}

// bytes returns how many bytes of text have room in that many tokens.
func (m Meter) bytes(tokens int64) int {
	return int(float64(max(tokens, 0)) / m.perByte)
}
