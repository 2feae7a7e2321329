package engine

import (
	"context"

	"github.com/spoolhq/spool"
)

// Respond answers a park of the thread's run. The run gets exactly one of several answers to a park
// and its expiry. It goes on once none of its parks is open. Respond returns an [spool.Invalid] error
// for a wrong response, also for arguments that the tool does not accept.
func (e *Engine) Respond(ctx context.Context, key spool.ThreadKey, r Response) (RespondResult, error) {
	results, err := e.intake.Answer(ctx, key, []Response{r})
	if err != nil {
		return RespondResult{}, err
	}
	return results[0], nil
}

// RespondAll answers several parks of the thread's run at once, each as [Engine.Respond]
// does. The results are in the order of the responses. If one response is refused, the others are
// delivered nevertheless. If one is wrong, RespondAll returns its error and delivers none.
func (e *Engine) RespondAll(ctx context.Context, key spool.ThreadKey, responses []Response) ([]RespondResult, error) {
	return e.intake.Answer(ctx, key, responses)
}

// ReclaimIfOrphaned moves a parked run on if the time for its answer has passed, and reports whether
// it did. The job of the expiry does the same; a host calls this once for each connection in case its
// queue has lost or ignored the delay. Nothing happens for a thread that does not exist or is not
// parked.
func (e *Engine) ReclaimIfOrphaned(ctx context.Context, key spool.ThreadKey) (bool, error) {
	return e.intake.Reclaim(ctx, key)
}
