package threads

import (
	"context"

	"github.com/spoolhq/spool/server/internal/call"
	"github.com/spoolhq/spool/wire"
)

// UsageInput asks for the usage of a thread.
type UsageInput struct{ call.OneThread }

// Usage answers with the tokens that a thread has used, in total and by agent and model, and how full the model's
// window is.
func (c Controller) Usage(ctx context.Context, in UsageInput) (wire.ThreadUsage, error) {
	key := in.Key(ctx)
	usage, err := c.Engine.Usage(call.Acting(ctx), key)
	return usage, call.About(ctx, err, key, "")
}
