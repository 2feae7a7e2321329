package server

import (
	"net/http"
	"sync/atomic"
	"time"
)

const (
	// maxPiece is how many bytes a client is given at once.
	maxPiece = 64 << 10
	// largePiece is from how many bytes on a write waits for its turn.
	largePiece = 16 << 10
	// turnLimit is how long a write may keep others from theirs.
	turnLimit = 20 * time.Millisecond
)

// pacer lets few large writes go on at once. Without it, hundreds of clients that take a
// large snapshot would all be ready to run, and every short request would wait behind them.
type pacer struct{ turns chan struct{} }

func newPacer() pacer { return pacer{make(chan struct{}, 2)} }

// send reports whether the client took all of the text. The client has the timeout for each
// [maxPiece] bytes.
func (p pacer) send(w http.ResponseWriter, text []byte, timeout time.Duration) bool {
	control := http.NewResponseController(w)
	slow := false
	for len(text) > 0 {
		n := min(len(text), maxPiece)
		_ = control.SetWriteDeadline(time.Now().Add(timeout))
		var err error
		if n < largePiece || slow {
			_, err = w.Write(text[:n])
		} else {
			slow, err = p.paced(w, text[:n])
		}
		if err != nil {
			return false
		}
		text = text[n:]
	}
	return true
}

// paced writes when it is its turn, and reports whether the client did not take the piece
// within the limit. A slow client loses its turn, so that it does not hold up others.
func (p pacer) paced(w http.ResponseWriter, piece []byte) (slow bool, err error) {
	p.turns <- struct{}{} // each turn ends soon
	var over atomic.Bool
	end := func() {
		if over.CompareAndSwap(false, true) {
			<-p.turns
		}
	}
	limit := time.AfterFunc(turnLimit, end)
	_, err = w.Write(piece)
	slow = !limit.Stop()
	end()
	return slow, err
}
