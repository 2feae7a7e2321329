package live

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/spoolhq/spool/wire"
)

// Advance yields the pieces of one batch of frames, for which it waits for up to the duration wait. It is
// for a caller that has no goroutine for each stream. Use either Advance or Chunks.
//
// If asleep is true, the caller must call Advance again when wake was called, which must not block. The
// end of the stream's context does not call wake. If asleep is false, the caller may call Advance at once.
//
// Advance returns [io.EOF] when the thread was deleted, the engine was closed, or yield returned false.
// After any error, the stream is closed.
func (s *EventStream) Advance(wait time.Duration, wake func(), yield func([]byte) bool) (asleep bool, err error) {
	if !s.begun {
		s.begun = true
		if s.retry > 0 && !yield(retryLine(s.retry)) {
			s.Close()
			return false, io.EOF
		}
	}
	asleep, err = s.f.advance(s.ctx, wait, wake, func(frames []ringFrame) bool {
		return yieldJoined(frames, func(piece []byte, _ error) bool { return yield(piece) })
	})
	if errors.Is(err, errOver) {
		yield(s.ComeBack())
		return false, io.EOF
	}
	return asleep, err
}

// Advance yields one batch of frames, as [EventStream.Advance] yields its pieces. Use either Advance or
// Frames.
func (f *FormedFollower) Advance(
	ctx context.Context, wait time.Duration, wake func(), yield func([]wire.FormedFrame) bool,
) (asleep bool, err error) {
	asleep, err = f.f.advance(ctx, wait, wake, func(frames []ringFrame) bool { return yieldFormed(frames, yield) })
	if errors.Is(err, errOver) {
		return false, io.EOF
	}
	return asleep, err
}

// advance yields one batch of frames, which is valid until yield returns. It returns [io.EOF] when yield
// returned false, and errOver when the follower has ended without an error. After any error, the follower is
// closed.
func (f *follower) advance(
	ctx context.Context, wait time.Duration, wake func(), yield func([]ringFrame) bool,
) (asleep bool, err error) {
	frames, err := f.next(ctx, max(wait, 1)) // zero would mean to wait for ever
	switch {
	case errors.Is(err, errIdle):
		return f.sleep(wake), nil
	case err != nil:
		f.close()
		return false, err
	case len(frames) > 0 && !yield(frames):
		f.close()
		return false, io.EOF
	default:
		f.release()
		return false, nil
	}
}
