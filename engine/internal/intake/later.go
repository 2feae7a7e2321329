package intake

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/actor"
	"github.com/spoolhq/spool/engine/internal/later"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/right"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// unknownFor is for how long after its time a start waits for a process that has its agent, its model and its keys.
const unknownFor = 10 * time.Minute

// waits reports whether a start has to wait for its time. The store's time decides when it comes due: one that waits
// needlessly is due at once.
func waits(r wire.StartRequest) bool { return r.StartAt.After(time.Now()) }

// delay keeps a checked start until its time. Its run id and its idempotency key are taken at once.
func (h *Handler) delay(
	ctx context.Context, call startCall, key spool.ThreadKey, r wire.StartRequest, agent string, again repeat,
) (result wire.RunResult, follow func(), err error) {
	if first, found, err := h.delayed(ctx, key, again, r.RunID); found || err != nil {
		return first, nil, err
	}
	runs, err := h.Store.Runs(ctx, wire.RunQuery{Tenant: key.Tenant, ID: r.RunID, Limit: 1})
	if err != nil || len(runs) > 0 {
		return runIDUsed(key.ID), nil, err
	}
	if r.Maker, err = h.keptMaker(ctx, key.Tenant, r); err != nil {
		return wire.RunResult{}, nil, err
	}
	switch n, err := h.later().Waiting(ctx, key.Tenant); {
	case err != nil:
		return wire.RunResult{}, nil, err
	case n >= later.Max:
		return wire.RunResult{}, nil, spool.Errorf(spool.Limit,
			"startAt: %d starts wait for their time, and no more are allowed", later.Max)
	}
	if r.Webhook, err = h.Events.SealWebhook(key.Tenant, r.Webhook); err != nil {
		return wire.RunResult{}, nil, err
	}
	at := r.StartAt.UTC()
	s := later.Start{
		DelayedStart: wire.DelayedStart{
			RunID: r.RunID, ThreadID: key.ID, StartAt: at, Agent: agent, Title: cmp.Or(r.Title, title(r.Prompt)),
			WhenBusy: r.WhenBusy, StartedBy: r.By,
		},
		KeyRow: later.KeyRow(again.key),
	}
	err = call.db.Update(ctx, key, 0, func(tx store.Tx) error {
		s.CreatedAt = tx.Now().UTC()
		c, err := later.New(key.Tenant, s, later.Asked{Request: r, Actor: actor.Of(ctx)}, again.hash())
		if err != nil {
			return err
		}
		if err := tx.Write(c); err != nil {
			return err
		}
		return call.also(tx)
	})
	var no *thread.RefusedError
	switch {
	case err == nil:
		follow = func() { h.Live.Wake(store.EventsTopic, store.WakeJobs, nil) } // it may come due before the next poll
		return wire.RunResult{Accepted: true, ThreadID: key.ID, RunID: r.RunID, StartAt: at}, follow, nil
	case errors.As(err, &no): // the thread is somebody else's
		return wire.RunResult{ThreadID: key.ID, Reason: no.Reason, Error: no.Text}, nil, nil
	case errors.Is(err, store.ErrRowChanged):
		if first, found, err := h.delayed(ctx, key, again, r.RunID); found || err != nil {
			return first, nil, err
		}
	}
	return wire.RunResult{}, nil, err
}

// keptMaker returns the maker of a start as it is stored, or an error if its right will have ended when the start comes
// due.
func (h *Handler) keptMaker(ctx context.Context, tenant spool.Tenant, r wire.StartRequest) (*wire.Maker, error) {
	if r.Maker == nil {
		return nil, nil //nolint:nilnil // nobody is looked up
	}
	now, err := right.StoreTime(ctx, h.Store, tenant)
	if err != nil {
		return nil, err
	}
	kept, err := h.Rights.Delay(ctx, *r.Maker, now, r.StartAt)
	return &kept, err
}

