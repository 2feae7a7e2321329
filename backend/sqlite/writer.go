package sqlite

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/spoolhq/spool"
)

// maxBatch bounds how many callers share a transaction, and so how long the first of
// them waits for the others.
const maxBatch = 256

// writer is the one goroutine that writes. It takes what is waiting, runs it in one
// transaction and answers once that is durable. It adds no delay: while it commits, the
// next ones gather by themselves.
//
// Each op has a savepoint of its own, so that one that fails takes nobody with it.
type writer struct {
	c      *conn
	clock  spool.Clock
	ops    chan *op
	keeper *keeper

	closing sync.Once
	quit    chan struct{} // closed to end the goroutine
	gone    chan struct{} // closed when it has ended

	// The goroutine's own. They are fields and not variables because the goroutine may
	// have to be replaced in the middle of a batch: see loop.
	batch    []*op
	first    int // the first op of batch in the open transaction
	pos      int // the next op of batch
	open     bool
	broken   bool // the transaction was lost under an op
	deleted  bool // an op of the open transaction has deleted a thread
	finished bool
}

// op is one caller's transaction.
type op struct {
	key   spool.ThreadKey
	fence int64
	fn    func(t *tx) error

	state atomic.Int32
	err   error
	done  chan error
}

// The states of an op. It leaves opWaiting once: either it runs or its caller gives up.
const (
	opWaiting = iota
	opBegun
	opAbandoned
)

func newWriter(c *conn, clock spool.Clock, k *keeper) *writer {
	w := &writer{
		c: c, clock: clock, keeper: k,
		ops:  make(chan *op, maxBatch),
		quit: make(chan struct{}),
		gone: make(chan struct{}),
	}
	go w.loop()
	return w
}

// do runs fn in a transaction and returns when it is durable. When ctx ends before it was
// fn's turn, fn does not run.
func (w *writer) do(ctx context.Context, key spool.ThreadKey, fence int64, fn func(t *tx) error) error {
	if err := canceled(ctx); err != nil {
		return err
	}
	o := &op{key: key, fence: fence, fn: fn, done: make(chan error, 1)}
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
	// It has begun, or will never: its outcome is what counts.
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

// stop ends the goroutine after the batch in hand. The connection is then the caller's.
func (w *writer) stop() {
	w.closing.Do(func() { close(w.quit) })
	<-w.gone
}

func (w *writer) loop() {
	// A fn that ends its goroutine, as testing.T.FailNow does, ends this one. Another then
	// goes on where it was.
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

// collect waits for an op and takes those that wait behind it.
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
	// The callers that the last commit woke have not run yet. Without a turn for them now
	// each batch of many would be followed by a batch of one.
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

// run takes the batch in hand to its commit, or to where its transaction is lost.
func (w *writer) run() {
	if !w.open {
		if err := w.c.exec("BEGIN IMMEDIATE"); err != nil {
			w.fail(err)
			return
		}
		w.open, w.first = true, w.pos
	}
	for w.pos < len(w.batch) && !w.broken {
		o := w.batch[w.pos]
		if !o.state.CompareAndSwap(opWaiting, opBegun) {
			w.pos++
			continue
		}
		w.runOp(o)
	}
	w.commit()
}

// runOp runs an op and settles its savepoint, whatever fn does.
func (w *writer) runOp(o *op) {
	t := &tx{view: view{c: w.c, key: o.key, now: now(w.clock)}}
	o.err = spool.Errorf(spool.Internal, "the function ended its goroutine")
	defer func() {
		if p := recover(); p != nil {
			o.err = &spool.Error{
				Code: spool.Internal, Message: "the function panicked",
				Err: fmt.Errorf("panic: %v\n%s", p, debug.Stack()),
			}
		}
		w.pos++
		if err := t.end(o.err == nil); err != nil {
			w.broken = true
			if o.err == nil {
				o.err = err
			}
		}
		w.deleted = w.deleted || t.deleted && o.err == nil
	}()
	o.err = t.call(o)
}

// commit ends the transaction and answers its ops.
func (w *writer) commit() {
	var err error
	if w.broken {
		err = spool.Errorf(spool.Unavailable, "the store lost the transaction")
	} else {
		err = w.c.exec("COMMIT")
	}
	if err != nil {
		_ = w.c.exec("ROLLBACK") // it may be over already
	} else {
		w.keeper.wrote(w.deleted)
	}
	w.deleted = false
	for _, o := range w.batch[w.first:w.pos] {
		if o.state.Load() != opBegun {
			continue
		}
		if err != nil { // a refusal too may rest on what another op of the batch has written
			o.err = err
		}
		o.done <- o.err
	}
	w.open, w.broken = false, false
}

// fail answers all that is left of the batch, none of which has begun.
func (w *writer) fail(err error) {
	for _, o := range w.batch[w.pos:] {
		if o.state.CompareAndSwap(opWaiting, opBegun) {
			o.done <- err
		}
	}
	w.pos = len(w.batch)
}
