package live

import (
	"errors"
	"io"
	"time"
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
	frames, err := s.f.next(s.ctx, max(wait, 1)) // zero would mean to wait for ever
	switch {
	case errors.Is(err, errIdle):
		return s.f.sleep(wake), nil
	case errors.Is(err, errOver):
		s.Close()
		yield(s.ComeBack())
		return false, io.EOF
	case err != nil:
		s.Close()
		return false, err
	case len(frames) > 0 && !yieldJoined(frames, func(piece []byte, _ error) bool { return yield(piece) }):
		s.Close()
		return false, io.EOF
	default:
		s.f.release()
		return false, nil
	}
}
