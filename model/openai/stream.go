package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/spoolhq/spool"
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
	// drainTimeout is how long reading the rest of a finished answer may take. The rest is read so that
	// the connection can be used again.
	drainTimeout = 100 * time.Millisecond

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
		err := m.withSecrets(r.Extra).stream(ctx, r, emit)
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
	watch := newWatch(ctx)
	defer watch.stop()

	//nolint:contextcheck // it is ctx with the watch's own end
	request, err := http.NewRequestWithContext(watch.ctx, http.MethodPost, m.url, bytes.NewReader(body))
	if err != nil {
		return &spool.ModelError{Status: http.StatusBadRequest, Message: "make request", Err: err}
	}
	m.setHeaders(request)

	watch.start(m.config.HeaderTimeout)
	response, err := m.client.Do(request)
	watch.pause()
	if err != nil {
		return m.transportError(watch, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return m.statusError(watch, response)
	}

	// Closing the body also stops a transport that ignores the context.
	unhook := context.AfterFunc(watch.ctx, func() { _ = response.Body.Close() }) //nolint:contextcheck // see above
	defer unhook()
	in := &watchedBody{body: response.Body, watch: watch, first: m.config.HeaderTimeout, next: m.config.IdleTimeout}
	a := &answer{model: m, emit: emit, modelID: m.config.Model}
	if kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type")); kind == "application/json" {
		return a.whole(watch, in)
	}
	return a.events(watch, in)
}

func (m *Model) setHeaders(r *http.Request) {
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "text/event-stream")
	if m.config.APIKey != "" {
		r.Header.Set("Authorization", "Bearer "+m.config.APIKey)
	}
	for name, value := range m.config.Headers {
		r.Header.Set(name, value)
	}
}

// events reads a streamed answer.
func (a *answer) events(watch *watch, in *watchedBody) error {
	reader := sse.NewReader(in, maxEvent)
	for {
		event, err := reader.Next()
		switch {
		case err == nil && event.Data == done:
			in.next = drainTimeout
			_, _ = io.CopyN(io.Discard, in, maxError)
			return a.finish()
		case err == nil:
			if err := a.add(event.Data); errors.Is(err, errBufferFull) {
				return a.finish()
			} else if err != nil {
				return err
			}
			continue
		case a.reason != "" && watch.ended() == nil:
			// Only the end mark, and perhaps the usage, is missing.
			return a.finish()
		case errors.Is(err, io.EOF):
			return a.finish()
		default:
			return a.model.readError(watch, err)
		}
	}
}

// whole reads the answer of a server that does not stream although the request asked for it.
func (a *answer) whole(watch *watch, in *watchedBody) error {
	body, err := io.ReadAll(io.LimitReader(in, maxEvent+1))
	switch {
	case err != nil:
		return a.model.readError(watch, err)
	case len(body) > maxEvent:
		return &spool.ModelError{Message: fmt.Sprintf("answer is larger than %d bytes", maxEvent)}
	}
	if err := a.add(string(body)); err != nil && !errors.Is(err, errBufferFull) {
		return err
	}
	return a.finish()
}

// answer turns chunks into events.
type answer struct {
	model *Model
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
}

func (a *answer) add(data string) error {
	a.read = chunk{Choices: a.read.Choices[:0]}
	if !a.read.plain(data) {
		a.read = chunk{}
		if err := json.Unmarshal([]byte(data), &a.read); err != nil {
			return &spool.ModelError{Message: "malformed chunk: " + a.model.clean(data), Err: err}
		}
	}
	c := &a.read
	if err := a.model.chunkError(c); err != nil {
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
	return a.emit(spool.ReasoningEnd{Provider: a.details.take()})
}

// finish emits the end of an answer. It returns an error if the server gave no finish reason.
func (a *answer) finish() error {
	if a.reason == "" {
		return &spool.ModelError{Message: "the answer ended without a finish reason", Err: io.ErrUnexpectedEOF}
	}
	if err := a.endReasoning(); err != nil {
		return err
	}
	ends := a.calls.end()
	for _, event := range ends {
		if err := a.emit(event); err != nil {
			return err
		}
	}
	// Emit details without a text, such as encrypted reasoning after a tool call.
	if provider := a.details.take(); provider != nil {
		if err := a.emit(spool.ReasoningEnd{Provider: provider}); err != nil {
			return err
		}
	}
	return a.emit(spool.Finish{Reason: finishReason(a.reason, len(ends) > 0), Usage: a.usage, Cost: a.cost, ModelID: a.modelID})
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
