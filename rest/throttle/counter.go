package throttle

import (
	"context"
	"time"
)

// Counter counts requests. [Memory] counts in one process; package throttle/redis counts for
// all processes of a program. The suite in throttletest checks this contract.
type Counter interface {
	// Take counts one request of the key if the rate allows it, and returns what is left.
	// Checking and counting are atomic: concurrent calls, also those of other processes that
	// share the counter, never exceed the limit. A refused request is not counted.
	//
	// The key names a throttle and a caller; it has no secret. A key is always used with the
	// same rate. After an error it is unknown whether the request was counted; [OnFault] says
	// how the request goes on. Take may block until ctx ends. It must be safe for concurrent
	// use.
	Take(ctx context.Context, key string, rate Rate) (State, error)
}

// State is what is left of a limit after [Counter.Take].
type State struct {
	// Allowed is true if the request was counted.
	Allowed bool
	// Remaining is the number of further requests that would be allowed now.
	Remaining int
	// Reset is the time until the whole limit is available again.
	Reset time.Duration
	// RetryAfter is the time until a refused caller is allowed one request. It is zero if the
	// request was allowed.
	RetryAfter time.Duration
}
