package spool

import (
	"context"
	"encoding/json"
	"time"
)

// JobKind says why a job was written.
type JobKind string

// The kinds of job.
const (
	// JobStart is the ticket of a fresh run.
	JobStart JobKind = "start"
	// JobRetry is the ticket of the attempt after a failure.
	JobRetry JobKind = "retry"
	// JobResume is the ticket of a run whose parks are all resolved.
	JobResume JobKind = "resume"
	// JobHandBack is the ticket of a run whose worker shut down, or made room for another tenant.
	JobHandBack JobKind = "hand_back"
	// JobReclaim is the ticket of a run that had lost its ticket or its worker.
	JobReclaim JobKind = "reclaim"
	// JobExpiry is due when a park of the run expires.
	JobExpiry JobKind = "expiry"
	// JobSettle runs the settle hook of a run again.
	JobSettle JobKind = "settle"
)

// Job is a dispatch ticket for one run. Its JSON form is the body of a queue delivery. A host sets only
// threadId, runId and agent.
type Job struct {
	Tenant   Tenant   `doc:"The tenant of the run. Defaults to the default tenant." json:"tenant,omitempty"`
	ThreadID ThreadID `doc:"The thread, as the start returned it."                  example:"t1"            json:"threadId"`
	RunID    RunID    `doc:"The run, as the start returned it."                     example:"r1"            json:"runId"`
	Model    string   `doc:"The model of the run."                                  json:"model,omitempty"`
	Agent    string   `doc:"The agent that runs."                                   example:"assistant"     json:"agent"`
	Kind     JobKind  `doc:"The kind of the job. Leave it out."                     json:"kind,omitempty"`
	// Segment is the segment that the ticket is for. A ticket for an earlier segment does
	// nothing. Zero: any segment.
	Segment int `doc:"The segment that the job is for. Leave it out: any." json:"segment,omitempty"`
	// Key names the job in the tenant's queue, which has at most one job with a key.
	Key string `doc:"The queue's own id of the job." json:"key,omitempty"`
	// DueAt is when the job may be claimed. Zero: at once.
	DueAt time.Time `doc:"When the job is due." json:"dueAt,omitzero"`
}

// Thread returns the key of the job's thread.
func (j Job) Thread() ThreadKey { return ThreadKey{Tenant: j.Tenant, ID: j.ThreadID} }

// Delivery is a claimed job. Token proves the claim, until the same job is claimed again.
type Delivery struct {
	Job
	// JobID names the job in its store. Tenants see it, so it tells nothing about other jobs:
	// see [NewJobID].
	JobID int64
	Token int64
	// Attempt counts the deliveries that were not refunded, this one included.
	Attempt int
}

// DeadJob is a job that the queue has given up.
type DeadJob struct {
	Job
	JobID    int64
	Attempts int
	Cause    string
	DiedAt   time.Time
}

// DeadQuery selects dead jobs of a tenant.
type DeadQuery struct {
	// JobID leaves out every other job. Zero: all.
	JobID int64
	// DiedBefore leaves out jobs that died at this time or after it. Zero: all.
	DiedBefore time.Time

	// Limit bounds how many jobs are selected. Zero: all.
	Limit int
	// Before continues a list: only jobs that died before this time, or that died at this time
	// and have a smaller id than BeforeID. Zero: from the newest.
	Before   time.Time
	BeforeID int64
}

// JobState is the state of a job that is not dead.
type JobState string

// The states of a job.
const (
	// JobReady is a job that may be claimed, also one whose claim has lapsed.
	JobReady JobState = "ready"
	// JobDelayed is a job that is not due yet.
	JobDelayed JobState = "delayed"
	// JobInFlight is a job that a worker has.
	JobInFlight JobState = "inflight"
)

// JobQuery selects jobs of a tenant that are not dead.
type JobQuery struct {
	// State leaves out jobs in other states. Empty: all.
	State JobState
	// DueBefore leaves out jobs that were due for the first time at this time or after it.
	// Zero: all.
	DueBefore time.Time
	// Limit bounds how many are returned. Zero: all.
	Limit int
}

// QueuedJob is a job that is not dead, as the queue has it. Its DueAt is when it may be
// claimed, which for a job in flight is when the claim lapses.
type QueuedJob struct {
	Job
	JobID int64
	State JobState
	// Attempts counts the deliveries that were not refunded.
	Attempts int
	// FirstDue is when the job was due for the first time, or will be. A release does not
	// change it.
	FirstDue time.Time
}

