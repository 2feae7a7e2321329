package telemetry

import (
	"context"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// measuredStore counts committed changes, so that its counts match the store: token sums equal the
// ledger's, and each run ends exactly once.
//
// It does not count a commit with an unknown outcome.
type measuredStore struct {
	store.Store

	t *Recorder
}

// Store returns a store that counts its committed changes.
func (t *Recorder) Store(s store.Store) store.Store {
	if t == nil {
		return s
	}
	return &measuredStore{s, t}
}

// Update implements [store.Store].
func (s *measuredStore) Update(
	ctx context.Context, key spool.ThreadKey, fence int64, fn func(tx store.Tx) error,
) error {
	began := time.Now()
	var tx *measuredTx
	var refused error
	err := s.Store.Update(ctx, key, fence, func(inner store.Tx) error {
		tx = &measuredTx{Tx: inner}
		refused = fn(tx)
		return refused
	})
	var attrs []attribute.KeyValue
	switch {
	case err == nil:
		attrs = []attribute.KeyValue{attrOutcome.String("committed")}
	case refused != nil || refuses(err):
		attrs = []attribute.KeyValue{attrOutcome.String("rolled_back")}
	default:
		attrs = []attribute.KeyValue{attrOutcome.String("failed"), attrErrorType.String(errorType(err))}
	}
	s.t.updates.Record(ctx, time.Since(began).Seconds(), labels(attrs...))
	if err == nil && tx != nil {
		tx.count(ctx, s.t)
	}
	return err
}

// refuses reports whether a store has refused a transaction, and not failed.
func refuses(err error) bool {
	switch spool.CodeOf(err) {
	case spool.Fenced, spool.Conflict, spool.NotFound:
		return true
	default:
		return false
	}
}

// measuredTx notes the changes of a transaction.
type measuredTx struct {
	store.Tx

	runs  []changed[wire.Run]
	parks []changed[store.Park]
	usage []wire.UsageRow
}

// changed is a value before the transaction, if it was read, and after the transaction.
type changed[T any] struct {
	before, after           T
	read, written, inserted bool
}

// Write implements [store.Tx].
func (x *measuredTx) Write(c store.Changes) error {
	if err := x.Tx.Write(c); err != nil {
		return err
	}
	for _, r := range c.NewRuns {
		x.runs = append(x.runs, changed[wire.Run]{after: r.Run, written: true, inserted: true})
	}
	for _, r := range c.Runs {
		run := x.run(r.ID)
		run.after, run.written = r.Run, true
	}
	for _, p := range c.Parks {
		park := x.park(p)
		park.after, park.written = p, true
	}
	x.usage = append(x.usage, c.Usage...)
	return nil
}

// Runs implements [store.View].
func (x *measuredTx) Runs(q wire.RunQuery) ([]store.RunRow, error) {
	all, err := x.Tx.Runs(q)
	x.readRuns(all...)
	return all, err
}

func (x *measuredTx) readRuns(all ...store.RunRow) {
	for _, r := range all {
		if c := x.run(r.ID); !c.read && !c.written {
			c.before, c.read = r.Run, true
		}
	}
}

func (x *measuredTx) run(id spool.RunID) *changed[wire.Run] {
	for i := range x.runs {
		if c := &x.runs[i]; c.read && c.before.ID == id || c.written && c.after.ID == id {
			return c
		}
	}
	x.runs = append(x.runs, changed[wire.Run]{})
	return &x.runs[len(x.runs)-1]
}

// Parks implements [store.View].
func (x *measuredTx) Parks(run spool.RunID) ([]store.Park, error) {
	all, err := x.Tx.Parks(run)
	for _, p := range all {
		if c := x.park(p); !c.read && !c.written {
			c.before, c.read = p, true
		}
	}
	return all, err
}

func (x *measuredTx) park(p store.Park) *changed[store.Park] {
	for i := range x.parks {
		c := &x.parks[i]
		at := c.before
		if c.written {
			at = c.after
		}
		if at.RunID == p.RunID && at.ToolCallID == p.ToolCallID {
			return c
		}
	}
	x.parks = append(x.parks, changed[store.Park]{})
	return &x.parks[len(x.parks)-1]
}

// count records the changes of a committed transaction.
func (x *measuredTx) count(ctx context.Context, t *Recorder) {
	for _, c := range x.runs {
		if c.written {
			t.countRun(ctx, c)
		}
	}
	for _, c := range x.parks {
		if c.written {
			t.countPark(ctx, c)
		}
	}
	for _, row := range x.usage {
		t.countUsage(ctx, row)
	}
}

func (t *Recorder) countRun(ctx context.Context, c changed[wire.Run]) {
	agent := attrAgentName.String(t.agentName(c.after.Agent))
	if c.inserted {
		t.runsStarted.Add(ctx, 1, labels(agent))
	}
	if c.after.State.Terminal() && !c.before.State.Terminal() {
		seconds := c.after.EndedAt.Sub(c.after.StartedAt).Seconds()
		t.runs.Record(ctx, max(seconds, 0), labels(agent,
			attrRunState.String(string(c.after.State)), attrStopReason.String(string(c.after.StopReason))))
	}
}

// countPark counts a park that becomes open, also if it is the next park of the same call, and a park
// that is no longer open.
func (t *Recorder) countPark(ctx context.Context, c changed[store.Park]) {
	was, is := c.before.State == wire.ParkOpen, c.after.State == wire.ParkOpen
	tool := attrToolName.String(c.after.ToolName)
	switch {
	case is && !was:
		t.parksOpened.Add(ctx, 1, labels(tool))
	case was && !is:
		t.parksResolved.Add(ctx, 1, labels(tool, attrParkState.String(string(c.after.State))))
	}
}

func (t *Recorder) countUsage(ctx context.Context, row wire.UsageRow) {
	model := t.model(row.Model)
	common := []attribute.KeyValue{
		attrProvider.String(model.provider), attrRequestModel.String(model.model),
		attrAgentName.String(t.agentName(row.Agent)),
	}
	if row.Kind != "" && row.Kind != spool.UsageStep {
		common = append(common, attrUsageKind.String(string(row.Kind)))
	}
	if row.Cost != nil {
		t.costs.Add(ctx, float64(row.Cost.Micros)/1e6,
			labels(append(slices.Clip(common), attrCurrency.String(row.Cost.Currency))...))
	}
	for _, count := range []struct {
		of string
		n  *int64
	}{{"input", row.Usage.Input}, {"output", row.Usage.Output}} {
		if count.n == nil {
			continue
		}
		attrs := append(slices.Clip(common), attrOperation.String(operationChat), attrTokenType.String(count.of))
		if row.ModelID != "" {
			attrs = append(attrs, attrResponseModel.String(row.ModelID))
		}
		t.tokens.Record(ctx, *count.n, labels(attrs...))
	}
}
