package call

import (
	"context"

	"github.com/spoolhq/spool"
)

// OneThread names the thread that a request is about.
type OneThread struct {
	// ThreadID is the thread.
	ThreadID spool.ThreadID `example:"t1" maxLength:"128" pattern:"^[A-Za-z0-9._:-]+$" query:"threadId" required:"true"`
}

// Key returns the thread's key.
func (q OneThread) Key(ctx context.Context) spool.ThreadKey {
	key := By(ctx).Key(q.ThreadID)
	Concerns(ctx, key, "")
	return key
}
