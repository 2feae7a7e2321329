package postgres

import (
	"encoding/json"
	"maps"

	"github.com/spoolhq/spool/backend/internal/form"
	"github.com/spoolhq/spool/wire"
)

// encodeLabels returns the JSON of labels.
func encodeLabels(labels map[string]string) string {
	if len(labels) == 0 {
		return "{}"
	}
	text, _ := json.Marshal(labels) //nolint:errchkjson // texts always have a JSON form
	return string(text)
}

// threadRow is the thread's row in the current state of the transaction.
type threadRow struct {
	wire.Thread

	exists bool // in the transaction
	stored bool // in the table

	// bytes is the size of the thread. Summed is the part of it that the tenant's sum includes.
	bytes, summed int64
	// version is the version of the last delta.
	version int64
}

// dirt says which part of a thread's row has to be written.
type dirt int

const (
	unchanged dirt = iota
	seqDirty
	allDirty
)

// Thread implements [store.View].
func (v *view) Thread() (wire.Thread, error) {
	if err := v.begin(); err != nil {
		return wire.Thread{}, err
	}
	if !v.row.exists {
		return wire.Thread{}, errNoThread
	}
	t := v.row.Thread
	t.Labels = maps.Clone(t.Labels)
	return t, nil
}

// putThread notes the thread's new row, which is written at the end.
func (t *tx) putThread(next wire.Thread) {
	r := &t.row
	if !r.exists {
		t.grow(form.ThreadSize)
	}
	next.Labels = maps.Clone(next.Labels)
	r.Thread = form.NextThread(t.key, r.Thread, r.exists, next, t.now)
	r.exists, t.dirty = true, allDirty
}

// writeThread writes the thread's row if it has changed.
func (t *tx) writeThread() {
	r := &t.row
	if t.dirty == unchanged || !r.exists {
		return
	}
	t.sum()
	switch {
	case !r.stored:
		t.counts.threads++
		t.write("INSERT INTO spool.thread ("+form.ThreadColumns+", bytes, bytes_summed, last_version) VALUES ("+
			places(form.ThreadColumns)+", ?, ?, ?)",
			t.key.Tenant, t.key.ID, r.State, r.Model, r.Title, r.CreatedAt, r.UpdatedAt,
			r.RunID, r.LastSeq, r.Fence, r.LeaseUntil, r.Owner, encodeLabels(r.Labels), r.Expired.Questions, r.Expired.Since,
			r.bytes, r.summed, r.version)
	case t.dirty == seqDirty:
		t.write("UPDATE spool.thread SET last_seq = ?, bytes = ?, bytes_summed = ?, last_version = ? WHERE tenant = ? AND id = ?",
			r.LastSeq, r.bytes, r.summed, r.version, t.key.Tenant, t.key.ID)
	default:
		t.write(`UPDATE spool.thread SET state = ?, model = ?, title = ?, updated_at = ?, run_id = ?, last_seq = ?,
			fence = ?, lease_until = ?, owner = ?, labels = ?, expired_questions = ?, expired_since = ?, bytes = ?, bytes_summed = ?, last_version = ? WHERE tenant = ? AND id = ?`,
			r.State, r.Model, r.Title, r.UpdatedAt, r.RunID, r.LastSeq,
			r.Fence, r.LeaseUntil, r.Owner, encodeLabels(r.Labels), r.Expired.Questions, r.Expired.Since, r.bytes, r.summed,
			r.version, t.key.Tenant, t.key.ID)
	}
	t.dirty, r.stored = unchanged, true
}

// threadTables are the tables with rows that belong to a thread, without those of jobs and runs.
var threadTables = []string{"message", "branch", "entry", "park", "effect", "usage", "usage_line", "delta"}

// deleteThread removes the thread and all that belongs to it. The runs that it removes leave the tally in the same
// statement.
func (t *tx) deleteThread() {
	t.counts.bytes -= t.row.summed
	if t.row.stored {
		t.counts.threads--
	}
	t.deleteRuns()
	for _, table := range threadTables {
		t.write("DELETE FROM spool."+table+" WHERE tenant = ? AND thread_id = ?", t.key.Tenant, t.key.ID)
	}
	for _, table := range []string{"job", "job_dead"} { // events of the outbox have no run, and stay
		t.write("DELETE FROM spool."+table+" WHERE tenant = ? AND thread_id = ? AND run_id <> ''", t.key.Tenant, t.key.ID)
	}
	t.write("DELETE FROM spool.thread WHERE tenant = ? AND id = ?", t.key.Tenant, t.key.ID)
	t.row, t.dirty = threadRow{}, unchanged
	t.runs = runCache{}
}
