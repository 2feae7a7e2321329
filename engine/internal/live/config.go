package live

import (
	"context"
	"log/slog"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/walk"
)

// Bus is what followers need of [spool.Bus].
type Bus interface {
	Subscribe(ctx context.Context, key spool.ThreadKey, wake func(spool.WakeKind)) (unsubscribe func(), err error)
	Listen(ctx context.Context, key spool.ThreadKey, receive func(notice []byte)) (unlisten func(), err error)
}

// Config has the sources and settings of followers.
type Config struct {
	walk.Sources

	Bus Bus
	// Spread returns a random duration up to the given one.
	Spread func(time.Duration) time.Duration
	Log    *slog.Logger

	// Keepalive is the time between signs of life on an idle event stream.
	Keepalive time.Duration
	// Poll is how often a thread is looked at without a wake-up.
	Poll time.Duration
	// RetryHint is how long browsers wait before they reconnect, where a client does not say.
	RetryHint time.Duration
}

// Client says what a client of a thread has, and what it may see.
type Client struct {
	spool.FollowOptions

	// Subject is whose threads alone the client may see. Nil: all threads.
	Subject *string
}

// readThread returns a thread as the actor of the context may see it, or a [spool.NotFound] error.
func readThread(ctx context.Context, store record.Viewer, key spool.ThreadKey) (thread spool.Thread, err error) {
	err = record.View(ctx, store, key, func(_ spool.View, t spool.Thread) error {
		thread = t
		return nil
	})
	return thread, err
}
