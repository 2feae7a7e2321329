package engine

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/thread"
)

// probe is the thread that a look at the store is about. Nobody has it.
var probe = spool.ThreadKey{Tenant: spool.DefaultTenant, ID: "probe:of:readiness"}

// CheckStore reports whether the store carries out a transaction, which it does without
// changing anything, before ctx ends, and whether it has room for a start, where it can say so
// (see [spool.RoomChecker]). An error is safe to be shown.
func (e *Engine) CheckStore(ctx context.Context) error {
	err := e.store.Update(ctx, probe, 0, func(spool.Tx) error { return thread.ErrUnchanged })
	switch {
	case errors.Is(err, thread.ErrUnchanged):
		if r, ok := e.store.(spool.RoomChecker); ok { // what is rolled back needs none
			return r.CheckRoom(ctx)
		}
		return nil
	case ctx.Err() != nil:
		return &spool.Error{Code: spool.Unavailable, Message: "the store did not answer in time", Err: err}
	default:
		return &spool.Error{Code: spool.Unavailable, Message: "the store failed", Err: err}
	}
}

// CheckWorker reports whether [Engine.Work] is under way in this process and can look for
// jobs. An error is safe to be shown.
func (e *Engine) CheckWorker(context.Context) error { return e.looks.check(e.config.Poll) }

// looks are the workers of a process, and how their last look for jobs went.
type looks struct {
	mu      sync.Mutex
	working int
	at      time.Time
	err     error
}

func (l *looks) begin() (end func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.working++
	l.at, l.err = time.Now(), nil
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.working--
	}
}

// looked notes a look for jobs. One for which there was no room counts as well.
func (l *looks) looked(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.at, l.err = time.Now(), err
}

// lateLooks is how many looks in a row may be missing, but for a short time, until a worker
// counts as stuck.
const (
	lateLooks = 5
	lateLook  = 15 * time.Second
)

func (l *looks) check(every time.Duration) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.working == 0:
		return spool.Errorf(spool.Unavailable, "no worker runs")
	case l.err != nil:
		return &spool.Error{Code: spool.Unavailable, Message: "the queue hands out no jobs", Err: l.err}
	case time.Since(l.at) > max(lateLooks*every, lateLook):
		return spool.Errorf(spool.Unavailable, "the worker is stuck")
	default:
		return nil
	}
}
