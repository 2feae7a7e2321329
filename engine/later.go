package engine

import (
	"context"
	"encoding/json"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/later"
	"github.com/spoolhq/spool/wire"
)

// DelayedStarts lists the starts of a tenant that wait for their time, and those of the last day that were refused when
// it had come: see [wire.StartRequest.StartAt]. One that was imported and not moved stays until 30 days after its time.
// An actor that sees only its own threads sees the starts that it made.
func (e *Engine) DelayedStarts(
	ctx context.Context, tenant spool.Tenant, q wire.DelayedQuery,
) ([]wire.DelayedStart, error) {
	q.Tenant = tenant
	return e.intake.Delayed(ctx, q)
}

// DelayedStart returns a delayed start by the id of its run. It returns a [spool.NotFound] error if there is none, also
// once it has become a run.
func (e *Engine) DelayedStart(ctx context.Context, tenant spool.Tenant, id spool.RunID) (wire.DelayedStart, error) {
	return e.intake.DelayedStart(ctx, tenant, id)
}

// MoveDelayedStart gives a delayed start another time, also one that was refused: it then waits again. A time that is
// not ahead is now. The audit log names the actor. It returns a [spool.NotFound] error as [Engine.DelayedStart] does.
func (e *Engine) MoveDelayedStart(
	ctx context.Context, tenant spool.Tenant, id spool.RunID, at time.Time,
) (wire.DelayedStart, error) {
	return e.intake.MoveDelayed(ctx, tenant, id, at)
}

// CancelDelayedStart removes a delayed start, and returns it. Its run id and its idempotency key are free again. The
// audit log names the actor. It returns a [spool.NotFound] error as [Engine.DelayedStart] does.
func (e *Engine) CancelDelayedStart(
	ctx context.Context, tenant spool.Tenant, id spool.RunID,
) (wire.DelayedStart, error) {
	return e.intake.CancelDelayed(ctx, tenant, id)
}

// DelayedStartRows is the kind of the rows that show delayed starts, for programs that move data between stores.
const DelayedStartRows = later.Kind

// ImportedDelayedStart returns the value of a row of the kind DelayedStartRows as an import should add it: refused with
// [wire.ReasonImported] since a time, until somebody moves it. The store that it comes from may still start the run.
func ImportedDelayedStart(value json.RawMessage, at time.Time) (json.RawMessage, error) {
	return later.Imported(value, at)
}
