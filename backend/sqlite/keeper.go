package sqlite

import (
	"log/slog"
	"time"
)

// The delays after which the log is emptied.
const (
	// idleAfter is how long no write may have happened.
	idleAfter = 2 * time.Second
	// eraseAfter is how long deleted data may stay in the log, also under load. Readers can keep it
	// there for longer.
	eraseAfter = time.Second
)

// keeper empties the log at times: when no writes come, so that the database is in one file and a start
// has nothing to recover, and after a deletion, so that the log does not keep the deleted data. Only
// the writer's goroutine uses it.
type keeper struct {
	guard *guard // nil for a file that other processes use too
	log   *slog.Logger
	idle  time.Duration
	erase time.Duration

	timer   *time.Timer
	armed   bool
	last    time.Time // of the last commit
	deleted bool      // data was deleted since the log was last emptied
}

func newKeeper(g *guard, log *slog.Logger) *keeper {
	k := &keeper{guard: g, log: log, idle: idleAfter, erase: eraseAfter, timer: time.NewTimer(time.Hour)}
	k.timer.Stop()
	return k
}

// wrote notes a commit. Deleted is true if the commit has deleted data that must not be recoverable.
func (k *keeper) wrote(deleted bool) {
	k.last = time.Now() // the machine's clock, because no stored value depends on it
	switch {
	case deleted && !k.deleted:
		k.deleted = true
		k.arm(k.erase)
	case !k.armed:
		k.arm(k.idle)
	}
}

func (k *keeper) arm(after time.Duration) {
	k.armed = true
	k.timer.Reset(after)
}

// tend empties the log if it is time to do so.
func (k *keeper) tend(c *conn) {
	k.armed = false
	quiet := time.Since(k.last)
	if !k.deleted && quiet < k.idle {
		if k.guard != nil {
			k.warn(k.guard.renew(c))
		}
		k.arm(k.idle - quiet)
		return
	}
	done, err := k.empty(c)
	k.warn(err)
	if err != nil || !done {
		k.arm(k.idle)
		return
	}
	k.deleted = false
}

func (k *keeper) warn(err error) {
	if err != nil {
		k.log.Warn("empty the log of the database", "error", err)
	}
}

func (k *keeper) empty(c *conn) (bool, error) {
	if k.guard != nil {
		return k.guard.empty(c)
	}
	return checkpoint(c, "TRUNCATE")
}
