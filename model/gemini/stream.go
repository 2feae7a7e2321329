package gemini

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

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/modelhttp"
	"github.com/spoolhq/spool/internal/sse"
	"github.com/spoolhq/spool/internal/surrogate"
)

const (
	// maxEvent bounds the size of a chunk, and of a whole answer that is not streamed.
	maxEvent = 16 << 20
	// maxAnswer bounds the size of an answer. The engine bounds what it sees, and this bounds an answer that goes on
	// without anything to see.
	maxAnswer = 64 << 20
)

var (
	// errStopped says that the caller stopped iterating.
	errStopped = errors.New("stopped iterating")
	// errTooLong ends an answer when it exceeds maxAnswer.
	errTooLong = errors.New("the answer is too long")
)

// Stream asks for one answer, as described in [spool.Model]. It makes exactly one request.
//
// These are the ends of an answer, by the API's finish reason:
//
//   - STOP: [spool.FinishToolCalls] if there were calls, else [spool.FinishStop].
//   - MAX_TOKENS: [spool.FinishLength].
//   - SAFETY, RECITATION, BLOCKLIST, PROHIBITED_CONTENT, SPII, MODEL_ARMOR, IMAGE_SAFETY, IMAGE_PROHIBITED_CONTENT,
//     IMAGE_RECITATION, and a blocked prompt: [spool.FinishFilter].
//   - CONTINUATION: [spool.FinishPause]. The next request has the token with which the answer goes on.
//   - MALFORMED_FUNCTION_CALL, UNEXPECTED_TOOL_CALL, MALFORMED_RESPONSE, OTHER, IMAGE_OTHER and NO_IMAGE: an error
//     whose Type is the reason. The same request may succeed, because the model chooses its words anew.
//   - MISSING_THOUGHT_SIGNATURE: an error that is permanent.
//   - A word of another interface, such as "length" or "error": what it means there.
//   - LANGUAGE, TOO_MANY_TOOL_CALLS and every other reason: [spool.FinishToolCalls] if there were calls, which are
//     whole. Else it is passed on, because the same request would end so again.
//   - None: an error.
func (m *Model) Stream(ctx context.Context, r spool.ModelRequest) iter.Seq2[spool.ModelEvent, error] {
	return func(yield func(spool.ModelEvent, error) bool) {
		emit := surrogate.Joined(func(event spool.ModelEvent) error {
			if !yield(event, nil) {
				return errStopped
			}
			return nil
		})
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

// withSecrets returns a copy of the model that also redacts the secrets in the extra fields of one request.
func (m *Model) withSecrets(extra map[string]any) *Model {
	if len(extra) == 0 {
		return m
	}
	with := *m
	with.secrets = m.secrets.With(extra)
	return &with
}

func (m *Model) stream(ctx context.Context, r spool.ModelRequest, emit func(spool.ModelEvent) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	body, outputTool, err := m.request(r)
	if err != nil {
		return err
	}
	watch := modelhttp.NewWatch(ctx)
	defer watch.Stop()

	watch.Start(m.config.HeaderTimeout)
	response, err := m.ask(watch.Context(), body) //nolint:contextcheck // it is ctx with the watch's own end
	watch.Pause()
	if err != nil {
		return m.transportError(watch, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return m.statusError(watch, response)
	}

	// Closing the body also stops a transport that ignores the context.
	unhook := context.AfterFunc(watch.Context(), func() { _ = response.Body.Close() }) //nolint:contextcheck // see above
	defer unhook()
	in := bufio.NewReader(&modelhttp.Body{
		ReadCloser: response.Body, Watch: watch, First: m.config.HeaderTimeout, Next: m.config.IdleTimeout,
	})
	a := &answer{model: m, emit: emit, signer: m.signer(), modelID: m.config.Model, outputTool: outputTool}
	for _, t := range r.Tools {
		a.tools = append(a.tools, t.Name)
	}
	if outputTool != "" {
		a.tools = append(a.tools, outputTool)
	}
	if sse.IsJSON(in) {
		return a.whole(watch, in)
	}
	return a.events(watch, in)
}

// events reads a streamed answer.
func (a *answer) events(watch *modelhttp.Watch, in io.Reader) error {
	reader := sse.NewReader(in, maxEvent)
	for {
		event, err := reader.Next()
		switch {
		case err == nil:
			if err := a.add([]byte(event.Data)); errors.Is(err, errTooLong) {
				a.reason = "MAX_TOKENS"
				return a.finish()
			} else if err != nil {
				return err
			}
		case a.ended() && watch.Ended() == nil:
			// At most the usage is missing.
			return a.finish()
		case errors.Is(err, io.EOF):
			return a.finish()
		default:
			return a.model.readError(watch, err)
		}
	}
}

// whole reads the answer of a server that does not stream although the request asked for it: a chunk, or a list of
// chunks.
func (a *answer) whole(watch *modelhttp.Watch, in io.Reader) error {
	body, err := io.ReadAll(io.LimitReader(in, maxEvent+1))
	switch {
	case err != nil:
		return a.model.readError(watch, err)
	case len(body) > maxEvent:
		return &spool.ModelError{Message: fmt.Sprintf("answer is larger than %d bytes", maxEvent)}
	}
	chunks := []json.RawMessage{body}
	if body = bytes.TrimSpace(body); len(body) > 0 && body[0] == '[' {
		if err := json.Unmarshal(body, &chunks); err != nil {
			return &spool.ModelError{Message: "malformed answer: " + a.model.secrets.Clean(string(body)), Err: err}
		}
	}
	for _, c := range chunks {
		if err := a.add(c); err != nil {
			return err
		}
	}
	return a.finish()
}
