package loop

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/active"
	"github.com/spoolhq/spool/engine/internal/calls"
	"github.com/spoolhq/spool/internal/testing/stage"
	"github.com/spoolhq/spool/store"
)

// What went wrong first decides how a segment ends: a lost lease before a lost store, and both before a stop.
func TestExitOf(t *testing.T) {
	t.Parallel()
	unavailable := active.FromStore(spool.Errorf(spool.Unavailable, "no store"))
	cancelled := active.FromStore(spool.Errorf(spool.Canceled, "ended"))
	ended := fmt.Errorf("ask: %w", context.Canceled)
	for name, c := range map[string]struct {
		err, cause   error
		shutdown     bool
		want, nested Exit
	}{
		"done":                   {nil, active.ErrStopped, true, ExitDone, ExitDone},
		"failed":                 {stage.ErrDown, nil, false, ExitFailed, ExitFailed},
		"nested run tries again": {&calls.AttemptError{Err: stage.ErrDown}, nil, false, ExitFailed, ExitRetry},
		"retry, but stopped": {
			&calls.AttemptError{Err: stage.ErrDown}, active.ErrStopped, false, ExitStopped, ExitStopped,
		},
		"stopped":                   {ended, active.ErrStopped, false, ExitStopped, ExitStopped},
		"stopped, worker ends too":  {ended, active.ErrStopped, true, ExitStopped, ExitStopped},
		"out of time":               {ended, active.ErrOutOfTime, false, ExitOutOfTime, ExitOutOfTime},
		"limit of all runs":         {ended, active.ErrTimeLimit, false, ExitOutOfTime, ExitOutOfTime},
		"worker shuts down":         {ended, context.Canceled, true, ExitHandBack, ExitHandBack},
		"fails while shutting down": {stage.ErrDown, context.Canceled, true, ExitHandBack, ExitHandBack},
		"lost":                      {ended, active.ErrLost, false, ExitLost, ExitLost},
		"lost, worker ends too":     {ended, active.ErrLost, true, ExitLost, ExitLost},
		"lapsed":                    {ended, active.ErrLapsed, false, ExitLapsed, ExitLost},
		"lapsed, no store":          {unavailable, active.ErrLapsed, false, ExitLapsed, ExitLost},
		"fenced":                    {active.FromStore(store.ErrFenced), nil, false, ExitLost, ExitStoreFailed},
		"fenced, stopped": {
			active.FromStore(store.ErrFenced), active.ErrStopped, false, ExitLost, ExitStoreFailed,
		},
		"no store":                   {unavailable, nil, false, ExitStoreFailed, ExitStoreFailed},
		"no store, stopped":          {unavailable, active.ErrStopped, false, ExitStoreFailed, ExitStopped},
		"no store, worker ends":      {unavailable, context.Canceled, true, ExitStoreFailed, ExitHandBack},
		"read was cut off by stop":   {cancelled, active.ErrStopped, false, ExitStopped, ExitStopped},
		"read was cut off by worker": {cancelled, context.Canceled, true, ExitHandBack, ExitHandBack},
		"read was cut off":           {cancelled, nil, false, ExitStoreFailed, ExitStoreFailed},
		"sibling failed":             {ended, calls.ErrStepAbandoned, false, ExitFailed, ExitLost},
	} {
		if got := ExitOf(c.err, c.cause, c.shutdown); got != c.want {
			t.Errorf("%s: a segment: %s, want %s", name, got, c.want)
		}
		if got := nestedExitOf(c.err, c.cause); got != c.nested {
			t.Errorf("%s: a nested run: %s, want %s", name, got, c.nested)
		}
	}
	if !errors.Is(active.ErrStopped, spool.ErrStopped) || !errors.Is(active.ErrTimeLimit, spool.ErrStopped) ||
		errors.Is(active.ErrLost, spool.ErrStopped) {
		t.Error("a provider has to cancel the answer of a run that ends, and of no other")
	}
}
