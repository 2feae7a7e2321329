package history

import (
	"encoding/json"
	"math"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/toolresult"
	"github.com/spoolhq/spool/internal/filepart"
)

const (
	// imageTokens is the estimate for an image. Providers count between a hundred and two thousand
	// tokens, depending on size and detail.
	imageTokens = 1_500
	// guessedBytes is the estimated number of UTF-8 bytes per token before the first count. Across the
	// world's scripts, tokenizers use two to seven bytes per token; characters per token vary more. A
	// small estimate compacts too early rather than too late.
	guessedBytes = 3
	// maxBytes bounds the bytes per token that a count implies, because some servers do not count
	// cached tokens.
	maxBytes = 10
	// fileImages is how many images the smallest file counts as. A page of a PDF has about as many tokens as an
	// image.
	fileImages = 4
	// bytesPerPage is how large a page of a file is assumed to be.
	bytesPerPage = 64 << 10
	// messageBytes is the overhead of a message, and toolBytes the overhead of a tool or a call.
	messageBytes, toolBytes = 12, 24
)

// Weight is the size of a prompt.
type Weight struct{ Bytes, Images int64 }

func (w *Weight) Add(o Weight) {
	w.Bytes += o.Bytes
	w.Images += o.Images
}

// Weigh returns the weight of a whole request.
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
			w.Bytes += int64(len(p.Text)) + dataBytes(p)
		case spool.PartReasoning:
			if p.Provider != nil { // other reasoning is not sent again
				w.Bytes += max(int64(len(p.Text)), dataBytes(p))
			}
		case spool.PartProvider:
			w.Bytes += dataBytes(p)
		case spool.PartImage:
			w.Images++
		case spool.PartFile:
			if filepart.IsText(filepart.KindOf(p)) && filepart.IsData(p.File) {
				w.Bytes += int64(len(p.File)) * 3 / 4
				continue
			}
			w.Images += max(fileImages, int64(len(p.File)/bytesPerPage))
		case spool.PartToolCall:
			w.Bytes += int64(len(p.ToolName)+len(p.Args)) + toolBytes + dataBytes(p)
		case spool.PartToolResult:
			w.Bytes += textLen(p.Result) + toolBytes
			for _, named := range toolresult.ArtifactsOf(p.Result) {
				if strings.HasPrefix(named.MediaType, "image/") {
					w.Images++
				}
			}
		}
	}
	return w
}

// dataBytes returns the weight of a part's provider data. Most of it is base64 of what the part says, or of the
// reasoning before it.
func dataBytes(p spool.Part) int64 { return int64(len(p.Provider)) * 3 / 4 }

// textLen returns the approximate length of a result's text, without the escapes of JSON.
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

// Meter converts weights to tokens, based on the provider's last count.
type Meter struct {
	counted Weight
	Tokens  int64 // the last count
	perByte float64
}

// NewMeter returns a meter based on a count. A nil count is none.
func NewMeter(c *spool.ContextCount) Meter {
	if c == nil || c.Tokens <= 0 || c.Bytes <= 0 {
		return Meter{perByte: 1.0 / guessedBytes}
	}
	m := Meter{counted: Weight{c.Bytes, c.Images}, Tokens: c.Tokens}
	m.perByte = min(max(float64(c.Tokens-c.Images*imageTokens)/float64(c.Bytes), 1.0/maxBytes), 1)
	return m
}

// Of returns the tokens of a prompt. If the prompt has grown since the last count, the result is that
// count plus an estimate of the growth.
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

// bytes returns how many bytes of text fit into a number of tokens.
func (m Meter) bytes(tokens int64) int {
	return int(float64(max(tokens, 0)) / m.perByte)
}
