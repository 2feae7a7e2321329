package server

import (
	"context"
	"net/http"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/rest"
)

// controlRequest is the body of a stop.
type controlRequest struct {
	ThreadID spool.ThreadID `doc:"The thread whose run is to stop, and all those that wait for it."          example:"t1"           json:"threadId"`
	RunID    spool.RunID    `doc:"The one run that is to stop, with or without the thread. Defaults to all." json:"runId,omitempty"`
}

// Validate implements [rest.Validator].
func (in *controlRequest) Validate(context.Context) error {
	if err := spool.CheckID("threadId", string(in.ThreadID)); err != nil {
		return err
	}
	return checkOptionalID("runId", string(in.RunID))
}

// stop answers POST /api/agent/control: 200 with the result when the run stops, 409 with
// the result when there is none to stop, or the thread is not the caller's.
func (c runs) stop(ctx context.Context, in controlRequest) (engine.StopResult, error) {
	thread := c.asking(ctx).key(in.ThreadID)
	concerns(ctx, thread, in.RunID)
	ctx = c.acting(ctx)
	var result engine.StopResult
	var err error
	if in.RunID == "" {
		result, err = c.engine.Stop(ctx, thread)
	} else {
		result, err = c.engine.StopRun(ctx, thread, in.RunID)
	}
	if err != nil {
		return result, about(ctx, err, thread, in.RunID)
	}
	if !result.Accepted {
		rest.ResponseOf(ctx).SetStatus(http.StatusConflict)
	}
	return result, nil
}
