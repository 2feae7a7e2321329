package sqlite

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
)

// maxBatch bounds how many callers share a transaction, and so how long the first caller waits for the
// others.
const maxBatch = 256

// writer has the one goroutine that writes. It takes all waiting ops, runs them in one transaction, and
// answers when the transaction is durable. It adds no delay: while it commits, the next ops gather.
//
// An op that fails does not affect the others. Few ops fail after a write, so the ops of a transaction
// have no savepoints at first. If an op does fail after a write, the transaction is rolled back and its
// ops run again, each with its own savepoint.
type writer struct {
	c      *conn
	clock  store.Clock
	ops    chan *op
	keeper *keeper

	closing sync.Once
	quit    chan struct{} // closed to stop the goroutine
	gone    chan struct{} // closed when the goroutine has ended

	// Only the goroutine uses these. They are fields and not variables, because the goroutine may have
	// to be replaced in the middle of a batch: see loop.
	batch    []*op
	first    int // the first op of batch in the open transaction
	pos      int // the next op of batch
	open     bool
	careful  bool   // the ops of the open transaction have savepoints
	again    bool   // an op has failed, so the open transaction has to run again with savepoints
	broken   bool   // the transaction was lost while an op ran
	deleted  bool   // an op of the open transaction has deleted a thread
	counts   counts // what the ops of the open transaction change in the tally
	finished bool
}

// op is one caller's transaction.
type op struct {
	key   spool.ThreadKey
	fence int64
	fn    func(t *tx) error
	alone bool // the op must have a transaction of its own, and run once

	state atomic.Int32
	err   error
	done  chan error
}

// The states of an op. It leaves opWaiting once: either the op runs, or its caller gives up.
const (
	opWaiting = iota
	opBegun
	opAbandoned
)

func newWriter(c *conn, clock store.Clock, k *keeper) *writer {
	w := &writer{
		c: c, clock: clock, keeper: k,
		ops:  make(chan *op, maxBatch),
		quit: make(chan struct{}),
		gone: make(chan struct{}),
	}
	go w.loop()
	return w
}

// do runs fn in a transaction and returns when the transaction is durable. If ctx ends before fn
// starts, fn does not run.
func (w *writer) do(ctx context.Context, key spool.ThreadKey, fence int64, fn func(t *tx) error) error {
	return w.submit(ctx, &op{key: key, fence: fence, fn: fn, done: make(chan error, 1)})
}

// submit does the work of do for an op.
func (w *writer) submit(ctx context.Context, o *op) error {
	if err := canceled(ctx); err != nil {
		return err
	}
	select {
	case w.ops <- o:
	case <-ctx.Done():
		return canceled(ctx)
	case <-w.gone:
		return errClosed
	}
	select {
	case err := <-o.done:
		return err
	case <-ctx.Done():
		if o.state.CompareAndSwap(opWaiting, opAbandoned) {
			return canceled(ctx)
		}
	case <-w.gone:
	}
	// The op has begun or never will, so wait for its outcome.
	select {
	case err := <-o.done:
		return err
	case <-w.gone:
	}
	select {
	case err := <-o.done:
		return err
	default:
		return errClosed
	}
}

// stop ends the goroutine after the current batch. Then the connection belongs to the caller.
func (w *writer) stop() {
	w.closing.Do(func() { close(w.quit) })
	<-w.gone
}

func (w *writer) loop() {
	// An fn that ends its goroutine, as testing.T.FailNow does, ends this goroutine. Another one then
	// continues.
	defer func() {
		if w.finished {
			close(w.gone)
		} else {
			go w.loop()
		}
	}()
	for {
		if w.pos == len(w.batch) && !w.open && !w.collect() {
			w.finished = true
			return
		}
		w.run()
	}
}

