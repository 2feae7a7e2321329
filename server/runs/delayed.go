package runs

import (
	"context"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server/internal/call"
	"github.com/spoolhq/spool/wire"
)

// DelayedInput asks for a page of starts that wait for their time.
type DelayedInput struct {
	Limit int `default:"50" maximum:"1000" minimum:"1" query:"limit"` // The size of a page.
	// After is the field runId of the last start before.
	After    spool.RunID    `maxLength:"128" pattern:"^[A-Za-z0-9._:-]+$" query:"after"`
	ThreadID spool.ThreadID `maxLength:"128" pattern:"^[A-Za-z0-9._:-]+$" query:"threadId"` // Only those of this thread.
}

// DelayedStarts are starts that wait for their time.
type DelayedStarts struct {
	// Starts are in the order of their run ids. Fewer than the limit: there are no more.
	Starts []wire.DelayedStart `json:"starts"`
}

// Delayed answers with the starts that wait for their time, and with those of the last day that were refused when it
// had come. A caller that sees only its own threads sees the starts that it has made.
func (c Controller) Delayed(ctx context.Context, in DelayedInput) (DelayedStarts, error) {
	who := call.By(ctx)
	list, err := c.Engine.DelayedStarts(call.Acting(ctx), who.Tenant, wire.DelayedQuery{
		ThreadID: in.ThreadID, After: in.After, Limit: in.Limit,
	})
	return DelayedStarts{list}, call.About(ctx, err, who.Key(in.ThreadID), "")
}

// OneDelayedInput names a start that waits for its time.
type OneDelayedInput struct {
	RunID spool.RunID `example:"r1" path:"runId"` // The run that it will be.
}

// DelayedStart answers with one start that waits for its time, or was refused when it had come. Once it has become a
// run, the answer is a 404, and getRunOutcome has the run.
func (c Controller) DelayedStart(ctx context.Context, in OneDelayedInput) (wire.DelayedStart, error) {
	who := call.By(ctx)
	call.Concerns(ctx, who.Key(""), in.RunID)
	one, err := c.Engine.DelayedStart(call.Acting(ctx), who.Tenant, in.RunID)
	return one, call.About(ctx, err, who.Key(one.ThreadID), in.RunID)
}

// MoveInput gives a start another time.
type MoveInput struct {
	OneDelayedInput

	Body *MoveRequest `required:"true"`
}

// MoveRequest is the body of a move.
type MoveRequest struct {
	StartAt time.Time `json:"startAt" required:"true"` // The new time, at most 366 days ahead. A time in the past is now.
}

// MoveDelayed gives a start that waits another time. A start that was refused waits again. Once it has become a run,
// the answer is a 404.
func (c Controller) MoveDelayed(ctx context.Context, in MoveInput) (wire.DelayedStart, error) {
	who := call.By(ctx)
	call.Concerns(ctx, who.Key(""), in.RunID)
	one, err := c.Engine.MoveDelayedStart(call.Acting(ctx), who.Tenant, in.RunID, in.Body.StartAt)
	return one, call.About(ctx, err, who.Key(one.ThreadID), in.RunID)
}

// CancelDelayed removes a start that waits, or was refused, and answers with it. Its run id and its Idempotency-Key can
// be used again. Once it has become a run, the answer is a 404; stopRun stops the run.
func (c Controller) CancelDelayed(ctx context.Context, in OneDelayedInput) (wire.DelayedStart, error) {
	who := call.By(ctx)
	call.Concerns(ctx, who.Key(""), in.RunID)
	one, err := c.Engine.CancelDelayedStart(call.Acting(ctx), who.Tenant, in.RunID)
	return one, call.About(ctx, err, who.Key(one.ThreadID), in.RunID)
}

// orDelayed returns an error that says when a run starts, in place of one that says that there is no such run.
func (c Controller) orDelayed(ctx context.Context, err error, id spool.RunID) error {
	if spool.CodeOf(err) != spool.NotFound {
		return err
	}
	one, none := c.Engine.DelayedStart(ctx, call.By(ctx).Tenant, id)
	switch {
	case none != nil:
		return err
	case one.RefusedAt.IsZero():
		return spool.Errorf(spool.NotFound, "The run starts at %s", one.StartAt.Format(time.RFC3339))
	default:
		return spool.Errorf(spool.NotFound, "The run has not started: its start was refused (%s)", one.Reason)
	}
}
