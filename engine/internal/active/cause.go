package active

import (
	"errors"
	"fmt"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// The causes with which a segment's context ends, besides the worker's own.
var (
	ErrStopped = fmt.Errorf("the run was stopped: %w", spool.ErrStopped)
	ErrLost    = errors.New("another worker has the lease")
	ErrLapsed  = errors.New("the lease could not be renewed")
	// ErrOutOfTime ends a run whose time budget is exhausted.
	ErrOutOfTime = fmt.Errorf("the run has had its time: %w", spool.ErrStopped)
	// ErrTimeLimit ends a run that reaches the wall time limit of all runs. Only the stop reason
	// distinguishes it from an exhausted time budget.
	ErrTimeLimit = fmt.Errorf("%w: workers execute no run for longer", ErrOutOfTime)
)

// AllSteps is the end of a run that has had all its steps.
var AllSteps = store.Ending{State: wire.Completed, Reason: wire.StopMaxSteps}

// StoreError marks an error of the store, as opposed to one of the model.
type StoreError struct{ error }

// FromStore marks an error of the store. It returns nil for nil.
func FromStore(err error) error {
	if err == nil {
		return nil
	}
	return StoreError{err}
}

func (s StoreError) Unwrap() error { return s.error }

// IsStoreError reports whether the store has failed.
func IsStoreError(err error) bool { return errors.As(err, new(StoreError)) }
