package stream

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/server/agui"
	"github.com/spoolhq/spool/wire"
)

// alive keeps an idle stream alive. Scripts in a browser can ask for aliveEvent instead.
const alive, aliveEvent = ": keepalive", "event: keepalive\ndata: {}"

// eventSource has the bytes of an open event stream: the engine's own frames, or those frames translated.
type eventSource interface {
	// Chunks yields pieces of whole messages, and at the end an error. If it ends without an error, the
	// thread was deleted or the server shuts down.
	Chunks() iter.Seq2[[]byte, error]
	// Close releases the thread. It may be called more than once.
	Close() error
}

// translator turns the frames of a thread into the text of another protocol.
type translator interface {
	// form is the form of the snapshots.
	form() wire.SnapshotForm
	Done() bool
	BeganSince(s *wire.FormedSnapshot) bool
	// Each of these adds what the client gets, with the id of the position after it: see package projection.
	prelude(text *agui.Text, s *wire.FormedSnapshot, have *wire.Cursor) error
	replay(text *agui.Text, s *wire.FormedSnapshot, at wire.Cursor) error
	frame(text *agui.Text, f wire.FormedFrame) error
	// endEarly adds the end of a stream whose run continues without the client. failed adds the end of a stream that err
	// ends.
	endEarly(text *agui.Text) error
	failed(text *agui.Text, err error)
}

// translated is a stream of a thread in the protocol of its translator. It ends when the translator is done.
type translated struct {
	engine    *engine.Engine
	key       spool.ThreadKey
	createdAt time.Time // when the thread was
	// have is the client's cursor. Nil: none.
	have *wire.Cursor
	// cuts tells a client of the end of a stream before its run's end.
	cuts bool
	// retry is the retry hint for browsers, which comes first. Zero: the stream has none.
	retry time.Duration
	// aliveEvent keeps an idle stream alive with events instead of comments.
	aliveEvent bool

	ctx   context.Context //nolint:containedctx // it is the stream's lifetime, as a request's is
	stop  context.CancelFunc
	first *wire.FormedSnapshot
	// began is the position before the segment that the client must see from its start, even though first was
	// made later. Nil: the client begins with first.
	began      *wire.Cursor
	translator translator
	at         wire.Cursor
	turn       spool.MessageID // the last user turn there
	// follower has the frames after the first text. Nil: that text has not been made.
	follower *engine.FormedFollower
	// held are the snapshots whose bytes the next text contains.
	held []*wire.FormedSnapshot
}

// translate opens a stream of a run, or of all runs of the thread. It returns a [spool.NotFound] error for a thread
// that does not exist, or whose creation time is not made. A zero made accepts any thread.
func (s *Streams) translate(
	ctx context.Context, key spool.ThreadKey, createdAt time.Time, form wire.SnapshotForm, run spool.RunID, from *wire.Run,
	with func(load func() (*wire.FormedSnapshot, error)) translator,
) (*translated, error) {
	first, err := s.config.Engine.FormedSnapshot(ctx, key, form)
	if err != nil {
		return nil, err
	}
	if !createdAt.IsZero() && !first.Thread.CreatedAt.Equal(createdAt) {
		first.Release()
		return nil, errThreadRecreated
	}
	ctx, stop := context.WithCancel(ctx)
	a := &translated{
		engine: s.config.Engine, key: key, createdAt: first.Thread.CreatedAt, ctx: ctx, stop: stop, first: first,
	}
	a.translator = with(a.load)
	if a.translator.BeganSince(first) {
		a.began, err = s.config.Engine.BeforeSegment(ctx, key, run, from.Segments+1, first.ActiveEvents...)
		if err != nil {
			_ = a.Close()
			return nil, err
		}
	}
	return a, nil
}

// load returns the present thread. The stream releases it after it has sent the next text.
func (a *translated) load() (*wire.FormedSnapshot, error) {
	s, err := a.engine.FormedSnapshot(a.ctx, a.key, a.translator.form())
	if err != nil {
		return nil, err
	}
	if !s.Thread.CreatedAt.Equal(a.createdAt) {
		s.Release()
		return nil, errThreadRecreated
	}
	a.held = append(a.held, s)
	return s, nil
}

