package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/finishword"
	"github.com/spoolhq/spool/internal/openaiwire"
	"github.com/spoolhq/spool/internal/sse"
	"github.com/spoolhq/spool/internal/surrogate"
)

const (
	// maxEvent bounds the size of a chunk, and of a whole answer that is not streamed.
	maxEvent = 8 << 20
	// maxBuffered bounds the size of the calls and reasoning details that are buffered until the end of
	// an answer, because the engine can bound only what it has seen. callWeight is the size of a call
	// without its arguments.
	maxBuffered = 8 << 20
	callWeight  = 4 << 10

	done = "[DONE]"
)

// errStopped says that the caller stopped iterating.
var errStopped = errors.New("stopped iterating")

// errBufferFull ends an answer when it exceeds maxBuffered.
var errBufferFull = errors.New("the answer is too long")

// Stream asks for one answer, as described in [spool.Model]. It makes one request, and another one only after the
// server has refused a field that servers differ in: see docs/design/0036-fields-that-a-server-refuses.md.
func (m *Model) Stream(ctx context.Context, r spool.ModelRequest) iter.Seq2[spool.ModelEvent, error] {
	return func(yield func(spool.ModelEvent, error) bool) {
		emit := surrogate.Joined(func(event spool.ModelEvent) error {
			if !yield(event, nil) {
				return errStopped
			}
			return nil
		})
		err := m.stream(ctx, r, emit)
		if err == nil || errors.Is(err, errStopped) {
			return
		}
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		yield(nil, err)
	}
}

func (m *Model) stream(ctx context.Context, r spool.ModelRequest, emit func(spool.ModelEvent) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	conn := m.conn.With(r.Extra)
	in, request, err := m.ask(ctx, conn, r)
	if err != nil {
		return err
	}
	defer in.Close()
	if request.withheld {
		if err := emit(spool.FilesWithheld{Text: notShown}); err != nil {
			return err
		}
	}
	a := &answer{model: m, conn: conn, modelID: m.config.Model}
	o := m.output(r, *m.form.Load())
	a.emit = o.events(emit)
	if o.tool != "" {
		a.calls.tools = append(a.calls.tools, o.tool)
	}
	if !m.tags {
		a.tags.state = tagNone
	}
	for _, tool := range r.Tools {
		a.calls.tools = append(a.calls.tools, tool.Name)
	}
	a.choices = r.Extra["n"] != nil || m.config.Extra["n"] != nil
	if in.Whole {
		return a.whole(in)
	}
	return a.events(in)
}

// ask makes the request, in another form if the server refuses a field of it.
func (m *Model) ask(
	ctx context.Context, conn *openaiwire.Conn, r spool.ModelRequest,
) (*openaiwire.Answer, sent, error) {
	var changes []change
	begun := *m.form.Load()
	for f := begun; ; {
		body, sent, err := m.body(r, f)
		if err != nil {
			return nil, sent, &spool.ModelError{Status: http.StatusBadRequest, Message: "encode request", Err: err}
		}
		in, err := conn.Open(ctx, http.MethodPost, m.url, body)
		if err == nil {
			m.learn(changes)
			return in, sent, nil
		}
		c, ok := f.refused(begun, sent, err)
		if !ok || len(changes) == maxChanges {
			return nil, sent, err
		}
		changes = append(changes, c)
		c.apply(&f)
	}
}

// events reads a streamed answer.
func (a *answer) events(in *openaiwire.Answer) error {
	reader := sse.NewReader(in, maxEvent)
	for {
		event, err := reader.Next()
		switch {
		case err == nil && event.Data == done:
			in.Drain()
			return a.finish(true)
		case err == nil:
			if err := a.add(event.Data); errors.Is(err, errBufferFull) {
				return a.finish(false)
			} else if err != nil {
				return err
			}
			continue
		case a.reason != "" && in.Ended() == nil:
			// Only the end mark, and perhaps the usage, is missing.
			return a.finish(false)
		case errors.Is(err, io.EOF):
			return a.finish(false)
		default:
			return in.Err(err)
		}
	}
}

