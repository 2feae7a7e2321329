// Package queue accepts the deliveries of an external queue and runs their jobs in the background. It
// knows the engine and the call, and not the server.
package queue

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/server/internal/call"
	"github.com/spoolhq/spool/server/verify"
	"github.com/spoolhq/spool/wire"
)

// maxRedeliveries bounds how often a job that could not be executed yet is tried
// again. The sweeper takes over after that.
const maxRedeliveries = 20

// Delivery is what a queue delivers: a job.
type Delivery struct {
	Body wire.Job
}

// Taken is the answer to a delivery.
type Taken struct {
	Accepted bool `json:"accepted"` // Always true.
}

// Config says how deliveries are taken. All fields are required but Verifier.
type Config struct {
	Engine *engine.Engine
	// Verifier proves that a delivery comes from the queue. Nil: every delivery is refused.
	Verifier verify.Verifier
	// Concurrency bounds how many deliveries are executed at the same time.
	Concurrency int
	Log         *slog.Logger
	// Refused counts credentials that were refused, and returns the error to answer with.
	Refused func(r *http.Request, err error) error
	// Working ends when deliveries are to hand back their jobs.
	Working context.Context //nolint:containedctx // the lifetime of the server
}

// Queue is the consumer. It is a [rest.BodyVerifier]: it refuses wrong headers before the body is read,
// and a wrong signature before the body is decoded. It is safe for concurrent use.
type Queue struct {
	config Config
	slots  chan struct{}

	mu      sync.Mutex
	closed  bool
	working sync.WaitGroup
}

// New returns a consumer.
func New(c Config) *Queue { return &Queue{config: c, slots: make(chan struct{}, c.Concurrency)} }

// Close refuses deliveries from now on.
func (q *Queue) Close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
}

// Wait waits for the work of all deliveries.
func (q *Queue) Wait() { q.working.Wait() }

// VerifyHeader implements [rest.BodyVerifier].
func (q *Queue) VerifyHeader(ctx context.Context) (err error) {
	r := rest.RequestOf(ctx)
	if q.config.Verifier == nil {
		err = spool.Errorf(spool.Unauthorized, "no queue may deliver here")
	} else if v, ok := q.config.Verifier.(verify.HeaderVerifier); ok {
		if err = v.VerifyHeader(r); err != nil {
			err = q.refused(ctx, r, err)
		}
	}
	if err != nil && r.ContentLength != 0 { // nobody reads the body
		rest.ResponseOf(ctx).Header().Set("Connection", "close")
	}
	return err
}

// VerifyBody implements [rest.BodyVerifier].
func (q *Queue) VerifyBody(ctx context.Context, body []byte) error {
	r := rest.RequestOf(ctx)
	if err := q.config.Verifier.Verify(r, body); err != nil {
		return q.refused(ctx, r, err)
	}
	return nil
}

// MaxBody bounds the body of a delivery: a long one is read only after good headers.
func (q *Queue) MaxBody() int64 {
	if _, ok := q.config.Verifier.(verify.HeaderVerifier); ok {
		return call.LongBody
	}
	return call.SmallBody
}

// Validate implements [rest.Validator]. The tenant is part of the job, which the queue has signed; a
// job without one is the default tenant's.
func (in *Delivery) Validate(context.Context) error {
	job := &in.Body
	if job.Tenant == "" {
		job.Tenant = spool.DefaultTenant
	}
	return errors.Join(
		spool.CheckID("tenant", string(job.Tenant)),
		spool.CheckID("threadId", string(job.ThreadID)),
		spool.CheckID("runId", string(job.RunID)),
		spool.CheckID("agent", job.Agent),
	)
}

// refused logs why a verifier refused a delivery, counts the failure of the sender's
// address, and returns the error to answer with, which does not say why.
func (q *Queue) refused(ctx context.Context, r *http.Request, err error) error {
	q.config.Log.WarnContext(ctx, "queue delivery refused", "error", err)
	if unverifiable(err) {
		return spool.Errorf(spool.Unavailable, "deliveries cannot be verified at the moment")
	}
	return q.config.Refused(r, spool.Errorf(spool.Unauthorized, "the delivery is not signed by the queue"))
}

// unverifiable reports whether a verifier could not decide. Of several verifiers that have refused a
// delivery, the one that could not decide might have accepted it.
func unverifiable(err error) bool {
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		return slices.ContainsFunc(several.Unwrap(), unverifiable)
	}
	return spool.CodeOf(err) == spool.Unavailable
}

// Deliver executes a job in the background. This is for external queues, which sign what they deliver. Without a
// verifier in the server's configuration, every delivery is refused. A repeated delivery of a job does nothing. After a
// 503, the queue should keep the job.
func (q *Queue) Deliver(ctx context.Context, in Delivery) (Taken, error) {
	job := in.Body
	call.Concerns(ctx, job.Thread(), job.RunID)
	if !q.config.Engine.HasAgent(job.Agent) {
		return Taken{}, call.About(ctx, &spool.Error{
			Code: spool.Unavailable, Message: "this process does not have the agent", Err: wire.ErrUnknownAgent,
		},
			job.Thread(), job.RunID)
	}
	return Taken{Accepted: true}, call.About(ctx, q.work(job), job.Thread(), job.RunID)
}

// work starts a job, unless the server is closing or has as many jobs as it may. The run outlives the request, as a job
// is a ticket for a run.
func (q *Queue) work(job wire.Job) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return spool.Errorf(spool.Unavailable, "the server is shutting down")
	}
	select {
	case q.slots <- struct{}{}:
	default:
		return spool.Errorf(spool.Unavailable, "too many deliveries at the same time")
	}
	q.working.Go(func() {
		defer func() { <-q.slots }()
		q.carryOut(job)
	})
	return nil
}

// carryOut handles a job until it is done or handed back. The queue has been told that it was
// taken, so that no one delivers it again.
func (q *Queue) carryOut(job wire.Job) {
	log := q.config.Log.With("tenant", job.Tenant, "thread", job.ThreadID, "run", job.RunID)
	defer func() {
		if reason := recover(); reason != nil {
			log.Error("queue delivery panicked", "panic", reason)
		}
	}()
	for range maxRedeliveries {
		result, err := q.config.Engine.HandleJob(q.config.Working, job)
		switch {
		case q.config.Working.Err() != nil:
			return // the run has handed back its job
		case err != nil:
			log.Error("queue delivery failed", "error", err)
			return
		case result.Accepted:
			return
		}
		if !pause(q.config.Working, result.RetryAfter) {
			return
		}
	}
	log.Warn("queue delivery was given up; the sweeper will find its run")
}

// pause waits and reports whether ctx is still alive.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(max(d, 100*time.Millisecond))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
