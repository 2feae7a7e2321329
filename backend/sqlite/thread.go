package sqlite

import (
	"context"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/internal/form"
	"github.com/spoolhq/spool/wire"
)

// threadRowColumns are the columns that a transaction reads.
const threadRowColumns = form.ThreadColumns + ", bytes, bytes_summed, last_version"

// Thread implements [store.View].
func (v *view) Thread() (wire.Thread, error) {
	t, found, err := v.readThread()
	if err == nil && !found {
		err = errNoThread
	}
	return t, err
}

func (v *view) readThread() (t wire.Thread, found bool, err error) {
	err = v.query("SELECT "+form.ThreadColumns+" FROM thread WHERE tenant = ? AND id = ?", func(r *row) error {
		t, found = form.ScanThread(r), true
		return nil
	}, v.key.Tenant, v.key.ID)
	return t, found, err
}

// threadRow is the thread's row in the current state of the transaction.
type threadRow struct {
	wire.Thread
	loaded bool
	exists bool // in the transaction
	stored bool // in the table
	dirty  dirt

	// bytes is the size of the thread. Summed is the part of it that the tenant's sum includes.
	bytes, summed int64
	// version is the version of the last delta.
	version int64
}

// dirt says which part of a threadRow has to be written.
type dirt int

const (
	clean dirt = iota
	seqDirty
	allDirty
)

// load reads the thread's row once.
func (t *tx) load() error {
	if t.row.loaded {
		return nil
	}
	stored := threadRow{loaded: true}
	err := t.query("SELECT "+threadRowColumns+" FROM thread WHERE tenant = ? AND id = ?", func(r *row) error {
		stored.Thread, stored.exists, stored.stored = form.ScanThread(r), true, true
		stored.bytes, stored.summed, stored.version = r.Int64(), r.Int64(), r.Int64()
		return nil
	}, t.key.Tenant, t.key.ID)
	if err != nil {
		return err
	}
	t.row = stored
	return nil
}

// needThread returns a [spool.NotFound] error if the thread has no row. Rows of a thread cannot exist
// without it.
func (t *tx) needThread() error {
	_, err := t.Thread()
	return err
}

// Thread implements [store.View].
func (t *tx) Thread() (wire.Thread, error) {
	if err := t.load(); err != nil {
		return wire.Thread{}, err
	}
	if !t.row.exists {
		return wire.Thread{}, errNoThread
	}
	return t.row.Thread, nil
}

// putThread inserts or replaces the thread's row in memory: see flush.
func (t *tx) putThread(next wire.Thread) error {
	if err := t.load(); err != nil {
		return err
	}
	if !t.row.exists {
		t.grow(form.ThreadSize)
	}
	t.row.Thread = form.NextThread(t.key, t.row.Thread, t.row.exists, next, t.now)
	t.row.exists, t.row.dirty = true, allDirty
	return nil
}

// flush writes the thread's row if it has changed.
func (t *tx) flush() error {
	r := &t.row
	if r.dirty == clean {
		return nil
	}
	t.sum()
	switch {
	case !r.stored:
		t.counts.add(count{tenant: t.key.Tenant, n: 1})
		return t.write("INSERT INTO thread ("+threadRowColumns+
			") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
			t.key.Tenant, t.key.ID, r.State, r.Model, r.Title, r.CreatedAt, r.UpdatedAt,
			r.RunID, r.LastSeq, r.Fence, r.LeaseUntil, r.Owner, encodeLabels(r.Labels), r.Expired.Questions, r.Expired.Since,
			r.bytes, r.summed, r.version)
	case r.dirty == seqDirty:
		return t.write("UPDATE thread SET last_seq = ?, bytes = ?, bytes_summed = ?, last_version = ? WHERE tenant = ? AND id = ?",
			r.LastSeq, r.bytes, r.summed, r.version, t.key.Tenant, t.key.ID)
	default:
		return t.write(`UPDATE thread SET state = ?, model = ?, title = ?, updated_at = ?, run_id = ?, last_seq = ?,
			fence = ?, lease_until = ?, owner = ?, labels = ?, expired_questions = ?, expired_since = ?, bytes = ?, bytes_summed = ?, last_version = ? WHERE tenant = ? AND id = ?`,
			r.State, r.Model, r.Title, r.UpdatedAt, r.RunID, r.LastSeq,
			r.Fence, r.LeaseUntil, r.Owner, encodeLabels(r.Labels), r.Expired.Questions, r.Expired.Since, r.bytes, r.summed,
			r.version, t.key.Tenant, t.key.ID)
	}
}

