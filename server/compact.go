package server

import (
	"context"
	"net/http"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/server/internal/call"
)

// compactRequest is the body of a compaction.
type compactRequest struct {
	ThreadID spool.ThreadID `doc:"The thread whose older messages are to be summarised." example:"t1" json:"threadId"`
}

// Validate implements [rest.Validator].
func (in *compactRequest) Validate(context.Context) error {
	return spool.CheckID("threadId", string(in.ThreadID))
}

// compact answers POST /api/agent/compact: 200 with the result when a summary stands for
// older messages, 409 with the result when there is none, or the thread is not the caller's.
func (c runs) compact(ctx context.Context, in compactRequest) (engine.CompactResult, error) {
	who := call.By(ctx)
	thread := who.Key(in.ThreadID)
	call.Concerns(ctx, thread, "")
	if err := c.takeStart(ctx, who); err != nil { // it asks a model, as a start does
		return engine.CompactResult{}, call.About(ctx, err, thread, "")
	}
	result, err := c.engine.Compact(call.Acting(ctx), thread)
	if err != nil {
		return result, call.About(ctx, err, thread, "")
	}
	if !result.Compacted {
		rest.ResponseOf(ctx).SetStatus(http.StatusConflict)
	}
	return result, nil
}
