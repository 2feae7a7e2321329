package openai

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/openaiwire"
	"github.com/spoolhq/spool/internal/sse"
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

// Stream asks for one answer, as described in [spool.Model]. It makes exactly one request.
func (m *Model) Stream(ctx context.Context, r spool.ModelRequest) iter.Seq2[spool.ModelEvent, error] {
	return func(yield func(spool.ModelEvent, error) bool) {
		emit := func(event spool.ModelEvent) error {
			if !yield(event, nil) {
				return errStopped
			}
			return nil
		}
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
	body, err := m.body(r)
	if err != nil {
		return &spool.ModelError{Status: http.StatusBadRequest, Message: "encode request", Err: err}
	}
	conn := m.conn.With(r.Extra)
	in, err := conn.Open(ctx, http.MethodPost, m.url, body)
	if err != nil {
		return err
	}
	defer in.Close()
	a := &answer{model: m, conn: conn, emit: m.output(r).events(emit), modelID: m.config.Model}
	if in.Whole {
		return a.whole(in)
	}
	return a.events(in)
}

// events reads a streamed answer.
func (a *answer) events(in *openaiwire.Answer) error {
	reader := sse.NewReader(in, maxEvent)
	for {
		event, err := reader.Next()
		switch {
		case err == nil && event.Data == done:
			in.Drain()
			return a.finish()
		case err == nil:
			if err := a.add(event.Data); errors.Is(err, errBufferFull) {
				return a.finish()
			} else if err != nil {
				return err
			}
			continue
		case a.reason != "" && in.Ended() == nil:
			// Only the end mark, and perhaps the usage, is missing.
			return a.finish()
		case errors.Is(err, io.EOF):
			return a.finish()
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
	return a.finish()
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
}

func (a *answer) add(data string) error {
	a.read = chunk{Choices: a.read.Choices[:0]}
	if !a.read.plain(data) {
		a.read = chunk{}
		if err := json.Unmarshal([]byte(data), &a.read); err != nil {
			return &spool.ModelError{Message: "malformed chunk: " + a.conn.Clean(data), Err: err}
		}
	}
	c := &a.read
	if err := chunkError(a.conn, c); err != nil {
		return err
	}
	if c.Model != "" && c.Model != a.modelID {
		a.modelID = strings.Clone(c.Model)
	}
	a.calls.chunk++
	for _, choice := range c.Choices {
		if choice.Index != 0 {
			continue
		}
		if err := a.choice(choice); err != nil {
			return err
		}
	}
	if c.Usage == nil {
		return nil
	}
	a.usage, a.cost = c.Usage.usage(), receipt(c.Usage.Cost, a.model.config.ReceiptCurrency)
	return a.emit(spool.UsageSeen{Usage: a.usage, Cost: a.cost})
}

func (a *answer) choice(c choice) error {
	for _, d := range []*delta{c.Delta, c.Message} {
		if d == nil {
			continue
		}
		if err := a.delta(*d); err != nil {
			return err
		}
	}
	if c.FinishReason != nil && *c.FinishReason != "" {
		a.reason = *c.FinishReason
	}
	return nil
}

func (a *answer) delta(d delta) error {
	if err := a.addReasoning(d); err != nil {
		return err
	}
	a.refused = a.refused || d.Refusal != ""
	if text := string(d.Content) + d.Refusal; text != "" {
		if err := a.endReasoning(); err != nil {
			return err
		}
		if err := a.emit(spool.TextDelta{Text: text}); err != nil {
			return err
		}
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
func (a *answer) addReasoning(d delta) error {
	text := d.ReasoningContent
	if text == "" {
		text = d.Reasoning
	}
	var fromDetails strings.Builder
	for _, raw := range d.ReasoningDetails {
		fromDetails.WriteString(a.details.add(raw))
		if err := a.checkBuffer(); err != nil {
			return err
		}
	}
	if text == "" {
		text = fromDetails.String()
	}
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
	return a.emit(spool.ReasoningEnd{Provider: a.model.save(a.details.take())})
}

// finish emits the end of an answer. It returns an error if the server gave no finish reason.
func (a *answer) finish() error {
	if a.reason == "" {
		return &spool.ModelError{Message: "the answer ended without a finish reason", Err: io.ErrUnexpectedEOF}
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
	if provider := a.model.save(a.details.take()); provider != nil {
		if err := a.emit(spool.ReasoningEnd{Provider: provider}); err != nil {
			return err
		}
	}
	reason := finishReason(a.reason, len(ends) > 0)
	if reason == spool.FinishStop && a.refused {
		reason = spool.FinishFilter
	}
	return a.emit(spool.Finish{Reason: reason, Usage: a.usage, Cost: a.cost, ModelID: a.modelID})
}

// finishReason maps the provider's finish reason. Some servers say "stop" after tool calls, and some
// say "tool_calls" without a call.
func finishReason(word string, called bool) spool.FinishReason {
	switch word {
	case "stop", "tool_calls", "function_call":
		if called {
			return spool.FinishToolCalls
		}
		return spool.FinishStop
	case "length":
		return spool.FinishLength
	case "content_filter":
		return spool.FinishFilter
	default:
		return spool.FinishReason(word)
	}
}
