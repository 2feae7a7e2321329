//go:build unix

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/client"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// conversation is one thread, with those who follow it and everything that is known of it.
type conversation struct {
	*campaign

	key      spool.ThreadKey
	history  *spooltest.History
	watchers []*watcher

	// answering counts the answers that are under way.
	answering sync.WaitGroup

	mu sync.Mutex
	// plans are those of the accepted runs.
	plans map[spool.RunID]plan
	// edits are the turns that accepted runs take the place of.
	edits map[spool.RunID]spool.MessageID
	// asked are the questions that were answered, and when.
	asked map[string]time.Time
	// said are the answers to the questions of the MCP server.
	said []said
	// withheld is when the campaign last had a question that it must not answer yet: see quiet.
	withheld time.Time
}

const (
	// runsPerThread is how many runs a thread gets before it is judged.
	runsPerThread = 5
	// stuckAfter is how long nothing may happen to a thread that has an active run. How long a run takes depends
	// on how often its process is killed.
	stuckAfter = 30 * time.Second
	// asksWithin is how long a thread may wait for an answer without an open question and without a job.
	asksWithin = 20 * time.Second
	// callTimeout bounds a request. The node may be paused.
	callTimeout = 4 * time.Second
)

// converse leads one conversation after another.
func (c *campaign) converse(ctx context.Context) {
	for !c.ending() && ctx.Err() == nil {
		t := c.begin()
		t.lead(ctx)
		c.mu.Lock()
		delete(c.threads, t.key.ID)
		c.mu.Unlock()
	}
}

// begin returns a new thread.
func (c *campaign) begin() *conversation {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.made++
	t := &conversation{
		campaign: c, key: spool.ThreadKey{Tenant: spool.DefaultTenant, ID: spool.ThreadID(fmt.Sprintf("t%d", c.made))},
		history: &spooltest.History{}, plans: make(map[spool.RunID]plan),
		edits: make(map[spool.RunID]spool.MessageID), asked: make(map[string]time.Time),
	}
	c.threads[t.key.ID] = t
	c.counts["threads"]++
	return t
}

// lead starts the runs of a thread, follows it to its end, and judges it.
func (t *conversation) lead(ctx context.Context) {
	watching, stop := context.WithCancel(ctx)
	defer stop()
	for i := range 2 + t.n(2) {
		t.watch(watching, fmt.Sprintf("client %d", i+1))
	}
	for i := 0; i < runsPerThread && !t.ending() && ctx.Err() == nil; i++ {
		t.someStart(ctx, fmt.Sprintf("%s-r%d", t.key.ID, i+1))
		if t.n(5) == 0 { // the next one waits for its turn, or takes the place of this one
			continue
		}
		if t.n(8) == 0 {
			t.someStop(ctx)
		}
		if !t.untilEnded(ctx) {
			break
		}
	}
	ended := t.untilEnded(ctx)
	if ctx.Err() == nil && ended {
		t.untilSeen(ctx)
	}
	stop()
	for _, w := range t.watchers {
		<-w.done
	}
	t.answering.Wait()
	if ctx.Err() == nil && ended {
		t.judge(ctx)
	}
}

// somePlan returns a random plan.
func (t *conversation) somePlan(id string) plan {
	tools := []string{"look", "once", "once", "once", "send", "ask", "nest"}
	if t.mcp != nil {
		tools = t.mcp.someTools()
	}
	p := plan{ID: id}
	for range t.n(4) {
		s := planStep{Words: 3 + t.n(20)}
		for range 1 + t.n(3) {
			s.Calls = append(s.Calls, tools[t.n(len(tools))])
		}
		p.Steps = append(p.Steps, s)
	}
	p.Steps = append(p.Steps, planStep{Words: 3 + t.n(30)})
	return p
}

// someStart starts a run, at one node after another until one has answered.
func (t *conversation) someStart(ctx context.Context, id string) {
	p := t.somePlan(id)
	in := client.RunRequest{
		ThreadID: t.key.ID, RunID: spool.RunID(id), IdempotencyKey: id, Prompt: p.prompt(), WhenBusy: spool.BusyEnqueue,
	}
	if t.n(6) == 0 {
		in.EditMessageID = t.someTurn(ctx)
	}
	for ctx.Err() == nil {
		result, err := t.try(ctx, func(ctx context.Context, n *node) (wire.RunResult, error) { return n.client.Run(ctx, in) })
		if err != nil {
			t.count("starts that were sent again")
			if code := spool.CodeOf(err); code != spool.Unavailable && code != spool.Canceled && code != spool.Internal {
				t.violated("start", id, err.Error())
				return
			}
			sleep(ctx, 100*time.Millisecond)
			continue
		}
		if !result.Accepted {
			t.count("refused starts (" + result.Reason + ")")
			return
		}
		t.mu.Lock()
		t.plans[result.RunID], t.edits[result.RunID] = p, in.EditMessageID
		t.mu.Unlock()
		t.history.Started(t.key, result.RunID)
		t.count("runs")
		if in.EditMessageID != "" {
			t.count("edited turns")
		}
		return
	}
}

