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

// Compact answers POST /api/agent/compact: 200 with the result if a summary now replaces older messages; 409
// with the result if there is none, or if the thread is not the caller's.
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
