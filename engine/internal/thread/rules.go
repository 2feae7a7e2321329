package thread

import (
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/random"
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/store"
)

// Rules contains the settings of the transitions.
type Rules struct {
	// Lease is how long a worker keeps a run without renewing its lease.
	Lease time.Duration
	// Settles is true if a settle hook is called for each run before its end state is written.
	Settles bool
	// MaxWaiting bounds how many runs wait for a thread.
	MaxWaiting int
	// MaxBudget bounds the budget to which an answer may raise a run's budget.
	MaxBudget spool.Budget
	// ClientToolTTL is how long a call of the client's tool waits for the client.
	ClientToolTTL time.Duration
	// ParkTTL is how long a park stays open if neither tool nor request says otherwise.
	ParkTTL time.Duration
	Retry   option.Retry
	Random  random.Source
	Log     *slog.Logger
	// QueueOf returns the named queue of an agent's jobs.
	QueueOf func(agent string) string
	// Parameters returns the argument schema of a parked call's tool, or nil if this process lacks the
	// tool.
	Parameters func(v store.View, p store.Park) (json.RawMessage, error)
}

// RetryDelay returns the delay before the next attempt. The delay doubles with each attempt, from
// Backoff up to BackoffMax. A random part of up to a quarter is added, so that runs that failed
// together do not come back together. If a provider asks for a longer delay, the delay is that long,
// but at most AfterMax.
func (r Rules) RetryDelay(attempts int, cause error) time.Duration {
	delay := r.Retry.Backoff
	for range attempts - 1 {
		delay = min(delay*2, r.Retry.BackoffMax)
	}
	delay += r.Random.UpTo(delay / 4)
	return max(delay, min(askedDelay(cause), r.Retry.AfterMax))
}

func askedDelay(cause error) time.Duration {
	if asked, ok := errors.AsType[*spool.RetryError](cause); ok {
		return asked.After
	}
	if model, ok := errors.AsType[*spool.ModelError](cause); ok {
		return model.After
	}
	return 0
}

// RefusedError says that the state of a thread does not allow a request. It rolls the transaction back,
// and becomes the request's result.
type RefusedError struct {
	// Reason is one of the root package's constants whose names begin with Reason.
	Reason string
	Text   string
}

func (r *RefusedError) Error() string { return r.Text }

func Refuse(reason, text string) *RefusedError { return &RefusedError{Reason: reason, Text: text} }

// ErrUnchanged rolls back a transition that has no effect.
var ErrUnchanged = errors.New("nothing to do")
