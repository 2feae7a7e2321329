package runs

import (
	"context"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server/internal/call"
	"github.com/spoolhq/spool/wire"
)

// ControlRequest is the body of a stop.
type ControlRequest struct {
	// ThreadID is the thread whose runs to stop: the present run, and all runs that wait.
	ThreadID spool.ThreadID `example:"t1"           json:"threadId"`
	RunID    spool.RunID    `json:"runId,omitempty"` // The run to stop. Left out: all runs of the thread.
}

// Validate implements [rest.Validator].
func (in *ControlRequest) Validate(context.Context) error {
	if err := spool.CheckID("threadId", string(in.ThreadID)); err != nil {
		return err
	}
	return call.CheckOptionalID("runId", string(in.RunID))
}

// Stop stops the run of a thread, and all runs that wait for it. When the answer is a 200, the stop is on disk: the run
// ends as CANCELLED, and no further tool is called. With a runId, only that run stops, whether it has the thread or
// waits. A 409 means that there is no run to stop.
func (c Controller) Stop(ctx context.Context, in ControlRequest) (wire.StopResult, error) {
	thread := call.By(ctx).Key(in.ThreadID)
	call.Concerns(ctx, thread, in.RunID)
	ctx = call.Acting(ctx)
	var result wire.StopResult
	var err error
	if in.RunID == "" {
		result, err = c.Engine.Stop(ctx, thread)
	} else {
		result, err = c.Engine.StopRun(ctx, thread, in.RunID)
	}
	return call.Result(ctx, result, result.Accepted, err, thread, in.RunID)
}
