package agent

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
)

// What went wrong first decides how a segment ends: a lost lease before a lost store, and both before a stop.
func TestExitOf(t *testing.T) {
	t.Parallel()
	unavailable := storeError{spool.Errorf(spool.Unavailable, "no store")}
	cancelled := storeError{spool.Errorf(spool.Canceled, "ended")}
	ended := fmt.Errorf("ask: %w", context.Canceled)
	for name, c := range map[string]struct {
		err, cause   error
		shutdown     bool
		want, nested exit
	}{
		"done":                       {nil, errStopped, true, exitDone, exitDone},
		"failed":                     {errDown, nil, false, exitFailed, exitFailed},
		"nested run tries again":     {&attemptError{err: errDown}, nil, false, exitFailed, exitRetry},
		"retry, but stopped":         {&attemptError{err: errDown}, errStopped, false, exitStopped, exitStopped},
		"stopped":                    {ended, errStopped, false, exitStopped, exitStopped},
		"stopped, worker ends too":   {ended, errStopped, true, exitStopped, exitStopped},
		"out of time":                {ended, errOutOfTime, false, exitOutOfTime, exitOutOfTime},
		"limit of all runs":          {ended, errTimeLimit, false, exitOutOfTime, exitOutOfTime},
		"worker shuts down":          {ended, context.Canceled, true, exitHandBack, exitHandBack},
		"fails while shutting down":  {errDown, context.Canceled, true, exitHandBack, exitHandBack},
		"lost":                       {ended, errLost, false, exitLost, exitLost},
		"lost, worker ends too":      {ended, errLost, true, exitLost, exitLost},
		"lapsed":                     {ended, errLapsed, false, exitLapsed, exitLost},
		"lapsed, no store":           {unavailable, errLapsed, false, exitLapsed, exitLost},
		"fenced":                     {storeError{store.ErrFenced}, nil, false, exitLost, exitStoreFailed},
		"fenced, stopped":            {storeError{store.ErrFenced}, errStopped, false, exitLost, exitStoreFailed},
		"no store":                   {unavailable, nil, false, exitStoreFailed, exitStoreFailed},
		"no store, stopped":          {unavailable, errStopped, false, exitStoreFailed, exitStopped},
		"no store, worker ends":      {unavailable, context.Canceled, true, exitStoreFailed, exitHandBack},
		"read was cut off by stop":   {cancelled, errStopped, false, exitStopped, exitStopped},
		"read was cut off by worker": {cancelled, context.Canceled, true, exitHandBack, exitHandBack},
		"read was cut off":           {cancelled, nil, false, exitStoreFailed, exitStoreFailed},
		"sibling failed":             {ended, errStepAbandoned, false, exitFailed, exitLost},
	} {
		if got := exitOf(c.err, c.cause, c.shutdown); got != c.want {
			t.Errorf("%s: a segment: %s, want %s", name, got, c.want)
		}
		if got := nestedExitOf(c.err, c.cause); got != c.nested {
			t.Errorf("%s: a nested run: %s, want %s", name, got, c.nested)
		}
	}
	if !errors.Is(errStopped, spool.ErrStopped) || !errors.Is(errTimeLimit, spool.ErrStopped) || errors.Is(errLost, spool.ErrStopped) {
		t.Error("a provider has to cancel the answer of a run that ends, and of no other")
	}
}
