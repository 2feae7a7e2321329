package sqlite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool"
)

// useAdmin calls what operators read and remove, with each of its filters.
func useAdmin(ctx context.Context, db *DB, tenant spool.Tenant) error {
	var errs []error
	keep := func(_ any, err error) { errs = append(errs, err) }
	depth, at := 1, time.Now()
	for _, q := range runQueries(depth, at) {
		for _, q.Whole = range []bool{false, true} {
			keep(db.Runs(ctx, q))
		}
	}
	for _, work := range []spool.ThreadWork{spool.ThreadsIdle, spool.ThreadsStranded} {
		keep(db.Threads(ctx, spool.ThreadQuery{Work: work, UpdatedBefore: at, Limit: 1}))
		keep(db.Threads(ctx, spool.ThreadQuery{Work: work, Tenant: tenant}))
	}
	for _, q := range []spool.JobQuery{
		{},
		{Limit: 1},
		{JobID: 7},
		{ThreadID: "t"},
		{JobID: 7, ThreadID: "t"},
		{DueBefore: at, DiedBefore: at},
		{Before: at, BeforeID: 7},
		{DiedBefore: at, Before: at, BeforeID: 7},
	} {
		q.Tenant = tenant
		for _, q.State = range []spool.JobState{"", spool.JobReady, spool.JobDelayed, spool.JobInFlight, spool.JobDead} {
			keep(db.Jobs(ctx, q))
		}
	}
	for _, q := range parkQueries(at) {
		keep(db.Parks(ctx, q))
	}
	keep(db.Stats(ctx, spool.StatsQuery{Tenant: tenant, Tally: true, Queue: true, Waiting: true, Storage: true}))
	keep(nil, db.Update(ctx, spool.ThreadKey{Tenant: tenant}, 0, func(tx spool.Tx) error {
		return tx.Write(spool.Changes{
			Audit: []*spool.AuditEntry{{Action: spool.AuditStop}},
			Rows:  []spool.Row{{Kind: "k", Key: "a", Value: json.RawMessage("1")}},
		})
	}))
	created, err := db.Rows(ctx, spool.RowQuery{Tenant: tenant, Kind: "k", Key: "a"})
	if err != nil || len(created) != 1 {
		return fmt.Errorf("rows %+v: %w", created, errors.Join(append(errs, err)...))
	}
	version := created[0].Version
	keep(nil, db.Update(ctx, spool.ThreadKey{Tenant: tenant}, 0, func(tx spool.Tx) error {
		return tx.Write(spool.Changes{
			Rows: []spool.Row{
				{Kind: "k", Key: "a", Value: json.RawMessage("2"), Version: version},
				{Kind: "k", Key: "a", Value: json.RawMessage("3"), Version: spool.AnyVersion},
				{Kind: "k", Key: "a", Version: version + 2},
				{Kind: "k", Key: "a"},
				{Kind: "k", Key: "a", Version: spool.AnyVersion},
			},
		})
	}))
	for _, q := range []spool.RowQuery{{}, {Key: "a"}, {After: "a", Limit: 1}} {
		q.Tenant, q.Kind = tenant, "k"
		keep(db.Rows(ctx, q))
	}
	for _, q := range []spool.AuditQuery{
		{}, {Limit: 1, Before: 7}, {ThreadID: "t"}, {ThreadID: "t", Before: 7, By: "b"}, {Action: spool.AuditStop, By: "b", Since: at, Until: at},
	} {
		q.Tenant = tenant
		keep(db.Audit(ctx, q))
	}
	for _, q := range []spool.PruneQuery{
		{Kind: spool.PruneAudit, Before: at, Limit: 1},
		{Kind: spool.PruneRows},
		{Kind: spool.PruneRows, Before: at, Limit: 1},
		{Kind: spool.PruneDead},
		{Kind: spool.PruneDead, JobID: 7, Before: at, Limit: 1},
	} {
		q.Tenant = tenant
		keep(db.Prune(ctx, q))
	}
	return errors.Join(errs...)
}

