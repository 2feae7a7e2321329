package server

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/server/internal/call"
)

// QueueVerifier proves that a delivery comes from the queue: the endpoint that takes
// deliveries executes agents. It is safe for concurrent use.
type QueueVerifier interface {
	// Verify returns an error unless the queue signed this request with this body. The
	// body of r itself is used up. An [spool.Unavailable] error says that it cannot be known
	// now, and the delivery is answered 503, so that the queue keeps it. Every other one is
	// answered 401. The text of both is logged and not sent.
	Verify(r *http.Request, body []byte) error
}

// HeaderVerifier is a [QueueVerifier] that judges the headers of a delivery before the
// server reads its body. The body of a delivery has up to 1 MiB with one, and up to 64 KiB
// without.
type HeaderVerifier interface {
	QueueVerifier
	// VerifyHeader returns an error if Verify would refuse the request whatever its body is.
	// It does not read the body. Its errors mean what those of Verify mean.
	VerifyHeader(r *http.Request) error
}

// maxRedeliveries bounds how often a job that could not be carried out yet is tried
// again. The sweeper takes over after that.
const maxRedeliveries = 20

// delivery is what a queue delivers: a job.
type delivery struct {
	Body spool.Job
}

// taken is the answer to a delivery.
type taken struct {
	Accepted bool `doc:"Always true." json:"accepted"`
}

// deliveries verifies the deliveries of a queue: it refuses wrong headers before the body is read,
// and a wrong signature before the body is decoded.
type deliveries struct{ *Server }

// VerifyHeader implements [rest.BodyVerifier].
func (d deliveries) VerifyHeader(ctx context.Context) (err error) {
	r := rest.RequestOf(ctx)
	if d.config.QueueVerifier == nil {
		err = spool.Errorf(spool.Unauthorized, "no queue may deliver here")
	} else if v, ok := d.config.QueueVerifier.(HeaderVerifier); ok {
		if err = v.VerifyHeader(r); err != nil {
			err = d.refusedDelivery(ctx, r, err)
		}
	}
	if err != nil && r.ContentLength != 0 { // nobody reads the body
		rest.ResponseOf(ctx).Header().Set("Connection", "close")
	}
	return err
}

// VerifyBody implements [rest.BodyVerifier].
func (d deliveries) VerifyBody(ctx context.Context, body []byte) error {
	r := rest.RequestOf(ctx)
	if err := d.config.QueueVerifier.Verify(r, body); err != nil {
		return d.refusedDelivery(ctx, r, err)
	}
	return nil
}

// maxBody bounds the body of a delivery: a long one is read only behind good headers.
func (d deliveries) maxBody() int64 {
	if _, ok := d.config.QueueVerifier.(HeaderVerifier); ok {
		return longBody
	}
	return smallBody
}

// Validate implements [rest.Validator]. The tenant is part of the job, which the queue has signed; a
// job without one is the default tenant's.
func (in *delivery) Validate(context.Context) error {
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

// refusedDelivery logs why a verifier refused a delivery, counts the failure of the sender's
// address, and returns the error to answer with, which does not say why.
func (s *Server) refusedDelivery(ctx context.Context, r *http.Request, err error) error {
	s.log.WarnContext(ctx, "queue delivery refused", "error", err)
	if unverifiable(err) {
		return spool.Errorf(spool.Unavailable, "deliveries cannot be verified at the moment")
	}
	return s.failed(r, failedDelivery, spool.Errorf(spool.Unauthorized, "the delivery is not signed by the queue"))
}

// unverifiable reports whether a verifier could not do its work. Of several that have refused
// a delivery, one that could not may be the one that would have taken it.
func unverifiable(err error) bool {
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		return slices.ContainsFunc(several.Unwrap(), unverifiable)
	}
	return spool.CodeOf(err) == spool.Unavailable
}

// deliver answers POST /api/queue/agent-run. The answer says that the delivery was taken,
// and the work continues in the background: a job is a ticket for a run, and the run
// outlives the request.
func (c queue) deliver(ctx context.Context, in delivery) (taken, error) {
	job := in.Body
	call.Concerns(ctx, job.Thread(), job.RunID)
	if !c.engine.HasAgent(job.Agent) {
		return taken{}, call.About(ctx, &spool.Error{Code: spool.Unavailable, Message: "this process does not have the agent", Err: spool.ErrUnknownAgent},
			job.Thread(), job.RunID)
	}
	return taken{Accepted: true}, call.About(ctx, c.work(job), job.Thread(), job.RunID)
}

// work starts to carry out a job, unless the server is closing or has its hands full.
func (s *Server) work(job spool.Job) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return spool.Errorf(spool.Unavailable, "the server is shutting down")
	}
	select {
	case s.slots <- struct{}{}:
	default:
		return spool.Errorf(spool.Unavailable, "too many deliveries at the same time")
	}
	s.working.Go(func() {
		defer func() { <-s.slots }()
		s.carryOut(job)
	})
	return nil
}

// carryOut handles a job until it need not come back. The queue was told that it was
// taken, so that nobody else delivers it again.
func (s *Server) carryOut(job spool.Job) {
	log := s.log.With("tenant", job.Tenant, "thread", job.ThreadID, "run", job.RunID)
	defer func() {
		if reason := recover(); reason != nil {
			log.Error("queue delivery panicked", "panic", reason)
		}
	}()
	for range maxRedeliveries {
		result, err := s.engine.HandleJob(s.jobs, job)
		switch {
		case s.jobs.Err() != nil:
			return // the run has handed back its job
		case err != nil:
			log.Error("queue delivery failed", "error", err)
			return
		case result.Accepted:
			return
		}
		if !pause(s.jobs, result.RetryAfter) {
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
