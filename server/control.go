package server

import (
	"context"
	"net/http"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/rest"
)

// controlInput is a request to stop a run.
type controlInput struct{ Body *controlRequest }

// controlRequest is the body of a stop.
type controlRequest struct {
	ThreadID spool.ThreadID `doc:"The thread whose run is to stop." example:"t1" json:"threadId"`
}

// Validate reads the body.
func (in *controlInput) Validate(ctx context.Context) (err error) {
	if in.Body, err = decodeBody[controlRequest](ctx); err != nil {
		return err
	}
	return spool.CheckID("threadId", string(in.Body.ThreadID))
}

// stop answers POST /api/agent/control: 200 with the result when the run stops, 409 with
// the result when there is none to stop, or the thread is not the caller's.
func (c *runs) stop(ctx context.Context, in controlInput) (engine.StopResult, error) {
	thread := c.asking(ctx).key(in.Body.ThreadID)
	result, err := c.engine.Stop(ctx, thread)
	if err != nil {
		return result, about(ctx, err, thread, "")
	}
	if !result.Accepted {
		rest.ResponseOf(ctx).SetStatus(http.StatusConflict)
	}
	return result, nil
}
