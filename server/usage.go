package server

import (
	"context"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server/internal/call"
)

// usageInput asks for the usage of a thread.
type usageInput struct{ call.OneThread }

// usage answers GET /api/agent/usage with the tokens that a thread has used and how full
// its context is.
func (c follow) usage(ctx context.Context, in usageInput) (spool.ThreadUsage, error) {
	key := in.Key(ctx)
	usage, err := c.engine.Usage(call.Acting(ctx), key)
	return usage, call.About(ctx, err, key, "")
}
