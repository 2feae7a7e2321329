package engine

import (
	"context"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Run starts a run on the thread, and creates the thread if it does not exist. An empty thread id
// stands for a new thread. A run with an accepted result is durable and will come to an end, whatever
// happens to this process. On a thread with an active run, [StartRequest.WhenBusy] decides. A refused
// start changes nothing. Run returns an [spool.Invalid] error that names the field for a wrong request.
func (e *Engine) Run(ctx context.Context, key spool.ThreadKey, r wire.StartRequest) (wire.RunResult, error) {
	return e.intake.Start(ctx, key, r)
}

// StartTx starts a run as [Engine.Run] does, in a transaction that the host has open: the run is accepted
// when that transaction commits, together with the host's own rows, or not at all. A backend makes tx, such
// as postgres.Tx or sqlite.Tx. An accepted result counts only after the commit.
//
// Call wake after the commit. Until then no worker sees the run, and no client gets its entries. Without the call,
// workers find the run at their next poll, within two seconds. wake is never nil, and does nothing for a start
// that was refused. A refused or wrong start leaves nothing in the transaction, which can go on.
//
// StartTx sees nothing that other transactions have not committed. The metrics of the engine count a start
// only by its later steps.
//
// StartTx returns an [spool.Invalid] error for a transaction on another database than the backend's, as far as
// the transaction says which it is on, and for a backend without transactions of a host, such as memory.
func (e *Engine) StartTx(
	ctx context.Context, tx store.HostTx, key spool.ThreadKey, r wire.StartRequest,
) (result wire.RunResult, wake func(), err error) {
	return e.intake.StartTx(ctx, tx, key, r)
}
