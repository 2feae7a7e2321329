package server

import (
	"context"
	"net/http"

	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/rest"
)

// remove answers DELETE /api/threads: 200 when the thread is gone, 404 when it was not
// there, 409 while it has an active run. All bodies are the result.
func (c *threads) remove(ctx context.Context, in struct{ oneThread }) (engine.DeleteResult, error) {
	key := in.of(ctx, c.Server)
	result, err := c.engine.DeleteThread(c.acting(ctx), key)
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
