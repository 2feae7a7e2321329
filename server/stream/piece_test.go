package stream

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// slowWriter takes so long for each write.
type slowWriter struct {
	*httptest.ResponseRecorder

	takes     time.Duration
	now, most *atomic.Int64
	fails     error
}

func (w *slowWriter) Write(b []byte) (int, error) {
	now := w.now.Add(1)
	defer w.now.Add(-1)
	for most := w.most.Load(); now > most; most = w.most.Load() {
		if w.most.CompareAndSwap(most, now) {
			break
		}
	}
	<-time.After(w.takes)
	if w.fails != nil {
		return 0, w.fails
	}
	return w.ResponseRecorder.Write(b)
}

// Of clients that take what they get, two are written to at once. All get all.
func TestLargeWritesTakeTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		text := bytes.Repeat([]byte("0123456789"), maxPiece/4)
		p := newPacer()
		var now, most atomic.Int64
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() {
				w := &slowWriter{httptest.NewRecorder(), time.Millisecond, &now, &most, nil}
				if !p.send(w, text, time.Second) || !bytes.Equal(w.Body.Bytes(), text) {
					t.Errorf("%d of %d bytes came", w.Body.Len(), len(text))
				}
			})
		}
		all.Wait()
		if most.Load() != 2 {
			t.Errorf("%d writes went on at once", most.Load())
		}
	})
}

// Clients that take their time hold up others for one turn, and are then written to beside
// them. What is short waits for nobody.
func TestSlowClientsLoseTheirTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		text := make([]byte, 4*maxPiece)
		p := newPacer()
		var now, most atomic.Int64
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() { p.send(&slowWriter{httptest.NewRecorder(), time.Hour, &now, &most, nil}, text, time.Second) })
		}
		synctest.Wait()
		began := time.Now()
		if !p.send(httptest.NewRecorder(), text[:100], time.Second) || time.Since(began) > 0 {
			t.Errorf("a short text took %v", time.Since(began))
		}
		if !p.send(httptest.NewRecorder(), text, time.Second) || time.Since(began) > 5*turnLimit {
			t.Errorf("a client that takes all at once waited for %v", time.Since(began))
		}
		all.Wait()
		if len(p.turns) > 0 || most.Load() != 10 {
			t.Errorf("%d turns are not given back, and %d writes went on at once", len(p.turns), most.Load())
		}
		gone := &slowWriter{httptest.NewRecorder(), 0, &now, &most, errors.New("gone")}
		if p.send(gone, text, time.Second) || len(p.turns) > 0 {
			t.Errorf("a client that is gone took it, and %d turns are not given back", len(p.turns))
		}
	})
}

var _ http.ResponseWriter = (*slowWriter)(nil)
