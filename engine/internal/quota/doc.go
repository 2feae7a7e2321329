// Package quota shares the limits of a model's provider among all workers of one store.
//
// A group is what a provider counts together, such as the requests with one key. Each group has one
// [store.Row], which engines change by compare-and-set. The row has the starts and tokens of the last
// minute, and what each engine holds: grants (starts with the time from which each may be used) and slots
// (requests under way). An engine gives its grants to its own waiting calls, so that most calls need no
// transaction. It tells the row later which grants it has used and what the calls have cost.
//
// What is uncertain counts as used. A grant counts from the last moment at which its engine may use it,
// until the engine reports the real time. The slots of an engine that died are free when its lease lapses.
// An engine that cannot renew its lease cancels its calls before that. If the store fails, calls wait.
//
// All times in the row are the store's. An engine knows the difference between the store's clock and its own
// to within one transaction, and always assumes the worse end.
//
// The package imports the root package and engine/internal/random.
package quota

import "time"

const (
	// period is the time in which a provider counts. Requests do not take the same time to arrive, so
	// it is longer than a minute.
	period = int64((time.Minute + time.Second) / time.Millisecond)
	// usable is how long a grant may be used.
	usable = int64(5 * time.Second / time.Millisecond)
	// horizon is how early a start may be granted. An engine asks for it once in that time.
	horizon = int64(2 * time.Second / time.Millisecond)
	// grain is the time for which the row counts starts together.
	grain = int64(250 * time.Millisecond / time.Millisecond)
)

// Limit is what a provider allows. A zero field has no limit.
type Limit struct {
	// Concurrent bounds the requests under way.
	Concurrent int64
	// Requests and Tokens are for one minute.
	Requests, Tokens int64
}

// rated reports whether the limit has rates, and so a call needs a grant.
func (l Limit) rated() bool { return l.Requests > 0 || l.Tokens > 0 }

// Reason says what a call waits for.
type Reason string

// The reasons.
const (
	Requests   Reason = "requests"
	Tokens     Reason = "tokens"
	Concurrent Reason = "concurrent"
	// Refused means that the provider has refused requests for a time.
	Refused Reason = "refused"
)
