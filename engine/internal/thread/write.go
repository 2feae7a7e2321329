package thread

import (
	"github.com/spoolhq/spool"
)

// Put stores the run and, if it is nested, the dispatched run.
func (tx *Tx) Put() error {
	if tx.root != nil {
		if err := tx.Store.UpdateRun(tx.root.Run); err != nil {
			return err
		}
	}
	return tx.Store.UpdateRun(tx.Run)
}

// PutUnseen does the same as Put, for a change that adds no entry and no user turn and keeps the state.
func (tx *Tx) PutUnseen() error {
	tx.Root().Follow.Unseen = true
	return tx.Put()
}

// save stores the thread and the run.
func (tx *Tx) save() error {
	if err := tx.Store.UpdateRun(tx.Run); err != nil {
		return err
	}
	return tx.Store.PutThread(tx.Thread)
}

// AppendNew appends an entry about the dispatched run.
func (tx *Tx) AppendNew(t spool.EntryType, payload any) error {
	return tx.Append(spool.NewEntry(t, tx.Root().Run.ID, payload))
}

// Append appends entries to the record. If a segment is open, the entries get a position between the
// segment's items.
func (tx *Tx) Append(entries ...*spool.Entry) error {
	if tx.list != nil {
		tx.list.Place(entries...)
	}
	err := tx.Store.AppendEntries(entries...)
	if err == nil && tx.list != nil && len(entries) > 0 {
		tx.list.After(entries[len(entries)-1].Seq)
	}
	return err
}

// changes is what a transition writes besides its thread and run.
type changes struct {
	parks   []spool.Park // each replaces the stored park, and its expiry job
	usage   []spool.UsageRow
	entries []*spool.Entry // of the record, in order
	cancel  []string       // keys of jobs
	jobs    []spool.Job
	dead    *spool.DeadJob // its id and time are set later
}

// writeAll writes changes, and stores the run and the thread.
func (tx *Tx) writeAll(c changes) error {
	if err := tx.write(c); err != nil {
		return err
	}
	return tx.save()
}

// write writes changes.
func (tx *Tx) write(c changes) error {
	if err := tx.Append(c.entries...); err != nil {
		return err
	}
	for _, p := range c.parks {
		if err := tx.Store.PutPark(p); err != nil {
			return err
		}
		c.cancel = append(c.cancel, expiryKey(p))
		if p.State == spool.ParkOpen {
			c.jobs = append(c.jobs, expiryJob(tx, p))
		}
	}
	for _, row := range c.usage {
		if err := tx.Store.AddUsage(row); err != nil {
			return err
		}
	}
	for _, key := range c.cancel {
		if err := tx.Store.CancelJob(key); err != nil {
			return err
		}
	}
	for _, j := range c.jobs {
		if err := tx.Store.Enqueue(j); err != nil {
			return err
		}
	}
	if d := c.dead; d != nil {
		return tx.Store.AddDead(d.Job, d.Attempts, d.Cause)
	}
	return nil
}
