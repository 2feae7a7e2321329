package engine

import (
	"context"
	"encoding/json"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/notify"
	"github.com/spoolhq/spool/engine/internal/schedule"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// CreateSchedule makes a schedule, whose runs start as the maker. It returns an [spool.Invalid] error that names the
// wrong field, a [spool.Forbidden] error for a maker whose right could not be looked up later (see
// [option.Schedules]), a [spool.Conflict] error for a name that is used, and a [spool.Limit] error for a tenant with
// too many schedules.
func (e *Engine) CreateSchedule(
	ctx context.Context, tenant spool.Tenant, r wire.ScheduleRequest, maker wire.Maker,
) (wire.Schedule, error) {
	return e.schedules.Create(ctx, tenant, r, maker)
}

// Schedules lists the schedules of a tenant. An actor that sees only its own threads (see [wire.Actor.OwnOnly]) sees
// only its own schedules, here and in all other calls about schedules.
func (e *Engine) Schedules(ctx context.Context, q wire.ScheduleQuery) ([]wire.Schedule, error) {
	return e.schedules.List(ctx, q)
}

// Schedule returns a schedule, or a [spool.NotFound] error.
func (e *Engine) Schedule(ctx context.Context, tenant spool.Tenant, name string) (wire.Schedule, error) {
	return e.schedules.Get(ctx, tenant, name)
}

// ChangeSchedule changes a schedule. Whoever changes it is its maker from then on. A change of the rule sets the next
// due time anew. It returns the errors of CreateSchedule, and a [spool.Conflict] error for a schedule of the
// configuration.
func (e *Engine) ChangeSchedule(
	ctx context.Context, tenant spool.Tenant, name string, c wire.ScheduleChange, maker wire.Maker,
) (wire.Schedule, error) {
	return e.schedules.Change(ctx, tenant, name, c, maker)
}

// RemoveSchedule removes a schedule and its history. Its runs and their threads stay. It returns a [spool.Conflict]
// error for a schedule that the configuration has.
func (e *Engine) RemoveSchedule(ctx context.Context, tenant spool.Tenant, name string) error {
	return e.schedules.Remove(ctx, tenant, name)
}

// PauseSchedule stops a schedule from coming due until ResumeSchedule. The reason is for people, in up to 1,000 bytes,
// and may be empty. It does not change a schedule that is paused.
func (e *Engine) PauseSchedule(
	ctx context.Context, tenant spool.Tenant, name, reason string,
) (wire.Schedule, error) {
	return e.schedules.Pause(ctx, tenant, name, reason)
}

// ResumeSchedule lets a paused schedule come due again. Due times that passed meanwhile do not count as missed.
func (e *Engine) ResumeSchedule(ctx context.Context, tenant spool.Tenant, name string) (wire.Schedule, error) {
	return e.schedules.Resume(ctx, tenant, name)
}

// RunScheduleNow starts a run of a schedule at once, as its maker, and returns what became of it. The due times and a
// pause stay as they are. It returns a [spool.Unavailable] error if too many runs wait for a worker.
func (e *Engine) RunScheduleNow(ctx context.Context, tenant spool.Tenant, name string) (wire.ScheduleTick, error) {
	return e.schedules.Now(ctx, tenant, name)
}

// ScheduleTicks returns the last lines of the history of a schedule, the last one first. The engine keeps 100 lines. A
// limit of zero returns all of them.
func (e *Engine) ScheduleTicks(
	ctx context.Context, tenant spool.Tenant, name string, limit int,
) ([]wire.ScheduleTick, error) {
	return e.schedules.Ticks(ctx, tenant, name, limit)
}

// ScheduleRows is the kind of the rows that are schedules, for programs that move data between stores.
const ScheduleRows = schedule.Kind

// ImportedSchedule returns the value of a row of the kind ScheduleRows as an import should add it: paused since a
// time. The store that it comes from may still start the same runs.
func ImportedSchedule(value json.RawMessage, at time.Time) (json.RawMessage, error) {
	return schedule.Imported(value, at)
}

// PreviewSchedule returns the next due times of a rule after a time, and the rule in words. It returns an
// [spool.Invalid] error that names the wrong field.
func PreviewSchedule(r wire.ScheduleRule, now time.Time) (wire.SchedulePreview, error) {
	return schedule.Preview(r, now)
}

// tellPaused returns what tells endpoints of a schedule that pauses by itself.
func tellPaused(events *notify.Hook) schedule.TellPaused {
	return func(ctx context.Context, tenant spool.Tenant, s wire.Schedule) (func(tx store.Tx) error, func(), error) {
		told, err := events.Begin(ctx, tenant)
		return func(tx store.Tx) error {
			return told.Paused(tx, notify.Paused{
				Schedule: s.Name, Agent: s.Agent, Reason: s.PausedReason, Owner: s.MadeBy,
			})
		}, told.Committed, err
	}
}
