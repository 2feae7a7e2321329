package runs

import (
	"context"
	"strconv"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/server/internal/call"
	"github.com/spoolhq/spool/server/stream"
	"github.com/spoolhq/spool/wire"
)

// waitInput says how long a request waits for the end of a run.
type waitInput struct {
	// Wait is how long to wait until the run has ended or waits for somebody, such as 30s. Left out: not at all.
	Wait string `example:"30s" query:"wait"`
}

// Validate implements [rest.Validator]. It refuses a repeated wait, which is ambiguous.
func (in waitInput) Validate(ctx context.Context) error {
	if in.Wait != "" && len(rest.RequestOf(ctx).URL.Query()["wait"]) > 1 {
		return spool.Errorf(spool.Invalid, "wait must be given only once")
	}
	return nil
}

// duration returns how long to wait, zero for not at all.
func (in waitInput) duration(most time.Duration) (time.Duration, error) {
	if in.Wait == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(in.Wait)
	if err != nil || d <= 0 || d > most {
		return 0, spool.Errorf(spool.Invalid, `wait must be a duration above zero and up to %s, such as "%s"`, short(most),
			short(min(30*time.Second, most)))
	}
	return d, nil
}

// short returns a duration without units that are zero.
func short(d time.Duration) string {
	switch {
	case d%time.Hour == 0:
		return strconv.FormatInt(int64(d/time.Hour), 10) + "h"
	case d%time.Minute == 0:
		return strconv.FormatInt(int64(d/time.Minute), 10) + "m"
	default:
		return d.String()
	}
}

// OutcomeInput asks for the outcome of a run.
type OutcomeInput struct {
	waitInput

	RunID spool.RunID `example:"r1" path:"runId"` // The run.
}

// Outcome answers with the present outcome of a run: its state, the model's last answer, the calls that wait for
// somebody, and the usage. With wait, such as 30s, the answer comes when the run has ended or waits for somebody, or
// when the time is up; the state says which. For a start that waits for its time, the answer is a 404 that says when
// the run starts.
func (c Controller) Outcome(ctx context.Context, in OutcomeInput) (wire.RunOutcome, error) {
	who := call.By(ctx)
	run := spool.ThreadKey{Tenant: who.Tenant}
	call.Concerns(ctx, run, in.RunID)
	wait, err := in.duration(c.MaxWait)
	if err != nil {
		return wire.RunOutcome{}, call.About(ctx, err, run, in.RunID)
	}
	acting := call.Acting(ctx)
	if wait == 0 {
		o, err := c.Engine.Outcome(acting, run, in.RunID)
		return o, call.About(ctx, c.orDelayed(acting, err, in.RunID), run, in.RunID)
	}
	slot, err := c.Streams.Take(rest.RequestOf(ctx), who)
	if err != nil {
		return wire.RunOutcome{}, call.About(ctx, err, run, in.RunID)
	}
	defer slot.Release()
	o, err := c.await(acting, who, run, in.RunID, wait)
	switch spool.CodeOf(err) {
	case spool.Canceled, spool.Unavailable: // the wait is over: return the present state
		if err = who.StillValid(); err == nil {
			o, err = c.Engine.Outcome(acting, run, in.RunID)
		}
	default:
	}
	return o, call.About(ctx, c.orDelayed(acting, err, in.RunID), run, in.RunID)
}

// reserveWait returns how long a start waits for its run, zero for not at all, and takes a slot among the
// caller's open streams for it. It requires the scope read, for the outcome.
func (c Controller) reserveWait(
	ctx context.Context, who access.Principal, in waitInput,
) (time.Duration, *stream.Slot, error) {
	wait, err := in.duration(c.MaxWait)
	if err != nil || wait == 0 {
		return 0, nil, err
	}
	if !who.May(access.ScopeRead) {
		return 0, nil, access.Lacks(access.ScopeRead, "wait")
	}
	slot, err := c.Streams.Take(rest.RequestOf(ctx), who)
	return wait, slot, err
}

// await waits for a run: for the given time, but no longer than the caller's credentials last, and only until
// the server drains. It returns a [spool.Canceled] error when that time is over.
func (c Controller) await(
	ctx context.Context, who access.Principal, thread spool.ThreadKey, run spool.RunID, wait time.Duration,
) (wire.RunOutcome, error) {
	ctx, forget := access.Lifetime(ctx, who, who.Until)
	defer forget()
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	defer context.AfterFunc(c.Draining, cancel)() //nolint:contextcheck // it ends the wait of any request
	return c.Engine.Await(ctx, thread, run)
}

// awaitStarted waits for an accepted run. It returns nil if the outcome is not known in time. The run is
// accepted even if the wait fails: an error could make the client start it again.
func (c Controller) awaitStarted(
	ctx context.Context, who access.Principal, started wire.RunResult, wait time.Duration,
) *wire.RunOutcome {
	thread := spool.ThreadKey{Tenant: who.Tenant, ID: started.ThreadID}
	o, err := c.await(call.Acting(ctx), who, thread, started.RunID, wait)
	if err == nil {
		return &o
	}
	switch spool.CodeOf(err) {
	case spool.Canceled, spool.NotFound: // the time is up, or the thread was deleted
	default:
		if c.Draining.Err() == nil {
			call.Log(c.Log).WarnContext(ctx, "wait for run", "error", call.About(ctx, err, thread, started.RunID))
		}
	}
	return nil
}
