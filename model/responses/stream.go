package responses

import (
	"context"
	"errors"
	"io"
	"iter"
	"maps"
	"net/http"
	"net/url"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/lenient"
	"github.com/spoolhq/spool/internal/openaiwire"
	"github.com/spoolhq/spool/internal/sse"
	"github.com/spoolhq/spool/internal/surrogate"
)

const (
	// maxEvent bounds the size of an event, and of a whole answer. The last event repeats the whole answer, and
	// the request's instructions and tools.
	maxEvent = 16 << 20

	done = "[DONE]"
)

// errStopped says that the caller stopped iterating.
var errStopped = errors.New("stopped iterating")

// Stream asks for one answer, as described in [spool.Model]. It makes one request for it. With
// [Config.Background], it also comes back to the answer when the connection breaks, and cancels it if
// ctx ends with [spool.ErrStopped].
func (m *Model) Stream(ctx context.Context, r spool.ModelRequest) iter.Seq2[spool.ModelEvent, error] {
	return func(yield func(spool.ModelEvent, error) bool) {
		a := &answer{
			model: m, conn: m.conn.With(r.Extra), after: -1, modelID: m.config.Model,
			found: found{byIndex: make(map[int64]*item), byID: make(map[string]*item)}, ids: make(map[spool.ToolCallID]bool),
		}
		a.emit = surrogate.Joined(a.text.Watch(func(event spool.ModelEvent) error {
			if !yield(event, nil) {
				return errStopped
			}
			return nil
		}))
		for _, t := range r.Tools {
			a.tools = append(a.tools, t.Name)
		}
		err := a.stream(ctx, r)
		a.cancelStopped(ctx)
		if err == nil || errors.Is(err, errStopped) {
			return
		}
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		if cut, ok := errors.AsType[*cutError](err); ok {
			err = cut.error
		}
		yield(nil, err)
	}
}

func (a *answer) stream(ctx context.Context, r spool.ModelRequest) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if r.Resume != nil {
		return a.resume(ctx, r.Resume)
	}
	fields := a.model.body(r)
	a.background = fields.background()
	body := encode(fields)
	if body == nil {
		return &spool.ModelError{Status: http.StatusBadRequest, Message: "encode request"}
	}
	in, err := a.conn.Open(ctx, http.MethodPost, a.model.url("", nil), body)
	if err != nil {
		return err
	}
	return a.reconnect(ctx, a.listen(in))
}

// url returns the URL of the responses, or of one of them, with the query of the base URL and another.
func (m *Model) url(path string, query url.Values) string {
	target := m.base
	if path != "" {
		target = target.JoinPath(path)
	}
	if len(query) == 0 {
		return target.String()
	}
	with := *target
	all := with.Query()
	maps.Copy(all, query)
	with.RawQuery = all.Encode()
	return with.String()
}

// listen reads an answer and closes it. It returns a cutError if the answer broke off.
func (a *answer) listen(in *openaiwire.Answer) error {
	defer in.Close()
	var err error
	if in.Whole {
		err = a.listenWhole(in)
	} else {
		err = a.listenEvents(in)
	}
	if errors.Is(err, errBufferFull) {
		return a.overflow()
	}
	return err
}

func (a *answer) listenEvents(in *openaiwire.Answer) error {
	reader := sse.NewReader(in, maxEvent)
	for !a.finished {
		event, err := reader.Next()
		switch {
		case err == nil && event.Data == done, errors.Is(err, io.EOF):
			return cutOff("the answer ended before the response was complete")
		case err != nil:
			return &cutError{in.Err(err)}
		}
		if err := a.add(event.Data); err != nil {
			return err
		}
	}
	in.Drain()
	return nil
}

// listenWhole reads the answer of a server that does not stream although the request asked for it.
func (a *answer) listenWhole(in *openaiwire.Answer) error {
	r, err := readResponse(in)
	if err != nil {
		return err
	}
	a.background = a.background || r.inProgress() // also if the request did not ask for it
	if err := a.begin(r); err != nil {
		return err
	}
	if r.inProgress() {
		return cutOff("the answer is only the beginning of the response")
	}
	return a.end(r)
}

func readResponse(in *openaiwire.Answer) (*response, error) {
	body, err := in.All(maxEvent)
	if err != nil {
		return nil, &cutError{err}
	}
	r := new(response)
	if err := lenient.Object(body, r); err != nil {
		return nil, &cutError{&spool.ModelError{Message: "malformed response", Err: err}}
	}
	return r, nil
}

func (r *response) inProgress() bool { return r.Status == statusQueued || r.Status == statusInProgress }
