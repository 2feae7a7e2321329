package load

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spoolhq/spool"
)

const (
	// cleanTime bounds the deletion of the threads.
	cleanTime = 20 * time.Second
	// cleaners is how many threads are deleted at the same time.
	cleaners = 16
	// cleanAgain is the wait before a thread whose run is still active is deleted again.
	cleanAgain = 100 * time.Millisecond
)

// clean deletes the threads of the load, and counts them in the report.
func (l *load) clean(ctx context.Context, r *Report) {
	r.Threads = Threads{Made: l.made, Left: l.made}
	if l.c.Keep {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, cleanTime)
	defer cancel()
	var deleted, tried atomic.Int64
	began := time.Now()
	threads := make(chan spool.ThreadID)
	var workers sync.WaitGroup
	for range cleaners {
		workers.Go(func() {
			for thread := range threads {
				if l.deleted(ctx, thread) {
					deleted.Add(1)
				}
				tried.Add(1)
			}
		})
	}
	var told time.Time
	for _, thread := range l.threads {
		if time.Since(told) >= tick {
			told = time.Now()
			l.report(Status{Phase: PhaseClean, Elapsed: time.Since(began), Sent: len(l.threads), Ended: int(tried.Load())})
		}
		select {
		case threads <- thread:
		case <-ctx.Done():
		}
	}
	close(threads)
	workers.Wait()
	r.Threads.Deleted = int(deleted.Load())
	r.Threads.Made = max(l.made, r.Threads.Deleted) // a start may have been accepted without an answer
	r.Threads.Left = r.Threads.Made - r.Threads.Deleted
}

// deleted deletes a thread and reports whether it has. It stops a run that is still active.
func (l *load) deleted(ctx context.Context, thread spool.ThreadID) bool {
	for {
		result, err := l.c.Server.DeleteThread(ctx, thread)
		switch {
		case err != nil:
			return false
		case result.Accepted:
			return true
		case result.Reason != spool.ReasonActiveRun:
			return false
		}
		_, _ = l.c.Server.Stop(ctx, thread, "") // the next deletion says whether it was stopped
		if !until(ctx, time.Now().Add(cleanAgain)) {
			return false
		}
	}
}