// collect waits for an op and takes all other waiting ops.
func (w *writer) collect() bool {
	clear(w.batch)
	w.batch, w.pos = w.batch[:0], 0
	select {
	case <-w.quit:
		return false
	default:
	}
	for len(w.batch) == 0 {
		select {
		case o := <-w.ops:
			w.batch = append(w.batch, o)
		case <-w.keeper.timer.C:
			w.keeper.tend(w.c)
		case <-w.quit:
			return false
		}
	}
	// The callers that the last commit woke have not run yet. If they did not run now, a batch of one
	// op would follow each large batch.
	runtime.Gosched()
	for len(w.batch) < maxBatch {
		select {
		case o := <-w.ops:
			w.batch = append(w.batch, o)
		default:
			return true
		}
	}
	return true
}

// run runs the current batch until its commit, or until its transaction is lost.
func (w *writer) run() {
	if !w.open {
		if err := w.c.exec("BEGIN IMMEDIATE"); err != nil {
			w.fail(err)
			return
		}
		w.open, w.first = true, w.pos
	}
	for w.pos < len(w.batch) && !w.broken && !w.again {
		o := w.batch[w.pos]
		if o.alone && w.pos > w.first { // the ops before it are committed first
			break
		}
		if !o.begin() {
			w.pos++
			continue
		}
		w.runOp(o)
		if o.alone {
			break
		}
	}
	if w.again && !w.broken {
		w.restart()
		return
	}
	w.commit()
}

// begin reports whether the op may run, for the first time or again.
func (o *op) begin() bool {
	return o.state.CompareAndSwap(opWaiting, opBegun) || o.state.Load() == opBegun
}

// restart rolls the open transaction back and makes its ops run again, each with a savepoint. If the
// transaction has only one op, that op simply has failed.
func (w *writer) restart() {
	_ = w.c.exec("ROLLBACK") // SQLite may already have done it
	w.open, w.again, w.deleted, w.counts = false, false, false, w.counts[:0]
	if w.pos == w.first+1 {
		o := w.batch[w.first]
		o.done <- o.err
		return
	}
	w.careful, w.pos = true, w.first
}

// runOp runs an op. It settles what the op has written, even if fn panics or ends its goroutine.
func (w *writer) runOp(o *op) {
	t := &tx{view: view{c: w.c, key: o.key, now: now(w.clock)}, careful: w.careful}
	o.err = spool.Errorf(spool.Internal, "the function ended its goroutine")
	defer func() {
		if p := recover(); p != nil {
			o.err = &spool.Error{
				Code: spool.Internal, Message: "the function panicked",
				Err: fmt.Errorf("panic: %v\n%s", p, debug.Stack()),
			}
		}
		w.pos++
		w.again = o.err != nil && t.wrote && !w.careful
		if err := t.end(o.err == nil); err != nil {
			w.broken = true
			if o.err == nil {
				o.err = err
			}
		}
		if o.err == nil {
			w.deleted = w.deleted || t.deleted
			for _, d := range t.counts {
				w.counts.add(d)
			}
		}
	}()
	o.err = t.call(o)
}

// commit commits the transaction and answers its ops.
func (w *writer) commit() {
	var err error
	if w.broken || !w.c.raw.Transaction() {
		err = errLost
	} else if err = w.counts.write(w.c); err == nil {
		err = w.c.exec("COMMIT")
	}
	if err != nil {
		_ = w.c.exec("ROLLBACK") // the transaction may already have ended
	} else {
		w.keeper.wrote(w.deleted)
	}
	w.deleted, w.counts = false, w.counts[:0]
	for _, o := range w.batch[w.first:w.pos] {
		if o.state.Load() != opBegun {
			continue
		}
		if err != nil { // even a refusal may depend on another op of the batch
			o.err = err
		}
		o.done <- o.err
	}
	w.open, w.broken, w.careful = false, false, false
}

// fail answers the remaining ops of the batch, none of which is in a transaction.
func (w *writer) fail(err error) {
	for _, o := range w.batch[w.pos:] {
		if o.begin() {
			o.done <- err
		}
	}
	w.pos, w.careful = len(w.batch), false
}
