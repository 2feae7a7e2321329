package maptx

import (
	"cmp"
	"slices"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Write makes changes. After an error it makes no others, and returns the same error.
func (tx *Tx) Write(c store.Changes) error {
	for _, change := range []func(store.Changes) error{
		tx.writeThread, tx.writeRuns, tx.writeMessages, tx.writeRest, tx.writeJobs, tx.writeOutside,
	} {
		if tx.failed == nil {
			tx.failed = change(c)
		}
	}
	return tx.failed
}

func (tx *Tx) writeThread(c store.Changes) error {
	if c.Thread != nil {
		t := clone(*c.Thread)
		t.Tenant, t.ID, t.LastSeq = tx.Key.Tenant, tx.Key.ID, 0
		if len(t.Labels) == 0 {
			t.Labels = nil
		}
		old := tx.Rows.Thread
		if old != nil {
			t.LastSeq, t.CreatedAt, t.UpdatedAt = old.LastSeq, old.CreatedAt, old.UpdatedAt
		}
		t.CreatedAt = orNow(t.CreatedAt, tx.At)
		if old == nil || !sameButLease(*old, t) {
			t.UpdatedAt = tx.At
		}
		tx.Rows.Thread = &t
	}
	if c.DeleteThread {
		ofRun := func(j wire.QueuedJob) bool { return !j.Event() }
		r := tx.Rows
		tx.Rows = Rows{
			Jobs: slices.DeleteFunc(r.Jobs, ofRun), Dead: slices.DeleteFunc(r.Dead, ofRun),
			Audit: r.Audit, Outside: r.Outside, Elsewhere: r.Elsewhere,
		}
	}
	return nil
}

func sameButLease(a, b wire.Thread) bool {
	a.LeaseUntil = b.LeaseUntil
	return a.Equal(b)
}

func (tx *Tx) writeRuns(c store.Changes) error {
	for _, r := range c.NewRuns {
		named := func(other store.RunRow) bool { return other.ID == r.ID }
		if tx.Rows.Thread == nil {
			return errNoThread
		}
		if slices.ContainsFunc(tx.Rows.Runs, named) || slices.ContainsFunc(tx.Rows.Elsewhere, named) {
			return store.ErrRunIDUsed
		}
		if err := tx.conflict(r); err != nil {
			return err
		}
		r.Tenant, r.ThreadID, r.CreatedAt = tx.Key.Tenant, tx.Key.ID, orNow(r.CreatedAt, tx.At)
		tx.Rows.Runs = append(tx.Rows.Runs, clone(r))
	}
	for _, r := range c.Runs {
		at := slices.IndexFunc(tx.Rows.Runs, func(other store.RunRow) bool { return other.ID == r.ID })
		if at < 0 {
			return errNoRun
		}
		if err := tx.conflict(r); err != nil {
			return err
		}
		r.Tenant, r.ThreadID, r.CreatedAt = tx.Key.Tenant, tx.Key.ID, tx.Rows.Runs[at].CreatedAt
		tx.Rows.Runs[at] = clone(r)
	}
	return nil
}

// conflict returns an error for a second active run, or a second run of a start key.
func (tx *Tx) conflict(r store.RunRow) error {
	active := func(other store.RunRow) bool { return other.ID != r.ID && other.Depth == 0 && other.Active() }
	started := func(other store.RunRow) bool { return other.ID != r.ID && other.StartKey == r.StartKey }
	switch {
	case r.Depth == 0 && r.Active() && slices.ContainsFunc(tx.Rows.Runs, active):
		return store.ErrActiveRun
	case r.StartKey != "" && (slices.ContainsFunc(tx.Rows.Runs, started) ||
		slices.ContainsFunc(tx.Rows.Elsewhere, started)):
		return store.ErrStartKeyUsed
	default:
		return nil
	}
}

func (tx *Tx) writeMessages(c store.Changes) error {
	if d := c.Drop; d != nil {
		if err := tx.drop(*d); err != nil {
			return err
		}
	}
	if c.Restore != 0 {
		at := tx.branchAt(c.Restore)
		if at < 0 {
			return errNoBranch
		}
		b := tx.Rows.Branches[at]
		if b.BaseMessageID != tx.lastMessage() {
			return store.ErrBranchBase
		}
		tx.Rows.Messages = append(tx.Rows.Messages, b.Messages...)
		tx.Rows.Branches = slices.Delete(tx.Rows.Branches, at, at+1)
	}
	for _, m := range c.Messages {
		switch {
		case tx.Rows.Thread == nil:
			return errNoThread
		case tx.hasMessage(m.ID):
			return store.ErrMessageIDUsed
		}
		m.AfterSeq, m.CreatedAt = tx.Rows.Thread.LastSeq, orNow(m.CreatedAt, tx.At)
		saved := clone(*m)
		saved.ThreadID = tx.Key.ID
		tx.Rows.Messages, tx.Rows.added = append(tx.Rows.Messages, saved), append(tx.Rows.added, saved)
	}
	return nil
}

func (tx *Tx) drop(d store.Drop) error {
	at, id := messageAt(tx.Rows.Messages, d.From), wire.BranchID(d.Seq)
	switch {
	case at < 0:
		return errNoMessage
	case tx.branchAt(id) >= 0:
		return store.ErrBranchUsed
	}
	b := Branch{Branch: wire.Branch{ID: id, CreatedAt: tx.At}, Messages: slices.Clone(tx.Rows.Messages[at:])}
	for _, e := range tx.Rows.Entries {
		if e.Seq == d.Seq {
			b.RunID = e.RunID
		}
	}
	tx.Rows.Messages = tx.Rows.Messages[:at:at]
	b.BaseMessageID = tx.lastMessage()
	tx.Rows.Branches = append(tx.Rows.Branches, b)
	slices.SortFunc(tx.Rows.Branches, func(a, b Branch) int { return cmp.Compare(a.ID, b.ID) })
	return nil
}

func (tx *Tx) lastMessage() spool.MessageID {
	if len(tx.Rows.Messages) == 0 {
		return ""
	}
	return tx.Rows.Messages[len(tx.Rows.Messages)-1].ID
}

func (tx *Tx) hasMessage(id spool.MessageID) bool {
	return messageAt(tx.Rows.Messages, id) >= 0 ||
		slices.ContainsFunc(tx.Rows.Branches, func(b Branch) bool { return messageAt(b.Messages, id) >= 0 })
}

// writeRest writes what else belongs to the thread.
func (tx *Tx) writeRest(c store.Changes) error {
	if tx.Rows.Thread == nil {
		if len(c.Entries)+len(c.Parks)+len(c.Effects)+len(c.Usage) > 0 || c.Delta != nil {
			return errNoThread
		}
		return nil
	}
	for _, e := range c.Entries {
		tx.Rows.Thread.LastSeq++
		e.ThreadID, e.Seq, e.CreatedAt = tx.Key.ID, tx.Rows.Thread.LastSeq, tx.At
		tx.Rows.Entries = append(tx.Rows.Entries, clone(*e))
	}
	for _, p := range c.Parks {
		tx.Rows.Parks = put(tx.Rows.Parks, clone(p), func(other store.Park) bool {
			return other.RunID == p.RunID && other.ToolCallID == p.ToolCallID
		})
	}
	for _, e := range c.Effects {
		tx.Rows.Effects = put(tx.Rows.Effects, clone(e), func(other store.Effect) bool {
			return other.RunID == e.RunID && other.Step == e.Step && other.ToolCallID == e.ToolCallID
		})
	}
	for _, r := range c.Usage {
		r.CreatedAt, r.Kind = tx.At, cmp.Or(r.Kind, spool.UsageStep)
		tx.Rows.Usage = append(tx.Rows.Usage, clone(r))
	}
	if d := c.Delta; d != nil {
		d.Version, d.Seq, d.At = int64(len(tx.Rows.Deltas))+1, tx.Rows.Thread.LastSeq, tx.At
		body, err := d.MarshalStored()
		if err != nil {
			return err
		}
		stored := store.SnapshotDelta{Version: d.Version, Seq: d.Seq, At: d.At}
		if err := stored.UnmarshalStored(body, tx.Key.ID); err != nil {
			return err
		}
		tx.Rows.Deltas = append(tx.Rows.Deltas, stored)
	}
	return nil
}

func (tx *Tx) writeJobs(c store.Changes) error {
	for _, key := range c.CancelJobs {
		tx.Rows.Jobs = slices.DeleteFunc(tx.Rows.Jobs, func(j wire.QueuedJob) bool { return key != "" && j.Key == key })
	}
	for _, j := range c.Jobs {
		tx.addJob(wire.QueuedJob{Job: j, JobID: int64(len(tx.Rows.Jobs)) + 1, State: wire.JobReady})
	}
	for _, j := range c.Claimed {
		tx.addJob(wire.QueuedJob{Job: j.Job, JobID: j.JobID, State: wire.JobInFlight, Attempts: 1})
	}
	for _, id := range c.TakeDead {
		at := slices.IndexFunc(tx.Rows.Dead, func(j wire.QueuedJob) bool { return j.JobID == id })
		if at < 0 {
			return errNoDeadJob
		}
		tx.Rows.Dead = slices.Delete(tx.Rows.Dead, at, at+1)
	}
	for _, d := range c.Dead {
		d.JobID, d.State, d.DiedAt = int64(len(tx.Rows.Dead))+1, wire.JobDead, tx.At
		d.Job = tx.owned(d.Job)
		d.DueAt = orNow(d.DueAt, tx.At)
		tx.Rows.Dead = append(tx.Rows.Dead, d)
	}
	return nil
}

// addJob adds a job, unless there is one with its key.
func (tx *Tx) addJob(j wire.QueuedJob) {
	if j.Key != "" && slices.ContainsFunc(tx.Rows.Jobs, func(other wire.QueuedJob) bool { return other.Key == j.Key }) {
		return
	}
	j.Job = tx.owned(j.Job)
	j.DueAt = orNow(j.DueAt, tx.At)
	j.FirstDue = j.DueAt
	if j.State == wire.JobReady && j.DueAt.After(tx.At) {
		j.State = wire.JobDelayed
	}
	tx.Rows.Jobs = append(tx.Rows.Jobs, j)
}

func (tx *Tx) owned(j wire.Job) wire.Job {
	j.Tenant, j.ThreadID = tx.Key.Tenant, cmp.Or(tx.Key.ID, j.ThreadID)
	return clone(j)
}

func (tx *Tx) writeOutside(c store.Changes) error {
	for _, e := range c.Audit {
		e.Tenant, e.Seq, e.At = tx.Key.Tenant, int64(len(tx.Rows.Audit))+1, tx.At
		tx.Rows.Audit = append(tx.Rows.Audit, clone(*e))
	}
	tx.Rows.Outside = append(tx.Rows.Outside, clone(c.Rows)...)
	return nil
}

func orNow(at, now time.Time) time.Time {
	if at.IsZero() {
		return now
	}
	return at
}