func parkQueries(at time.Time) (queries []spool.ParkQuery) {
	for _, order := range []spool.ParkOrder{spool.ParksByAge, spool.ParksByExpiry} {
		for _, q := range []spool.ParkQuery{
			{},
			{After: at, AfterRun: "r", AfterCall: "c", Limit: 50},
			{ThreadID: "t", Tool: "tool", Reason: "reason", Limit: 50},
			{Agent: "a", StartedBy: "ann", Owner: "ann"},
		} {
			q.Tenant, q.Order = "tenant", order
			queries = append(queries, q)
			q.State = spool.ParkExpired
			queries = append(queries, q)
		}
	}
	return queries
}

func runQueries(depth int, at time.Time) []spool.RunQuery {
	queries := []spool.RunQuery{
		{},
		{ID: "r"},
		{StartKey: "key"},
		{StartKey: "key", ThreadID: "t"},
		{RootID: "r", Waiting: true},
		{Limit: 50, Before: at, BeforeID: "r"},
		{State: spool.Failed},
		{State: spool.Failed, Before: at, BeforeID: "r"},
		{Expired: true, Before: at, BeforeID: "r"},
		{ThreadID: "t"},
		{ThreadID: "t", State: spool.Failed, Before: at, BeforeID: "r"},
		{StopReason: spool.StopFailed, Agent: "a", Model: "m", Depth: &depth},
		{CreatedAfter: at, CreatedBefore: at},
		{State: spool.Failed, CreatedAfter: at, CreatedBefore: at},
	}
	for i := range queries {
		queries[i].Tenant = "tenant"
	}
	return queries
}

// A page of a tenant's runs is read from an index, in its order, from where the page
// before it ended: of 20,000 runs no more are looked at than are returned.
func TestPlanOfRuns(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		q    spool.RunQuery
		want string
	}{
		"all":            {spool.RunQuery{Limit: 50}, "run_created (tenant=?)"},
		"the next page":  {spool.RunQuery{Limit: 50, Before: time.Now(), BeforeID: "r"}, "run_created (tenant=? AND (created_at,id)<(?,?))"},
		"of a time":      {spool.RunQuery{Limit: 50, CreatedAfter: time.Now(), CreatedBefore: time.Now()}, "run_created (tenant=? AND created_at>? AND created_at<?)"},
		"of a state":     {spool.RunQuery{Limit: 50, State: spool.Failed}, "run_state (tenant=? AND state=?)"},
		"its next page":  {spool.RunQuery{Limit: 50, State: spool.Failed, Before: time.Now(), BeforeID: "r"}, "run_state (tenant=? AND state=? AND (created_at,id)<(?,?))"},
		"with the mark":  {spool.RunQuery{Limit: 50, Expired: true}, "run_expired (tenant=?)"},
		"of a thread":    {spool.RunQuery{Limit: 50, ThreadID: "t"}, "run_thread (tenant=? AND thread_id=?)"},
		"one by its id":  {spool.RunQuery{ID: "r"}, "sqlite_autoindex_run_1 (tenant=? AND id=?)"},
		"of a start":     {spool.RunQuery{StartKey: "key", Whole: true}, "run_start_key (tenant=? AND start_key=?)"},
		"of a stop time": {spool.RunQuery{Limit: 50, StopReason: spool.StopTimeout}, "run_created (tenant=?)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, err := Open(filepath.Join(t.TempDir(), "spool.db"), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = db.Close() }()
			c.q.Tenant = "tenant"
			query, args := runQuery(c.q)
			steps := ""
			err = db.pool.read(t.Context(), func(conn *conn) error {
				return conn.query("EXPLAIN QUERY PLAN "+query, func(r *row) error {
					_, _, _ = r.Int(), r.Int(), r.Int()
					steps += r.Text() + "; "
					return nil
				}, args...)
			})
			sorted := strings.Contains(steps, "TEMP B-TREE")
			if err != nil || !strings.Contains(steps, c.want) || sorted != (c.q.ThreadID != "") {
				t.Errorf("%s\nis planned as %s\nwant %s (%v)", query, steps, c.want, err)
			}
		})
	}
}
