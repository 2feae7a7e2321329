package throttle

import (
	"context"
	"time"
)

// Counter counts requests. [Memory] is one for a single process, and package redis has one
// that the processes of a program share. The suite in throttletest says what a counter must
// do.
type Counter interface {
	// Take counts one request of the key when the rate allows it, and says what is left.
	// Looking and counting are atomic: calls at the same time, also those of other
	// processes that share the counter, are allowed the limit and not one more. A refused
	// request is not counted.
	//
	// The key names a throttle and a caller and has no secret. A key is used with one rate
	// only. An error means that nothing is known and nothing may have been counted; how a
	// request goes on then is said by [OnFault]. Take may block for as long as ctx lasts.
	// It is safe for concurrent use.
	Take(ctx context.Context, key string, rate Rate) (State, error)
}

// State is what is left of a limit after a [Counter] was asked.
type State struct {
	// Allowed is true when the request was counted.
	Allowed bool
	// Remaining is how many more requests would be allowed now.
	Remaining int
	// Reset is the time until all of the limit is available again.
	Reset time.Duration
	// RetryAfter is the time until a refused caller is allowed one request. It is zero when
	// the request was allowed.
	RetryAfter time.Duration
}
