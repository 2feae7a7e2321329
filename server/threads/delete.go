package threads

import (
	"context"
	"net/http"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/server/internal/call"
	"github.com/spoolhq/spool/wire"
)

// DeleteInput asks for the deletion of a thread.
type DeleteInput struct{ call.OneThread }

// Delete deletes a thread and everything that belongs to it, including a parked run. A queued or running run has to be
// stopped first: until then the answer is a 409. If the thread has an active run, parked or not, this also needs the
// scope stop.
func (c Controller) Delete(ctx context.Context, in DeleteInput) (wire.DeleteResult, error) {
	key := in.Key(ctx)
	who, remove := call.By(ctx), c.Engine.DeleteThread
	if !who.May(access.ScopeStop) {
		remove = c.Engine.DeleteIdleThread
	}
	result, err := remove(call.Acting(ctx), key)
	if result.Reason == wire.ReasonActiveRun && !who.May(access.ScopeStop) {
		err = access.Lacks(access.ScopeStop, "deleting a thread that has an active run")
	}
	switch {
	case err != nil:
		return result, call.About(ctx, err, key, "")
	case result.Accepted:
	case result.Reason == wire.ReasonNotFound:
		rest.ResponseOf(ctx).SetStatus(http.StatusNotFound)
	default:
		rest.ResponseOf(ctx).SetStatus(http.StatusConflict)
	}
	return result, nil
}
