package history

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/toolresult"
	"github.com/spoolhq/spool/internal/filepart"
	"github.com/spoolhq/spool/internal/tokenguess"
	"github.com/spoolhq/spool/store"
)

const (
	// imageTokens is the estimate for an image. Providers count between a hundred and two thousand
	// tokens, depending on size and detail.
	imageTokens = 1_500
	// guessedBytes is how many bytes of a weight are a token before the first count.
	guessedBytes = 3
	// maxBytes bounds the bytes per token that a count implies, because some servers do not count
	// cached tokens.
	maxBytes = 10
	// leastDenied is the smallest estimate, in tokens, that can tell that a count is wrong. What providers add to a
	// short prompt, or leave out of it, weighs too much.
	leastDenied = 2_000
	// fileImages is how many images the smallest file counts as. A page of a PDF has about as many tokens as an
	// image.
	fileImages = 4
	// bytesPerPage is how large a page of a file is assumed to be.
	bytesPerPage = 64 << 10
	// messageBytes is the overhead of a message, and toolBytes the overhead of a tool or a call.
	messageBytes, toolBytes = 12, 24
)

// Weight is the size of a prompt.
type Weight struct {
	// Bytes is the size of the texts. A text weighs as many bytes as ordinary prose with the tokens that it is estimated
	// to have: guessedBytes for each.
	Bytes int64
	// Images counts the images.
	Images int64
	// PlainBytes is the part of Bytes that every provider reads as it is: neither tools nor provider data.
	PlainBytes int64
}

func (w *Weight) Add(o Weight) {
	w.Bytes += o.Bytes
	w.Images += o.Images
	w.PlainBytes += o.PlainBytes
}

// without returns the weight of a prompt that loses a part.
func without(w, part Weight) Weight {
	return Weight{Bytes: w.Bytes - part.Bytes, Images: w.Images - part.Images, PlainBytes: w.PlainBytes - part.PlainBytes}
}

// addPlain adds texts that every provider reads as they are.
func (w *Weight) addPlain(bytes int64) {
	w.Bytes += bytes
	w.PlainBytes += bytes
}

// Denies reports whether a provider's count of the prompt cannot be true: it is less than half of the estimate. Some
// servers count only what was not cached, and some cut a long prompt silently.
func (w *Weight) Denies(tokens int64) bool {
	plain := w.PlainBytes / guessedBytes
	return plain >= leastDenied && tokens < plain/2
}

// size returns the weight of a text.
func size(text string) int64 { return tokenguess.Of(text) * guessedBytes }

// Weigh returns the weight of a whole request.
func Weigh(r spool.ModelRequest) Weight {
	w := WeighAround(r)
	w.Add(weighMessages(r.Messages))
	return w
}

// WeighAround returns the weight of a request without its messages.
func WeighAround(r spool.ModelRequest) Weight {
	var w Weight
	w.addPlain(size(r.Instructions))
	for _, t := range r.Tools {
		w.Bytes += size(t.Name) + size(t.Description) + size(string(t.Parameters)) + toolBytes
	}
	return w
}

// Around knows the weight of the last request without its messages. The requests of a loop mostly differ in these.
type Around struct {
	last   spool.ModelRequest
	weight Weight
}

// Weigh does the same as [WeighAround].
func (a *Around) Weigh(r spool.ModelRequest) Weight {
	same := func(x, y spool.ToolSpec) bool {
		return x.Name == y.Name && x.Description == y.Description && bytes.Equal(x.Parameters, y.Parameters)
	}
	if a.weight == (Weight{}) || a.last.Instructions != r.Instructions || !slices.EqualFunc(a.last.Tools, r.Tools, same) {
		a.last = spool.ModelRequest{Instructions: r.Instructions, Tools: r.Tools}
		a.weight = WeighAround(r)
	}
	return a.weight
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
			w.addPlain(size(p.Text))
			w.Bytes += dataBytes(p)
		case spool.PartReasoning:
			if p.Provider != nil { // other reasoning is not sent again
				w.Bytes += max(size(p.Text), dataBytes(p))
			}
		case spool.PartProvider:
			w.Bytes += dataBytes(p)
		case spool.PartImage:
			w.Images++
		case spool.PartFile:
			if filepart.IsText(filepart.KindOf(p)) && filepart.IsData(p.File) {
				if text, ok := filepart.Text(p); ok {
					w.addPlain(size(text))
				} else {
					w.Bytes += int64(len(p.File)) * 3 / 4
				}
				continue
			}
			w.Images += max(fileImages, int64(len(p.File)/bytesPerPage))
		case spool.PartToolCall:
			w.addPlain(size(p.ToolName) + size(string(p.Args)))
			w.Bytes += toolBytes + dataBytes(p)
		case spool.PartToolResult:
			w.addPlain(size(resultText(p.Result)))
			w.Bytes += toolBytes
			for _, named := range toolresult.ArtifactsOf(p.Result) {
				if strings.HasPrefix(named.MediaType, "image/") {
					w.Images++
				}
			}
		}
	}
	return w
}

// Written returns the estimated tokens of a part that a model has written, its reasoning and provider data included.
func Written(p spool.Part) int64 {
	tokens := tokenguess.Of(p.Text)
	if p.Type == spool.PartToolCall {
		tokens += tokenguess.Of(p.ToolName) + tokenguess.Of(string(p.Args)) + toolBytes/guessedBytes
	}
	return max(tokens, (dataBytes(p)+guessedBytes-1)/guessedBytes)
}

// dataBytes returns the weight of a part's provider data. Most of it is base64 of what the part says, or of the
// reasoning before it.
func dataBytes(p spool.Part) int64 { return int64(len(p.Provider)) * 3 / 4 }

// resultText returns a result as models read it: a text without the escapes of JSON, and other JSON as it is.
func resultText(raw json.RawMessage) string {
	var text string
	if len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

// Meter converts weights to tokens, based on the provider's last count.
type Meter struct {
	counted Weight
	Tokens  int64 // the last count
	perByte float64
}

// NewMeter returns a meter based on a count. Nil: nothing was counted yet.
func NewMeter(c *store.ContextCount) Meter {
	if c == nil || c.Tokens <= 0 || c.Bytes <= 0 {
		return Meter{perByte: 1.0 / guessedBytes}
	}
	m := Meter{counted: Weight{Bytes: c.Bytes, Images: c.Images}, Tokens: c.Tokens}
	m.perByte = min(max(float64(c.Tokens-c.Images*imageTokens)/float64(c.Bytes), 1.0/maxBytes), 1)
	return m
}

// Of returns the tokens of a prompt. If the prompt has grown since the last count, the result is that
// count plus an estimate of the growth.
func (m Meter) Of(w Weight) int64 {
	n := m.Part(w)
	if m.Tokens > 0 && w.Bytes >= m.counted.Bytes && w.Images >= m.counted.Images {
		grown := m.Part(Weight{Bytes: w.Bytes - m.counted.Bytes, Images: w.Images - m.counted.Images})
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
