package live

import (
	"context"
	"log/slog"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/walk"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Wakes is the part of [store.Live] that wakes followers.
type Wakes interface {
	Wake(key spool.ThreadKey, kind store.WakeKind, notice []byte)
	Subscribe(
		ctx context.Context, key spool.ThreadKey, wake func(kind store.WakeKind, notice []byte),
	) (unsubscribe func(), err error)
}

// Config contains the sources and settings of followers.
type Config struct {
	walk.Sources

	Wakes Wakes
	// Spread returns a random duration up to its argument.
	Spread func(time.Duration) time.Duration
	Log    *slog.Logger

	// Keepalive is the time between keepalive messages on an idle event stream.
	Keepalive time.Duration
	// Poll is how often a thread is read without a wake-up.
	Poll time.Duration
	// RetryHint is how long browsers wait before they reconnect, unless the caller of SSE names another time.
	RetryHint time.Duration
}

// Client describes what a client of a thread already has, and what it may see.
type Client struct {
	wire.FollowOptions

	// Subject restricts the client to threads of that owner. Nil: all threads.
	Subject *string
}

// readThread returns a thread, or a [spool.NotFound] error if it does not exist or the actor of the
// context must not see it.
func readThread(ctx context.Context, db record.Viewer, key spool.ThreadKey) (thread wire.Thread, err error) {
	err = record.View(ctx, db, key, func(_ store.View, t wire.Thread) error {
		thread = t
		return nil
	})
	return thread, err
}