// whole reads the answer of a server that does not stream although the request asked for it.
func (a *answer) whole(in *openaiwire.Answer) error {
	body, err := in.All(maxEvent)
	if err != nil {
		return err
	}
	if err := a.add(string(body)); err != nil && !errors.Is(err, errBufferFull) {
		return err
	}
	return a.finish(true)
}

// answer turns chunks into events.
type answer struct {
	model *Model
	conn  *openaiwire.Conn
	emit  func(spool.ModelEvent) error

	read    chunk // reused for each chunk
	modelID string
	reason  string
	usage   spool.Usage
	cost    *spool.Cost
	calls   calls
	details details
	// reasoning is true while a block of reasoning is open.
	reasoning bool
	// refused is true after a piece of the model's refusal to answer.
	refused bool
	// answered is true after a piece of the answer, or its usage.
	answered bool
	// choices is true if the request may have asked for several choices. The answer is the first one.
	choices bool
	tags    tags
	// tagged is true after reasoning between tags of the text.
	tagged bool
	// results and citations are the sources that the server lists beside the answer.
	results, citations []json.RawMessage
}

func (a *answer) add(data string) error {
	a.read = chunk{Choices: a.read.Choices[:0]}
	if !a.read.plain(data) {
		a.read = chunk{}
		if err := json.Unmarshal([]byte(data), &a.read); err != nil {
			// Broken JSON may be an accident, but JSON of another form is what the server sends each time.
			return &spool.ModelError{
				Message: "malformed chunk: " + a.conn.Clean(data), Err: err, NoRetry: json.Valid([]byte(data)),
			}
		}
	}
	c := &a.read
	if err := chunkError(a.conn, c); err != nil {
		return err
	}
	if c.Model != "" && string(c.Model) != a.modelID {
		a.modelID = strings.Clone(string(c.Model))
	}
	a.calls.chunk++
	for _, choice := range c.Choices {
		// Foundry Local counts the index up with each chunk.
		if choice.Index != 0 && (a.choices || len(c.Choices) > 1) {
			continue
		}
		if err := a.choice(choice); err != nil {
			return err
		}
	}
	a.listed(c)
	u := c.Usage
	if u == nil {
		u = c.XGroq.v.Usage
	}
	if u == nil || u.none {
		return nil
	}
	a.answered = true
	a.usage, a.cost = u.usage(a.model.fromTotal), u.receipt(a.model.config.ReceiptCurrency)
	return a.emit(spool.UsageSeen{Usage: a.usage, Cost: a.cost})
}

func (a *answer) choice(c choice) error {
	d := c.Delta
	if d == nil || d.empty() && !a.answered { // a server may send the whole text again, in a message beside the delta
		d = c.Message
	}
	if d != nil {
		if err := a.delta(d); err != nil {
			return err
		}
	}
	if c.FinishReason != "" {
		a.reason = strings.Clone(string(c.FinishReason))
	}
	return nil
}

func (a *answer) delta(d *delta) error {
	a.answered = a.answered || !d.empty()
	if err := a.addReasoning(d); err != nil {
		return err
	}
	a.refused = a.refused || d.Refusal != ""
	if err := a.addText(d.Content.text + string(d.Refusal)); err != nil {
		return err
	}
	if err := a.addImages(d); err != nil {
		return err
	}
	if err := a.annotations(d.Annotations.v); err != nil {
		return err
	}
	for _, call := range d.ToolCalls {
		if err := a.endReasoning(); err != nil {
			return err
		}
		for _, event := range a.calls.add(call) {
			if err := a.emit(event); err != nil {
				return err
			}
		}
		if err := a.checkBuffer(); err != nil {
			return err
		}
	}
	return nil
}

