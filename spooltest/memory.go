package spooltest

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
)

// NewMemory returns a backend that keeps everything in memory, for tests. It keeps the
// whole contract of its ports. What it holds outlives an engine: hand the same backend to
// the next one, and the process has restarted.
//
// A nil clock is the system's, which within testing/synctest is the bubble's.
func NewMemory(clock spool.Clock) spool.Backend {
	if clock == nil {
		clock = spool.SystemClock{}
	}
	m := &memory{
		clock:   clock,
		writer:  make(chan struct{}, 1),
		threads: make(map[spool.ThreadKey]*threadData),
		runs:    make(map[runKey]spool.ThreadKey),
		starts:  make(map[startKey]runKey),
		jobs:    make(map[int64]*memoryJob),
		jobKeys: make(map[jobKey]int64),

		lastAudit: make(map[spool.Tenant]int64),
	}
	return spool.Backend{
		Store:   memoryStore{m},
		Queue:   memoryQueue{m},
		Streams: engine.NewStreams(0),
		Bus:     engine.NewBus(),
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
	// writer is held by the one Update that is under way. A channel, so that waiting for
	// it ends with the caller's context.
	writer chan struct{}

	// mu guards what follows. Update holds it to commit, not while fn runs.
	mu sync.RWMutex
	// threads maps to data that is replaced and never changed, so that a View needs no
	// lock once it has found it.
	threads map[spool.ThreadKey]*threadData
	runs    map[runKey]spool.ThreadKey
	starts  map[startKey]runKey

	jobs    map[int64]*memoryJob
	jobKeys map[jobKey]int64
	dead    []spool.DeadJob
	// lastToken numbers claims.
	lastToken int64

	// audit is the log of all tenants in the order of its writing.
	audit []spool.AuditEntry
	// lastAudit is the number of each tenant's last entry.
	lastAudit map[spool.Tenant]int64
}

type memoryStore struct{ *memory }

var _ spool.Store = memoryStore{}

// Update runs updates one after another, those of other threads included.
func (s memoryStore) Update(ctx context.Context, key spool.ThreadKey, fence int64, fn func(spool.Tx) error) error {
	if err := canceled(ctx); err != nil {
		return err
	}
	select {
	case s.writer <- struct{}{}:
	case <-ctx.Done():
		return canceled(ctx)
	}
	defer func() { <-s.writer }()

	tx := &memoryTx{memoryView: s.view(key), store: s.memory}
	defer tx.end()
	if fence > 0 && (tx.data.thread == nil || tx.data.thread.Fence != fence) {
		return spool.ErrFenced
	}
	tx.data = tx.data.fork()
	if err := fn(tx); err != nil {
		return err
	}
	if err := canceled(ctx); err != nil {
		return err
	}
	s.commit(tx)
	return nil
}

// View runs fn over the thread as it was last committed.
func (s memoryStore) View(ctx context.Context, key spool.ThreadKey, fn func(spool.View) error) error {
	if err := canceled(ctx); err != nil {
		return err
	}
	v := s.view(key)
	defer v.end()
	return fn(v)
}

// Threads lists a tenant's threads.
func (s memoryStore) Threads(ctx context.Context, tenant spool.Tenant, q spool.ThreadQuery) ([]spool.Thread, error) {
	if err := canceled(ctx); err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	found := []spool.Thread{}
	for key, data := range s.threads {
		if key.Tenant == tenant && listed(*data.thread, q) {
			found = append(found, cloneThread(*data.thread))
		}
	}
	slices.SortFunc(found, func(a, b spool.Thread) int {
		return cmp.Or(b.UpdatedAt.Compare(a.UpdatedAt), cmp.Compare(b.ID, a.ID))
	})
	return found[:bounded(len(found), q.Limit)], nil
}

func listed(t spool.Thread, q spool.ThreadQuery) bool {
	switch {
	case q.State != "" && t.State != q.State,
		!strings.Contains(lowerASCII(t.Title), lowerASCII(q.Title)),
		q.Owner != "" && t.Owner != q.Owner,
		!labelled(t, q.Labels),
		!q.UpdatedAfter.IsZero() && !t.UpdatedAt.After(q.UpdatedAfter),
		!q.UpdatedBefore.IsZero() && !t.UpdatedAt.Before(q.UpdatedBefore):
		return false
	case q.Before.IsZero():
		return true
	}
	return t.UpdatedAt.Before(q.Before) || t.UpdatedAt.Equal(q.Before) && t.ID < q.BeforeID
}

// cloneThread returns a row that shares no map with another one.
func cloneThread(t spool.Thread) spool.Thread {
	t.Labels = maps.Clone(t.Labels)
	if len(t.Labels) == 0 {
		t.Labels = nil
	}
	return t
}

// labelled reports whether the thread has each of the labels.
func labelled(t spool.Thread, want map[string]string) bool {
	for key, value := range want {
		if t.Labels[key] != value {
			return false
		}
	}
	return true
}

// lowerASCII writes the letters of ASCII small and leaves all others as they are.
func lowerASCII(text string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, text)
}

// FindStart returns the run that was started under an idempotency key.
func (s memoryStore) FindStart(ctx context.Context, tenant spool.Tenant, key string) (spool.Run, error) {
	if err := canceled(ctx); err != nil {
		return spool.Run{}, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	run, ok := s.starts[startKey{tenant, key}]
	if !ok || key == "" {
		return spool.Run{}, errNoRun
	}
	return s.threads[s.runs[run]].findRun(run.id)
}

// Stranded returns threads in the order of their keys.
func (s memoryStore) Stranded(ctx context.Context, limit int) ([]spool.ThreadKey, error) {
	if err := canceled(ctx); err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	tickets := make(map[runKey]bool, len(s.jobs))
	for _, j := range s.jobs {
		tickets[runKey{j.Tenant, j.RunID}] = true
	}
	now := s.now()
	found := []spool.ThreadKey{}
	for key, data := range s.threads {
		t := data.thread
		if t.State.Active() && !t.Leased(now) && !tickets[runKey{key.Tenant, t.RunID}] {
			found = append(found, key)
		}
	}
	slices.SortFunc(found, func(a, b spool.ThreadKey) int {
		return cmp.Or(cmp.Compare(a.Tenant, b.Tenant), cmp.Compare(a.ID, b.ID))
	})
	return found[:bounded(len(found), limit)], nil
}

// Close does nothing, so that the backend can be handed to another engine.
func (memoryStore) Close() error { return nil }

func (m *memory) view(key spool.ThreadKey) *memoryView {
	m.mu.RLock()
	defer m.mu.RUnlock()
	data := m.threads[key]
	if data == nil {
		data = &threadData{}
	}
	return &memoryView{key: key, now: m.now(), data: data}
}

// commit makes all that tx wrote visible at once.
func (m *memory) commit(tx *memoryTx) {
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

// index forgets the runs of before and remembers those of after. Nobody else can have
// taken their ids in between, as there is one writer.
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
