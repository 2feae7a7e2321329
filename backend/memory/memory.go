// Package memory is a backend that keeps everything in the memory of one process: for tests, and for
// programs whose threads may end with them.
//
// It keeps the whole contract of the ports of package spool; the suites of package spooltest check
// that. It has no file and no goroutine of its own: a backend needs no Close, and a test can run it in
// a bubble of testing/synctest.
package memory

import (
	"context"
	"sync"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/inprocess"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Options contains the settings of a backend. The zero value works.
type Options struct {
	// Clock is the source of all times. Defaults to the system's clock, which within testing/synctest
	// is the bubble's.
	Clock store.Clock
}

// New returns an empty backend. The backend outlives an engine: a test that gives the same backend to a
// second engine simulates a restart of the process, except that the run streams are still there. Nil
// options stand for the defaults.
func New(o *Options) store.Backend {
	var clock store.Clock = store.SystemClock{}
	if o != nil && o.Clock != nil {
		clock = o.Clock
	}
	m := &memory{
		clock:     clock,
		writer:    make(chan struct{}, 1),
		threads:   make(map[spool.ThreadKey]*threadData),
		runs:      make(map[runKey]spool.ThreadKey),
		starts:    make(map[startKey]runKey),
		jobs:      make(map[int64]*job),
		jobKeys:   make(map[jobKey]int64),
		lastAudit: make(map[spool.Tenant]int64),
		rows:      make(map[rowKey]store.Row),
	}
	return store.Backend{Store: port{m}, Live: inprocess.NewLive(0)}
}

type (
	runKey struct {
		tenant spool.Tenant
		id     spool.RunID
	}
	startKey struct {
		tenant spool.Tenant
		key    string
	}
	jobKey struct {
		tenant spool.Tenant
		key    string
	}
	rowKey struct {
		tenant    spool.Tenant
		kind, key string
	}
)

// memory is the state of a backend.
type memory struct {
	clock store.Clock
	// writer holds a value while an Update runs. It is a channel, so that a caller can stop waiting
	// when its context ends.
	writer chan struct{}

	// mu guards the fields below. Update holds it during the commit, not while fn runs.
	mu sync.RWMutex
	// threads maps to data that never changes: a commit replaces it. So a View needs no lock once it
	// has found the data.
	threads map[spool.ThreadKey]*threadData
	runs    map[runKey]spool.ThreadKey
	starts  map[startKey]runKey

	jobs    map[int64]*job
	jobKeys map[jobKey]int64
	dead    []wire.QueuedJob
	// lastToken is the token of the last claim.
	lastToken int64

	// audit is the log of all tenants, the oldest entry first.
	audit []wire.AuditEntry
	// lastAudit is the number of each tenant's last entry.
	lastAudit map[spool.Tenant]int64

	// rows may have rows that have expired.
	rows map[rowKey]store.Row
}

func (m *memory) view(key spool.ThreadKey) *view {
	m.mu.RLock()
	defer m.mu.RUnlock()
	data := m.threads[key]
	if data == nil {
		data = &threadData{}
	}
	return &view{key: key, now: m.now(), data: data}
}

// commit makes all changes of tx visible at once.
func (m *memory) commit(tx *transaction) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if tx.reindex {
		m.index(tx.key, m.threads[tx.key], tx.data)
	}
	delete(m.threads, tx.key)
	if tx.data.thread != nil {
		m.threads[tx.key] = tx.data
	}
	for _, change := range tx.outside {
		change(m)
	}
}

// index removes the runs of before from the index and adds the runs of after. Only one transaction
// writes at a time, so no other transaction can have taken their ids.
func (m *memory) index(key spool.ThreadKey, before, after *threadData) {
	if before != nil {
		for _, r := range before.runs {
			delete(m.runs, runKey{key.Tenant, r.ID})
			delete(m.starts, startKey{key.Tenant, r.StartKey})
		}
	}
	for _, r := range after.runs {
		m.runs[runKey{key.Tenant, r.ID}] = key
		if r.StartKey != "" {
			m.starts[startKey{key.Tenant, r.StartKey}] = runKey{key.Tenant, r.ID}
		}
	}
}

// alone calls fn while no transaction runs, so that fn cannot remove what a transaction has read.
func (m *memory) alone(ctx context.Context, fn func()) error {
	if err := canceled(ctx); err != nil {
		return err
	}
	select {
	case m.writer <- struct{}{}:
	case <-ctx.Done():
		return canceled(ctx)
	}
	defer func() { <-m.writer }()
	m.mu.Lock()
	defer m.mu.Unlock()
	fn()
	return nil
}

// bounded returns the lower of n and the limit. A limit of zero or less stands for no limit.
func bounded(n, limit int) int {
	if limit <= 0 {
		return n
	}
	return min(n, limit)
}

func canceled(ctx context.Context) error {
	return spool.Wrap(spool.Canceled, "Canceled", ctx.Err())
}
