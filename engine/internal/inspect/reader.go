package inspect

import (
	"cmp"
	"context"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/quota"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Reader reads runs and counts from a store.
type Reader struct {
	Store store.Store
	Rules thread.Rules
	// MaxTenantBytes bounds what a tenant may store. Zero: no limit.
	MaxTenantBytes int64
}

// ErrNoRun says that a run does not exist.
var ErrNoRun = spool.Errorf(spool.NotFound, "Run not found")

// Key returns the key of a run's thread. It looks the thread up if the key has no thread id.
func (r *Reader) Key(ctx context.Context, key spool.ThreadKey, id spool.RunID) (spool.ThreadKey, error) {
	if err := spool.CheckID("runId", string(id)); err != nil {
		return key, err
	}
	if key.ID != "" {
		return key, nil
	}
	found, err := r.Store.Runs(ctx, wire.RunQuery{Tenant: key.Tenant, ID: id})
	if err != nil {
		return key, err
	}
	if len(found) == 0 {
		return key, ErrNoRun
	}
	key.ID = found[0].ThreadID
	return key, nil
}

// Outcome returns a run's outcome and the id of its dispatched run.
func (r *Reader) Outcome(
	ctx context.Context, key spool.ThreadKey, id spool.RunID,
) (o wire.RunOutcome, root spool.RunID, err error) {
	err = r.Store.View(ctx, key, func(v store.View) error {
		run, err := store.FindRun(v, id)
		if err != nil {
			return err
		}
		root = run.Root()
		o, err = Outcome(v, r.Rules, run)
		return err
	})
	if record.Missing(err) {
		err = ErrNoRun
	}
	return o, root, err
}

// Parks returns what a dispatched run and its nested runs have asked, the oldest question first.
func (r *Reader) Parks(ctx context.Context, key spool.ThreadKey, run spool.RunID) (out []wire.ParkDetail, err error) {
	err = r.Store.View(ctx, key, func(v store.View) error {
		parks, err := v.Parks(run)
		out = make([]wire.ParkDetail, len(parks))
		for i, p := range parks {
			out[i] = parkDetail(p)
		}
		return err
	})
	return out, record.NotFound(err)
}

// Detail returns everything about a run, and what it waits for.
func (r *Reader) Detail(ctx context.Context, tenant spool.Tenant, id spool.RunID) (wire.RunDetail, error) {
	var d wire.RunDetail
	key, err := r.Key(ctx, spool.ThreadKey{Tenant: tenant}, id)
	if err != nil {
		return d, err
	}
	err = r.Store.View(ctx, key, func(v store.View) (err error) {
		d, err = Run(v, id)
		return err
	})
	switch {
	case record.Missing(err): // the thread was deleted meanwhile
		return d, ErrNoRun
	case err != nil || d.Run.State != wire.Running:
		return d, err
	}
	d.WaitsFor, err = quota.Explain(ctx, r.Store, d.Run)
	return d, err
}

// overviewActive bounds the active runs in an overview.
const overviewActive = 50

// Overview returns a tenant's totals and its newest active runs.
func (r *Reader) Overview(ctx context.Context, tenant spool.Tenant) (wire.Overview, error) {
	o := wire.Overview{Tenant: tenant, Active: []wire.Run{}}
	stats, err := r.Store.Stats(ctx, wire.StatsQuery{Tenant: tenant, Tally: true, Queue: true})
	if err != nil {
		return o, err
	}
	tally := stats.Tally
	o.Queue = stats.Queue
	o.Threads, o.RunsByState, o.Tokens = tally.Threads, tally.Runs, tally.Tokens
	o.Bytes, o.BytesLimit = tally.Bytes, r.MaxTenantBytes
	for _, n := range tally.Runs {
		o.Runs += n
	}
	for _, state := range wire.States() {
		if !state.Active() {
			continue
		}
		runs, err := r.Store.Runs(ctx, wire.RunQuery{Tenant: tenant, State: state, Limit: overviewActive})
		if err != nil {
			return o, err
		}
		for _, r := range runs {
			o.Active = append(o.Active, r.Run)
		}
	}
	slices.SortFunc(o.Active, func(a, b wire.Run) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(b.ID, a.ID))
	})
	o.Active = o.Active[:min(len(o.Active), overviewActive)]
	return o, nil
}
