package engine

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/spoolhq/spool"
)

// writer writes the run stream of one segment, which all of its loops share: each speaks
// with a [voice]. It numbers the items and gathers them into batches. What the application
// publishes comes between them: see among.go.
type writer struct {
	e     *Engine
	key   spool.StreamKey
	fence int64

	turn     lock // who adds items; taken before the others
	flushing lock // keeps batches in order; taken before mu
	mu       sync.Mutex
	seq      int64 // the last record entry that the items to come stand behind
	n        int64 // number of the last item
	blocks   int   // how many were opened
	batch    []spool.Item
	timer    *time.Timer
	broken   bool // an append has failed: the run goes on without a stream
	heir     bool // another worker has written the stream
	guests        // what others than the segment write among its items
}

// open makes the stream and writes its first item.
func (w *writer) open(ctx context.Context, run spool.Run) {
	if err := w.e.streams.Open(ctx, w.key); err != nil {
		w.fail(ctx, err)
	}
	w.add(ctx, spool.ItemRunStarted, spool.StreamStarted{
		ThreadID: w.key.Thread.ID, RunID: run.ID, StreamID: w.key.ID, Segment: run.Segments,
	})
	w.flush(ctx)
}

// wrote says that the record has got the segment's entries up to seq. Items from now on
// stand behind them.
func (w *writer) wrote(seq int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seq = max(w.seq, seq)
}

// newBlock returns an id for a block, which no other one of the stream has.
func (w *writer) newBlock() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.blocks++
	return string(w.key.ID) + ":m" + strconv.Itoa(w.blocks)
}

// next returns the offset that the k-th item from here will have. No event of the
// application comes between before those items are there.
func (w *writer) next(k int64) spool.Offset {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.owed = max(w.owed, w.n+k)
	return spool.Offset{Fence: w.fence, N: w.n + k}
}

// add adds an item, which is written within the flush window. It reports whether the batch
// should be written at once.
func (w *writer) add(ctx context.Context, t spool.ItemType, payload any) (full bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.put(t, payload)
	w.admit()
	return w.gathered(ctx)
}

// put puts an item behind the last one. The caller holds mu.
func (w *writer) put(t spool.ItemType, payload any) {
	w.stand()
	w.n++
	w.batch = append(w.batch, spool.NewItem(t, spool.Offset{Fence: w.fence, N: w.n}, w.seq, payload))
}

// gathered reports whether the batch should be written at once, and sees to it that it is
// written within the flush window if not. The caller holds mu.
func (w *writer) gathered(ctx context.Context) (full bool) {
	if len(w.batch) >= w.e.config.FlushItems || w.e.config.FlushEvery < 0 {
		return true
	}
	if w.timer == nil {
		w.timer = time.AfterFunc(w.e.config.FlushEvery, func() { w.flush(context.WithoutCancel(ctx)) })
	}
	return false
}

// flush writes the batch. A failure is logged once and is not the run's: its readers get
// a snapshot.
func (w *writer) flush(ctx context.Context) {
	w.flushing.Lock()
	defer w.flushing.Unlock()
	w.flushHeld(ctx)
}

// flushHeld is flush for who holds flushing.
func (w *writer) flushHeld(ctx context.Context) {
	items, broken := w.take()
	if len(items) == 0 || broken {
		return
	}
	ctx, cancel := streamContext(ctx)
	defer cancel()
	if err := w.e.streams.Append(ctx, w.key, items); err != nil {
		w.fail(ctx, err)
		return
	}
	w.e.bus.Wake(w.key.Thread, spool.WakeStream)
}

// streamTimeout bounds a write to a stream, which goes on when the segment's context has
// ended. Streams that hang must not hold a run.
const streamTimeout = 5 * time.Second

func streamContext(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), streamTimeout)
}

func (w *writer) take() ([]spool.Item, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
	items := w.batch
	w.batch = nil
	if len(items) > 0 {
		w.flushed = items[len(items)-1].Offset.N
	}
	return items, w.broken
}

func (w *writer) fail(ctx context.Context, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.broken {
		w.broken = true
		concerning(w.e.config.Log, w.key.Thread, runOf(w.key.ID)).WarnContext(ctx, "write run stream", "stream", string(w.key.ID), "error", err)
	}
}

// lack says that the stream does not have everything that it should.
func (w *writer) lack() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.broken = true
}

// inherit makes w the writer of a stream that another worker has written, and which only
// has to be ended. Up to saved, what it said is in the messages.
func (w *writer) inherit(saved spool.Offset) {
	w.heir = true
	if end := endBehind(saved); !end.IsZero() {
		w.fence, w.n = end.Fence, end.N-1
	}
}

// close ends the stream with its last item. A stream that lacks something is removed, so
// that its readers get a snapshot.
func (w *writer) close(ctx context.Context, t spool.ItemType, payload any) {
	defer w.e.notifyAll(w.key.Thread, w.shut())
	w.flush(ctx)
	ctx, cancel := streamContext(ctx)
	defer cancel()
	w.mu.Lock()
	w.stand()
	w.n++
	end := spool.NewItem(t, spool.Offset{Fence: w.fence, N: w.n}, w.seq, payload)
	grace := w.e.keepStreams()
	if w.broken {
		grace = 0
	}
	w.mu.Unlock()
	if w.heir {
		w.e.closeFor(ctx, w.key, end, end.Offset)
	} else if err := w.e.streams.Close(ctx, w.key, end, grace); err != nil && !errors.Is(err, spool.ErrStreamGone) {
		w.fail(ctx, err)
	}
	w.e.bus.Wake(w.key.Thread, spool.WakeStream)
}

// keepStreams returns how long a stream is kept behind its end: for those who read it, and
// for snapshots.
func (e *Engine) keepStreams() time.Duration { return max(e.config.StreamGrace, recentEnd) }
