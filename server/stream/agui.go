package stream

import (
	"context"
	"iter"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
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
	// aguiAlive is sent then, and aguiAliveEvent in its place for scripts in a browser.
	aguiAlive, aguiAliveEvent = ": keepalive", "event: keepalive\ndata: {}"
	// aguiRetry is how long a browser waits before it reconnects.
	aguiRetry = time.Second
)

// eventSource are the bytes of an open event stream: the engine's own frames, or those
// frames translated.
type eventSource interface {
	// Chunks yields pieces of whole messages, and at last the error that ends them. No error: the
	// thread was deleted, or the server closes.
	Chunks() iter.Seq2[[]byte, error]
	// Close releases the thread. It may be called more than once.
	Close() error
}

// aguiStream is a stream of a thread in AG-UI. It ends when its translator is done.
type aguiStream struct {
	engine *engine.Engine
	key    spool.ThreadKey
	made   time.Time // when the thread was
	// have is the cursor that the client came with. Nil: none.
	have *spool.Cursor
	// retry sends the retry hint first, for browsers.
	retry bool
	// aliveEvent says that what keeps an idle stream alive is an event.
	aliveEvent bool

	ctx   context.Context //nolint:containedctx // it is the stream's lifetime, as a request's is
	stop  context.CancelFunc
	first *engine.FormedSnapshot
	// began is the place before the segment that the client is to see from its start, though
	// first was made later. Nil: the client begins with first.
	began      *spool.Cursor
	translator *agui.Translator
	at         spool.Cursor
	turn       spool.MessageID // the last user turn there
	// held are the snapshots of which the text that is sent next has parts.
	held []*engine.FormedSnapshot
}

// openAGUI opens a stream in AG-UI. It returns a [spool.NotFound] error for a thread that
// does not exist, or was made at another time. A zero time stands for any thread.
func (s *Streams) openAGUI(ctx context.Context, key spool.ThreadKey, made time.Time, o agui.Options, have *spool.Cursor) (*aguiStream, error) {
	first, err := s.config.Engine.FormedSnapshot(ctx, key, agui.Form)
	if err != nil {
		return nil, err
	}
	if !made.IsZero() && !first.Thread.CreatedAt.Equal(made) {
		first.Release()
		return nil, errMadeAgain
	}
	ctx, stop := context.WithCancel(ctx)
	a := &aguiStream{
		engine: s.config.Engine, key: key, made: first.Thread.CreatedAt, have: have, retry: o.RunID == "", ctx: ctx, stop: stop, first: first,
	}
	o.Load = a.load
	a.translator = agui.New(o)
	if a.translator.BeganSince(first) {
		if a.began, err = s.config.Engine.BeforeSegment(ctx, key, o.RunID, o.From.Segments+1); err != nil {
			_ = a.Close()
			return nil, err
		}
	}
	return a, nil
}

// OpenAGUI opens the stream of a run in AG-UI, which lasts as long as ctx does.
func (s *Streams) OpenAGUI(ctx context.Context, key spool.ThreadKey, o agui.Options) (*Live, error) {
	events, err := s.openAGUI(ctx, key, time.Time{}, o, nil)
	if err != nil {
		return nil, err
	}
	return &Live{streams: s, events: events, key: key}, nil
}

// Nothing is the stream in AG-UI of a thread that has no messages.
func (s *Streams) Nothing(key spool.ThreadKey, run string) *Live {
	return &Live{streams: s, events: nothingYet{key.ID, run}, key: key}
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

// release releases the snapshots that the text before has used.
func (a *aguiStream) release() {
	for _, s := range a.held {
		s.Release()
	}
	a.held = nil
}

// Done reports whether the stream has come to its end.
func (a *aguiStream) Done() bool { return a.translator.Done() }

// Chunks implements [eventSource].
func (a *aguiStream) Chunks() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		defer a.stop()
		id, events, err := a.prelude()
		// A client that has read the prelude counts as one who follows, for live events too.
		var follower *engine.FormedFollower
		if err == nil && !a.translator.Done() {
			o := engine.FollowOptions{Cursor: &a.at, LastTurnID: a.turn, CreatedAt: a.made}
			if follower, err = a.engine.FollowFormed(a.ctx, a.key, o, agui.Form); err == nil {
				defer follower.Close()
			}
		}
		if !a.yield(yield, func(text *agui.Text) error { return a.addPrelude(text, id, events, err) }) || follower == nil {
			return
		}
		for frames, err := range follower.Frames(a.ctx, aguiKeepalive) {
			if !a.yield(yield, func(text *agui.Text) error { return a.addAll(text, frames, err) }) || a.translator.Done() {
				return
			}
		}
		if a.retry {
			a.yield(yield, comeBack)
			return
		}
		a.yield(yield, func(text *agui.Text) error {
			if _, err := a.engine.Thread(a.ctx, a.key); spool.CodeOf(err) == spool.NotFound {
				return err // it is somebody else's now
			}
			return text.Add("", a.translator.Left()...)
		})
	}
}

