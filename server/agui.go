package server

import (
	"context"
	"iter"
	"math/rand/v2"
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
	made   time.Time // when the thread was
	// have is the cursor that the client came with. Nil: none.
	have *spool.Cursor
	// retry is said first, for browsers.
	retry bool

	ctx        context.Context //nolint:containedctx // it is the stream's lifetime, as a request's is
	stop       context.CancelFunc
	first      *engine.FormedSnapshot
	translator *agui.Translator
	at         spool.Cursor
	// held are the snapshots of which the text that is sent next has parts.
	held []*engine.FormedSnapshot
}

// aguiOpen opens a stream in AG-UI. It returns a [spool.NotFound] error for a thread that
// does not exist, or was made at another time. A zero time stands for any thread.
func (s *Server) aguiOpen(ctx context.Context, key spool.ThreadKey, made time.Time, o agui.Options, have *spool.Cursor) (*aguiStream, error) {
	first, err := s.engine.FormedSnapshot(ctx, key, agui.Form)
	if err != nil {
		return nil, err
	}
	if !made.IsZero() && !first.Thread.CreatedAt.Equal(made) {
		first.Release()
		return nil, errMadeAgain
	}
	ctx, stop := context.WithCancel(ctx)
	a := &aguiStream{
		engine: s.engine, key: key, made: first.Thread.CreatedAt, have: have, retry: o.RunID == "", ctx: ctx, stop: stop, first: first,
	}
	o.Load = a.load
	a.translator = agui.New(o)
	return a, nil
}

// load returns the thread as it is now, until the next text is sent.
func (a *aguiStream) load() (*engine.FormedSnapshot, error) {
	s, err := a.engine.FormedSnapshot(a.ctx, a.key, agui.Form)
	if err != nil {
		return nil, err
	}
	if !s.Thread.CreatedAt.Equal(a.made) {
		s.Release()
		return nil, errMadeAgain
	}
	a.held = append(a.held, s)
	return s, nil
}

// errMadeAgain says that the thread was deleted, and another one made under its id.
var errMadeAgain = spool.Errorf(spool.NotFound, "Thread not found")

// Close implements [eventSource].
func (a *aguiStream) Close() error {
	a.stop()
	a.first.Release()
	a.release()
	return nil
}

// release gives back what the text that was sent had parts of.
func (a *aguiStream) release() {
	for _, s := range a.held {
		s.Release()
	}
	a.held = nil
}

// Chunks implements [eventSource].
func (a *aguiStream) Chunks() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		defer a.stop()
		if !a.yield(yield, a.prelude) {
			return
		}
		frames := a.follow()
		defer a.leave(frames)
		next := func() (*agui.Text, bool, error) { return a.next(frames) }
		for !a.translator.Done() && a.yield(yield, next) {
			continue
		}
	}
}

// yield yields a text and gives back what it had parts of. It reports whether there is more.
func (a *aguiStream) yield(yield func([]byte, error) bool, next func() (*agui.Text, bool, error)) bool {
	defer a.release()
	text, more, err := next()
	if err != nil {
		yield(nil, err)
		return false
	}
	for _, piece := range text.Pieces() {
		if !yield(piece, nil) {
			return false
		}
	}
	return more
}

// prelude returns what the client is told first.
func (a *aguiStream) prelude() (*agui.Text, bool, error) {
	first := a.first
	a.first, a.held = nil, append(a.held, first)
	text := &agui.Text{}
	if a.retry {
		text.AddLine(retryLine(aguiRetry))
	}
	events, err := a.translator.Prelude(first, a.have)
	if err != nil {
		return nil, false, err
	}
	a.at = first.Cursor()
	id := ""
	if len(events) > 0 {
		id = a.at.String()
	}
	return text, true, text.Add(id, events...)
}

func retryLine(d time.Duration) string {
	return "retry: " + strconv.FormatInt(d.Milliseconds(), 10)
}

// followed is a frame of the thread, or why there are no more.
type followed struct {
	frame engine.FormedFrame
	err   error
}

// follow follows the thread behind the prelude in a goroutine of its own, as a sequence
// cannot be waited for and a silence be noticed at the same time.
func (a *aguiStream) follow() <-chan followed {
	frames := make(chan followed, aguiBatch)
	at := a.at
	go func() {
		defer close(frames)
		follow := engine.FollowOptions{Cursor: &at, CreatedAt: a.made}
		for frame, err := range a.engine.FollowFormed(a.ctx, a.key, follow, agui.Form) {
			select {
			case frames <- followed{frame, err}:
			case <-a.ctx.Done():
				frame.Formed.Release()
				return
			}
		}
	}()
	return frames
}

// leave waits until nobody follows, and gives back what was not read.
func (a *aguiStream) leave(frames <-chan followed) {
	a.stop()
	for f := range frames {
		f.frame.Formed.Release()
	}
}

// next waits for frames and returns what they become. It reports false behind the last.
func (a *aguiStream) next(frames <-chan followed) (text *agui.Text, more bool, err error) {
	idle := time.NewTimer(aguiKeepalive)
	defer idle.Stop()
	text = &agui.Text{}
	select {
	case <-idle.C:
		text.AddLine(": keepalive")
		return text, true, nil
	case f, ok := <-frames:
		more, err = a.batch(text, f, ok, frames)
		return text, more, err
	}
}

// batch adds what a frame becomes, with those that are there behind it.
func (a *aguiStream) batch(text *agui.Text, f followed, ok bool, frames <-chan followed) (more bool, err error) {
	for n := 1; ; n++ {
		if !ok || f.err != nil {
			return a.last(text, f.err)
		}
		if err = a.add(text, f.frame); err != nil || a.translator.Done() {
			return err == nil, err
		}
		if n == aguiBatch || len(frames) == 0 {
			return true, nil
		}
		f, ok = <-frames
	}
}

// add adds what a frame becomes. The id is the frame's own, so that a client may come back
// with it in either format.
func (a *aguiStream) add(text *agui.Text, f engine.FormedFrame) error {
	if f.Formed != nil {
		a.held = append(a.held, f.Formed)
	}
	events, err := a.translator.Frame(f)
	if err != nil {
		return err
	}
	id := ""
	if f.Cursor != nil {
		id = f.Cursor.String()
	}
	return text.Add(id, events...)
}

// last adds what is said behind the last frame. Clients are told to come back, each a little
// later than the next so that they do not come all at once.
func (a *aguiStream) last(text *agui.Text, err error) (bool, error) {
	if err == nil && a.retry {
		spread := time.Duration(rand.Int64N(int64(aguiRetry) + 1)) //nolint:gosec // it spreads, and hides nothing
		text.AddLine(retryLine(aguiRetry + spread))
	}
	return false, err
}
