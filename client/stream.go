package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/sse"
	"github.com/spoolhq/spool/wire"
)

var (
	// errIdle is the cause of the end of a connection that brought nothing.
	errIdle = errors.New("nothing arrived in time")
	// errUnreadable is wrapped by the error for an event that no further connection makes readable.
	errUnreadable = errors.New("unreadable event")
	// errDeleted is wrapped by the error for a thread that was deleted while it was followed.
	errDeleted = errors.New("deleted while it was followed")
)

// connect reads one event stream and yields its frames. It returns why the stream has ended.
func (f *follower) connect(ctx context.Context, yield func(wire.Frame, error) bool) error {
	f.failures++
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch := newWatchdog(f.options.Idle, func() { cancel(errIdle) })
	defer watch.stop()

	watch.start()
	res, err := f.open(inner)
	watch.stop()
	if err != nil {
		return f.ended(inner, err)
	}
	defer func() { _ = res.Body.Close() }()
	f.connected, f.refused = true, false
	events := sse.NewReader(&watched{res.Body, watch, &f.alive}, f.client.options.MaxEventBytes)
	defer func() { f.hint = cmp.Or(events.LastRetry(), f.hint) }()
	f.place.reconnected()
	for {
		event, err := events.Next()
		if err != nil {
			return f.ended(inner, err)
		}
		f.failures = 0
		if event.Name != "" && event.Name != "message" {
			continue // such as a keepalive event
		}
		if err := f.pass(event, yield); err != nil {
			return err
		}
	}
}

// open sends the request of a stream. The caller closes the body.
func (f *follower) open(ctx context.Context) (*http.Response, error) {
	q := get("/api/agent/stream", "threadId", string(f.thread), "lastMessageId", string(f.options.LastMessageID))
	q.header = http.Header{"Accept": {"text/event-stream"}, "Accept-Encoding": {"identity"}, "Cache-Control": {"no-cache"}}
	if f.place.id != "" {
		q.header.Set("Last-Event-ID", f.place.id)
	}
	res, err := f.client.exchange(ctx, f.client.stream, q)
	switch {
	case err != nil:
		return nil, err
	case res.StatusCode == http.StatusOK && contentIs(res, "text/event-stream"):
		return res, nil
	}
	defer closeBody(res)
	if res.StatusCode < http.StatusBadRequest {
		return nil, &spool.Error{
			Code: spool.Invalid, Message: "the answer is not an event stream of a Spool server",
			Err: &ResponseError{Status: res.StatusCode},
		}
	}
	return nil, failure(res, readRefusal(res))
}

// ended returns the error for the end of a stream.
func (f *follower) ended(ctx context.Context, err error) error {
	switch {
	case errors.Is(context.Cause(ctx), errIdle):
		return &spool.Error{Code: spool.Unavailable, Message: "the stream has stalled", Err: errIdle}
	case errors.Is(err, io.EOF):
		return spool.Errorf(spool.Unavailable, "the server has ended the stream")
	case errors.Is(err, sse.ErrTooLarge):
		return &spool.Error{
			Code: spool.Invalid, Message: "an event is larger than Options.MaxEventBytes allows",
			Err: errors.Join(errUnreadable, err),
		}
	}
	if _, ok := errors.AsType[*spool.Error](err); ok {
		return err
	}
	return &spool.Error{Code: spool.Unavailable, Message: "the connection was lost", Err: err}
}

// pass yields the frame of an event, unless the caller has it.
func (f *follower) pass(event sse.Event, yield func(wire.Frame, error) bool) error {
	var frame wire.Frame
	if err := json.Unmarshal([]byte(event.Data), &frame); err != nil {
		// Something on the way may have damaged it, once.
		if f.garbled++; f.garbled > 1 {
			err = errors.Join(errUnreadable, err)
		}
		return &spool.Error{Code: spool.Internal, Message: "an event cannot be read", Err: err}
	}
	notice := frame.Kind == wire.FrameThread && frame.Event != nil && frame.Event.Seq == 0
	if !notice {
		f.garbled = 0
		if at, ok := wire.ParseCursor(event.ID); ok {
			frame.Cursor = &at
		}
	}
	if !known(frame) {
		f.place.set(event.ID, frame.Cursor)
		return nil
	}
	if notice && f.place.has(*frame.Event) {
		return nil
	}
	if !notice {
		f.place.set(event.ID, frame.Cursor)
		f.place.saw(frame)
	}
	if !yield(frame, nil) {
		return errStopped
	}
	if notice && frame.Event.Type == wire.NoticeThreadDeleted {
		return &spool.Error{Code: spool.NotFound, Message: "Thread not found", Err: errDeleted}
	}
	return nil
}

// known reports whether the frame is of a kind that this version has, with its content.
func known(f wire.Frame) bool {
	switch f.Kind {
	case wire.FrameThread:
		return f.Event != nil
	case wire.FrameStream:
		return f.Item != nil
	case wire.FrameSnapshot:
		return f.Snapshot != nil
	default:
		return false
	}
}

// watchdog calls a function if it is not stopped within a limit after its start. It runs only while a read
// waits, so a slow caller does not count.
type watchdog struct {
	limit time.Duration
	timer *time.Timer
}

func newWatchdog(limit time.Duration, bark func()) *watchdog {
	w := &watchdog{limit: limit, timer: time.AfterFunc(limit, bark)}
	w.timer.Stop()
	return w
}

func (w *watchdog) start() { w.timer.Reset(w.limit) }
func (w *watchdog) stop()  { w.timer.Stop() }

// watched is a body whose reads a watchdog limits.
type watched struct {
	body  io.Reader
	watch *watchdog
	// alive is set to the time of each byte.
	alive *time.Time
}

// Read implements [io.Reader].
func (w *watched) Read(p []byte) (int, error) {
	w.watch.start()
	n, err := w.body.Read(p)
	w.watch.stop()
	if n > 0 {
		*w.alive = time.Now()
	}
	return n, err
}
