package engine

import (
	"context"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// Respond answers one park of the thread's run. A park takes exactly one answer: the first one, or its
// expiry. The run goes on when all of its parks are answered. Respond returns an [spool.Invalid] error
// for a malformed response, and for edited arguments that the tool does not accept.
func (e *Engine) Respond(ctx context.Context, key spool.ThreadKey, r wire.Response) (wire.RespondResult, error) {
	results, err := e.intake.Answer(ctx, key, []wire.Response{r})
	if err != nil {
		return wire.RespondResult{}, err
	}
	return results[0], nil
}

// RespondAll answers several parks of the thread's run at once, each as [Engine.Respond] does. The
// results are in the order of the responses. If one response is refused, RespondAll still delivers the
// others. If one response is invalid, RespondAll returns its error and delivers none.
func (e *Engine) RespondAll(
	ctx context.Context, key spool.ThreadKey, responses []wire.Response,
) ([]wire.RespondResult, error) {
	return e.intake.Answer(ctx, key, responses)
}

// ReclaimIfOrphaned expires the open parks of a run if the time for the answers has passed, and reports
// whether it did. The expiry's own job does the same. A host can call ReclaimIfOrphaned for each new
// connection, in case its queue has lost the job or ignored its delay. Nothing happens if the thread
// does not exist or its run is not parked.
func (e *Engine) ReclaimIfOrphaned(ctx context.Context, key spool.ThreadKey) (bool, error) {
	return e.intake.Reclaim(ctx, key)
}
