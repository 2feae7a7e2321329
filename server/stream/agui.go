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

// aguiAlive keeps an idle stream alive. Scripts in a browser can ask for aguiAliveEvent instead.
const aguiAlive, aguiAliveEvent = ": keepalive", "event: keepalive\ndata: {}"

// eventSource has the bytes of an open event stream: the engine's own frames, or those frames translated.
type eventSource interface {
	// Chunks yields pieces of whole messages, and at the end an error. If it ends without an error, the
	// thread was deleted or the server shuts down.
	Chunks() iter.Seq2[[]byte, error]
	// Close releases the thread. It may be called more than once.
	Close() error
}

// aguiStream is a stream of a thread in AG-UI. It ends when its translator is done.
type aguiStream struct {
	engine *engine.Engine
	key    spool.ThreadKey
	made   time.Time // when the thread was
	// have is the client's cursor. Nil: none.
	have *spool.Cursor
	// retry is the retry hint for browsers, which comes first. Zero: the stream has none.
	retry time.Duration
	// aliveEvent keeps an idle stream alive with events instead of comments.
	aliveEvent bool

	ctx   context.Context //nolint:containedctx // it is the stream's lifetime, as a request's is
	stop  context.CancelFunc
	first *engine.FormedSnapshot
	// began is the position before the segment that the client must see from its start, even though first was
	// made later. Nil: the client begins with first.
	began      *spool.Cursor
	translator *agui.Translator
	at         spool.Cursor
	turn       spool.MessageID // the last user turn there
	// held are the snapshots whose bytes the next text contains.
	held []*engine.FormedSnapshot
}

// openAGUI opens a stream in AG-UI. It returns a [spool.NotFound] error for a thread that does not
// exist, or whose creation time is not made. A zero made accepts any thread.
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
		engine: s.config.Engine, key: key, made: first.Thread.CreatedAt, have: have, ctx: ctx, stop: stop, first: first,
	}
	if o.RunID == "" {
		a.retry = a.engine.StreamOptions().RetryHint
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

// Nothing returns the stream in AG-UI of a thread without messages.
func (s *Streams) Nothing(key spool.ThreadKey, run string) *Live {
	return &Live{streams: s, events: nothingYet{key.ID, run}, key: key}
}

// load returns the present thread. The stream releases it after it has sent the next text.
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

// errMadeAgain says that the thread was deleted, and another one created with its id.
var errMadeAgain = spool.Errorf(spool.NotFound, "Thread not found")

// Close implements [eventSource].
func (a *aguiStream) Close() error {
	a.stop()
	a.first.Release()
	a.release()
	return nil
}

// release releases the snapshots of the text before.
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
		// A client that has read the prelude is a follower, for live events too.
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
		for frames, err := range follower.Frames(a.ctx, a.engine.StreamOptions().Keepalive) {
			if !a.yield(yield, func(text *agui.Text) error { return a.addAll(text, frames, err) }) || a.translator.Done() {
				return
			}
		}
		if a.retry > 0 {
			a.yield(yield, a.comeBack)
			return
		}
		a.yield(yield, func(text *agui.Text) error {
			if _, err := a.engine.Thread(a.ctx, a.key); spool.CodeOf(err) == spool.NotFound {
				return err // the thread now belongs to another caller
			}
			return text.Add("", a.translator.Left()...)
		})
	}
}

// texts are pooled, so that a waiting client holds none.
var texts = sync.Pool{New: func() any { return new(agui.Text) }}

// yield yields a text and releases its parts. It reports whether the stream continues. If add fails, yield
// yields its error, but first tells a client that waits for the end of a run.
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
		if a.retry == 0 && !a.translator.Done() { // the stream ends before its run does
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

// addPrelude adds the result of [aguiStream.prelude].
func (a *aguiStream) addPrelude(text *agui.Text, id string, events []agui.Event, err error) error {
	if a.retry > 0 {
		text.AddLine(retryLine(a.retry))
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

// addAll adds the events of frames, or returns err. Without frames, it adds a sign of life.
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

// add adds the events of a frame. The id is the frame's own, so that a client may reconnect with it in either
// format.
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

// comeBack adds the retry hint after the last frame. Each client gets another delay, so that they do
// not reconnect all at once.
func (a *aguiStream) comeBack(text *agui.Text) error {
	spread := time.Duration(rand.Int64N(int64(a.retry) + 1)) //nolint:gosec // it spreads, and hides nothing
	text.AddLine(retryLine(a.retry + spread))
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