// narrow takes what the maker may not do any more from a start that has come due. It returns a [spool.Forbidden] error
// if the right of the maker has ended, and does nothing without a maker.
func (h *Handler) narrow(ctx context.Context, tenant spool.Tenant, asked *later.Asked) error {
	m := asked.Request.Maker
	if m == nil {
		return nil
	}
	now, err := right.StoreTime(ctx, h.Store, tenant)
	if err != nil {
		return err
	}
	rights, err := h.Rights.Now(ctx, *m, now)
	if err == nil {
		asked.Request, asked.Actor = right.Narrow(asked.Request, asked.Actor, rights)
	}
	return err
}

// taken returns the answer to a start whose transaction has found its idempotency key or its run id taken by a delayed
// start, which may have become a run since.
func (h *Handler) taken(
	ctx context.Context, key spool.ThreadKey, again repeat, run spool.RunID,
) (wire.RunResult, bool, error) {
	if first, found, err := h.delayed(ctx, key, again, run); found || err != nil {
		return first, found, err
	}
	if first, found, err := h.started(ctx, key.Tenant, again); found || err != nil {
		return first, found, err
	}
	runs, err := h.Store.Runs(ctx, wire.RunQuery{Tenant: key.Tenant, ID: run, Limit: 1})
	return runIDUsed(key.ID), len(runs) > 0, err
}

// delayed returns the answer to a start whose idempotency key or run id belongs to one that waits for its time, if it
// does.
func (h *Handler) delayed(
	ctx context.Context, key spool.ThreadKey, again repeat, run spool.RunID,
) (wire.RunResult, bool, error) {
	first, err := h.later().Key(ctx, key.Tenant, again.key)
	switch {
	case record.Missing(err):
	case err != nil:
		return wire.RunResult{}, false, err
	case !again.of(store.RunRow{
		Run: wire.Run{ID: first.RunID, ThreadID: first.ThreadID}, RunState: store.RunState{StartHash: first.Hash},
	}):
		return keyReused(first.ThreadID, first.RunID), true, nil
	default:
		return wire.RunResult{
			Accepted: true, ThreadID: first.ThreadID, RunID: first.RunID, StartAt: first.StartAt,
		}, true, nil
	}
	_, err = h.later().Find(ctx, key.Tenant, run)
	if record.Missing(err) {
		return wire.RunResult{}, false, nil
	}
	return runIDUsed(key.ID), err == nil, err
}

// checkStartAt validates the time of a start.
func checkStartAt(at time.Time) error {
	if time.Until(at) > wire.MaxStartDelay {
		return spool.Errorf(spool.Invalid, "startAt must be at most %d days ahead", wire.MaxStartDelay/(24*time.Hour))
	}
	return nil
}

func keyReused(id spool.ThreadID, run spool.RunID) wire.RunResult {
	return wire.RunResult{
		ThreadID: id, RunID: run, Reason: wire.ReasonKeyReused, Error: "This Idempotency-Key belongs to another start",
	}
}

func runIDUsed(id spool.ThreadID) wire.RunResult {
	return wire.RunResult{ThreadID: id, Reason: wire.ReasonRunIDUsed, Error: store.ErrRunIDUsed.Message}
}

func (h *Handler) later() later.Store { return later.Store{Store: h.Store} }

