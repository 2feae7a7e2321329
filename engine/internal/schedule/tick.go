package schedule

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/actor"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// The waits of a tick that is given back.
const (
	firstWait = time.Second
	maxWait   = time.Minute
)

// Tick sees to the due time of a tick. It is the handler of the events of Queue. A tick is never dead: if it cannot be
// decided now, Tick gives it back.
func (s *Schedules) Tick(ctx context.Context, d store.Delivery) error {
	var t ticket
	if err := json.Unmarshal(d.Payload, &t); err != nil {
		s.Log.ErrorContext(ctx, "a tick cannot be read", "tenant", d.Tenant, "key", d.Key, "error", err)
		return nil
	}
	err := again(func() error { return s.tick(ctx, d.Tenant, t) })
	if err == nil {
		return nil
	}
	if later, ok := errors.AsType[*store.AckError](err); ok {
		return later
	}
	if later, ok := errors.AsType[*transientError](err); ok {
		return giveBack(later.after)
	}
	if ctx.Err() == nil {
		s.Log.WarnContext(ctx, "a tick of a schedule comes again", "tenant", d.Tenant, "schedule", t.Name, "error", err)
	}
	return giveBack(min(firstWait<<min(d.Attempt-1, 10), maxWait))
}

func giveBack(wait time.Duration) error {
	return &store.AckError{Ack: store.Ack{Kind: store.AckRelease, After: wait}}
}

// tick decides about a tick once. It returns [store.ErrRowChanged] if somebody else has changed the row meanwhile.
func (s *Schedules) tick(ctx context.Context, tenant spool.Tenant, t ticket) error {
	was, err := s.find(ctx, tenant, t.Name)
	switch {
	case errors.Is(err, errNotFound):
		return nil
	case err != nil:
		return err
	case was.Born != t.Born || was.Turn != t.Turn || was.Due.IsZero():
		return nil // somebody else has seen to it, or has changed the schedule
	}
	now, err := s.now(ctx, tenant)
	if err != nil {
		return err
	}
	if early := was.Due.Sub(now); early > 0 {
		return giveBack(early)
	}
	rule, err := was.schedule()
	if err != nil {
		return err // another node may know the zone
	}
	p := was.plan(rule, now)
	c := &change{was: was, next: was.clone(), inTick: true}
	c.next.setDue(p.next)
	if p.missed > 0 {
		c.line(wire.ScheduleTick{
			DueAt: p.last, At: now.UTC(), Result: wire.ScheduleMissed, Count: p.missed,
			Reason: "The server did not see to it in time",
		})
	}
	if p.start.IsZero() {
		return s.write(ctx, c)
	}
	due := strconv.FormatInt(p.start.Unix(), 10)
	_, err = s.attempt(ctx, c, wire.ScheduleTick{DueAt: p.start, At: now.UTC()}, due)
	return err
}

