package aguiapi

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/server/internal/call"
)

// Absences stop the runs of clients that have gone and do not come back. A stock client can do no more than close
// its connection when its user stops a run, and the same happens when a page is loaded again or its network drops.
// So the run gets a grace, in which a client that follows the thread keeps it going. It is safe for concurrent use.
//
// If the server shuts down in the meantime, the run goes on: the server has ended the other connections itself.
type Absences struct {
	engine *engine.Engine
	log    *slog.Logger
	grace  time.Duration
	ends   context.Context //nolint:containedctx // the lifetime of the server

	mu sync.Mutex
	// open has the subject of each client that has gone.
	open  map[absence]string
	ended bool
	waits sync.WaitGroup
}

type absence struct {
	key spool.ThreadKey
	run spool.RunID
}

// NewAbsences returns an Absences whose runs get the grace. A negative one lets every run go on. It stops nothing
// once ends has ended.
func NewAbsences(ends context.Context, e *engine.Engine, log *slog.Logger, grace time.Duration) *Absences {
	return &Absences{engine: e, log: log, grace: grace, ends: ends, open: make(map[absence]string)}
}

// Wait waits until no run is about to be stopped, after the end of the server's lifetime.
func (a *Absences) Wait() {
	a.mu.Lock()
	a.ended = true
	a.mu.Unlock()
	a.waits.Wait()
}

// has reports whether the client of a run has gone, and its grace is not over.
func (a *Absences) has(who access.Principal, key spool.ThreadKey, run spool.RunID) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	subject, ok := a.open[absence{key, run}]
	return ok && subject == who.Subject
}

// add begins the grace of a run whose client has gone.
func (a *Absences) add(ctx context.Context, who access.Principal, key spool.ThreadKey, run spool.RunID) {
	of := absence{key, run}
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, known := a.open[of]; known || a.ended || a.grace < 0 || a.ends.Err() != nil {
		return
	}
	a.open[of] = who.Subject
	ctx, cancel := context.WithCancel(context.WithoutCancel(call.ActingAs(ctx, who)))
	forget := context.AfterFunc(a.ends, cancel) //nolint:contextcheck // it is the server's lifetime that ends it
	a.waits.Go(func() {
		defer cancel()
		defer forget()
		err := a.stop(ctx, of)
		a.mu.Lock()
		delete(a.open, of)
		a.mu.Unlock()
		if err != nil && a.ends.Err() == nil && spool.CodeOf(err) != spool.NotFound {
			call.Log(a.log).ErrorContext(ctx, "stop failed behind a connection that is gone", "error", call.About(ctx, err, key, run))
		}
	})
}

// stop stops a run unless somebody follows its thread within the grace. It leaves a run that waits for an answer:
// that costs nothing, and if the client had gone a moment later, its answer would have ended with the question.
func (a *Absences) stop(ctx context.Context, of absence) error {
	if watched, err := a.engine.Watched(ctx, of.key, a.grace); watched || err != nil {
		return err
	}
	thread, err := a.engine.Thread(ctx, of.key)
	if err != nil || thread.RunID == of.run && thread.State == spool.WaitingForInput {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, abandonTimeout)
	defer cancel()
	_, err = a.engine.StopRun(ctx, of.key, of.run)
	return err
}
