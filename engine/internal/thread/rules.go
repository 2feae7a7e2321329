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

// Rules are the settings that transitions decide by.
type Rules struct {
	// Lease is how long a worker that does not report holds a run.
	Lease time.Duration
	// Settles says that a settle hook is called for each run, before its end state is written.
	Settles bool
	// MaxWaiting bounds how many runs wait for a thread.
	MaxWaiting int
	// MaxBudget bounds what an answer may raise the budget of a run to.
	MaxBudget spool.Budget
	// ParkTTL is how long an answer may take where nothing else says.
	ParkTTL time.Duration
	Retry   config.RetryOptions
	Random  random.Source
	Log     *slog.Logger
	// Parameters returns the schema of the arguments of the call that a park is about. Nil: this
	// process does not have the tool.
	Parameters func(v spool.View, p spool.Park) (json.RawMessage, error)
}

// Wait returns the wait before the next attempt: doubling from Backoff, with up to a quarter
// more so that runs that failed together do not come back together. A provider that asks for a
// longer wait gets it, up to AfterMax, which may be less than BackoffMax.
func (r Rules) Wait(attempts int, cause error) time.Duration {
	wait := r.Retry.Backoff
	for range attempts - 1 {
		wait = min(wait*2, r.Retry.BackoffMax)
	}
	wait += r.Random.UpTo(wait / 4)
	return max(wait, min(askedWait(cause), r.Retry.AfterMax))
}

func askedWait(cause error) time.Duration {
	if asked, ok := errors.AsType[*spool.RetryError](cause); ok {
		return asked.After
	}
	if model, ok := errors.AsType[*spool.ModelError](cause); ok {
		return model.After
	}
	return 0
}

// RefusedError is what the state of a thread does not allow. It rolls the transaction back, and becomes
// a result.
type RefusedError struct {
	// Reason is one of the constants named Reason.
	Reason string
	Text   string
}

func (r *RefusedError) Error() string { return r.Text }

// Refuse returns a refusal.
func Refuse(reason, text string) *RefusedError { return &RefusedError{Reason: reason, Text: text} }

// ErrUnchanged rolls a transition back that has found nothing to do.
var ErrUnchanged = errors.New("nothing to do")