// attempt starts the run of a tick, and writes the change in the transaction of the start. If there is no start, it
// writes the change with the reason. Of two attempts with the same id, one starts a run at the most.
func (s *Schedules) attempt(
	ctx context.Context, c *change, t wire.ScheduleTick, id string,
) (wire.ScheduleTick, error) {
	refuse := func(result wire.ScheduleResult, reason string) (wire.ScheduleTick, error) {
		t.Result, t.Reason = result, reason
		c.line(t)
		return *c.next.Last, s.write(ctx, c)
	}
	was := c.was
	internal := actor.With(ctx, wire.Actor{})
	if was.Policy.Overlap == wire.OverlapSkip {
		active, err := s.active(internal, was.tenant, was.LastRun)
		switch {
		case err != nil:
			return t, err
		case active:
			return refuse(wire.ScheduleOverlap, "The run of the last tick is active")
		}
	}
	rights, err := s.Rights.Now(ctx, was.Maker, t.At)
	switch {
	case spool.CodeOf(err) == spool.Forbidden:
		reason := spool.MessageOf(err)
		if !t.DueAt.IsZero() {
			c.next.pause(t.At, reason)
			c.byItself = true
		}
		return refuse(wire.ScheduleRefused, reason)
	case err != nil:
		return t, err
	}
	key, request := was.request(rights, id)
	room, err := s.takeRoom(internal, c, runRef{key.ID, request.RunID})
	switch {
	case err != nil:
		return t, err
	case !room:
		return refuse(wire.ScheduleRefused, "Too many runs of the schedules of its maker are active")
	}

	accepted := *c
	accepted.next = c.next.clone()
	accepted.next.LastRun = runRef{key.ID, request.RunID}
	started := t
	started.Result, started.RunID, started.ThreadID = wire.ScheduleStarted, request.RunID, key.ID
	accepted.line(started)
	as := actor.With(ctx, wire.Actor{Tenant: was.tenant, Subject: was.Maker.Subject, OwnOnly: rights.OwnOnly})
	result, err := s.Start(as, key, request, func(tx store.Tx) error { return s.add(ctx, tx, &accepted, key.ID) })
	c.maker = nil
	switch {
	case err == nil && result.Accepted:
		s.added(ctx, &accepted)
		return *accepted.next.Last, nil
	case err == nil && result.RetryAfter > 0:
		return t, &transientError{result.RetryAfter, result.Error}
	case err == nil:
		return refuse(wire.ScheduleRefused, result.Error)
	case final(err):
		return refuse(wire.ScheduleRefused, spool.MessageOf(err))
	}
	return t, err
}

// final reports whether a start would be refused again with the same error.
func final(err error) bool {
	if errors.Is(err, store.ErrRowChanged) {
		return false
	}
	switch spool.CodeOf(err) {
	case spool.Invalid, spool.NotFound, spool.Conflict, spool.Forbidden, spool.Limit:
		return true
	default:
		return false
	}
}

// request returns the start of a tick. Its ids follow from the schedule and the id of the tick, so that a second start
// of the same tick would be refused.
func (r *row) request(rights wire.Rights, id string) (spool.ThreadKey, wire.StartRequest) {
	sum := sha256.Sum256([]byte(string(r.tenant) + "\x00" + r.name + "\x00" + r.Born + "\x00" + id))
	hash := hex.EncodeToString(sum[:16])
	key := spool.ThreadKey{Tenant: r.tenant, ID: r.Start.ThreadID}
	if key.ID == "" {
		key.ID = spool.ThreadID("thr_" + hash)
	}
	request := r.startRequest(rights)
	request.RunID = spool.RunID("run_" + hash)
	return key, request
}

// startRequest returns the start of each tick, without the ids of one.
func (d *state) startRequest(rights wire.Rights) wire.StartRequest {
	busy := spool.BusyReject
	if d.Policy.Overlap != wire.OverlapSkip {
		busy = spool.WhenBusy(d.Policy.Overlap)
	}
	return wire.StartRequest{
		StartOptions: wire.StartOptions{Agent: d.Start.Agent, Model: d.Start.Model},
		Prompt:       d.Start.Prompt, Title: d.Start.Title, Labels: d.Start.Labels, HostState: d.HostState,
		Budget: d.Start.Budget(), By: d.Maker.Subject, Scopes: rights.Scopes, MayNotStop: rights.MayNotStop, WhenBusy: busy,
	}
}

// active reports whether a run exists and has not ended.
func (s *Schedules) active(ctx context.Context, tenant spool.Tenant, r runRef) (active bool, err error) {
	if r.Run == "" {
		return false, nil
	}
	err = s.Store.View(ctx, spool.ThreadKey{Tenant: tenant, ID: r.Thread}, func(v store.View) error {
		run, err := store.FindRun(v, r.Run)
		active = err == nil && !run.State.Terminal()
		return err
	})
	if spool.CodeOf(err) == spool.NotFound {
		return false, nil
	}
	return active, err
}

// transientError is a refusal that passes by itself.
type transientError struct {
	after  time.Duration
	reason string
}

func (e *transientError) Error() string { return e.reason }
