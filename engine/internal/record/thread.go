package record

import (
	"time"

	"github.com/spoolhq/spool"
)

// QueueOf returns the runs that wait for the thread, with their turns where they are
// wanted. Nobody waits for a thread that no run has.
func QueueOf(v spool.View, thread spool.Thread, turns bool) ([]spool.QueuedRun, error) {
	if !thread.State.Active() {
		return nil, nil
	}
	line, err := v.Waiting()
	if err != nil || len(line) == 0 {
		return nil, err
	}
	queue := make([]spool.QueuedRun, len(line))
	for i, r := range line {
		queue[i] = spool.QueuedRun{
			RunID: r.ID, Position: i + 1, WhenBusy: r.Wait.WhenBusy,
			ClientMessageID: r.Wait.ClientMessageID, EnqueuedAt: r.EnqueuedAt,
		}
		if turns {
			queue[i].Content = r.Wait.Content
		}
	}
	return queue, nil
}

// ErrThreadGone says that the thread was deleted, whether another one was made under its id or not.
var ErrThreadGone = spool.Errorf(spool.NotFound, ThreadNotFound)

// CheckSame returns [errThreadGone] for a thread that was made at another time. A zero time
// stands for any thread.
func CheckSame(thread spool.Thread, made time.Time) error {
	if made.IsZero() || thread.CreatedAt.Equal(made) {
		return nil
	}
	return ErrThreadGone
}

// SameThread is checkSame for the thread of a view.
func SameThread(v spool.View, made time.Time) error {
	if made.IsZero() {
		return nil
	}
	thread, err := v.Thread()
	switch {
	case Missing(err):
		return ErrThreadGone
	case err != nil:
		return err
	default:
		return CheckSame(thread, made)
	}
}

func NotFound(err error) error {
	if Missing(err) {
		return spool.Errorf(spool.NotFound, ThreadNotFound)
	}
	return err
}

const ThreadNotFound = "Thread not found"

// Missing reports whether err says that the thread, or its run, does not exist.
func Missing(err error) bool { return spool.CodeOf(err) == spool.NotFound }
