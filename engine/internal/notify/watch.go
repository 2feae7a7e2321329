package notify

import (
	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Watch notes what one run of a transaction changes. A nil Watch notes nothing.
type Watch struct {
	told    *Told
	thread  wire.Thread
	known   bool // the thread is as the transaction has read it, with what it wrote since
	runs    map[spool.RunID]*seenRun
	written []*seenRun // in the order of their first write
	entries []*wire.Entry
	parks   []store.Park
	webhook bool // a run has the webhook of its start
	removed *removed
}

// removed is a thread that the transaction has removed.
type removed struct {
	thread  wire.Thread
	version int64
}

// seenRun is a run that the transaction has read or written.
type seenRun struct {
	RunChange

	written bool
}

// Watch begins to note. The store may run a transaction again, which then is noted anew.
func (t *Told) Watch() *Watch {
	if t == nil {
		return nil
	}
	t.added = false
	return &Watch{told: t, runs: make(map[spool.RunID]*seenRun)}
}

// SawThread notes the thread as it was read.
func (w *Watch) SawThread(t wire.Thread) {
	if w != nil && !w.known {
		w.thread, w.known = t, true
	}
}

// SawRun notes a run as it was read.
func (w *Watch) SawRun(r *store.RunRow) {
	if w == nil {
		return
	}
	run := RunOf(r)
	if seen := w.runs[r.ID]; seen != nil {
		if run.Webhook != "" { // the read before was of less than the whole run
			seen.After.Webhook, w.webhook = run.Webhook, true
		}
		return
	}
	w.runs[r.ID] = &seenRun{RunChange: RunChange{run, run}}
	w.webhook = w.webhook || run.Webhook != ""
}

// Before notes what a write is about to change that was not read yet.
func (w *Watch) Before(tx store.Tx, c *store.Changes) error {
	if w == nil {
		return nil
	}
	for i := range c.Runs {
		if w.runs[c.Runs[i].ID] != nil {
			continue
		}
		run, err := store.FindRun(tx, c.Runs[i].ID)
		if err != nil {
			return err
		}
		w.SawRun(&run)
	}
	if c.DeleteThread {
		return w.removes(tx)
	}
	return nil
}

// removes notes the removal of the thread. It needs what is gone behind it.
func (w *Watch) removes(tx store.Tx) error {
	if len(w.told.targets) == 0 {
		return nil
	}
	if !w.known {
		t, err := tx.Thread()
		if err != nil {
			return err
		}
		w.SawThread(t)
	}
	version, err := lastVersion(tx)
	w.removed = &removed{w.thread, version + 1}
	return err
}

// lastVersion returns the version of the thread. Versions have no gaps, so that it takes a number of reads that grows
// with the logarithm.
func lastVersion(tx store.Tx) (int64, error) {
	exists := func(version int64) (bool, error) {
		found, err := tx.Deltas(store.DeltaQuery{After: version - 1, Limit: 1})
		return len(found) > 0, err
	}
	last, beyond := int64(0), int64(1)
	for {
		switch ok, err := exists(beyond); {
		case err != nil:
			return 0, err
		case ok:
			last, beyond = beyond, beyond*2
			continue
		}
		break
	}
	for beyond-last > 1 {
		middle := last + (beyond-last)/2
		ok, err := exists(middle)
		if err != nil {
			return 0, err
		}
		if ok {
			last = middle
		} else {
			beyond = middle
		}
	}
	return last, nil
}

// Wrote notes what was written.
func (w *Watch) Wrote(c *store.Changes) {
	if w == nil {
		return
	}
	if c.DeleteThread {
		*w = Watch{told: w.told, runs: make(map[spool.RunID]*seenRun), removed: w.removed}
	}
	if c.Thread != nil && w.known {
		created := w.thread.CreatedAt
		w.thread = *c.Thread
		w.thread.CreatedAt = created
	}
	for i := range c.NewRuns {
		w.wrote(&c.NewRuns[i])
	}
	for i := range c.Runs {
		w.wrote(&c.Runs[i])
	}
	w.entries = append(w.entries, c.Entries...)
	w.parks = append(w.parks, c.Parks...)
}

func (w *Watch) wrote(row *store.RunRow) {
	r := w.runs[row.ID]
	if r == nil { // it is new
		r = &seenRun{}
		w.runs[row.ID] = r
	}
	r.After = RunOf(row)
	w.webhook = w.webhook || r.After.Webhook != ""
	if !r.written {
		w.written, r.written = append(w.written, r), true
	}
}

// Finish writes the jobs with the events of the transaction, behind its delta, which has the version.
func (w *Watch) Finish(tx store.Tx, version int64) error {
	if w == nil {
		return nil
	}
	if r := w.removed; r != nil {
		if err := w.told.write(tx, Commit{Version: r.version, Removed: true}, &r.thread); err != nil {
			return err
		}
	}
	if len(w.told.targets) == 0 && !w.webhook {
		return nil
	}
	c := Commit{Version: version, Entries: w.entries, Parks: w.parks}
	for _, r := range w.written {
		c.Runs = append(c.Runs, r.RunChange)
	}
	c.About = func(id spool.RunID) (Run, error) {
		if r := w.runs[id]; r != nil {
			return r.After, nil
		}
		row, err := store.FindRun(tx, id)
		return RunOf(&row), err
	}
	if !w.known {
		return w.told.write(tx, c, nil)
	}
	return w.told.write(tx, c, &w.thread)
}