// threadTables are the tables with rows that belong to a thread, by thread_id.
var threadTables = []string{"run", "message", "branch", "entry", "park", "effect", "usage", "usage_line", "delta"}

// jobTables are the tables of jobs. A job belongs to a thread if it has a run.
var jobTables = []string{"job", "job_dead"}

// deleteThread removes the thread and what belongs to it.
func (t *tx) deleteThread() error {
	if err := t.load(); err != nil {
		return err
	}
	if t.row.summed != 0 {
		t.addBytes(-t.row.summed)
	}
	for _, table := range threadTables {
		if err := t.write("DELETE FROM "+table+" WHERE tenant = ? AND thread_id = ?", t.key.Tenant, t.key.ID); err != nil {
			return err
		}
	}
	for _, table := range jobTables { // events outlive the thread
		if err := t.write(
			"DELETE FROM "+table+" WHERE tenant = ? AND thread_id = ? AND run_id > ''", t.key.Tenant, t.key.ID,
		); err != nil {
			return err
		}
	}
	if err := t.write("DELETE FROM thread WHERE tenant = ? AND id = ?", t.key.Tenant, t.key.ID); err != nil {
		return err
	}
	t.row, t.runs, t.deleted = threadRow{loaded: true}, nil, true
	return nil
}

// Threads implements [store.Store].
func (db *DB) Threads(ctx context.Context, q wire.ThreadQuery) ([]wire.Thread, error) {
	var query string
	var args []any
	switch q.Work {
	case "":
		query, args = threadQuery(q)
	case wire.ThreadsIdle:
		query, args = idleQuery(q, now(db.clock))
	case wire.ThreadsStranded:
		query, args = strandedQuery(q, now(db.clock))
	default:
		return nil, spool.Errorf(spool.Invalid, "no thread has work of the kind %q", q.Work)
	}
	threads := []wire.Thread{}
	err := db.pool.read(ctx, func(c *conn) error {
		return c.query(query, each(&threads, form.ScanThread), args...)
	})
	return threads, err
}

// threadQuery returns the query for a list. One for a title walks an index that has the titles, and then reads only the
// threads with the text.
func threadQuery(q wire.ThreadQuery) (query string, args []any) {
	const columns, newest, limit = "SELECT " + form.ThreadColumns +
		" FROM ", " ORDER BY updated_at DESC, id DESC", " LIMIT ?"
	from, where, args := threadsInOrder(q)
	rest, more := threadsOnly(q)
	if q.Title == "" {
		return columns + from + where + rest + newest + limit, append(append(args, more...), bound(q.Limit))
	}
	found := "SELECT id AS found FROM " + from + where + ` AND title LIKE ? ESCAPE '\'` + newest
	args = append(args, "%"+likeEscaper.Replace(q.Title)+"%")
	if rest == "" { // else the limit is for those that are left
		found, args = found+limit, append(args, bound(q.Limit))
	}
	return columns + "(" + found + ") CROSS JOIN thread ON tenant = ? AND id = found WHERE true" + rest + newest + limit,
		append(append(append(args, q.Tenant), more...), bound(q.Limit))
}

