// Package stream writes the run stream of one segment, and keeps one order of stream and record. A
// [Writer] numbers items and writes them in batches. [Writer.Commit] runs a transition: it numbers the
// items and entries of the transition's [order.List] together, saves them, and then writes the items.
// All agents of the segment's tree share the writer; each has an [Emitter].
//
// The package touches the live part of a backend. It does not know the store: its caller passes a
// transition as a function.
package stream

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/spoolhq/spool/engine/internal/order"
	"github.com/spoolhq/spool/internal/chanlock"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Settings say where and how streams are written.
type Settings struct {
	Live store.Live
	Log  *slog.Logger
	// FlushEvery is how long items may wait for more items. Negative: each item is written at once.
	FlushEvery time.Duration
	// FlushItems is the largest number of items that are written together.
	FlushItems int
	// Grace is how long a stream stays readable after its end.
	Grace time.Duration
}

// Writer writes the stream of one segment. It is safe for concurrent use.
type Writer struct {
	Settings

	key store.StreamKey

	commits  chanlock.Lock // one commit at a time; taken before the other locks
	flushing chanlock.Lock // keeps batches in order; taken before mu

	mu         sync.Mutex
	fence      int64
	at         order.Mark // the position of the last item
	blocks     int        // the number of blocks so far
	batch      []wire.Item
	timer      *time.Timer
	committing bool          // a commit is in progress
	pending    []pendingItem // items emitted during the commit; they are numbered after the commit's items
	learned    int64         // the last known entry that another process has written
	broken     bool          // an item is missing from the stream; nothing more is written
	inherited  bool          // another worker has written the stream
	ended      bool
}

// pendingItem is an item without a number.
type pendingItem struct {
	of      wire.ItemType
	payload any
	event   *wire.Entry // the live event in the item, or nil
}

// New returns the writer of a segment's stream. Seq is the seq of the record's last entry.
func New(s Settings, key store.StreamKey, fence, seq int64) *Writer {
	return &Writer{
		Settings: s, key: key, fence: fence, at: order.Mark{Seq: seq}, commits: chanlock.New(), flushing: chanlock.New(),
	}
}

// ID returns the id of the stream.
func (w *Writer) ID() wire.StreamID { return w.key.ID }

// Open creates the stream and writes its first item. It does not wait for that: what is emitted meanwhile is
// written behind it. Then Open calls opened, also if the stream could not be created.
func (w *Writer) Open(ctx context.Context, first wire.StreamStarted, opened func()) {
	w.flushing.Lock()
	w.add(ctx, pendingItem{of: wire.ItemRunStarted, payload: first})
	go func() {
		w.create(ctx)
		w.flushing.Unlock()
		w.Flush(ctx)
		opened()
	}()
}

// create creates the stream.
func (w *Writer) create(ctx context.Context) {
	ctx, cancel := WithTimeout(ctx)
	defer cancel()
	if err := w.Live.Open(ctx, w.key); err != nil {
		w.fail(ctx, err)
	}
}

// Commit runs a transition, which lists what it adds to the stream and the record. Commit first writes
// all items that were emitted before. Items that are emitted during the transition follow the list's
// items. When the transition has succeeded, Commit writes the list's items. If the list has an end, the
// stream ends. Commit returns the error of the transition.
func (w *Writer) Commit(ctx context.Context, transition func(l *order.List) error) error {
	w.commits.Lock()
	defer w.commits.Unlock()
	l := w.begin()
	w.Flush(ctx)
	err := transition(l)
	w.finish(l, err)
	if items, _, ends := l.Items(); ends && err == nil {
		w.end(ctx, items[len(items)-1])
		return nil
	}
	w.Flush(ctx)
	return err
}

func (w *Writer) begin() *order.List {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.committing = true
	return order.New(w.key.ID, w.fence, w.at)
}

// finish adds the list's items to the batch if the transition has succeeded. Then it adds the pending
// items.
func (w *Writer) finish(l *order.List, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.committing = false
	if err == nil {
		items, last, ends := l.Items()
		w.at = last
		if ends { // end writes the last item
			w.batch = append(w.batch, items[:len(items)-1]...)
			return
		}
		w.batch = append(w.batch, items...)
	}
	w.at.Seq = max(w.at.Seq, w.learned)
	for _, q := range w.pending {
		w.number(q)
	}
	w.pending = nil
}

// Learn tells the writer that the record has reached seq. Items that are numbered from now on follow
// that entry.
func (w *Writer) Learn(seq int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.learned = max(w.learned, seq)
	w.at.Seq = max(w.at.Seq, seq)
}

