package enginetest

import (
	"context"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/spooltest"
)

// threadKey returns the key of a thread of the default tenant.
func threadKey(id spool.ThreadID) spool.ThreadKey {
	return spool.ThreadKey{Tenant: spool.DefaultTenant, ID: id}
}

func messageAt(all []spool.Message, id spool.MessageID) int {
	return slices.IndexFunc(all, func(m spool.Message) bool { return m.ID == id })
}

// turnAt returns a turn of a script, or an error after its end.
func turnAt(turns []spooltest.Turn, at int) spooltest.Turn {
	if at >= len(turns) {
		return spooltest.Turn{Err: &spool.ModelError{Status: 400, Message: "the script has no turn left"}}
	}
	return turns[at]
}

func canceled(ctx context.Context) error {
	return spool.Wrap(spool.Canceled, "Canceled", ctx.Err())
}
