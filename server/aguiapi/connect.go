package aguiapi

import (
	"context"
	"net/http"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/server/agui"
	"github.com/spoolhq/spool/server/internal/call"
)

// An AG-UI client posts here to show a thread when its page opens. The answer has the thread's messages and, if a run
// is not over, that run live until its end. No run is started, whatever the body has: only threadId, runId, state and
// protocolVersion count. A thread that does not exist is shown as an empty one.
func (c Controller) Connect(ctx context.Context, in Input) (Answer, error) {
	who, r := call.By(ctx), rest.RequestOf(ctx)
	key := who.Key(in.Body.ThreadID)
	call.Concerns(ctx, key, in.Body.RunID)
	slot, err := c.Streams.Take(r, who)
	if err != nil {
		return Answer{}, call.About(ctx, err, key, "")
	}
	show := agui.Options{
		ClientRunID: string(in.Body.RunID), State: agui.UseOf(in.Body.State), Connect: true, Before1: in.Body.Before1(),
	}
	answer, err := c.show(call.Acting(ctx), r, who, key, show)
	if err != nil {
		slot.Release()
		return Answer{}, err
	}
	answer.live.Slot = slot
	return answer, nil
}

// show opens the stream of the thread's run, or of nothing where the thread has none.
func (c Controller) show(
	ctx context.Context, r *http.Request, who access.Principal, key spool.ThreadKey, o agui.Options,
) (Answer, error) {
	thread, _, err := c.Engine.UserTurns(ctx, key)
	if err != nil && spool.CodeOf(err) != spool.NotFound {
		return Answer{}, call.About(ctx, err, key, "")
	}
	if o.RunID = thread.RunID; o.RunID == "" {
		return Answer{live: c.Streams.Nothing(key, o.ClientRunID)}, nil
	}
	answer, err := c.follow(r, who, key, o)
	if spool.CodeOf(err) == spool.NotFound { // it was deleted in this moment
		return Answer{live: c.Streams.Nothing(key, o.ClientRunID)}, nil
	}
	return answer, err
}
