package engine

import (
	"context"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/record"
	"github.com/spoolhq/spool/wire"
)

// Fork makes a new idle thread that begins with the messages that a thread had at a version: those of the main agent,
// up to the last one behind which no call waits for its result. It has the title, the labels and the model of that
// version, and copies of the artifacts that the messages name. It belongs to the actor of ctx. It has none of the runs,
// branches and events, and its first run is of the agent that the start names. The thread itself does not change.
//
// Fork is refused, and changes nothing, if there is a thread with the new id. It returns a [spool.NotFound] error for a
// thread that does not exist, and an [spool.Invalid] error for a version that it does not have. A call that fails with
// [spool.Unavailable] may have made the new thread.
func (e *Engine) Fork(ctx context.Context, key spool.ThreadKey, r wire.ForkRequest) (wire.ForkResult, error) {
	at, err := e.snapshots.At(ctx, key,
		func(thread *record.Record) (int64, error) { return r.Version, thread.Check(r.Version) })
	if err != nil {
		return wire.ForkResult{}, err
	}
	return e.intake.Fork(ctx, key, at, r.NewThreadID)
}
