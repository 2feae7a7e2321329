package engine

import (
	"context"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// UpdateThread changes the title, labels and owner of a thread, and returns the thread. It does not
// change runs, and may be called at any time. It returns a [spool.NotFound] error for a thread that
// does not exist, and an [spool.Invalid] error that names the field for a wrong title or label.
func (e *Engine) UpdateThread(ctx context.Context, key spool.ThreadKey, c wire.ThreadChange) (wire.Thread, error) {
	return e.intake.Change(ctx, key, c)
}
