package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/client"
	"github.com/spoolhq/spool/wire"
)

const (
	// checkedEvery is how many runs, without those that are stopped, there are for one whose streamed text is
	// compared with the saved one.
	checkedEvery = 10
	// stopTime bounds the stop of a run that has not ended in time.
	stopTime = 5 * time.Second
	// label marks the threads of a load. Its value is the session.
	label = "spool-load"
)

// attempt is one run of a load, with its watchers.
type attempt struct {
	l   *load
	m   *measure
	due time.Time

	thread spool.ThreadID
	runID  spool.RunID
	// stops says that the run is stopped after its first token. Checked says that its text is compared.
	stops, checked bool
	// resumes says which of the watchers drop their connection once.
	resumes []bool

	stopping sync.WaitGroup
	stopAt   time.Time
	stopped  bool
}

// newAttempt plans the next run.
func (l *load) newAttempt(m *measure, due time.Time) *attempt {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.runs
	l.runs++
	id := fmt.Sprintf("load-%s-%d", l.c.Session, n)
	a := &attempt{
		l: l, m: m, due: due, thread: spool.ThreadID(id), runID: spool.RunID(id), stops: often(n, l.c.Stops),
		resumes: make([]bool, l.c.Watchers),
	}
	if !a.stops {
		a.checked = l.whole%checkedEvery == 0
		l.whole++
	}
	for i := range a.resumes {
		a.resumes[i] = often(l.watchers, l.c.Resumes)
		l.watchers++
	}
	l.threads = append(l.threads, a.thread)
	return a
}

// run starts the run and follows it to its end, or to the end of ctx.
func (a *attempt) run(ctx context.Context) {
	c := a.l.c
	result, err := c.Server.Run(ctx, client.RunRequest{
		ThreadID: a.thread, RunID: a.runID, Prompt: c.Prompt, StartOptions: wire.StartOptions{Agent: c.Agent},
		Labels: map[string]string{label: c.Session},
	})
	answered := time.Now()
	switch {
	case err != nil && ctx.Err() != nil:
		a.unfinished(ctx)
		return
	case err != nil:
		a.m.fail(failure("start", err))
		return
	case !result.Accepted:
		a.m.fail("start: refused, " + result.Reason)
		return
	}
	a.m.start.record(answered.Sub(a.due))
	a.m.change(func(r *Rung) { r.Accepted++ })
	a.l.mu.Lock()
	a.l.made++
	a.l.mu.Unlock()

	var others sync.WaitGroup
	for i := range a.resumes[1:] {
		others.Go(func() { a.newWatcher(i + 1).follow(ctx) })
	}
	a.measured(ctx)
	others.Wait()
}

// measured follows the run with the watcher that measures.
func (a *attempt) measured(ctx context.Context) {
	w := a.newWatcher(0)
	w.onToken = func(at time.Time) {
		a.m.first.record(at.Sub(a.due))
		if a.stops {
			a.stop(ctx)
		}
	}
	end := w.follow(ctx)
	a.stopping.Wait()
	switch {
	case !end.known():
		if ctx.Err() != nil {
			a.unfinished(ctx)
		}
		return
	case end.status == wire.SegmentStopped && a.stopped:
		a.m.stop.record(end.at.Sub(a.stopAt))
	case end.status != wire.SegmentFinished:
		a.m.fail(end.failure())
		a.halt(ctx)
		return
	default:
		a.m.whole.record(end.at.Sub(a.due))
		if a.stops {
			a.m.change(func(r *Rung) { r.StoppedLate++ })
		}
	}
	a.m.ended(end.at, end.status == wire.SegmentStopped)
	if w.shown != nil && end.status == wire.SegmentFinished {
		a.compare(ctx, w)
	}
}

// stop asks the server to stop the run, while the watcher goes on.
func (a *attempt) stop(ctx context.Context) {
	a.stopAt = time.Now()
	a.stopping.Go(func() {
		result, err := a.l.c.Server.Stop(ctx, a.thread, a.runID)
		if err != nil && ctx.Err() == nil {
			a.m.fail(failure("stop", err))
		}
		a.stopped = err == nil && result.Accepted
	})
}

// unfinished counts a run that has not ended in time, and stops it.
func (a *attempt) unfinished(ctx context.Context) {
	a.m.change(func(r *Rung) { r.Unfinished++ })
	a.halt(ctx)
}

// halt stops a run that is not to go on. Its thread can then be deleted.
func (a *attempt) halt(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	_, _ = a.l.c.Server.Stop(ctx, a.thread, a.runID) // the deletion of the thread tries again
}

// compare compares the text that a watcher has shown with the saved one.
func (a *attempt) compare(ctx context.Context, w *watcher) {
	saved, err := a.l.c.Server.Snapshot(ctx, a.thread, wire.SnapshotOptions{})
	switch {
	case ctx.Err() != nil:
	case err != nil:
		a.m.fail(failure("snapshot", err))
	default:
		wrong := answers(w.shown.Messages()) != answers(saved.Messages)
		a.m.change(func(r *Rung) {
			r.Watchers.TextsChecked++
			if wrong {
				r.Watchers.TextsWrong++
			}
		})
	}
}

// failure names an error by what failed and its code, so that equal ones can be counted. Without an answer of
// the server, it names the cause.
func failure(what string, err error) string {
	if status := client.StatusOf(err); status != 0 {
		return fmt.Sprintf("%s: %d %s", what, status, spool.CodeOf(err))
	}
	name := fmt.Sprintf("%s: %s", what, spool.CodeOf(err))
	errno, isErrno := errors.AsType[syscall.Errno](err)
	timeout, isNet := errors.AsType[net.Error](err)
	switch {
	case isErrno:
		return name + ", " + errno.Error()
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return name + ", the connection was closed"
	case isNet && timeout.Timeout():
		return name + ", timeout"
	}
	return name
}
