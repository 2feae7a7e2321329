package wire

import (
	"github.com/spoolhq/spool"
)

// Errors that callers compare with [errors.Is].
var (
	// ErrUnknownAgent is returned for a job that names an agent that this process does not have.
	// The job is not used up: a queue that retries keeps it.
	ErrUnknownAgent = &spool.Error{Code: spool.NotFound, Message: "unknown agent"}
)
