package engine

import (
	"log/slog"

	"github.com/spoolhq/spool"
)

// about says in a line of the log which thread and run it is about. The run may be unknown.
func about(key spool.ThreadKey, run spool.RunID) slog.Attr {
	attrs := []any{slog.String("tenant", string(key.Tenant)), slog.String("thread", string(key.ID))}
	if run != "" {
		attrs = append(attrs, slog.String("run", string(run)))
	}
	return slog.Group("", attrs...) // a group without a name is its attributes
}

// runOf returns the run of a stream.
func runOf(id spool.StreamID) spool.RunID {
	run, _, _ := id.Split()
	return run
}
