package memory

import (
	"cmp"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// transaction works on a fork of the thread's data. The commit replaces the thread's data by the fork.
type transaction struct {
	*view
	store *memory
	// failed is the error of the first change that failed. Nothing is committed then.
	failed error
	// outside are changes of what does not belong to the thread alone: jobs, the audit log and rows. The
	// commit makes them.
	outside []func(*memory)
	// reindex is true if runs were added or removed, or changed their start key.
	reindex bool
	// deleted is true if the thread was deleted, and its dead jobs with it.
	deleted bool
	// removedDead are the dead jobs that the commit removes.
	removedDead map[int64]bool
	// audited counts the audit entries of the transaction.
	audited int64
	// rows are the rows that the transaction has written. A row without a value was removed.
	rows map[rowKey]store.Row
}

var _ store.Tx = (*transaction)(nil)

// changes are the kinds of change in the order of the fields of [store.Changes].
var changes = [...]func(*transaction, store.Changes) error{
	(*transaction).putThread,
	(*transaction).deleteThread,
	(*transaction).insertRuns,
	(*transaction).updateRuns,
	(*transaction).dropMessages,
	(*transaction).restoreBranch,
	(*transaction).appendMessages,
	(*transaction).appendEntries,
	(*transaction).putParks,
	(*transaction).putEffects,
	(*transaction).addUsage,
	(*transaction).addDelta,
	(*transaction).cancelJobs,
	(*transaction).enqueue,
	(*transaction).removeDead,
	(*transaction).addDead,
	(*transaction).appendAudit,
	(*transaction).putRows,
}

// Write makes changes. After an error the transaction is lost: it returns the same error again.
func (tx *transaction) Write(c store.Changes) error {
	for _, change := range changes {
		if tx.failed == nil {
			tx.failed = change(tx, c)
		}
	}
	return tx.failed
}

// putThread inserts the thread's row or replaces it.
func (tx *transaction) putThread(c store.Changes) error {
	if c.Thread == nil {
		return nil
	}
	t := *c.Thread
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

// deleteThread removes the thread and the jobs of its runs, also dead ones.
func (tx *transaction) deleteThread(c store.Changes) error {
	if !c.DeleteThread {
		return nil
	}
	tx.data = &threadData{}
	tx.reindex, tx.deleted = true, true
	key := tx.key
	tx.outside = append(tx.outside, func(m *memory) {
		for id, j := range m.jobs {
			if j.Thread() == key && !j.Event() {
				m.dropJob(id)
			}
		}
		m.dead = slices.DeleteFunc(m.dead, func(d wire.QueuedJob) bool { return d.Thread() == key && !d.Event() })
	})
	return nil
}

// appendMessages saves messages.
func (tx *transaction) appendMessages(c store.Changes) error {
	for _, m := range c.Messages {
		switch {
		case tx.data.thread == nil:
			return errNoThread
		case messageAt(tx.data.messages, m.ID) >= 0 || tx.data.branchOf(m.ID) != 0:
			return store.ErrMessageIDUsed
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

// appendEntries adds entries to the record.
func (tx *transaction) appendEntries(c store.Changes) error {
	for _, e := range c.Entries {
		if tx.data.thread == nil {
			return errNoThread
		}
		tx.data.thread.LastSeq++
		e.ThreadID, e.Seq, e.CreatedAt = tx.key.ID, tx.data.thread.LastSeq, tx.now
		tx.data.entries = append(tx.data.entries, cloneEntry(*e))
	}
	return nil
}

// putParks inserts parks, or replaces them without changing their position.
func (tx *transaction) putParks(c store.Changes) error {
	for _, p := range c.Parks {
		if tx.data.thread == nil {
			return errNoThread
		}
		tx.data.parks = put(tx.data.parks, clonePark(p), func(other store.Park) bool {
			return other.RunID == p.RunID && other.ToolCallID == p.ToolCallID
		})
	}
	return nil
}

// putEffects inserts effects, or replaces them without changing their position.
func (tx *transaction) putEffects(c store.Changes) error {
	for _, e := range c.Effects {
		if tx.data.thread == nil {
			return errNoThread
		}
		tx.data.effects = put(tx.data.effects, cloneEffect(e), func(other store.Effect) bool {
			return other.RunID == e.RunID && other.Step == e.Step && other.ToolCallID == e.ToolCallID
		})
	}
	return nil
}

// addUsage adds rows to the ledger.
func (tx *transaction) addUsage(c store.Changes) error {
	for _, row := range c.Usage {
		if tx.data.thread == nil {
			return errNoThread
		}
		row.CreatedAt, row.Kind = tx.now, cmp.Or(row.Kind, spool.UsageStep)
		tx.data.usage = append(tx.data.usage, cloneUsageRow(row))
	}
	return nil
}

// addDelta adds what the transaction changes.
func (tx *transaction) addDelta(c store.Changes) error {
	switch {
	case c.Delta == nil:
		return nil
	case tx.data.thread == nil:
		return errNoThread
	}
	c.Delta.Version, c.Delta.Seq, c.Delta.At = int64(len(tx.data.deltas))+1, tx.data.thread.LastSeq, tx.now
	tx.data.deltas = append(tx.data.deltas, storedDelta(*c.Delta, tx.key.ID))
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
