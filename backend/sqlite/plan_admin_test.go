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
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
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
	for _, work := range []wire.ThreadWork{wire.ThreadsIdle, wire.ThreadsStranded} {
		keep(db.Threads(ctx, wire.ThreadQuery{Work: work, UpdatedBefore: at, Limit: 1}))
		keep(db.Threads(ctx, wire.ThreadQuery{Work: work, Tenant: tenant}))
	}
	for _, q := range []wire.JobQuery{
		{},
		{Limit: 1},
		{JobID: 7},
		{ThreadID: "t"},
		{JobID: 7, ThreadID: "t"},
		{DueBefore: at, DiedBefore: at},
		{DueSince: at},
		{Queue: new("q"), Subject: "s", Limit: 1},
		{ThreadID: "t", Queue: new(""), Subject: "s"},
		{ThreadID: "t", Queue: new("q"), Subject: "s", DueSince: at, Limit: 1},
		{Before: at, BeforeID: 7},
		{DiedBefore: at, Before: at, BeforeID: 7},
	} {
		q.Tenant = tenant
		for _, q.State = range []wire.JobState{"", wire.JobReady, wire.JobDelayed, wire.JobInFlight, wire.JobDead} {
			keep(db.Jobs(ctx, q))
		}
	}
	for _, q := range parkQueries(at) {
		keep(db.Parks(ctx, q))
	}
	keep(db.Stats(ctx, wire.StatsQuery{Tenant: tenant, Tally: true, Queue: true, Waiting: true, Storage: true}))
	for _, q := range []wire.StatsQuery{
		{Queue: true, NeedsAgent: true},
		{Queue: true, NeedsAgent: true, Tenant: tenant},
		{Queue: true, Queues: []string{"q"}},
		{Waiting: true, Queues: []string{"", "q"}, Tenant: tenant},
	} {
		keep(db.Stats(ctx, q))
	}
	keep(nil, db.Update(ctx, spool.ThreadKey{Tenant: tenant}, 0, func(tx store.Tx) error {
		return tx.Write(store.Changes{
			Audit: []*wire.AuditEntry{{Action: wire.AuditStop}},
			Rows:  []store.Row{{Kind: "k", Key: "a", Value: json.RawMessage("1")}},
		})
	}))
	created, err := db.Rows(ctx, store.RowQuery{Tenant: tenant, Kind: "k", Key: "a"})
	if err != nil || len(created) != 1 {
		return fmt.Errorf("rows %+v: %w", created, errors.Join(append(errs, err)...))
	}
	version := created[0].Version
	keep(nil, db.Update(ctx, spool.ThreadKey{Tenant: tenant}, 0, func(tx store.Tx) error {
		return tx.Write(store.Changes{
			Rows: []store.Row{
				{Kind: "k", Key: "a", Value: json.RawMessage("2"), Version: version},
				{Kind: "k", Key: "a", Value: json.RawMessage("3"), Version: store.AnyVersion},
				{Kind: "k", Key: "a", Version: version + 2},
				{Kind: "k", Key: "a"},
				{Kind: "k", Key: "a", Version: store.AnyVersion},
			},
		})
	}))
	for _, q := range []store.RowQuery{{}, {Key: "a"}, {After: "a", Limit: 1}} {
		q.Tenant, q.Kind = tenant, "k"
		keep(db.Rows(ctx, q))
	}
	for _, q := range []wire.AuditQuery{
		{},
		{Limit: 1, Before: 7},
		{ThreadID: "t"},
		{ThreadID: "t", Before: 7, By: "b"},
		{Action: wire.AuditStop, By: "b", Since: at, Until: at},
	} {
		q.Tenant = tenant
		keep(db.Audit(ctx, q))
	}
	for _, q := range []store.PruneQuery{
		{Kind: store.PruneAudit, Before: at, Limit: 1},
		{Kind: store.PruneRows},
		{Kind: store.PruneRows, Before: at, Limit: 1},
		{Kind: store.PruneDead},
		{Kind: store.PruneDead, JobID: 7, Before: at, Limit: 1},
	} {
		q.Tenant = tenant
		keep(db.Prune(ctx, q))
	}
	return errors.Join(errs...)
}

func parkQueries(at time.Time) (queries []wire.ParkQuery) {
	for _, order := range []wire.ParkOrder{wire.ParksByAge, wire.ParksByExpiry} {
		for _, q := range []wire.ParkQuery{
			{},
			{After: at, AfterRun: "r", AfterCall: "c", Limit: 50},
			{ThreadID: "t", Tool: "tool", Reason: "reason", Limit: 50},
			{Agent: "a", StartedBy: "ann", Owner: "ann"},
		} {
			q.Tenant, q.Order = "tenant", order
			queries = append(queries, q)
			q.State = wire.ParkExpired
			queries = append(queries, q)
		}
	}
	return queries
}

func runQueries(depth int, at time.Time) []wire.RunQuery {
	queries := []wire.RunQuery{
		{},
		{ID: "r"},
		{StartKey: "key"},
		{StartKey: "key", ThreadID: "t"},
		{RootID: "r", Waiting: true},
		{Limit: 50, Before: at, BeforeID: "r"},
		{State: wire.Failed},
		{State: wire.Failed, Before: at, BeforeID: "r"},
		{Expired: true, Before: at, BeforeID: "r"},
		{ThreadID: "t"},
		{ThreadID: "t", State: wire.Failed, Before: at, BeforeID: "r"},
		{StopReason: wire.StopFailed, Agent: "a", Model: "m", Depth: &depth},
		{CreatedAfter: at, CreatedBefore: at},
		{State: wire.Failed, CreatedAfter: at, CreatedBefore: at},
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
		q    wire.RunQuery
		want string
	}{
		"all": {wire.RunQuery{Limit: 50}, "run_created (tenant=?)"},
		"the next page": {
			wire.RunQuery{Limit: 50, Before: time.Now(), BeforeID: "r"}, "run_created (tenant=? AND (created_at,id)<(?,?))",
		},
		"of a time": {
			wire.RunQuery{Limit: 50, CreatedAfter: time.Now(), CreatedBefore: time.Now()},
			"run_created (tenant=? AND created_at>? AND created_at<?)",
		},
		"of a state": {wire.RunQuery{Limit: 50, State: wire.Failed}, "run_state (tenant=? AND state=?)"},
		"its next page": {
			wire.RunQuery{Limit: 50, State: wire.Failed, Before: time.Now(), BeforeID: "r"},
			"run_state (tenant=? AND state=? AND (created_at,id)<(?,?))",
		},
		"with the mark":  {wire.RunQuery{Limit: 50, Expired: true}, "run_expired (tenant=?)"},
		"of a thread":    {wire.RunQuery{Limit: 50, ThreadID: "t"}, "run_thread (tenant=? AND thread_id=?)"},
		"one by its id":  {wire.RunQuery{ID: "r"}, "sqlite_autoindex_run_1 (tenant=? AND id=?)"},
		"of a start":     {wire.RunQuery{StartKey: "key", Whole: true}, "run_start_key (tenant=? AND start_key=?)"},
		"of a stop time": {wire.RunQuery{Limit: 50, StopReason: wire.StopTimeout}, "run_created (tenant=?)"},
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
