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

// Connect answers POST /api/agent/ag-ui/connect with the thread as it is, and what its run says
// until that is over or waits for somebody.
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
