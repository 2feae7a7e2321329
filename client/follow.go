package client

import (
	"context"
	"crypto/tls"
	"errors"
	"iter"
	"net/http"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// FollowOptions say from where, and how, to follow a thread.
type FollowOptions struct {
	// Cursor is the caller's position: that of a snapshot, or of the last frame of an earlier Follow. Nil: the
	// record from its beginning, and the unfinished part of the present run.
	Cursor *wire.Cursor
	// GiveUpAfter ends the Follow with the last error when nothing has arrived for this long. Zero: never.
	GiveUpAfter time.Duration
	// Idle is how long a connection may bring no byte before it counts as dead. The server sends a byte every
	// 15 s unless configured. Defaults to 45 s.
	Idle time.Duration
	// LastMessageID is the last message that the caller has: a snapshot frame of the thread has only the
	// messages after it. A view of package view needs all of them. Empty: all messages.
	LastMessageID spool.MessageID
	// OnRetry is called before each wait for a new connection, with the reason for the end of the last one. It
	// must not block. Nil: none.
	OnRetry func(err error, wait time.Duration)
}

const defaultIdle = 45 * time.Second

// Follow yields the frames of a thread as they happen, until the caller stops. It connects anew whenever the
// stream ends, and continues after the last frame that it has yielded: each record entry and item comes
// once, in the order of spec/events.md. The snapshot of one run may come again. Notices have no cursor and are
// not stored, apart from the turns of the user, which come once: a new connection begins with the present
// STATE_CHANGE, which is left out if it is the one before.
//
// The wait between connections is the one that the server asks for (retry: and Retry-After), or else that of
// [Options.Backoff]. The server sees a slow caller as a slow connection, which never blocks a run; a caller that
// falls behind what the server keeps gets a snapshot frame in place of the frames that are gone.
//
// The sequence ends with an error: that of ctx, [spool.NotFound] for a thread that does not exist or was
// deleted (after the frame that says so), and the server's for a request that no retry can help, such as
// [spool.Forbidden]. A 401 ends it only if the next token is refused too. Answers that are not from a Spool
// server, but from a proxy in front of it, end a Follow that has never been connected.
//
// Each range over the sequence follows from the options anew.
func (c *Client) Follow(ctx context.Context, thread spool.ThreadID, o FollowOptions) iter.Seq2[wire.Frame, error] {
	if o.Idle <= 0 {
		o.Idle = defaultIdle
	}
	return func(yield func(wire.Frame, error) bool) {
		f := &follower{client: c, thread: thread, options: o, alive: time.Now()}
		if o.Cursor != nil {
			f.place.set(o.Cursor.String(), o.Cursor)
		}
		f.run(ctx, yield)
	}
}

// follower is one range over a Follow.
type follower struct {
	client  *Client
	thread  spool.ThreadID
	options FollowOptions
	place   place
	// hint is the reconnection time that the server sent last. Zero: none.
	hint time.Duration
	// connected says that an event stream was open before.
	connected bool
	// alive is when the last byte of a stream arrived, or the Follow began.
	alive time.Time
	// failures counts the connections in a row that brought no event.
	failures int
	// refused says that the last connection was answered with a 401.
	refused bool
	// garbled counts the events at the present position that could not be read.
	garbled int
}

// errStopped says that the caller has left the loop.
var errStopped = errors.New("the caller has stopped")

// run connects until it makes no sense any more.
func (f *follower) run(ctx context.Context, yield func(wire.Frame, error) bool) {
	for {
		err := f.connect(ctx, yield)
		switch {
		case errors.Is(err, errStopped):
			return
		case ctx.Err() != nil:
			yield(wire.Frame{}, canceled(ctx))
			return
		case f.final(err):
			yield(wire.Frame{}, err)
			return
		}
		wait := f.wait(err)
		if limit := f.options.GiveUpAfter; limit > 0 && time.Since(f.alive)+wait > limit {
			yield(wire.Frame{}, err)
			return
		}
		if f.options.OnRetry != nil {
			f.options.OnRetry(err, wait)
		}
		if !pause(ctx, wait) {
			yield(wire.Frame{}, canceled(ctx))
			return
		}
	}
}

// wait returns the wait before the next connection.
func (f *follower) wait(err error) time.Duration {
	asked := max(f.hint, askedWait(err))
	if f.failures > 0 {
		return f.client.options.Backoff.wait(f.failures, asked)
	}
	if asked == 0 {
		asked = f.client.options.Backoff.Min
	}
	return spread(min(asked, maxAskedWait))
}

// final reports whether no further connection can help.
func (f *follower) final(err error) bool {
	if errors.Is(err, errUnreadable) || errors.Is(err, errDeleted) {
		return true
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return !f.connected
	}
	answer, ok := errors.AsType[*ResponseError](err)
	if !ok {
		switch spool.CodeOf(err) {
		case spool.Invalid, spool.Unauthorized, spool.Forbidden, spool.NotFound: // of the request, or of the token's source
			return true
		default:
			return false
		}
	}
	switch {
	case answer.Status == http.StatusUnauthorized:
		again := f.refused
		f.refused = true
		return again || f.client.options.Token == nil
	case answer.Status >= http.StatusInternalServerError,
		answer.Status == http.StatusRequestTimeout, answer.Status == http.StatusTooEarly,
		answer.Status == http.StatusTooManyRequests:
		return false
	default:
		return answer.native || !f.connected
	}
}
