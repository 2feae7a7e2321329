package anthropic

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/citation"
	"github.com/spoolhq/spool/internal/lenient"
	"github.com/spoolhq/spool/internal/modelhttp"
	"github.com/spoolhq/spool/internal/sse"
	"github.com/spoolhq/spool/internal/surrogate"
)

const (
	// maxEvent bounds the size of an event, and of a whole answer that is not streamed.
	maxEvent = 8 << 20
	// maxBuffered bounds the size of what is buffered until the end of a block, because the engine can bound
	// only what it has seen.
	maxBuffered = 8 << 20
	// maxBlocks bounds the blocks of an answer.
	maxBlocks = 10_000
	// drainTimeout is how long reading the rest of a finished answer may take. The rest is read so that
	// the connection can be used again.
	drainTimeout = 100 * time.Millisecond

	// apiVersion is the version of the interface that the package speaks.
	apiVersion = "2023-06-01"
)

var (
	// errStopped says that the caller stopped iterating.
	errStopped = errors.New("stopped iterating")
	// errBufferFull ends an answer when it exceeds maxBuffered or maxBlocks.
	errBufferFull = errors.New("the answer is too long")
	// errDone ends an answer after its last event.
	errDone = errors.New("the answer is complete")
)

// Stream asks for one answer, as described in [spool.Model]. It makes exactly one request.
func (m *Model) Stream(ctx context.Context, r spool.ModelRequest) iter.Seq2[spool.ModelEvent, error] {
	return func(yield func(spool.ModelEvent, error) bool) {
		text := new(citation.Text)
		emit := surrogate.Joined(text.Watch(func(event spool.ModelEvent) error {
			if !yield(event, nil) {
				return errStopped
			}
			return nil
		}))
		err := m.withSecrets(r.Extra).stream(ctx, r, &answer{emit: emit, text: text})
		if err == nil || errors.Is(err, errStopped) {
			return
		}
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		yield(nil, err)
	}
}

func (m *Model) stream(ctx context.Context, r spool.ModelRequest, a *answer) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	raw, sent, err := m.body(r)
	if err != nil {
		return &spool.ModelError{Status: http.StatusBadRequest, Message: "encode request", Err: err}
	}
	watch := modelhttp.NewWatch(ctx)
	defer watch.Stop()
	response, err := m.open(watch, raw) //nolint:contextcheck // the watch has ctx with its own end
	if err != nil {
		return err
	}
	defer response.Body.Close()

	// Closing the body also stops a transport that ignores the context.
	unhook := context.AfterFunc(watch.Context(), func() { _ = response.Body.Close() }) //nolint:contextcheck // as above
	defer unhook()
	in := bufio.NewReader(&modelhttp.Body{
		ReadCloser: response.Body, Watch: watch, First: m.config.HeaderTimeout, Next: m.config.IdleTimeout,
	})
	a.model, a.name, a.modelID, a.tools, a.output = m, sent.model, sent.model, sent.names, sent.output
	if sse.IsJSON(in) {
		return a.whole(watch, in)
	}
	return a.events(watch, in)
}

// open makes a request and returns the response with the status 200. Any other response is an error.
func (m *Model) open(watch *modelhttp.Watch, body []byte) (*http.Response, error) {
	request, err := http.NewRequestWithContext(watch.Context(), http.MethodPost, m.url, bytes.NewReader(body))
	if err != nil {
		return nil, &spool.ModelError{Status: http.StatusBadRequest, Message: "make request", Err: err}
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Anthropic-Version", apiVersion)
	if m.config.APIKey != "" {
		request.Header.Set("X-Api-Key", m.config.APIKey)
	}
	for name, value := range m.config.Headers {
		request.Header.Set(name, value)
	}
	request.Header.Set("Accept", "text/event-stream") // also if Headers has another one

	watch.Start(m.config.HeaderTimeout)
	response, err := m.client.Do(request)
	watch.Pause()
	if err != nil {
		return nil, m.requestError(watch, err)
	}
	if response.StatusCode != http.StatusOK {
		defer response.Body.Close()
		return nil, m.statusError(watch, response)
	}
	return response, nil
}

// events reads a streamed answer.
func (a *answer) events(watch *modelhttp.Watch, in io.Reader) error {
	reader := sse.NewReader(in, maxEvent)
	for {
		event, err := reader.Next()
		switch {
		case err == nil:
			err := a.add(event.Data)
			switch {
			case err == nil:
				continue
			case errors.Is(err, errDone):
				drain(watch, in)
				return a.finish()
			case errors.Is(err, errBufferFull):
				return a.finish()
			default:
				return err
			}
		case a.reason != "" && watch.Ended() == nil:
			// Only the end mark is missing.
			return a.finish()
		case errors.Is(err, io.EOF):
			return a.finish()
		default:
			return a.model.readError(watch, err)
		}
	}
}

// drain reads the rest of an answer, for a short time.
func drain(watch *modelhttp.Watch, in io.Reader) {
	timer := time.AfterFunc(drainTimeout, watch.Stop)
	defer timer.Stop()
	_, _ = io.CopyN(io.Discard, in, maxError)
}

// whole reads the answer of a server that does not stream although the request asked for it.
func (a *answer) whole(watch *modelhttp.Watch, in io.Reader) error {
	raw, err := io.ReadAll(io.LimitReader(in, maxEvent+1))
	switch {
	case err != nil:
		return a.model.readError(watch, err)
	case len(raw) > maxEvent:
		return &spool.ModelError{Message: fmt.Sprintf("answer is larger than %d bytes", maxEvent)}
	}
	var e event
	if err := lenient.Object(raw, &e); err != nil {
		return a.malformed(string(raw), err)
	}
	if err := a.model.eventError(&e); err != nil {
		return err
	}
	var m message
	if err := lenient.Object(raw, &m); err != nil {
		return a.malformed(string(raw), err)
	}
	blocks, err := m.blocks()
	if err != nil {
		return a.malformed(string(raw), err)
	}
	for i, block := range blocks {
		if err := a.start(int64(i), block); err != nil {
			return err
		}
		if err := a.stop(int64(i)); err != nil {
			return err
		}
	}
	if err := a.begin(&m); err != nil {
		return err
	}
	a.reason = m.StopReason
	return a.finish()
}

// malformed returns the error for an event that cannot be read. Broken JSON may be an accident, but JSON of another
// form is what the server sends each time.
func (a *answer) malformed(data string, err error) error {
	return &spool.ModelError{
		Message: "malformed event: " + a.model.secrets.Clean(data), Err: err, NoRetry: json.Valid([]byte(data)),
	}
}
