package engine

import (
	"log/slog"

	"github.com/spoolhq/spool"
)

// concerning returns the log with the thread and run that its lines are about. The run may
// be unknown.
func concerning(log *slog.Logger, key spool.ThreadKey, run spool.RunID) *slog.Logger {
	log = log.With("tenant", string(key.Tenant), "thread", string(key.ID))
	if run != "" {
		log = log.With("run", string(run))
	}
	return log
}

// runOf returns the run of a stream.
func runOf(id spool.StreamID) spool.RunID {
	run, _, _ := id.Split()
	return run
}
