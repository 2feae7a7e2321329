package server

import (
	"context"

	"github.com/spoolhq/spool"
)

// usage answers GET /api/agent/usage with the tokens that a thread has used and how full
// its context is.
func (c *follow) usage(ctx context.Context, in struct{ oneThread }) (spool.ThreadUsage, error) {
	key := in.of(ctx, c.Server)
	usage, err := c.engine.Usage(c.acting(ctx), key)
	return usage, about(ctx, err, key, "")
}
