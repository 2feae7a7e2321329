package postgres

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/internal/form"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Threads implements [store.Store].
func (db *DB) Threads(ctx context.Context, q wire.ThreadQuery) ([]wire.Thread, error) {
	query, args := threadQuery(q)
	if q.Work != "" {
		var err error
		if query, args, err = db.workQuery(q); err != nil {
			return nil, err
		}
	}
	threads := []wire.Thread{}
	err := db.read(ctx, query, eachForm(&threads, form.ScanThread), args...)
	return threads, err
}

// threadQuery returns the query for a list. One for a title walks an index that has the titles, and then reads only the
// threads with the text.
func threadQuery(q wire.ThreadQuery) (query string, args []any) {
	const columns, newest, limit = "SELECT " + form.ThreadColumns +
		" FROM ", " ORDER BY updated_at DESC, id DESC", " LIMIT ?"
	var where, others form.Conditions // those that the index has, and the others
	where.And("tenant = ?", q.Tenant)
	if q.Owner != "" { // the literal is the condition of the index
		where.And("owner = ? AND owner <> ''", q.Owner)
	}
	if !q.Before.IsZero() {
		where.And("(updated_at, id) < (?, ?)", q.Before, q.BeforeID)
	}
	if q.Expired { // the condition of the index
		where.And(form.Marked)
	}
	if !q.UpdatedAfter.IsZero() {
		where.And("updated_at > ?", q.UpdatedAfter)
	}
	if !q.UpdatedBefore.IsZero() {
		where.And("updated_at < ?", form.RoundedUp(q.UpdatedBefore))
	}
	others.And("tenant = ?", q.Tenant)
	for _, key := range slices.Sorted(maps.Keys(q.Labels)) {
		others.And("labels @> ?", encodeLabels(map[string]string{key: q.Labels[key]}))
	}
	if q.State != "" {
		others.And("state = ?", q.State)
	}
	if q.Title == "" {
		return columns + "spool.thread WHERE " + where.Text + " AND " + others.Text + newest + limit,
			append(append(where.Args, others.Args...), bound(q.Limit))
	}
	// lower() changes ASCII letters only, because of the column's collation
	where.And("position(? IN lower(title)) > 0", asciiLower(q.Title))
	found, args := "SELECT id AS found FROM spool.thread WHERE "+where.Text+newest, where.Args
	if len(q.Labels) == 0 && q.State == "" { // else the limit is for those that are left
		found, args = found+limit, append(args, bound(q.Limit))
	}
	return columns + "(" + found + ") f JOIN spool.thread ON id = found WHERE " + others.Text + newest + limit,
		append(append(args, others.Args...), bound(q.Limit))
}

// asciiLower returns a text with its upper-case ASCII letters in lower case.
func asciiLower(text string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, text)
}

// workQuery returns the query for threads by their work. It walks the index of idle or of active threads, or the
// tenant's, and looks for a job of each thread. A subquery for one value, unlike NOT EXISTS, never becomes a join that
// reads all threads.
func (db *DB) workQuery(q wire.ThreadQuery) (query string, args []any, err error) {
	query = "SELECT " + form.ThreadColumns + " FROM spool.thread t WHERE "
	switch q.Work {
	case wire.ThreadsIdle:
		query += `state IN ('IDLE', 'COMPLETED', 'CANCELLED', 'FAILED') AND coalesce((
			SELECT false FROM spool.job WHERE job.tenant = t.tenant AND job.thread_id = t.id AND job.run_id <> '' LIMIT 1), true)`
	case wire.ThreadsStranded:
		query += `state IN ('QUEUED', 'RUNNING', 'WAITING_FOR_INPUT') AND coalesce((
			SELECT false FROM spool.job WHERE job.tenant = t.tenant AND job.thread_id = t.id AND job.run_id = t.run_id
				AND job.run_id <> '' LIMIT 1), true)`
	default:
		return "", nil, spool.Errorf(spool.Invalid, "work: there are no threads with the work %q", q.Work)
	}
	query += " AND lease_until <= " + nowExpr
	args = []any{db.clockArg()}
	if q.Tenant != "" {
		query += " AND tenant = ?"
		args = append(args, q.Tenant)
	}
	if !q.UpdatedBefore.IsZero() {
		query += " AND updated_at < ?"
		args = append(args, form.RoundedUp(q.UpdatedBefore))
	}
	return query + " ORDER BY updated_at, tenant, id LIMIT ?", append(args, bound(q.Limit)), nil
}

// Runs implements [store.Store]. It walks the tenant's index, or the index of a state, from the newest run on.
func (db *DB) Runs(ctx context.Context, q wire.RunQuery) ([]store.RunRow, error) {
	columns, scan := runColumnsOf(q.Whole)
	where := runConditions(q)
	runs := []store.RunRow{}
	err := db.read(ctx, "SELECT "+columns+" FROM spool.run WHERE "+where.Text+" ORDER BY created_at DESC, id DESC LIMIT ?",
		eachForm(&runs, scan), append(where.Args, bound(q.Limit))...)
	return runs, err
}

func runConditions(q wire.RunQuery) (where form.Conditions) {
	where.And("tenant = ?", q.Tenant)
	for _, word := range []struct{ condition, value string }{
		{"id = ?", string(q.ID)},
		{"start_key = ? AND start_key <> ''", q.StartKey}, // the conditions of the indexes
		{"root_id = ? AND root_id <> ''", string(q.RootID)},
		{"thread_id = ?", string(q.ThreadID)},
		{"stop_reason = ?", string(q.StopReason)},
		{"agent = ?", q.Agent},
		{"model = ?", q.Model},
	} {
		if word.value != "" {
			where.And(word.condition, word.value)
		}
	}
	switch {
	case q.State == "":
	case slices.Contains(wire.States(), q.State): // a literal, so that also a plan for any values knows how rare it is
		where.And("state = '" + string(q.State) + "'")
	default:
		where.And("state = ?", q.State)
	}
	where.AndRuns(q)
	return where
}