// QueueStats describes a queue. Extra has further numbers of the backend.
type QueueStats struct {
	Ready    int             `doc:"Jobs that wait for a worker."            json:"ready"`
	Delayed  int             `doc:"Jobs that are not due yet, or again."    json:"delayed"`
	InFlight int             `doc:"Jobs that a worker has."                 json:"inFlight"`
	Dead     int             `doc:"Dead jobs."                              json:"dead"`
	OldestMS int64           `doc:"How long the oldest due job has waited." json:"oldestReadyMs"`
	Extra    json.RawMessage `doc:"Further numbers of this queue."          json:"extra,omitempty"`
}

// ClaimQuery says how many jobs a worker takes, and of which tenants.
type ClaimQuery struct {
	// Limit bounds how many jobs are taken. Zero: none.
	Limit int
	// Reserved is how many of Limit are only for tenants that have no job in flight. Defaults
	// to none.
	Reserved int
	// PerTenant bounds how many jobs of a tenant are in flight, including those of other workers. Zero: no
	// bound.
	PerTenant int
	// Served returns when the worker last had a job of a tenant, or the zero time. Among tenants with equally
	// many jobs in flight, the tenant with the earliest time comes first. Served must not block, and may be
	// called once for each tenant. Defaults to the zero time for all.
	Served func(Tenant) time.Time
	// Lease is for how long the jobs are leased.
	Lease time.Duration
}

// ServedAt returns what Served returns, or the zero time if Served is nil.
func (q ClaimQuery) ServedAt(tenant Tenant) time.Time {
	if q.Served == nil {
		return time.Time{}
	}
	return q.Served(tenant)
}

// WaitingTenant is a tenant that has a due job.
type WaitingTenant struct {
	Tenant Tenant
	// InFlight is how many of its jobs are in flight, at all workers.
	InFlight int
	// DueAt is when the oldest of its due jobs became due.
	DueAt time.Time
}

// Queue hands each job to a worker at least once. [Tx.Enqueue] adds jobs.
//
// A queue is safe for concurrent use. A delivery's token guards Extend, Ack, Release
// and DeadLetter. Each of them returns an [ErrFenced] error and does nothing if the job was
// released, claimed again or removed.
type Queue interface {
	// Claim takes up to q.Limit due jobs and leases them. It chooses them one by one. The next
	// job is of the tenant with the fewest jobs in flight, those of this claim included. Between
	// equal tenants the earliest time of q.Served decides, and then the job that has been due
	// longest. Within a tenant the job that has been due longest comes first, and of jobs with
	// the same due time the one with the smaller id. A job is in flight from its claim until it
	// is acked, released or dead-lettered, or its lease lapses.
	//
	// The DueAt of each job is when it became due. Claim does not wait. If it takes nothing, it
	// returns an empty slice and the time at which the next job becomes due, or the zero time if
	// there is none. With jobs it returns the zero time. A due job that q.PerTenant holds back
	// can be claimed once another job of its tenant is no longer in flight. The cost of a claim
	// does not grow with the jobs of a tenant.
	Claim(ctx context.Context, q ClaimQuery) (taken []Delivery, next time.Time, err error)
	// Waiting lists the tenants that have due jobs, in the order of their oldest due job.
	// Its cost does not grow with the jobs of a tenant.
	Waiting(ctx context.Context) ([]WaitingTenant, error)
	// Extend leases the delivery for the given time from now.
	Extend(ctx context.Context, d Delivery, lease time.Duration) error
	// Ack removes the job.
	Ack(ctx context.Context, d Delivery) error
	// Release makes the job due again after the given time. With refund, the delivery
	// does not count as an attempt.
	Release(ctx context.Context, d Delivery, after time.Duration, refund bool) error
	// DeadLetter moves the job to the dead ones.
	DeadLetter(ctx context.Context, d Delivery, cause string) error
	// Dead lists the dead jobs of a tenant, the newest first and, of jobs that died at the same
	// time, the one with the greater id.
	Dead(ctx context.Context, tenant Tenant, q DeadQuery) ([]DeadJob, error)
	// Purge removes the dead jobs that Dead lists for q, and returns their number.
	Purge(ctx context.Context, tenant Tenant, q DeadQuery) (int, error)
	// Jobs lists a tenant's jobs that are not dead, the one that has been due longest first and,
	// of jobs with the same due time, the one with the smaller id.
	Jobs(ctx context.Context, tenant Tenant, q JobQuery) ([]QueuedJob, error)
	// Stats counts the jobs of a tenant, or of all tenants if tenant is empty.
	Stats(ctx context.Context, tenant Tenant) (QueueStats, error)
}
