package engine

import (
	"context"

	"github.com/spoolhq/spool"
)

// Run starts a run on the thread, and creates the thread if it does not exist. An empty thread id
// stands for a new thread. A run with an accepted result is durable and will come to an end, whatever
// happens to this process. On a thread with an active run, [StartRequest.WhenBusy] decides. A refused
// start changes nothing. Run returns an [spool.Invalid] error that names the field for a wrong request.
func (e *Engine) Run(ctx context.Context, key spool.ThreadKey, r StartRequest) (RunResult, error) {
	return e.intake.Start(ctx, key, r)
}
