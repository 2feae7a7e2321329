package client

import (
	"context"
	"slices"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/client/view"
	"github.com/spoolhq/spool/wire"
)

// entriesWait is how long the entries behind a cursor may take to say how a run has ended.
const entriesWait = time.Second

// missed asks the server for the runs that have ended while a watch was away.
type missed struct {
	client *Client
	thread spool.ThreadID
	// requested are the runs that a request has asked for. They are not requested again, whatever the answer was.
	requested map[spool.RunID]bool
	// untimed says that the server does not say when runs have ended.
	untimed bool
	// due ends the wait before a request. Nil: there is no wait.
	due <-chan time.Time
	// answers has the answer of a request, which is about the runs in wanted. Nil: there is no request.
	answers  chan answered
	wanted   []spool.RunID
	failures int
}

type answered struct {
	snapshot *wire.Snapshot
	err      error
}

// look begins the wait for a request, if a view does not know how its runs are.
func (m *missed) look(shown *view.Thread) {
	if m.due != nil || m.answers != nil || len(m.untold(shown)) == 0 {
		return
	}
	m.due = time.After(entriesWait)
}

// untold returns the runs to ask for.
func (m *missed) untold(shown *view.Thread) (out []spool.RunID) {
	for _, r := range shown.Untold() {
		if !m.requested[r.ID] && (!m.untimed || r.State.Active()) {
			out = append(out, r.ID)
		}
	}
	return out
}

// request sends a request at the end of the wait, unless entries have brought every state meanwhile.
func (m *missed) request(ctx context.Context, shown *view.Thread) {
	m.due, m.wanted = nil, m.untold(shown)
	if len(m.wanted) == 0 {
		return
	}
	answers := make(chan answered, 1)
	m.answers = answers
	go func() {
		s, _, err := once[*wire.Snapshot](ctx, m.client,
			get("/api/agent/history", "threadId", string(m.thread), "limit", "1"))
		answers <- answered{s, err}
	}()
}

// wait waits for the end of a request, whose context is over.
func (m *missed) wait() {
	if m.answers != nil {
		<-m.answers
	}
}

// apply applies the result of a request to the view, and reports whether the view has changed. A failure that may
// pass leads to another request.
func (m *missed) apply(a answered, shown *view.Thread) (changed bool) {
	m.answers = nil
	if a.err != nil && passing(a.err) {
		m.failures++
		m.due = time.After(m.client.options.Backoff.wait(m.failures, askedWait(a.err)))
		return false
	}
	m.failures = 0
	for _, id := range m.wanted {
		m.requested[id] = true
	}
	if a.err != nil || a.snapshot == nil {
		return false
	}
	changed = shown.Tell(a.snapshot)
	m.untimed = m.untimed || slices.ContainsFunc(a.snapshot.Runs, func(r wire.Run) bool {
		return r.State.Terminal() && r.EndedAt.IsZero() && slices.Contains(m.wanted, r.ID)
	})
	return changed
}
