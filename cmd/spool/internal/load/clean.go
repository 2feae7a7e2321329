package load

import (
	"context"
	"iter"
	"net/http"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/client"
	"github.com/spoolhq/spool/wire"
)

const (
	// cleaners is how many threads are deleted at the same time.
	cleaners = 16
	// cleanAgain is the wait before a thread is deleted again whose run is still active, or whose deletion failed.
	cleanAgain = 100 * time.Millisecond
	// cleanStall ends the deletion if it has deleted nothing for so long. A run whose worker has died can be
	// stopped after less.
	cleanStall = time.Minute
)

// clean deletes the threads of the load, and counts them in the report. An end of ctx, and of Config.Leave, ends
// the deletion, also an end of ctx before it.
func (l *load) clean(ctx context.Context, r *Report) {
	r.Threads = Threads{Made: l.made, Left: l.made}
	if l.c.Keep || r.Lost {
		return
	}
	c := cleaning{load: l, threads: l.threads}
	c.run(ctx)
	r.Threads.Deleted = c.deleted
	r.Threads.Made = max(l.made, c.deleted) // a start may have been accepted without an answer
	r.Threads.Left = r.Threads.Made - r.Threads.Deleted
}

// Remover is what [Remove] needs of a server. A [client.Client] is one.
type Remover interface {
	API
	Threads(ctx context.Context, f client.ThreadFilter) iter.Seq2[wire.Thread, error]
}

// Remove deletes the threads that an earlier load has left, by its [Config.Session], until ctx ends. Made are those
// that it has found.
func Remove(ctx context.Context, server Remover, session string, progress func(Status)) (Threads, error) {
	c := cleaning{load: &load{c: Config{Server: server, Progress: progress}}}
	for thread, err := range server.Threads(ctx, client.ThreadFilter{Labels: map[string]string{label: session}}) {
		if err != nil {
			return Threads{}, err
		}
		c.threads = append(c.threads, thread.ID)
	}
	c.run(ctx)
	return Threads{Made: len(c.threads), Deleted: c.deleted, Left: len(c.threads) - c.over}, nil
}

// cleaning is the deletion of threads.
type cleaning struct {
	*load

	threads []spool.ThreadID
	end     context.CancelFunc

	mu sync.Mutex
	// over counts the threads that are not on the server any more, and deleted those that were deleted.
	over, deleted int
	// last is when a thread was deleted.
	last time.Time
}

// run deletes the threads. It returns when all are deleted, when ctx or Config.Leave ends, and when the server
// deletes nothing more.
func (c *cleaning) run(ctx context.Context) {
	ctx, c.end = context.WithCancel(ctx)
	defer c.end()
	c.last = time.Now()
	var watching, workers sync.WaitGroup
	watching.Go(func() { c.watch(ctx) })
	threads := make(chan spool.ThreadID)
	for range cleaners {
		workers.Go(func() {
			for thread := range threads {
				c.remove(ctx, thread)
			}
		})
	}
	for _, thread := range c.threads {
		select {
		case threads <- thread:
		case <-ctx.Done():
		}
	}
	close(threads)
	workers.Wait()
	c.end()
	watching.Wait()
}

// watch reports the progress, and ends the deletion when it should not go on.
func (c *cleaning) watch(ctx context.Context) {
	defer c.end()
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	began := time.Now()
	for {
		c.mu.Lock()
		over, last := c.over, c.last
		c.mu.Unlock()
		if time.Since(last) >= cleanStall {
			return
		}
		c.report(Status{Phase: PhaseClean, Elapsed: time.Since(began), Sent: len(c.threads), Ended: over})
		select {
		case <-ticker.C:
		case <-c.c.Leave:
			return
		case <-ctx.Done():
			return
		}
	}
}

// remove deletes a thread. It stops a run that is still active, and tries again after a failure.
func (c *cleaning) remove(ctx context.Context, thread spool.ThreadID) {
	for ctx.Err() == nil {
		result, err := c.c.Server.DeleteThread(ctx, thread)
		switch {
		case err != nil && isFinal(err):
			return
		case err != nil: // also while the server restarts
		case result.Reason == wire.ReasonActiveRun:
			_, _ = c.c.Server.Stop(ctx, thread, "") // the next deletion says whether it was stopped
		default: // deleted, or not there
			c.mu.Lock()
			defer c.mu.Unlock()
			c.over++
			c.last = time.Now()
			if result.Accepted {
				c.deleted++
			}
			return
		}
		until(ctx, time.Now().Add(cleanAgain))
	}
}

// isFinal reports whether the same request would fail again.
func isFinal(err error) bool {
	status := client.StatusOf(err)
	return status >= 400 && status < 500 && status != http.StatusTooManyRequests
}
