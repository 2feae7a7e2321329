package stream

import (
	"errors"
	"io"
	"time"

	"github.com/spoolhq/spool/wire"
)

// advancing is an event source that needs no goroutine while nothing happens. The methods are those of
// [engine.EventStream].
type advancing interface {
	eventSource
	Advance(wait time.Duration, wake func(), send func([]byte) bool) (asleep bool, err error)
	Keepalive() []byte
	ComeBack() []byte
}

// Advance implements [advancing]. Use either Advance or Chunks.
func (a *translated) Advance(wait time.Duration, wake func(), send func([]byte) bool) (asleep bool, err error) {
	ended, sent := io.EOF, false
	yield := func(piece []byte, failure error) bool {
		if failure != nil {
			ended = failure
			return false
		}
		sent = true
		return send(piece)
	}
	if a.follower == nil {
		if a.begin(yield) {
			return false, nil
		}
		_ = a.Close()
		return false, ended
	}
	goesOn := true
	for silent := true; silent && err == nil; { // frames that the protocol has no word for are not a batch
		silent = false
		asleep, err = a.follower.Advance(a.ctx, wait, wake, func(frames []wire.FormedFrame) bool {
			goesOn = a.next(yield, frames, nil)
			silent = goesOn && !sent
			return goesOn
		})
	}
	switch {
	case err == nil:
		return asleep, nil
	case !goesOn: // and next has yielded why
	case errors.Is(err, io.EOF):
		a.leave(yield)
	default:
		a.next(yield, nil, err)
	}
	_ = a.Close()
	return false, ended
}

// Keepalive implements [advancing].
func (a *translated) Keepalive() []byte { return []byte(a.alive() + "\n\n") }

// ComeBack implements [advancing].
func (a *translated) ComeBack() (end []byte) {
	a.leave(func(piece []byte, _ error) bool {
		end = append(end, piece...)
		return true
	})
	return end
}
