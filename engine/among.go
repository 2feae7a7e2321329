package engine

import (
	"context"

	"github.com/spoolhq/spool"
)

// A segment is not alone with its stream. A tool, or whoever else holds the engine, tells
// live events, which become items, and writes durable ones, which become entries among the
// items. Neither may come between what the segment has promised, in a transaction, to say
// next: the offsets by which entries and messages refer to items are then taken already.

// guests is the part of a writer that is about them, and is guarded by its mu.
type guests struct {
	owed    int64         // number of the last item that the segment has promised
	flushed int64         // number of the last item that was handed to the stream
	waiting []spool.Entry // live events that wait until nothing is owed
	later   []stand
	ending  bool // the stream is about to end
}

// stand says that the items behind one stand behind an entry too.
type stand struct{ item, seq int64 }

// custom tells a live event in the stream. It reports false where the stream takes none any
// more.
func (w *writer) custom(ctx context.Context, e spool.Entry) bool {
	w.mu.Lock()
	if w.ending || w.broken {
		w.mu.Unlock()
		return false
	}
	w.waiting = append(w.waiting, e)
	w.admit()
	full := w.gathered(ctx)
	w.mu.Unlock()
	if full {
		w.flush(ctx)
	}
	return true
}

// admit lets in the events that wait, if nothing is owed. The caller holds mu.
func (w *writer) admit() {
	if w.n < w.owed {
		return
	}
	for _, e := range w.waiting {
		w.put(spool.ItemCustom, spool.Custom{
			Name: string(e.Type), Value: e.Payload, PublishedBy: e.PublishedBy, PublishedByTool: e.PublishedByTool,
		})
	}
	w.waiting = nil
}

// learn puts the items to come, but for those that are owed, behind an entry that somebody
// else may have written.
func (w *writer) learn(seq int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if seq > w.seq {
		w.later = append(w.later, stand{w.owed, seq})
	}
}

// stand puts the next item behind the entries behind which it stands. The caller holds mu.
func (w *writer) stand() {
	left := w.later[:0]
	for _, s := range w.later {
		if w.n < s.item {
			left = append(left, s)
			continue
		}
		w.seq = max(w.seq, s.seq)
	}
	w.later = left
}

// among writes an entry among the items, by a transaction in which place says behind which
// item it stands. Write returns the entry's seq, 0 for none. No item behind that one is seen
// before the transaction is over, so that the order is the same to all.
func (w *writer) among(ctx context.Context, write func(place func() spool.Offset) (seq int64, err error)) error {
	w.flushing.Lock()
	defer w.flushing.Unlock()
	w.flushHeld(ctx)
	var after int64
	seq, err := write(func() spool.Offset {
		w.mu.Lock()
		defer w.mu.Unlock()
		after = max(w.flushed, w.owed)
		return spool.Offset{Fence: w.fence, N: after}
	})
	if seq == 0 {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.later = append(w.later, stand{after, seq})
	for i := range w.batch { // said in the meantime, and seen by nobody
		if w.batch[i].Offset.N > after {
			w.batch[i].Seq = max(w.batch[i].Seq, seq)
		}
	}
	return err
}

// shut lets no event in any more, and returns those that still wait.
func (w *writer) shut() []spool.Entry {
	w.mu.Lock()
	defer w.mu.Unlock()
	waiting := w.waiting
	w.waiting, w.ending = nil, true
	return waiting
}

// lock is a mutex. Other than one of sync, it can be held over a transaction in a bubble of
// testing/synctest: who waits for it lets the time of the bubble go on.
type lock chan struct{}

func newLock() lock { return make(lock, 1) }

// Lock implements [sync.Locker].
func (l lock) Lock() { l <- struct{}{} }

// Unlock implements [sync.Locker].
func (l lock) Unlock() { <-l }