// errThreadRecreated says that the thread was deleted, and another one created with its id.
var errThreadRecreated = spool.Errorf(spool.NotFound, "Thread not found")

// Close implements [eventSource].
func (a *translated) Close() error {
	a.stop()
	if a.follower != nil {
		a.follower.Close()
	}
	a.first.Release()
	a.release()
	return nil
}

// release releases the snapshots of the text before.
func (a *translated) release() {
	for _, s := range a.held {
		s.Release()
	}
	a.held = nil
}

// Done reports whether the stream has come to its end.
func (a *translated) Done() bool { return a.translator.Done() }

// Chunks implements [eventSource].
func (a *translated) Chunks() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		defer a.Close()
		if !a.begin(yield) {
			return
		}
		for frames, err := range a.follower.Frames(a.ctx, a.engine.StreamOptions().Keepalive) {
			if !a.next(yield, frames, err) {
				return
			}
		}
		a.leave(yield)
	}
}

// begin yields what the client gets first. It reports whether frames follow.
func (a *translated) begin(yield func([]byte, error) bool) bool {
	text, _ := texts.Get().(*agui.Text)
	err := a.addPrelude(text)
	// A client that has read the prelude is a follower, for live events too.
	if err == nil && !a.translator.Done() {
		o := wire.FollowOptions{Cursor: &a.at, LastTurnID: a.turn, CreatedAt: a.createdAt}
		a.follower, err = a.engine.FollowFormed(a.ctx, a.key, o, a.translator.form())
	}
	return a.yield(yield, text, err) && a.follower != nil
}

// next yields the events of frames, or the error that ended them. It reports whether more frames follow.
func (a *translated) next(yield func([]byte, error) bool, frames []wire.FormedFrame, err error) bool {
	text, _ := texts.Get().(*agui.Text)
	return a.yield(yield, text, a.addAll(text, frames, err)) && !a.translator.Done()
}

// leave yields the end of a stream whose frames have ended without an error.
func (a *translated) leave(yield func([]byte, error) bool) {
	text, _ := texts.Get().(*agui.Text)
	if a.retry > 0 {
		a.addRetryHint(text)
		a.yield(yield, text, nil)
		return
	}
	_, err := a.engine.Thread(a.ctx, a.key)
	if spool.CodeOf(err) != spool.NotFound { // else the thread now belongs to another caller
		err = a.translator.endEarly(text)
	}
	a.yield(yield, text, err)
}

// texts are pooled, so that a waiting client holds none.
var texts = sync.Pool{New: func() any { return new(agui.Text) }}

// yield yields a text and releases its parts. It reports whether the stream continues. If err is an error, yield
// yields it, but first tells a client that waits for the end of a run.
func (a *translated) yield(yield func([]byte, error) bool, text *agui.Text, err error) bool {
	defer func() {
		a.release()
		text.Reset()
		texts.Put(text)
	}()
	if err != nil && !errors.Is(err, errBroken) {
		text.Reset()
		if a.cuts && !a.translator.Done() { // the stream ends before its run does
			a.translator.failed(text, err)
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

// addPrelude adds what the client gets first.
func (a *translated) addPrelude(text *agui.Text) error {
	if a.retry > 0 {
		text.AddLine(retryLine(a.retry))
	}
	first := a.first
	a.first, a.held = nil, append(a.held, first)
	if a.began != nil {
		a.at = *a.began
		return a.translator.replay(text, first, a.at)
	}
	a.at, a.turn = first.Cursor(), lastTurn(first.Messages)
	return a.translator.prelude(text, first, a.have)
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

func (a *translated) alive() string {
	if a.aliveEvent {
		return aliveEvent
	}
	return alive
}

// addAll adds the events of frames, or returns err. Without frames, it adds a sign of life.
func (a *translated) addAll(text *agui.Text, frames []wire.FormedFrame, err error) error {
	if err != nil {
		return err
	}
	if len(frames) == 0 {
		text.AddLine(a.alive())
	}
	for _, f := range frames {
		if f.Formed != nil {
			a.held = append(a.held, f.Formed)
		}
	}
	for _, f := range frames {
		if err := a.translator.frame(text, f); err != nil || a.translator.Done() {
			return err
		}
	}
	return nil
}
