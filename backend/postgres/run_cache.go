package postgres

import (
	"bytes"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/internal/form"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// runCache has runs of the thread that a transaction has read together with something else, and the stored values
// of the runs that it has read or written.
type runCache struct {
	// owner is the run that owns the thread, nil if there is none or it has changed since. It is decoded for
	// each reader, because readers may change what a run refers to.
	owner *row
	id    spool.RunID
	// waiting are the runs that wait for the thread, valid if hasWaiting.
	waiting    []waitingRun
	hasWaiting bool
	known      []storedRun
}

type waitingRun struct {
	id  spool.RunID
	row *row
}

// keep returns a copy of a row that stays valid.
func keep(r *row) *row {
	kept := &row{fields: slices.Clone(r.fields), raw: make([][]byte, len(r.raw))}
	for i, value := range r.raw {
		kept.raw[i] = bytes.Clone(value)
	}
	return kept
}

// again returns the row, to be read from its first column.
func (r *row) again() *row { return &row{fields: r.fields, raw: r.raw} }

// owningRun reads the run that owns the thread together with the thread.
func (t *tx) owningRun() statement {
	return statement{
		sql: "SELECT id, " + form.WholeRunColumns + ` FROM spool.run WHERE tenant = ? AND ` + ofThread + `
			AND id = (SELECT run_id FROM spool.thread WHERE tenant = ? AND id = ?)`,
		args: []any{t.key.Tenant, t.key.ID, t.key.Tenant, t.key.ID},
		scan: func(r *row) {
			t.runs.owner = keep(r)
			t.runs.id = spool.RunID(r.Text())
		},
	}
}

// waitingRuns reads the runs that wait for the thread.
func (t *tx) waitingRuns() statement {
	t.runs.waiting, t.runs.hasWaiting = nil, true
	return statement{
		sql: "SELECT id, " + form.WholeRunColumns +
			" FROM spool.run WHERE tenant = ? AND thread_id = ? AND place > 0 ORDER BY place",
		args: []any{t.key.Tenant, t.key.ID},
		scan: func(r *row) {
			kept := keep(r)
			t.runs.waiting = append(t.runs.waiting, waitingRun{spool.RunID(r.Text()), kept})
		},
	}
}

// Runs implements [store.View]. It remembers the stored values for updates.
func (t *tx) Runs(q wire.RunQuery) ([]store.RunRow, error) {
	runs, cached, err := t.cachedRuns(q)
	if !cached {
		runs, err = t.view.Runs(q)
	}
	if err == nil && q.Whole {
		for i := range runs {
			t.remember(&runs[i])
		}
	}
	return runs, err
}

// cachedRuns answers a query that needs no round trip.
func (t *tx) cachedRuns(q wire.RunQuery) (runs []store.RunRow, cached bool, err error) {
	if err := t.begin(); err != nil {
		return nil, true, err
	}
	runs = []store.RunRow{}
	switch {
	case q.ID != "" && q.ID == t.runs.id && t.runs.owner != nil &&
		q == wire.RunQuery{ID: q.ID, Whole: true, Tenant: q.Tenant, ThreadID: q.ThreadID}:
		runs, err = appendKept(runs, t.runs.owner)
		return runs, true, err
	case t.runs.hasWaiting && q == wire.RunQuery{Waiting: true, Whole: true, Tenant: q.Tenant, ThreadID: q.ThreadID}:
		for _, w := range t.runs.waiting {
			if runs, err = appendKept(runs, w.row); err != nil {
				return nil, true, err
			}
		}
		return runs, true, nil
	default:
		return nil, false, nil
	}
}

// appendKept reads a kept row, whose first column is the id.
func appendKept(runs []store.RunRow, kept *row) ([]store.RunRow, error) {
	r := kept.again()
	_ = r.Text()
	run := form.ScanWholeRun(r)
	return append(runs, run), r.err
}

// written notes that a run was written. What was read of it before is no longer true.
func (c *runCache) written(r storedRun) {
	if c.id == r.ID {
		c.owner = nil
	}
	if r.Place > 0 {
		c.hasWaiting = false
	}
	c.waiting = slices.DeleteFunc(c.waiting, func(w waitingRun) bool { return w.id == r.ID })
	c.note(r)
}

func (c *runCache) note(r storedRun) {
	for i := range c.known {
		if c.known[i].ID == r.ID {
			c.known[i] = r
			return
		}
	}
	c.known = append(c.known, r)
}

func (t *tx) remember(r *store.RunRow) {
	if stored, err := storedOf(r); err == nil { // else an update reads the run again
		t.runs.note(stored)
	}
}

// storedRun returns the stored values of a run.
func (t *tx) storedRun(id spool.RunID) (storedRun, error) {
	for _, r := range t.runs.known {
		if r.ID == id {
			return r, nil
		}
	}
	run, err := store.FindRun(t, id)
	if err != nil {
		return storedRun{}, err
	}
	return storedOf(&run)
}
