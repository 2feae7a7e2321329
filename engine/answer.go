package engine

import (
	"context"

	"github.com/spoolhq/spool"
)

// Respond answers a park of the thread's run. Of several answers to one park, and its
// expiry, exactly one is delivered. The run goes on once none of its parks is open. It
// returns an [spool.Invalid] error for a response that is wrong, also for arguments that
// the tool does not accept.
func (e *Engine) Respond(ctx context.Context, key spool.ThreadKey, r Response) (RespondResult, error) {
	results, err := e.desk.Answer(ctx, key, []Response{r})
	if err != nil {
		return RespondResult{}, err
	}
	return results[0], nil
}

// RespondAll answers several parks of the thread's run at once, each as [Engine.Respond]
// does. The results are in the order of the responses, and one that is refused does not keep
// the others from being delivered. Where one of them is wrong, it returns that error, and
// none is delivered.
func (e *Engine) RespondAll(ctx context.Context, key spool.ThreadKey, responses []Response) ([]RespondResult, error) {
	return e.desk.Answer(ctx, key, responses)
}

// ReclaimIfOrphaned moves a parked run on whose time to be answered has passed, and
// reports whether it did. The expiry's own job does the same; a host calls this once for
// each connection in case its queue has lost or ignored the delay. A thread that does
// not exist, or is not parked, is left alone.
func (e *Engine) ReclaimIfOrphaned(ctx context.Context, key spool.ThreadKey) (bool, error) {
	return e.desk.Reclaim(ctx, key)
}