// threadsInOrder returns the table of a list, with its index, and the conditions that the index has.
func threadsInOrder(q wire.ThreadQuery) (from, where string, args []any) {
	from, where, args = "thread", " WHERE tenant = ?", []any{q.Tenant}
	switch {
	case q.Owner != "": // the literal is the condition of the index
		from, where, args = "thread INDEXED BY thread_owner", where+" AND owner = ? AND owner <> ''", append(args, q.Owner)
	case q.Expired:
		from = "thread INDEXED BY thread_expired"
	case q.Title != "":
		from = "thread INDEXED BY thread_updated"
	}
	if !q.Before.IsZero() {
		where, args = where+" AND (updated_at, id) < (?, ?)", append(args, q.Before, q.BeforeID)
	}
	if !q.UpdatedAfter.IsZero() {
		where, args = where+" AND updated_at > ?", append(args, q.UpdatedAfter)
	}
	if !q.UpdatedBefore.IsZero() {
		where, args = where+" AND updated_at < ?", append(args, form.RoundedUp(q.UpdatedBefore))
	}
	if q.Expired { // the condition of the index
		where += " AND " + form.Marked
	}
	return from, where, args
}

// threadsOnly returns the conditions of a list that no index has.
func threadsOnly(q wire.ThreadQuery) (where string, args []any) {
	where = strings.Repeat(" AND labels <> '' AND EXISTS (SELECT 1 FROM json_each(labels) WHERE key = ? AND value = ?)",
		len(q.Labels))
	for _, key := range slices.Sorted(maps.Keys(q.Labels)) {
		args = append(args, key, q.Labels[key])
	}
	if q.State != "" {
		where, args = where+" AND state = ?", append(args, q.State)
	}
	return where, args
}

// likeEscaper escapes a text so that LIKE matches it literally, except for the case of ASCII letters.
var likeEscaper = strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`)

// idleQuery walks an index from the thread on that was updated longest ago.
func idleQuery(q wire.ThreadQuery, at time.Time) (query string, args []any) {
	const quiet = `state IN ('IDLE', 'COMPLETED', 'CANCELLED', 'FAILED') AND updated_at < ? AND lease_until <= ?
		AND NOT EXISTS (SELECT 1 FROM job WHERE job.tenant = thread.tenant AND job.thread_id = thread.id AND job.run_id > '')
		ORDER BY updated_at LIMIT ?`
	query = "SELECT " + form.ThreadColumns + " FROM thread INDEXED BY thread_idle WHERE " + quiet
	if q.Tenant != "" {
		query, args = "SELECT "+form.ThreadColumns+" FROM thread INDEXED BY thread_updated WHERE tenant = ? AND "+quiet,
			[]any{q.Tenant}
	}
	return query, append(args, lessThan(q.UpdatedBefore, math.MaxInt64), at, bound(q.Limit))
}

// strandedQuery walks the index of active threads, and sorts those that it finds.
func strandedQuery(q wire.ThreadQuery, at time.Time) (query string, args []any) {
	query = "SELECT " + form.ThreadColumns + ` FROM thread INDEXED BY thread_active
		WHERE state IN ('QUEUED', 'RUNNING', 'WAITING_FOR_INPUT') AND lease_until <= ? AND updated_at < ? AND NOT EXISTS (
			SELECT 1 FROM job WHERE job.tenant = thread.tenant AND job.thread_id = thread.id
				AND job.run_id = thread.run_id AND job.run_id <> '')`
	args = []any{at, lessThan(q.UpdatedBefore, math.MaxInt64)}
	if q.Tenant != "" {
		query, args = query+" AND tenant = ?", append(args, q.Tenant)
	}
	return query + " ORDER BY updated_at LIMIT ?", append(args, bound(q.Limit))
}

// bound returns a limit in SQLite's form, in which a negative limit stands for none.
func bound(n int) int {
	if n <= 0 {
		return -1
	}
	return n
}

var errNoThread = &spool.Error{Code: spool.NotFound, Message: "thread not found"}