// texts are shared, so that a client that waits holds none.
var texts = sync.Pool{New: func() any { return new(agui.Text) }}

// yield yields a text and gives back what it had parts of. It reports whether there is more. Where
// the text cannot be had, it yields why, and tells a client that waits for the end of a run first.
func (a *aguiStream) yield(yield func([]byte, error) bool, add func(*agui.Text) error) bool {
	text, _ := texts.Get().(*agui.Text)
	defer func() {
		a.release()
		text.Reset()
		texts.Put(text)
	}()
	err := add(text)
	if err != nil {
		text.Reset()
		if !a.retry && !a.translator.Done() { // what is not added has no place in this stream any more
			_ = text.Add("", agui.Cut(err))
		}
	}
	for _, piece := range text.Pieces() {
		if !yield(piece, nil) {
			return false
		}
	}
	if err != nil {
		yield(nil, err)
	}
	return err == nil
}

// prelude returns the first events for the client, and their id.
func (a *aguiStream) prelude() (id string, events []agui.Event, err error) {
	first := a.first
	a.first, a.held = nil, append(a.held, first)
	if a.began != nil {
		a.at = *a.began
		events, err = a.translator.Replay(first, a.at)
		return a.at.String(), events, err
	}
	if events, err = a.translator.Prelude(first, a.have); err != nil {
		return "", nil, err
	}
	a.at, a.turn = first.Cursor(), lastTurn(first.Messages)
	if len(events) > 0 {
		id = a.at.String()
	}
	return id, events, nil
}

// addPrelude adds what [aguiStream.prelude] has returned.
func (a *aguiStream) addPrelude(text *agui.Text, id string, events []agui.Event, err error) error {
	if a.retry {
		text.AddLine(retryLine(aguiRetry))
	}
	if err != nil {
		return err
	}
	return text.Add(id, events...)
}

// lastTurn returns the id of the last user turn of the thread's own agent, "" without one.
func lastTurn(messages []spool.Message) spool.MessageID {
	for _, m := range slices.Backward(messages) {
		if m.Role == spool.RoleUser && m.AgentID == "" {
			return m.ID
		}
	}
	return ""
}

func retryLine(d time.Duration) string {
	return "retry: " + strconv.FormatInt(d.Milliseconds(), 10)
}

// addAll adds what frames become, or returns why there are none. No frames are a silence.
func (a *aguiStream) addAll(text *agui.Text, frames []engine.FormedFrame, err error) error {
	if err != nil {
		return err
	}
	if len(frames) == 0 {
		if a.aliveEvent {
			text.AddLine(aguiAliveEvent)
		} else {
			text.AddLine(aguiAlive)
		}
	}
	for _, f := range frames {
		if f.Formed != nil {
			a.held = append(a.held, f.Formed)
		}
	}
	for _, f := range frames {
		if err := a.add(text, f); err != nil || a.translator.Done() {
			return err
		}
	}
	return nil
}

// add adds what a frame becomes. The id is the frame's own, so that a client may come back
// with it in either format.
func (a *aguiStream) add(text *agui.Text, f engine.FormedFrame) error {
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

// comeBack adds the retry hint behind the last frame. Each client gets another delay, so that they do
// not reconnect all at once.
func comeBack(text *agui.Text) error {
	spread := time.Duration(rand.Int64N(int64(aguiRetry) + 1)) //nolint:gosec // it spreads, and hides nothing
	text.AddLine(retryLine(aguiRetry + spread))
	return nil
}

// nothingYet is the stream of a thread without messages: a page shows one before its first turn.
type nothingYet struct {
	thread spool.ThreadID
	run    string
}

// Chunks implements [eventSource].
func (n nothingYet) Chunks() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		var text agui.Text
		if err := text.Add("", agui.Nothing(n.thread, n.run)...); err != nil {
			yield(nil, err)
			return
		}
		for _, piece := range text.Pieces() {
			if !yield(piece, nil) {
				return
			}
		}
	}
}

// Close implements [eventSource].
func (nothingYet) Close() error { return nil }
