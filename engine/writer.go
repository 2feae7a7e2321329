package engine

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/spoolhq/spool"
)

// writer writes the run stream of one segment. It numbers the items, gathers them into
// batches and keeps track of the open block. Only the segment's goroutine calls emit;
// the flush that follows a while later runs on a timer's.
type writer struct {
	e     *Engine
	key   spool.StreamKey
	fence int64
	// seq is the last record entry that the segment has written.
	seq int64

	block    string // id of the open block
	blockEnd spool.ItemType
	blocks   int

	flushing sync.Mutex // keeps batches in order; taken before mu
	mu       sync.Mutex
	n        int64 // number of the last item
	batch    []spool.Item
	timer    *time.Timer
	broken   bool // an append has failed: the run goes on without a stream
	heir     bool // another worker has written the stream
}

// open makes the stream and writes its first item.
func (w *writer) open(ctx context.Context, run spool.Run) {
	if err := w.e.streams.Open(ctx, w.key); err != nil {
		w.fail(ctx, err)
	}
	w.emit(ctx, spool.ItemRunStarted, spool.StreamStarted{
		ThreadID: w.key.Thread.ID, RunID: run.ID, StreamID: w.key.ID, Segment: run.Segments,
	})
}

// next returns the offset that the k-th item from here will have.
func (w *writer) next(k int64) spool.Offset {
	w.mu.Lock()
	defer w.mu.Unlock()
	return spool.Offset{Fence: w.fence, N: w.n + k}
}

// emit adds an item. It is written at once where somebody waits for it, else with those
// that follow within the flush window.
func (w *writer) emit(ctx context.Context, t spool.ItemType, payload any) {
	w.mu.Lock()
	w.n++
	w.batch = append(w.batch, spool.NewItem(t, spool.Offset{Fence: w.fence, N: w.n}, w.seq, payload))
	full := len(w.batch) >= w.e.config.FlushItems || w.e.config.FlushEvery < 0
	switch t {
	case spool.ItemRunStarted, spool.ItemToolResult, spool.ItemStepFinished, spool.ItemInputRequired:
		full = true
	}
	if !full && w.timer == nil {
		w.timer = time.AfterFunc(w.e.config.FlushEvery, func() { w.flush(context.WithoutCancel(ctx)) })
	}
	w.mu.Unlock()
	if full {
		w.flush(ctx)
	}
}

// flush writes the batch. A failure is logged once and is not the run's: its readers get
// a snapshot.
func (w *writer) flush(ctx context.Context) {
	w.flushing.Lock()
	defer w.flushing.Unlock()
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
	return items, w.broken
}

func (w *writer) fail(ctx context.Context, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.broken {
		w.broken = true
		w.e.config.Log.WarnContext(ctx, "write run stream", "thread", w.key.Thread.String(), "stream", string(w.key.ID), "error", err)
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
	w.flush(ctx)
	ctx, cancel := streamContext(ctx)
	defer cancel()
	w.mu.Lock()
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

// text adds to the open block of text, or opens one.
func (w *writer) text(ctx context.Context, delta string) {
	w.in(ctx, spool.ItemTextStart, spool.ItemTextEnd)
	w.emit(ctx, spool.ItemTextContent, spool.Delta{MessageID: w.block, Delta: delta})
}

// reasoning adds to the open block of reasoning, or opens one.
func (w *writer) reasoning(ctx context.Context, delta string) {
	w.in(ctx, spool.ItemReasoningStart, spool.ItemReasoningEnd)
	w.emit(ctx, spool.ItemReasoningContent, spool.Delta{MessageID: w.block, Delta: delta})
}

// in makes a block of one kind the open one.
func (w *writer) in(ctx context.Context, start, end spool.ItemType) {
	if w.blockEnd == end {
		return
	}
	w.endBlock(ctx)
	w.blocks++
	w.block, w.blockEnd = string(w.key.ID)+":m"+strconv.Itoa(w.blocks), end
	b := spool.Block{MessageID: w.block}
	if start == spool.ItemTextStart {
		b.Role = spool.RoleAssistant
	}
	w.emit(ctx, start, b)
}

// endBlock closes the open block, if there is one.
func (w *writer) endBlock(ctx context.Context) {
	if w.blockEnd == "" {
		return
	}
	t := w.blockEnd
	w.blockEnd = ""
	w.emit(ctx, t, spool.Block{MessageID: w.block})
}
