package server

import (
	"context"
	"net/http"

	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/rest"
)

// deleteInput asks for the deletion of a thread.
type deleteInput struct{ oneThread }

// remove answers DELETE /api/threads: 200 when the thread is gone, 404 when it was not
// there, 409 while it has an active run. All bodies are the result. Who may not stop a run
// gets a 403 while there is one, parked or not.
func (c threads) remove(ctx context.Context, in deleteInput) (engine.DeleteResult, error) {
	key := in.of(ctx, c.Server)
	who, remove := c.asking(ctx), c.engine.DeleteThread
	if !who.may(ScopeStop) {
		remove = c.engine.DeleteIdleThread
	}
	result, err := remove(c.acting(ctx), key)
	if result.Reason == engine.ReasonActiveRun && !who.may(ScopeStop) {
		err = lacks(ScopeStop, "deleting a thread that has an active run")
	}
	switch {
	case err != nil:
		return result, about(ctx, err, key, "")
	case result.Accepted:
	case result.Reason == engine.ReasonNotFound:
		rest.ResponseOf(ctx).SetStatus(http.StatusNotFound)
	default:
		rest.ResponseOf(ctx).SetStatus(http.StatusConflict)
	}
	return result, nil
}
