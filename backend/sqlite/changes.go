package sqlite

import (
	"github.com/spoolhq/spool/store"
)

// Write implements [store.Tx]. Each change is one statement or a few, at once. The thread's row and the
// tally are written at the end of the transaction.
func (t *tx) Write(c store.Changes) error {
	if t.failed != nil {
		return t.failed
	}
	err := t.writeRuns(&c)
	if err == nil {
		err = t.writeRecord(&c)
	}
	if err == nil {
		err = t.writeJobs(&c)
	}
	t.failed = err
	return err
}

// writeRuns changes the thread, its runs and its view.
func (t *tx) writeRuns(c *store.Changes) error {
	if c.Thread != nil {
		if err := t.putThread(*c.Thread); err != nil {
			return err
		}
	}
	if c.DeleteThread {
		if err := t.deleteThread(); err != nil {
			return err
		}
	}
	for i := range c.NewRuns {
		if err := t.insertRun(&c.NewRuns[i]); err != nil {
			return err
		}
	}
	for i := range c.Runs {
		if err := t.updateRun(&c.Runs[i]); err != nil {
			return err
		}
	}
	if c.Drop != nil {
		if err := t.dropMessages(*c.Drop); err != nil {
			return err
		}
	}
	if c.Restore != 0 {
		return t.restoreBranch(c.Restore)
	}
	return nil
}

// writeRecord adds to what the thread has.
func (t *tx) writeRecord(c *store.Changes) error {
	if len(c.Messages) > 0 {
		if err := t.appendMessages(c.Messages); err != nil {
			return err
		}
	}
	if len(c.Entries) > 0 {
		if err := t.appendEntries(c.Entries); err != nil {
			return err
		}
	}
	for i := range c.Parks {
		if err := t.putPark(&c.Parks[i]); err != nil {
			return err
		}
	}
	for i := range c.Effects {
		if err := t.putEffect(&c.Effects[i]); err != nil {
			return err
		}
	}
	for i := range c.Usage {
		if err := t.addUsage(&c.Usage[i]); err != nil {
			return err
		}
	}
	if c.Delta != nil {
		return t.addDelta(c.Delta)
	}
	return nil
}

// writeJobs changes jobs, and what belongs to no thread.
func (t *tx) writeJobs(c *store.Changes) error {
	for _, key := range c.CancelJobs {
		if err := t.cancelJob(key); err != nil {
			return err
		}
	}
	for i := range c.Jobs {
		if err := t.enqueue(&c.Jobs[i]); err != nil {
			return err
		}
	}
	for i := range c.Claimed {
		if err := t.enqueueClaimed(&c.Claimed[i]); err != nil {
			return err
		}
	}
	for _, id := range c.TakeDead {
		if err := t.removeDead(id); err != nil {
			return err
		}
	}
	for i := range c.Dead {
		if err := t.addDead(&c.Dead[i]); err != nil {
			return err
		}
	}
	if len(c.Audit) > 0 {
		if err := t.appendAudit(c.Audit); err != nil {
			return err
		}
	}
	for i := range c.Rows {
		if err := t.putRow(&c.Rows[i]); err != nil {
			return err
		}
	}
	return nil
}
