package thread

import (
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Write makes changes. If a segment is open, the entries get a position between the segment's items.
func (tx *Tx) Write(c store.Changes) error {
	if tx.list != nil {
		tx.list.Place(c.Entries...)
	}
	if len(c.Jobs) > 0 {
		tx.Root().Follow.NewJobs = true
	}
	err := tx.Store.Write(c)
	if n := len(c.Entries); err == nil && tx.list != nil && n > 0 {
		tx.list.After(c.Entries[n-1].Seq)
	}
	return err
}

// Append appends entries to the record.
func (tx *Tx) Append(entries ...*wire.Entry) error {
	return tx.Write(store.Changes{Entries: entries})
}

// AppendNew appends an entry about the dispatched run.
func (tx *Tx) AppendNew(t wire.EntryType, payload any) error {
	return tx.Append(wire.NewEntry(t, tx.Root().Run.ID, payload))
}

// Put stores the run and, if it is nested, the dispatched run.
func (tx *Tx) Put() error { return tx.Write(store.Changes{Runs: tx.runs()}) }

// runs returns the run and, if it is nested, the dispatched run before it.
func (tx *Tx) runs() []store.RunRow {
	if tx.root != nil {
		return []store.RunRow{tx.root.Run, tx.Run}
	}
	return []store.RunRow{tx.Run}
}

// PutUnseen does the same as Put, for a change that adds no entry and no user turn and keeps the state.
func (tx *Tx) PutUnseen() error {
	tx.Root().Follow.Unseen = true
	return tx.Put()
}

// save stores the thread and the run, with further changes. If the segment has ended, it also removes the segment's
// job, for which nothing is left to do.
func (tx *Tx) save(c store.Changes) error {
	c.Thread, c.Runs = &tx.Thread, append(c.Runs, tx.Run)
	if tx.closed && tx.Job != "" {
		c.CancelJobs, tx.Follow.JobDone, tx.closed = append(c.CancelJobs, tx.Job), true, false
	}
	return tx.Write(c)
}

// replacePark adds a park to changes. The park replaces the stored one, and its expiry job.
func (tx *Tx) replacePark(c *store.Changes, p store.Park) {
	c.Parks = append(c.Parks, p)
	c.CancelJobs = append(c.CancelJobs, expiryKey(p))
	if p.State == wire.ParkOpen {
		c.Jobs = append(c.Jobs, expiryJob(tx, p))
	}
}
