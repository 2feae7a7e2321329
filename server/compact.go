package server

import (
	"context"
	"net/http"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/rest"
)

// compactInput is a request to summarise the older messages of a thread.
type compactInput struct{ Body *compactRequest }

// compactRequest is the body of a compaction.
type compactRequest struct {
	ThreadID spool.ThreadID `doc:"The thread whose older messages are to be summarised." example:"t1" json:"threadId"`
}

// Validate reads the body.
func (in *compactInput) Validate(ctx context.Context) (err error) {
	if in.Body, err = decodeBody[compactRequest](ctx); err != nil {
		return err
	}
	return spool.CheckID("threadId", string(in.Body.ThreadID))
}

// compact answers POST /api/agent/compact: 200 with the result when a summary stands for
// older messages, 409 with the result when there is none, or the thread is not the caller's.
func (c *runs) compact(ctx context.Context, in compactInput) (engine.CompactResult, error) {
	who := c.asking(ctx)
	thread := who.key(in.Body.ThreadID)
	concerns(ctx, thread, "")
	if err := c.takeStart(ctx, who); err != nil { // it asks a model, as a start does
		return engine.CompactResult{}, about(ctx, err, thread, "")
	}
	result, err := c.engine.Compact(c.acting(ctx), thread)
	if err != nil {
		return result, about(ctx, err, thread, "")
	}
	if !result.Compacted {
		rest.ResponseOf(ctx).SetStatus(http.StatusConflict)
	}
	return result, nil
}
