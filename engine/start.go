package engine

import (
	"context"

	"github.com/spoolhq/spool"
)

// Run starts a run on the thread, which it makes if it does not exist; an empty thread
// id makes one up. When it returns an accepted result the run is durable and will come
// to an end, whatever happens to this process. On a thread that has an active run,
// [StartRequest.WhenBusy] decides. A refusal changes nothing. Run returns an
// [spool.Invalid] error that names the field for a request that is wrong.
func (e *Engine) Run(ctx context.Context, key spool.ThreadKey, r StartRequest) (RunResult, error) {
	return e.desk.Start(ctx, key, r)
}
