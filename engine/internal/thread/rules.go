package thread

import (
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/config"
	"github.com/spoolhq/spool/engine/internal/random"
)

// Rules are the settings of the transitions.
type Rules struct {
	// Lease is how long a silent worker keeps a run.
	Lease time.Duration
	// Settles says that a settle hook is called for each run before its end state is written.
	Settles bool
	// MaxWaiting bounds how many runs wait for a thread.
	MaxWaiting int
	// MaxBudget bounds the budget that an answer may give a run.
	MaxBudget spool.Budget
	// ParkTTL is how long a park stays open if neither tool nor request says otherwise.
	ParkTTL time.Duration
	Retry   config.RetryOptions
	Random  random.Source
	Log     *slog.Logger
	// Parameters returns the argument schema of a parked call. It returns nil if this process lacks
	// the tool.
	Parameters func(v spool.View, p spool.Park) (json.RawMessage, error)
}

// RetryDelay returns the delay before the next attempt. It doubles from Backoff, plus up to a
// quarter, so that runs that failed together do not come back together. If a provider asks for a
// longer delay, it gets up to AfterMax, which may be less than BackoffMax.
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

// RefusedError says that the state of a thread does not allow a request. It rolls the transaction
// back and becomes the request's result.
type RefusedError struct {
	// Reason is one of the constants named Reason.
	Reason string
	Text   string
}

func (r *RefusedError) Error() string { return r.Text }

func Refuse(reason, text string) *RefusedError { return &RefusedError{Reason: reason, Text: text} }

// ErrUnchanged rolls back a transition that has nothing to do.
var ErrUnchanged = errors.New("nothing to do")
