package view

import (
	"slices"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// PendingCall is a call whose work goes on elsewhere. Nobody has to answer.
type PendingCall struct {
	wire.CallPending

	// RunID is the run that waits.
	RunID spool.RunID
}

// Retry is the next attempt of a run whose last one failed.
type Retry struct {
	// RunID is the run.
	RunID spool.RunID
	// At is when it begins.
	At time.Time
	// Error is why the last attempt failed, for a person.
	Error string
}

// Pending returns the calls whose work goes on elsewhere, in the order in which they began to wait.
func (t *Thread) Pending() []PendingCall { return t.pending }

// Retry returns the next attempt of the thread's run. Nil: the run does not wait for one.
func (t *Thread) Retry() *Retry { return t.retry }

// ProviderWaits returns the agents whose next answer waits for a limit of the model's provider.
func (t *Thread) ProviderWaits() []wire.ProviderWait { return t.waits }

// applyWait applies an entry that says what a run waits for, other than an answer.
func (t *Thread) applyWait(e wire.Entry) error {
	switch e.Type {
	case wire.EntryCallPending:
		return decoded(e, func(c wire.CallPending) { t.wait(PendingCall{c, e.RunID}) })
	case wire.EntryRunStarted:
		t.retry, t.waits = nil, nil
	case wire.EntryRunEnded:
		return decoded(e, func(r wire.RunEnded) {
			t.retry, t.waits = nil, nil
			if r.RetryAfterMS > 0 {
				t.retry = &Retry{RunID: e.RunID, At: e.CreatedAt.Add(time.Duration(r.RetryAfterMS) * time.Millisecond), Error: r.Error}
			}
		})
	default:
	}
	return nil
}

// wait adds a call that waits, or replaces it.
func (t *Thread) wait(c PendingCall) {
	at := slices.IndexFunc(t.pending, func(p PendingCall) bool { return p.ToolCallID == c.ToolCallID && p.RunID == c.RunID })
	if at < 0 {
		t.pending = append(t.pending, c)
		return
	}
	t.pending[at] = c
}

// noWait ends the waits of all runs but one. Empty: of all.
func (t *Thread) noWait(except spool.RunID) {
	if t.retry != nil && (except == "" || t.retry.RunID != except) {
		t.retry = nil
	}
	t.pending = slices.DeleteFunc(t.pending, func(p PendingCall) bool { return except == "" || p.RunID != except })
}

// came ends what an item of an agent ends: its wait for the provider, and that of a call for its result.
func (t *Thread) came(agent spool.AgentID, item wire.Item) error {
	if item.Type == wire.ItemProviderWait || item.Type == wire.ItemCustom {
		return nil
	}
	t.waits = slices.DeleteFunc(t.waits, func(w wire.ProviderWait) bool { return agentOf(w.AgentID) == agent })
	if item.Type != wire.ItemToolResult || len(t.pending) == 0 {
		return nil
	}
	return read(item, func(c wire.ToolResulted) {
		t.pending = slices.DeleteFunc(t.pending, func(p PendingCall) bool { return p.ToolCallID == c.ToolCallID })
	})
}
