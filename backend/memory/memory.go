// Package memory is a backend that keeps everything in the memory of one process: for tests,
// and for programs whose threads may end with them.
//
// It keeps the whole contract of the ports of package spool, and the suites of package
// spooltest hold it to that. It has no file and no goroutine of its own: a backend needs no
// Close, and a test can run it in a bubble of testing/synctest.
package memory

import (
	"context"
	"sync"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/inprocess"
)

// Options are the settings of a backend. The zero value works.
type Options struct {
	// Clock is the clock that all times are read from. Defaults to the system's, which within
	// testing/synctest is the bubble's.
	Clock spool.Clock
}

// New returns an empty backend. It outlives an engine: a test that gives the same backend to a
// second engine has restarted the process, with the run streams still there. Nil options are the
// defaults.
func New(o *Options) spool.Backend {
	var clock spool.Clock = spool.SystemClock{}
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
	}
	return spool.Backend{
		Store:   store{m},
		Queue:   queue{m},
		Streams: inprocess.NewStreams(0),
		Bus:     inprocess.NewBus(),
	}
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
)

// memory is what the store and the queue of one backend share.
type memory struct {
	clock spool.Clock
	// writer has one place, for the Update that is under way. It is a channel, so that a caller
	// stops waiting when its context ends.
	writer chan struct{}

	// mu guards what follows. Update holds it to commit, not while fn runs.
	mu sync.RWMutex
	// threads maps to data that a commit replaces and never changes, so that a View needs no lock
	// once it has found the data.
	threads map[spool.ThreadKey]*threadData
	runs    map[runKey]spool.ThreadKey
	starts  map[startKey]runKey

	jobs    map[int64]*job
	jobKeys map[jobKey]int64
	dead    []spool.DeadJob
	// lastToken numbers claims.
	lastToken int64

	// audit is the log of all tenants in the order of its writing.
	audit []spool.AuditEntry
	// lastAudit is the number of each tenant's last entry.
	lastAudit map[spool.Tenant]int64
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

// commit makes all that tx wrote visible at once.
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
	for _, change := range tx.jobs {
		change(m)
	}
}

// index forgets the runs of before and remembers those of after. There is one writer, so no other
// transaction can have taken their ids in between.
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

// bounded returns how many of n a limit leaves, where zero is none.
func bounded(n, limit int) int {
	if limit <= 0 {
		return n
	}
	return min(n, limit)
}

func canceled(ctx context.Context) error {
	return spool.Wrap(spool.Canceled, "Canceled", ctx.Err())
}