// Event emits a live event. It returns false if the stream takes no more items.
func (w *Writer) Event(ctx context.Context, e wire.Entry) bool {
	custom := wire.Custom{
		Name: string(e.Type), Value: e.Payload, PublishedBy: e.PublishedBy, PublishedByTool: e.PublishedByTool,
	}
	accepted, full := w.add(ctx, pendingItem{of: wire.ItemCustom, payload: custom, event: &e})
	if full {
		w.Flush(ctx)
	}
	return accepted
}

// add emits an item, which is written within the flush window. It reports whether the stream has taken
// the item, and whether the caller has to flush.
func (w *Writer) add(ctx context.Context, q pendingItem) (accepted, full bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.ended || w.broken:
		return false, false
	case w.committing:
		w.pending = append(w.pending, q)
		return true, false
	}
	w.number(q)
	if len(w.batch) >= w.FlushItems || w.FlushEvery < 0 {
		return true, true
	}
	if w.timer == nil {
		w.timer = time.AfterFunc(w.FlushEvery, func() { w.Flush(context.WithoutCancel(ctx)) })
	}
	return true, false
}

// number gives the item the next number and adds it to the batch. The caller must hold mu.
func (w *Writer) number(q pendingItem) {
	w.at.N++
	w.batch = append(w.batch, wire.NewItem(q.of, wire.Offset{Fence: w.fence, N: w.at.N}, w.at.Seq, q.payload))
}

// Flush writes the batch. If a write fails, Flush logs the first failure, and the run goes on without a
// stream. The stream's readers then get a snapshot.
func (w *Writer) Flush(ctx context.Context) {
	w.flushing.Lock()
	defer w.flushing.Unlock()
	items, broken := w.drain()
	if len(items) == 0 || broken {
		return
	}
	ctx, cancel := WithTimeout(ctx)
	defer cancel()
	if err := w.Live.Append(ctx, w.key, items); err != nil {
		w.fail(ctx, err)
		return
	}
	w.Live.Wake(w.key.Thread, store.WakeStream, nil)
}

func (w *Writer) drain() (items []wire.Item, broken bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
	items, w.batch = w.batch, nil
	return items, w.broken
}

// streamTimeout bounds a write to a stream. Such a write goes on when the segment's context has ended,
// and a run must not wait for a store of streams that hangs.
const streamTimeout = 5 * time.Second

// WithTimeout returns a context for a write to streams. The context has a timeout and does not end with
// ctx.
func WithTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), streamTimeout)
}

// fail logs the stream's first error and marks the stream as broken.
func (w *Writer) fail(ctx context.Context, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.broken {
		w.logger(w.key).WarnContext(ctx, "write run stream", "stream", string(w.key.ID), "error", err)
	}
	w.broken = true
}

// MarkBroken notes that an item is missing from the stream.
func (w *Writer) MarkBroken() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.broken = true
}

// Inherit prepares the writer to end a stream that another worker has written. The messages contain the
// stream up to saved.
func (w *Writer) Inherit(saved wire.Offset) {
	w.inherited = true
	if end := order.EndAfter(saved); !end.IsZero() {
		w.fence, w.at.N = end.Fence, end.N-1
	}
}

// Close ends the stream of a segment whose end is not in the record yet.
func (w *Writer) Close(ctx context.Context, t wire.ItemType, payload any) {
	_ = w.Commit(ctx, func(l *order.List) error { // the transition saves nothing, so it cannot fail
		l.End(t, payload)
		return nil
	})
}

// end ends the stream with its last item.
func (w *Writer) end(ctx context.Context, last wire.Item) {
	w.mu.Lock()
	w.ended = true
	late := w.pending
	w.pending = nil
	w.mu.Unlock()
	w.Flush(ctx)
	w.mu.Lock()
	whole := !w.broken
	w.mu.Unlock()
	if w.inherited {
		whole = whole && w.whole(ctx, w.key, last.Offset)
	}
	w.close(ctx, w.key, last, whole)
	w.Live.Wake(w.key.Thread, store.WakeStream, nil)
	for _, q := range late {
		if q.event != nil { // it still reaches the clients that follow now
			Notify(w.Live, w.key.Thread, *q.event)
		}
	}
}

func (s Settings) logger(key store.StreamKey) *slog.Logger {
	run, _, _ := key.ID.Split()
	return s.Log.With("tenant", string(key.Thread.Tenant), "thread", string(key.Thread.ID), "run", string(run))
}
