package engine

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
	// maxBytes bounds what is learned from a count. More is said where a server counts only
	// what it has not cached.
	maxBytes = 10
	// messageBytes is what stands around a message, toolBytes around a tool or a call.
	messageBytes, toolBytes = 12, 24
)

// weight is what a prompt consists of.
type weight struct{ bytes, images int64 }

func (w *weight) add(o weight) {
	w.bytes += o.bytes
	w.images += o.images
}

// weigh returns the weight of all that a model is asked.
func weigh(r spool.ModelRequest) weight {
	w := weighAround(r)
	w.add(weighMessages(r.Messages))
	return w
}

// weighAround returns the weight of a request without its messages.
func weighAround(r spool.ModelRequest) weight {
	w := weight{bytes: int64(len(r.Instructions))}
	for _, t := range r.Tools {
		w.bytes += int64(len(t.Name)+len(t.Description)+len(t.Parameters)) + toolBytes
	}
	return w
}

func weighMessages(messages []spool.Message) (w weight) {
	for _, m := range messages {
		w.add(weighMessage(m))
	}
	return w
}

func weighMessage(m spool.Message) weight {
	w := weight{bytes: messageBytes}
	for _, p := range m.Content {
		switch p.Type {
		case spool.PartText, spool.PartSummary:
			w.bytes += int64(len(p.Text))
		case spool.PartReasoning:
			if p.Provider != nil { // else it is not sent again
				w.bytes += int64(len(p.Text))
			}
		case spool.PartImage:
			w.images++
		case spool.PartToolCall:
			w.bytes += int64(len(p.ToolName)+len(p.Args)) + toolBytes
		case spool.PartToolResult:
			w.bytes += textLen(p.Result) + toolBytes
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

// meter turns weights into tokens by what a provider has counted last.
type meter struct {
	counted weight
	tokens  int64 // of what was counted
	perByte float64
}

// newMeter returns a meter by a count, nil for none.
func newMeter(c *spool.ContextCount) meter {
	if c == nil || c.Tokens <= 0 || c.Bytes <= 0 {
		return meter{perByte: 1.0 / guessedBytes}
	}
	m := meter{counted: weight{c.Bytes, c.Images}, tokens: c.Tokens}
	m.perByte = min(max(float64(c.Tokens-c.Images*imageTokens)/float64(c.Bytes), 1.0/maxBytes), 1)
	return m
}

// of returns the tokens of a prompt: of one that has grown since the last count, what was
// counted and an estimate of what has come.
func (m meter) of(w weight) int64 {
	n := m.part(w)
	if m.tokens > 0 && w.bytes >= m.counted.bytes && w.images >= m.counted.images {
		grown := m.part(weight{w.bytes - m.counted.bytes, w.images - m.counted.images})
		return max(m.tokens, int64(float64(m.counted.bytes)/maxBytes)) + grown
	}
	return n
}

// part returns the tokens of a part of a prompt.
func (m meter) part(w weight) int64 {
	return int64(math.Ceil(float64(w.bytes)*m.perByte)) + w.images*imageTokens
}

// bytes returns how many bytes of text have room in that many tokens.
func (m meter) bytes(tokens int64) int {
	return int(float64(max(tokens, 0)) / m.perByte)
}
