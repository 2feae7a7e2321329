// Package settle calls an engine's settle hook: when a run ends, and again from the queue if the hook
// failed. It uses the store only to ensure that one process at a time retries a run's settlement.
package settle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

const (
	tries = 3
	// wait is the pause after the first try. The pause grows with each try.
	wait = 200 * time.Millisecond
	// Claim bounds the duration of a settlement. A process that retries a settlement keeps other
	// processes from it for that long.
	Claim = 10 * time.Minute
	// retryAfter is the wait before the queue tries a failed settlement again.
	retryAfter = time.Minute
)

// Hook is the settle hook of an engine.
type Hook struct {
	Store store.Store
	Log   *slog.Logger
	// Settle is called for each run that ends. Nil: no hook.
	Settle func(ctx context.Context, s wire.Settlement) error
}

// Of returns the hook's argument for a run that ends.
func Of(r store.RunRow, ending store.Ending) wire.Settlement {
	var output json.RawMessage
	if ending.State == wire.Completed {
		output = r.OutputValue()
	}
	return wire.Settlement{
		Thread: spool.ThreadKey{Tenant: r.Tenant, ID: r.ThreadID}, RunID: r.ID, Agent: r.Agent,
		State: ending.State, StopReason: ending.Reason, Error: ending.Error, Expired: r.Expired, Steps: r.Steps,
		Usage: r.TokenCount, Costs: r.Costs(), HostState: r.HostState, Output: output,
	}
}

// Call calls the hook until it returns no error, at most three times. It does nothing without a hook.
func (h Hook) Call(ctx context.Context, s wire.Settlement) (err error) {
	if h.Settle == nil {
		return nil
	}
	for try := range tries {
		if err = h.try(ctx, s); err == nil {
			return nil
		}
		h.Log.With("tenant", string(s.Thread.Tenant), "thread", string(s.Thread.ID), "run", string(s.RunID)).WarnContext(ctx,
			"settle run", "error", err)
		if try < tries-1 {
			pause(ctx, wait*time.Duration(try+1))
		}
	}
	return err
}

func (h Hook) try(ctx context.Context, s wire.Settlement) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the settle hook panicked: %v\n%s", p, debug.Stack())
		}
	}()
	return h.Settle(ctx, s)
}

// Again calls the hook for a run whose hook failed when the run ended.
func (h Hook) Again(ctx context.Context, j wire.Job) (wire.JobResult, error) {
	if h.Settle == nil {
		return wire.JobResult{Accepted: true, Reason: "there is no settle hook"}, nil
	}
	var run store.RunRow
	var busy time.Duration
	err := h.Store.Update(ctx, j.Thread(), 0, func(tx store.Tx) (err error) {
		busy = 0
		if run, err = store.FindRun(tx, j.RunID); err != nil {
			return err
		}
		switch {
		case !run.SettledAt.IsZero() || !run.State.Terminal():
			return thread.ErrUnchanged
		case tx.Now().Before(run.SettleClaim):
			busy = run.SettleClaim.Sub(tx.Now())
			return nil
		}
		run.SettleClaim = tx.Now().Add(Claim)
		return tx.Write(store.Changes{Runs: []store.RunRow{run}})
	})
	switch {
	case record.Missing(err), errors.Is(err, thread.ErrUnchanged):
		return wire.JobResult{Accepted: true, Reason: "there is nothing to settle"}, nil
	case err != nil:
		return wire.JobResult{}, err
	case busy > 0:
		return wire.JobResult{Reason: "it is being settled", RetryAfter: busy}, nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), Claim)
	defer cancel()
	hookErr := h.Call(ctx, Of(run, store.Ending{State: run.State, Reason: run.StopReason, Error: run.Error}))
	err = h.Store.Update(ctx, j.Thread(), 0, func(tx store.Tx) error {
		run, err := store.FindRun(tx, j.RunID)
		if err != nil {
			return err
		}
		run.SettleClaim = time.Time{}
		if hookErr == nil {
			run.SettledAt = tx.Now()
		}
		return tx.Write(store.Changes{Runs: []store.RunRow{run}})
	})
	switch {
	case err != nil:
		return wire.JobResult{}, err
	case hookErr != nil:
		return wire.JobResult{Reason: "the settle hook failed", RetryAfter: retryAfter}, nil
	}
	return wire.JobResult{Accepted: true}, nil
}

// pause waits for the duration d, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
