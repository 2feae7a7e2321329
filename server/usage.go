package server

import (
	"context"

	"github.com/spoolhq/spool"
)

// usageInput asks for the usage of a thread.
type usageInput struct{ oneThread }

// usage answers GET /api/agent/usage with the tokens that a thread has used and how full
// its context is.
func (c follow) usage(ctx context.Context, in usageInput) (spool.ThreadUsage, error) {
	key := in.of(ctx, c.Server)
	usage, err := c.engine.Usage(c.acting(ctx), key)
	return usage, about(ctx, err, key, "")
}