// try asks a random node.
func (t *conversation) try(
	ctx context.Context, ask func(context.Context, *node) (wire.RunResult, error),
) (wire.RunResult, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return ask(ctx, t.anyNode())
}

// someTurn returns a turn of the user, "" if none is known.
func (t *conversation) someTurn(ctx context.Context) spool.MessageID {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	snapshot, err := t.anyNode().client.Snapshot(ctx, t.key.ID, wire.SnapshotOptions{})
	if err != nil {
		return ""
	}
	var turns []spool.MessageID
	for _, m := range snapshot.Messages {
		if m.Role == spool.RoleUser {
			turns = append(turns, m.ID)
		}
	}
	if len(turns) == 0 {
		return ""
	}
	return turns[t.n(len(turns))]
}

// someStop stops the thread in a while.
func (t *conversation) someStop(ctx context.Context) {
	if !sleep(ctx, time.Duration(t.n(1500))*time.Millisecond) {
		return
	}
	t.stop(ctx, t.anyNode())
}

// stop has a node stop the thread, and reports whether that was accepted.
func (t *conversation) stop(ctx context.Context, at *node) bool {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	result, err := at.client.Stop(ctx, t.key.ID, "")
	if err != nil || !result.Accepted {
		return false
	}
	t.history.Stopped(t.key)
	t.count("stops")
	return true
}

// untilEnded waits until the thread has no active run. It reports false if that takes too long.
func (t *conversation) untilEnded(ctx context.Context) bool {
	began, changed, asked := time.Now(), time.Now(), time.Now()
	var before wire.Thread
	for sleep(ctx, 200*time.Millisecond) {
		now, active, asks, detail, err := t.active(ctx)
		if err != nil || asks {
			asked = time.Now()
		}
		if t.withholds() {
			changed = time.Now()
		}
		if err != nil || now.Fence != before.Fence || now.LastSeq != before.LastSeq || now.State != before.State ||
			now.RunID != before.RunID {
			before, changed = now, time.Now()
		}
		switch {
		case err != nil: // PostgreSQL restarts
		case !active:
			return true
		case time.Since(changed) > t.patience(), t.sinceFaults() > t.o.Settle, time.Since(asked) > asksWithin:
			t.violated("stuck", t.key.String(), fmt.Sprintf("after %s, of which nothing has happened for %s: %s",
				time.Since(began).Round(time.Second), time.Since(changed).Round(time.Second), detail))
			return false
		}
	}
	return false
}

// patience is how long nothing may happen to a thread that has an active run. A run that waits for a task of an MCP
// server, or alone after several deaths, does nothing for a while.
func (t *conversation) patience() time.Duration {
	if t.mcp != nil {
		return 3 * stuckAfter
	}
	return stuckAfter
}

// withholds reports whether the campaign does not answer a question of the thread yet.
func (t *conversation) withholds() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return time.Since(t.withheld) < 2*time.Second
}

// active returns the thread, and reports whether it has a run that has not ended, with the runs in words. Asks is
// false if the thread waits for an answer and there is no open question.
func (t *conversation) active(ctx context.Context) (thread wire.Thread, active, asks bool, detail string, err error) {
	var text strings.Builder
	err = t.store.View(ctx, t.key, func(v store.View) (err error) {
		thread, err = v.Thread()
		if err != nil {
			return err
		}
		text.Reset()
		fmt.Fprintf(&text, "the thread is %s, fence %d, leased until %s, now %s",
			thread.State, thread.Fence, thread.LeaseUntil.Format(time.TimeOnly), v.Now().Format(time.TimeOnly))
		parks, err := v.Parks(thread.RunID)
		if err != nil {
			return err
		}
		asks = thread.State != wire.WaitingForInput ||
			slices.ContainsFunc(parks, func(p store.Park) bool {
				return p.State == wire.ParkOpen || p.State == wire.ParkPending
			})
		for _, p := range parks {
			if p.State == wire.ParkOpen {
				fmt.Fprintf(&text, "; call %s of run %s asks (%s)", p.ToolCallID, p.RunID, p.Reason)
			}
		}
		runs, err := v.Runs(wire.RunQuery{})
		for _, r := range runs {
			if r.Active() || r.QueuePosition > 0 && !r.State.Terminal() {
				active = true
				fmt.Fprintf(&text, "; run %s is %s (depth %d, position %d, %d steps, %d segments, %d attempts)",
					r.ID, r.State, r.Depth, r.QueuePosition, r.Steps, r.Segments, r.Attempts)
			}
		}
		return err
	})
	if spool.CodeOf(err) == spool.NotFound {
		return thread, false, true, "", nil
	}
	if active {
		jobs, jobsErr := t.store.Jobs(ctx, wire.JobQuery{Tenant: t.key.Tenant, ThreadID: t.key.ID})
		fmt.Fprintf(&text, "; jobs %+v %v", jobs, jobsErr)
		// A job for the answers is as good as a question: a worker will go on, however slow the machine is.
		asks = asks || slices.ContainsFunc(jobs, func(j wire.QueuedJob) bool { return j.Kind == wire.JobResume })
	}
	return thread, active, asks, text.String(), err
}
