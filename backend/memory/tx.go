package memory

import (
	"cmp"
	"slices"

	"github.com/spoolhq/spool"
)

// transaction works on a fork of the thread's data. The commit replaces the thread's data by the fork.
type transaction struct {
	*view
	store *memory
	// jobs are changes of the queue. The commit makes them.
	jobs []func(*memory)
	// reindex is true if runs were added or removed, or changed their start key.
	reindex bool
	// taken are the dead jobs that the commit removes.
	taken map[int64]bool
	// audited counts the audit entries of the transaction.
	audited int64
}

var _ spool.Tx = (*transaction)(nil)

// PutThread inserts the thread's row or replaces it.
func (tx *transaction) PutThread(t spool.Thread) error {
	t.Tenant, t.ID, t.LastSeq = tx.key.Tenant, tx.key.ID, 0
	if old := tx.data.thread; old != nil {
		t.LastSeq, t.CreatedAt = old.LastSeq, old.CreatedAt
	}
	if t.CreatedAt.IsZero() {
		t.CreatedAt = tx.now
	}
	if old := tx.data.thread; old != nil {
		same := *old
		same.LeaseUntil, same.UpdatedAt = t.LeaseUntil, t.UpdatedAt
		t.UpdatedAt = old.UpdatedAt
		if same.UpdatedAt = t.UpdatedAt; !same.Equal(t) {
			t.UpdatedAt = tx.now
		}
	} else {
		t.UpdatedAt = tx.now
	}
	stored := cloneThread(t)
	tx.data.thread = &stored
	return nil
}

// DeleteThread removes the thread and its jobs, also dead ones.
func (tx *transaction) DeleteThread() error {
	tx.data = &threadData{}
	tx.reindex = true
	key := tx.key
	tx.jobs = append(tx.jobs, func(m *memory) {
		for id, j := range m.jobs {
			if j.Thread() == key {
				m.dropJob(id)
			}
		}
		m.dead = slices.DeleteFunc(m.dead, func(d spool.DeadJob) bool { return d.Thread() == key })
	})
	return nil
}

// InsertRun adds a run.
func (tx *transaction) InsertRun(r spool.RunRow) error {
	if tx.data.thread == nil {
		return errNoThread
	}
	if tx.runTaken(r.ID) {
		return spool.ErrRunIDUsed
	}
	if tx.secondActive(r) {
		return spool.ErrActiveRun
	}
	if tx.startTaken(r) {
		return spool.Errorf(spool.Conflict, "Idempotency key already used")
	}
	r.Tenant, r.ThreadID = tx.key.Tenant, tx.key.ID
	if r.CreatedAt.IsZero() {
		r.CreatedAt = tx.now
	}
	tx.data.runs = append(tx.data.runs, cloneRow(r))
	tx.reindex = true
	return nil
}

// runTaken reports whether a run of the tenant has the id. The index answers for other threads only:
// the transaction has the runs of this thread.
func (tx *transaction) runTaken(id spool.RunID) bool {
	if tx.data.runAt(id) >= 0 {
		return true
	}
	tx.store.mu.RLock()
	defer tx.store.mu.RUnlock()
	owner, taken := tx.store.runs[runKey{tx.key.Tenant, id}]
	return taken && owner != tx.key
}

func (tx *transaction) startTaken(r spool.RunRow) bool {
	if r.StartKey == "" {
		return false
	}
	if slices.ContainsFunc(tx.data.runs, func(other spool.RunRow) bool {
		return other.ID != r.ID && other.StartKey == r.StartKey
	}) {
		return true
	}
	tx.store.mu.RLock()
	defer tx.store.mu.RUnlock()
	run, taken := tx.store.starts[startKey{tx.key.Tenant, r.StartKey}]
	return taken && tx.store.runs[run] != tx.key
}

func (tx *transaction) secondActive(r spool.RunRow) bool {
	return r.Depth == 0 && r.Active() && slices.ContainsFunc(tx.data.runs, func(other spool.RunRow) bool {
		return other.ID != r.ID && other.Depth == 0 && other.Active()
	})
}

