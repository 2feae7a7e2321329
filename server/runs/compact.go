package runs

import (
	"context"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server/internal/call"
	"github.com/spoolhq/spool/wire"
)

// CompactRequest is the body of a compaction.
type CompactRequest struct {
	ThreadID spool.ThreadID `example:"t1" json:"threadId"` // The thread to summarise.
}

// Validate implements [rest.Validator].
func (in *CompactRequest) Validate(context.Context) error {
	return spool.CheckID("threadId", string(in.ThreadID))
}

// Compact summarises the older messages of a thread now. From then on the model reads the summary in their place; the
// messages stay in the history. This happens by itself when a history gets too long. The answer comes when the model
// has answered.
//
// A 409 has the reason: the thread has a run that is not over (`active_run`), it does not exist (`not_found`), it is
// too short (`nothing_to_compact`), another summary is under way (`compacting`), or the thread changed in the meantime
// (`changed`).
func (c Controller) Compact(ctx context.Context, in CompactRequest) (wire.CompactResult, error) {
	who := call.By(ctx)
	thread := who.Key(in.ThreadID)
	call.Concerns(ctx, thread, "")
	if err := c.Starts.Take(ctx, who); err != nil { // it calls a model, as a start does
		return wire.CompactResult{}, call.About(ctx, err, thread, "")
	}
	result, err := c.Engine.Compact(call.Acting(ctx), thread)
	return call.Result(ctx, result, result.Compacted, err, thread, "")
}
