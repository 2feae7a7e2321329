package server

import (
	"context"
	"iter"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/server/agui"
)

// wireFormatAGUI is the name of the format that package agui has.
const wireFormatAGUI = "ag-ui"

const (
	// aguiKeepalive is how long an AG-UI stream may be silent.
	aguiKeepalive = 15 * time.Second
	// aguiRetry is how long a browser waits before it comes back.
	aguiRetry = time.Second
	// aguiBatch is how many frames are sent at once at the most.
	aguiBatch = 32
)

// eventSource are the bytes of an open event stream: the engine's own frames, or those
// frames translated.
type eventSource interface {
	// Chunks yields pieces of whole messages, and at last why there are no more. Nothing
	// says that the thread or the server is.
	Chunks() iter.Seq2[[]byte, error]
	// Close lets go of the thread. It may be called more than once.
	Close() error
}

// aguiStream is a stream of a thread in AG-UI. It ends when its translator is done.
type aguiStream struct {
	engine *engine.Engine
	key    spool.ThreadKey
	// have is the cursor that the client came with. Nil: none.
	have *spool.Cursor
	// retry is said first, for browsers.
	retry bool

	ctx        context.Context //nolint:containedctx // it is the stream's lifetime, as a request's is
	stop       context.CancelFunc
	first      *spool.Snapshot
	translator *agui.Translator
	at         spool.Cursor
}

// aguiOpen opens a stream in AG-UI. It returns a [spool.NotFound] error for a thread that
// does not exist.
func (s *Server) aguiOpen(ctx context.Context, key spool.ThreadKey, o agui.Options, have *spool.Cursor) (*aguiStream, error) {
	first, err := s.engine.Snapshot(ctx, key, nil)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	o.Load = func() (*spool.Snapshot, error) { return s.engine.Snapshot(ctx, key, nil) }
	return &aguiStream{
		engine: s.engine, key: key, have: have, retry: o.RunID == "", ctx: ctx, stop: stop,
		first: first, translator: agui.New(o),
	}, nil
}

// Close implements [eventSource].
func (a *aguiStream) Close() error {
	a.stop()
	return nil
}

// Chunks implements [eventSource].
func (a *aguiStream) Chunks() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		defer a.stop()
		text, err := a.prelude()
		if err != nil || len(text) > 0 && !yield(text, nil) {
			if err != nil {
				yield(nil, err)
			}
			return
		}
		frames := a.follow()
		for !a.translator.Done() {
			text, more, err := a.next(frames)
			switch {
			case err != nil:
				yield(nil, err)
				return
			case len(text) > 0 && !yield(text, nil), !more:
				return
			}
		}
	}
}

// prelude returns what the client is told first.
func (a *aguiStream) prelude() ([]byte, error) {
	var text []byte
	if a.retry {
		text = retryLine(aguiRetry)
	}
	events, err := a.translator.Prelude(a.first, a.have)
	if err != nil {
		return nil, err
	}
	a.at, a.first = a.first.Cursor(), nil
	id := ""
	if len(events) > 0 {
		id = a.at.String()
	}
	return agui.AppendSSE(text, id, events...)
}

func retryLine(d time.Duration) []byte {
	return []byte("retry: " + strconv.FormatInt(d.Milliseconds(), 10) + "\n\n")
}

// followed is a frame of the thread, or why there are no more.
type followed struct {
	frame spool.Frame
	err   error
}

// follow follows the thread behind the prelude in a goroutine of its own, as a sequence
// cannot be waited for and a silence be noticed at the same time.
func (a *aguiStream) follow() <-chan followed {
	frames := make(chan followed, aguiBatch)
	at := a.at
	go func() {
		defer close(frames)
		for frame, err := range a.engine.Follow(a.ctx, a.key, engine.FollowOptions{Cursor: &at}) {
			select {
			case frames <- followed{frame, err}:
			case <-a.ctx.Done():
				return
			}
		}
	}()
	return frames
}

// next waits for frames and returns what they become. It reports false behind the last.
func (a *aguiStream) next(frames <-chan followed) (text []byte, more bool, err error) {
	idle := time.NewTimer(aguiKeepalive)
	defer idle.Stop()
	select {
	case <-idle.C:
		return []byte(": keepalive\n\n"), true, nil
	case f, ok := <-frames:
		return a.batch(f, ok, frames)
	}
}

// batch returns what a frame becomes, with those that are there behind it.
func (a *aguiStream) batch(f followed, ok bool, frames <-chan followed) (text []byte, more bool, err error) {
	for n := 1; ; n++ {
		if !ok || f.err != nil {
			return a.last(text, f.err)
		}
		text, err = a.append(text, f.frame)
		if err != nil || a.translator.Done() {
			return text, err == nil, err
		}
		if n == aguiBatch || len(frames) == 0 {
			return text, true, nil
		}
		f, ok = <-frames
	}
}

// append adds what a frame becomes. The id is the frame's own, so that a client may come
// back with it in either format.
func (a *aguiStream) append(text []byte, f spool.Frame) ([]byte, error) {
	events, err := a.translator.Frame(f)
	if err != nil {
		return text, err
	}
	id := ""
	if f.Cursor != nil {
		id = f.Cursor.String()
	}
	return agui.AppendSSE(text, id, events...)
}

// last is what is said behind the last frame. Clients are told to come back, each a little
// later than the next so that they do not come all at once.
func (a *aguiStream) last(text []byte, err error) ([]byte, bool, error) {
	if err == nil && a.retry {
		spread := time.Duration(rand.Int64N(int64(aguiRetry) + 1)) //nolint:gosec // it spreads, and hides nothing
		text = slices.Concat(text, retryLine(aguiRetry+spread))
	}
	return text, false, err
}
