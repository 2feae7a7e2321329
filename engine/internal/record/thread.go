package record

import (
	"context"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// QueueOf returns the runs that wait for the thread, with their user turns if turns is true. A thread
// without an active run has no waiting runs.
func QueueOf(v store.View, thread wire.Thread, turns bool) ([]wire.QueuedRun, error) {
	if !thread.State.Active() {
		return nil, nil
	}
	line, err := Waiting(v)
	if err != nil || len(line) == 0 {
		return nil, err
	}
	queue := make([]wire.QueuedRun, len(line))
	for i, r := range line {
		queue[i] = wire.QueuedRun{
			RunID: r.ID, Position: i + 1, WhenBusy: r.Wait.WhenBusy,
			ClientMessageID: r.Wait.ClientMessageID, EnqueuedAt: r.EnqueuedAt,
		}
		if turns {
			queue[i].Content = r.Wait.Content
		}
	}
	return queue, nil
}

// ErrThreadGone says that the thread was deleted. Another thread may have been created with its id.
var ErrThreadGone = spool.Errorf(spool.NotFound, ThreadNotFound)

// CheckSame returns [ErrThreadGone] for a thread that was not created at the given time. A zero time
// accepts any thread.
func CheckSame(thread wire.Thread, createdAt time.Time) error {
	if createdAt.IsZero() || thread.CreatedAt.Equal(createdAt) {
		return nil
	}
	return ErrThreadGone
}

// SameThread checks the thread of a view as [CheckSame] does.
func SameThread(v store.View, createdAt time.Time) error {
	if createdAt.IsZero() {
		return nil
	}
	thread, err := v.Thread()
	switch {
	case Missing(err):
		return ErrThreadGone
	case err != nil:
		return err
	default:
		return CheckSame(thread, createdAt)
	}
}

// View reads a thread. It returns a [spool.NotFound] error for a thread that does not exist.
func View(ctx context.Context, s Viewer, key spool.ThreadKey, read func(v store.View, t wire.Thread) error) error {
	return s.View(ctx, key, func(v store.View) error {
		thread, err := v.Thread()
		if err != nil {
			return NotFound(err)
		}
		return read(v, thread)
	})
}

// Viewer reads threads, as a [store.Store] does.
type Viewer interface {
	View(ctx context.Context, key spool.ThreadKey, fn func(v store.View) error) error
}

// NotFound returns the error "Thread not found" if err has the code NotFound, and err otherwise.
func NotFound(err error) error {
	if Missing(err) {
		return spool.Errorf(spool.NotFound, ThreadNotFound)
	}
	return err
}

const ThreadNotFound = "Thread not found"

// Missing reports whether err says that a thread or a run does not exist.
func Missing(err error) bool { return spool.CodeOf(err) == spool.NotFound }
