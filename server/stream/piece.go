package stream

import (
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// maxPiece is how many bytes are written to a client at once.
	maxPiece = 64 << 10
	// largePiece is the size in bytes from which a write waits for its turn.
	largePiece = 16 << 10
	// turnLimit is how long a write may keep its turn.
	turnLimit = 20 * time.Millisecond
)

// pacer lets only a few large writes run at once. Without it, hundreds of clients that take a
// large snapshot would all be ready to run, and every short request would wait after them.
type pacer struct {
	turns chan struct{}
	over  *sync.Pool // of finished *turn
}

// turn is the right to make one large write. Turns are reused, as a large snapshot takes many.
type turn struct {
	pacer pacer
	over  atomic.Bool
	limit *time.Timer
}

// end gives the turn to another write. It may be called more than once.
func (t *turn) end() {
	if t.over.CompareAndSwap(false, true) {
		<-t.pacer.turns
	}
}

func newPacer() pacer {
	return pacer{make(chan struct{}, 2), &sync.Pool{New: func() any { return &turn{} }}}
}

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

// paced writes when it gets a turn. It reports whether the client was too slow to take the piece within the
// limit. A slow client loses its turn, so that it does not delay others.
func (p pacer) paced(w http.ResponseWriter, piece []byte) (slow bool, err error) {
	p.turns <- struct{}{} // each turn ends soon
	t, _ := p.over.Get().(*turn)
	t.pacer = p
	t.over.Store(false)
	if t.limit == nil {
		t.limit = time.AfterFunc(turnLimit, t.end)
	} else {
		t.limit.Reset(turnLimit)
	}
	_, err = w.Write(piece)
	// Clients that waited for the same snapshot are all ready to run, and each would write all of it without
	// a pause. This wait makes them queue for their turns, and leaves the processors to short requests.
	runtime.Gosched()
	slow = !t.limit.Stop()
	t.end()
	if !slow { // else its timer may still end it
		p.over.Put(t)
	}
	return slow, err
}