// UpdateRun replaces a run. It refuses a second active run, as InsertRun does.
func (tx *transaction) UpdateRun(r spool.RunRow) error {
	at := tx.data.runAt(r.ID)
	if at < 0 {
		return errNoRun
	}
	if tx.secondActive(r) {
		return spool.ErrActiveRun
	}
	if r.StartKey != tx.data.runs[at].StartKey {
		if tx.startTaken(r) {
			return spool.Errorf(spool.Conflict, "Idempotency key already used")
		}
		tx.reindex = true
	}
	r.Tenant, r.ThreadID, r.CreatedAt = tx.key.Tenant, tx.key.ID, tx.data.runs[at].CreatedAt
	tx.data.runs = slices.Clone(tx.data.runs)
	tx.data.runs[at] = cloneRow(r)
	return nil
}

// AppendMessages saves messages. It returns a conflict error if the thread already has a message with
// the id.
func (tx *transaction) AppendMessages(messages ...*spool.Message) error {
	if tx.data.thread == nil {
		return errNoThread
	}
	for _, m := range messages {
		if messageAt(tx.data.messages, m.ID) >= 0 || tx.data.branchOf(m.ID) != 0 {
			return spool.Errorf(spool.Conflict, "Message id already used")
		}
		m.AfterSeq = tx.data.thread.LastSeq
		if m.CreatedAt.IsZero() {
			m.CreatedAt = tx.now
		}
		saved := cloneMessage(*m)
		saved.ThreadID = tx.key.ID
		tx.data.messages = append(tx.data.messages, saved)
		tx.data.added = append(tx.data.added, saved)
	}
	return nil
}

// AppendEntries adds entries to the record.
func (tx *transaction) AppendEntries(entries ...*spool.Entry) error {
	if tx.data.thread == nil {
		return errNoThread
	}
	for _, e := range entries {
		tx.data.thread.LastSeq++
		e.ThreadID, e.Seq, e.CreatedAt = tx.key.ID, tx.data.thread.LastSeq, tx.now
		tx.data.entries = append(tx.data.entries, cloneEntry(*e))
	}
	return nil
}

// PutPark inserts a park, or replaces it without changing its position.
func (tx *transaction) PutPark(p spool.Park) error {
	if tx.data.thread == nil {
		return errNoThread
	}
	tx.data.parks = put(tx.data.parks, clonePark(p), func(other spool.Park) bool {
		return other.RunID == p.RunID && other.ToolCallID == p.ToolCallID
	})
	return nil
}

// PutEffect inserts an effect, or replaces it without changing its position.
func (tx *transaction) PutEffect(e spool.Effect) error {
	if tx.data.thread == nil {
		return errNoThread
	}
	tx.data.effects = put(tx.data.effects, cloneEffect(e), func(other spool.Effect) bool {
		return other.RunID == e.RunID && other.Step == e.Step && other.ToolCallID == e.ToolCallID
	})
	return nil
}

// AddUsage adds a row to the ledger.
func (tx *transaction) AddUsage(row spool.UsageRow) error {
	if tx.data.thread == nil {
		return errNoThread
	}
	row.CreatedAt, row.Kind = tx.now, cmp.Or(row.Kind, spool.UsageStep)
	tx.data.usage = append(tx.data.usage, cloneUsageRow(row))
	return nil
}

// Enqueue adds a job of the thread at the commit.
func (tx *transaction) Enqueue(j spool.Job) error {
	j.Tenant, j.ThreadID = tx.key.Tenant, tx.key.ID
	now := tx.now
	tx.jobs = append(tx.jobs, func(m *memory) { m.addJob(j, now) })
	return nil
}

// CancelJob removes a job at the commit.
func (tx *transaction) CancelJob(key string) error {
	tenant := tx.key.Tenant
	tx.jobs = append(tx.jobs, func(m *memory) { // an empty key matches no job
		if id, ok := m.jobKeys[jobKey{tenant, key}]; ok {
			m.dropJob(id)
		}
	})
	return nil
}

// put returns a copy of all in which value replaces the element for which meant returns true. If no
// element matches, value is appended.
func put[T any](all []T, value T, meant func(T) bool) []T {
	at := slices.IndexFunc(all, meant)
	if at < 0 {
		return append(all, value)
	}
	all = slices.Clone(all)
	all[at] = value
	return all
}