// HandleDelayed starts a run whose time has come, and ends the delayed start in the same transaction. It is the handler
// of [later.Queue]. A refusal that stays is kept with the start. After one that passes, the job comes again. No job is
// ever dead: an error without an end to it would hide a start that was accepted.
func (h *Handler) HandleDelayed(ctx context.Context, d store.Delivery) error {
	var job later.Job
	if err := json.Unmarshal(d.Payload, &job); err != nil {
		return spool.Wrap(spool.Internal, "read the job of a delayed start", err)
	}
	s, err := h.later().Find(ctx, d.Tenant, job.RunID)
	var asked later.Asked
	if err == nil {
		asked, err = h.later().Asked(ctx, d.Tenant, job.RunID)
	}
	switch {
	case record.Missing(err): // it has started, or was cancelled
		return nil
	case err != nil:
		return comesAgain(err)
	case s.Turn == job.Turn && s.Reason == wire.ReasonImported:
		if err = h.later().Outlive(ctx, s); errors.Is(err, store.ErrRowChanged) {
			return release(0)
		}
		return comesAgain(err)
	case s.Turn != job.Turn || !s.RefusedAt.IsZero(): // it was moved, or refused by a delivery before this one
		return nil
	}
	key := spool.ThreadKey{Tenant: d.Tenant, ID: s.ThreadID}
	switch err := h.narrow(ctx, d.Tenant, &asked); {
	case spool.CodeOf(err) == spool.Forbidden:
		return h.refuse(ctx, key, s, string(spool.Forbidden), spool.MessageOf(err))
	case err != nil:
		return comesAgain(err)
	}
	ctx = actor.With(ctx, asked.Actor)
	result, started, err := h.startDue(ctx, key, asked.Request, s)
	switch {
	case started:
		return nil
	case errors.Is(err, store.ErrRowChanged): // it was moved or cancelled in the meantime: the next delivery finds out
		return release(0)
	case err != nil && !h.knows(d.Tenant, asked.Request) && time.Since(s.StartAt) < unknownFor:
		return release(5 * time.Second)
	case err != nil && passes(err):
		return comesAgain(err)
	case err != nil:
		return h.refuse(ctx, key, s, string(spool.CodeOf(err)), spool.MessageOf(err))
	case result.RetryAfter > 0:
		return release(result.RetryAfter)
	case result.Accepted: // a start without a time was accepted under the key while this one was
		result = keyReused(result.ThreadID, result.RunID)
	}
	return h.refuse(ctx, key, s, result.Reason, result.Error)
}

// startDue starts the run of a delayed start. Started says that the start is committed, and the delayed one gone.
func (h *Handler) startDue(
	ctx context.Context, key spool.ThreadKey, r wire.StartRequest, s later.Start,
) (result wire.RunResult, started bool, err error) {
	worker := &reservation{reserve: h.ReserveWorker}
	defer worker.release()
	removed := false
	if r.Webhook, err = h.Events.OpenWebhook(key.Tenant, r.Webhook); err != nil {
		return result, false, err
	}
	result, follow, err := h.start(ctx, startCall{
		db: h.Store, worker: worker, due: true, also: func(tx store.Tx) error {
			removed = true
			return tx.Write(s.Remove())
		},
	}, key, r)
	if follow != nil {
		follow()
	}
	return result, removed && err == nil && result.Accepted, err
}

// refuse keeps the start with the reason why it was refused.
func (h *Handler) refuse(ctx context.Context, key spool.ThreadKey, s later.Start, reason, text string) error {
	err := h.later().Refuse(ctx, s, reason, text)
	switch {
	case errors.Is(err, store.ErrRowChanged):
		return release(0)
	case err != nil:
		return comesAgain(err)
	}
	h.Concerning(key, s.RunID).WarnContext(ctx, "a delayed start was refused", "reason", reason, "error", text)
	return nil
}

// knows reports whether this process has the agent and the model of a start, and the key of its webhook.
func (h *Handler) knows(tenant spool.Tenant, r wire.StartRequest) bool {
	agent := h.Registry.For(r.Agent, tenant, r.Scopes)
	_, err := h.Events.OpenWebhook(tenant, r.Webhook)
	return err == nil && agent != nil && h.Registry.HasModelFor(cmp.Or(r.Model, agent.Model), tenant, r.Scopes)
}

// passes reports whether the same start may be accepted later, although nobody changes it.
func passes(err error) bool {
	switch spool.CodeOf(err) {
	case spool.Invalid, spool.NotFound, spool.Forbidden, spool.Conflict, spool.StorageFull:
		return false
	default:
		return true
	}
}

// comesAgain returns an error after which the worker delivers the job again, later each time.
func comesAgain(err error) error {
	if spool.CodeOf(err) == spool.Invalid {
		return &spool.Error{Code: spool.Internal, Message: spool.MessageOf(err), Err: err}
	}
	return err
}

// release makes the job come again after a time.
func release(after time.Duration) error {
	return &store.AckError{Ack: store.Ack{Kind: store.AckRelease, After: max(after, 100*time.Millisecond), Refund: true}}
}