// addText emits a piece of the content: text, or reasoning between tags.
func (a *answer) addText(piece string) error {
	if piece == "" {
		return nil
	}
	thought, text := a.tags.add(piece)
	a.tagged = a.tagged || thought != ""
	return a.emitText(thought, text)
}

func (a *answer) emitText(thought, text string) error {
	if err := a.emitReasoning(thought); err != nil || text == "" {
		return err
	}
	if err := a.endReasoning(); err != nil {
		return err
	}
	return a.emit(spool.TextDelta{Text: text})
}

// checkBuffer returns an error if the buffered calls and details are too large.
func (a *answer) checkBuffer() error {
	if a.calls.bytes+a.details.bytes <= maxBuffered {
		return nil
	}
	a.reason = "length"
	return errBufferFull
}

// addReasoning emits the reasoning of a delta. A server that sends details repeats their text in
// another field.
func (a *answer) addReasoning(d *delta) error {
	text := string(cmp.Or(d.ReasoningContent, d.Reasoning)) + d.Content.thought
	var fromDetails strings.Builder
	for _, raw := range d.ReasoningDetails.v {
		fromDetails.WriteString(a.details.add(raw))
		if err := a.checkBuffer(); err != nil {
			return err
		}
	}
	if text == "" {
		text = fromDetails.String()
	}
	return a.emitReasoning(text)
}

func (a *answer) emitReasoning(text string) error {
	if text == "" {
		return nil
	}
	a.reasoning = true
	return a.emit(spool.ReasoningDelta{Text: text})
}

func (a *answer) endReasoning() error {
	if !a.reasoning {
		return nil
	}
	a.reasoning = false
	return a.emit(spool.ReasoningEnd{Provider: a.model.save(a.details.drain())})
}

// finish emits the end of an answer. It returns an error if the server gave no finish reason, unless it said that
// nothing is missing: by [DONE], or because the answer came as a whole.
func (a *answer) finish(whole bool) error {
	class := finishword.Of(a.reason)
	switch {
	case a.reason == "" && whole && a.answered:
		class = finishword.End
	case a.reason == "":
		return &spool.ModelError{Message: "the answer ended without a finish reason", Err: io.ErrUnexpectedEOF}
	case class == finishword.Broken:
		return &spool.ModelError{
			Message: "the server broke the answer off: " + a.conn.Clean(a.reason), Type: a.conn.Clean(a.reason),
		}
	}
	if err := a.emitText(a.tags.end()); err != nil {
		return err
	}
	if err := a.endReasoning(); err != nil {
		return err
	}
	ends := a.calls.end(a.model.save)
	for _, event := range ends {
		if err := a.emit(event); err != nil {
			return err
		}
	}
	// Emit details without a text, such as encrypted reasoning after a tool call.
	if provider := a.model.save(a.details.drain()); provider != nil {
		if err := a.emit(spool.ReasoningEnd{Provider: provider}); err != nil {
			return err
		}
	}
	if err := a.emitListed(); err != nil {
		return err
	}
	reason := finishReason(class, a.reason, len(ends) > 0)
	if reason == spool.FinishStop && a.refused {
		reason = spool.FinishFilter
	}
	return a.emit(spool.Finish{Reason: reason, Usage: a.usage, Cost: a.cost, ModelID: a.modelID})
}

// finishReason returns the reason for a server's word. Some servers say "stop" after tool calls, and some say
// "tool_calls" without a call. The calls of an unknown word are whole, because the server ended the answer.
func finishReason(class finishword.Class, word string, called bool) spool.FinishReason {
	switch class {
	case finishword.Limit:
		return spool.FinishLength
	case finishword.Filter:
		return spool.FinishFilter
	case finishword.End, finishword.Calls, finishword.Unknown, finishword.Broken:
	}
	switch {
	case called:
		return spool.FinishToolCalls
	case class == finishword.Unknown:
		return spool.FinishReason(word)
	default:
		return spool.FinishStop
	}
}
