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
	"github.com/spoolhq/spool/wire"
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
	open map[absence]string
	// readers counts the connections that would begin an absence if their client closed them.
	readers map[reader]int
	// added is closed when open gets another one.
	added chan struct{}
	ended bool
	waits sync.WaitGroup
}

type absence struct {
	key spool.ThreadKey
	run spool.RunID
}

type reader struct {
	absence

	subject string
}

// settleTime is how long a next turn waits for the server to see that its client has closed the connection before.
// The two come on different connections, so the later one may be read first.
const settleTime = time.Second

// NewAbsences returns an Absences whose runs get the grace. A negative one lets every run go on. It stops nothing
// once ends has ended.
func NewAbsences(ends context.Context, e *engine.Engine, log *slog.Logger, grace time.Duration) *Absences {
	return &Absences{
		engine: e, log: log, grace: grace, ends: ends,
		open: make(map[absence]string), readers: make(map[reader]int), added: make(chan struct{}),
	}
}

// Wait waits until no run is about to be stopped, after the end of the server's lifetime.
func (a *Absences) Wait() {
	a.mu.Lock()
	a.ended = true
	a.mu.Unlock()
	a.waits.Wait()
}

// reads notes that a client reads a run on a connection that calls add if the client closes it. Call done behind that.
func (a *Absences) reads(who access.Principal, key spool.ThreadKey, run spool.RunID) (done func()) {
	of := reader{absence{key, run}, who.Subject}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.readers[of]++
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.readers[of]--; a.readers[of] == 0 {
			delete(a.readers, of)
		}
	}
}

// has reports whether the client of a run has gone, and its grace is not over. If the client seems to read the run, it
// waits a moment for its going.
func (a *Absences) has(ctx context.Context, who access.Principal, key spool.ThreadKey, run spool.RunID) bool {
	of := absence{key, run}
	late := time.NewTimer(settleTime)
	defer late.Stop()
	for {
		a.mu.Lock()
		subject, gone := a.open[of]
		reads, added := a.grace >= 0 && a.readers[reader{of, who.Subject}] > 0, a.added
		a.mu.Unlock()
		if gone || !reads {
			return gone && subject == who.Subject
		}
		select {
		case <-added:
		case <-late.C:
			return false
		case <-ctx.Done():
			return false
		}
	}
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
	close(a.added)
	a.added = make(chan struct{})
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
			call.Log(a.log).ErrorContext(ctx, "stop failed behind a connection that is gone", "error",
				call.About(ctx, err, key, run))
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
	if err != nil || thread.RunID == of.run && thread.State == wire.WaitingForInput {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, abandonTimeout)
	defer cancel()
	_, err = a.engine.StopRun(ctx, of.key, of.run)
	return err
}
