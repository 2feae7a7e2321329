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
	// JobReclaim is the ticket of a run that was found without one.
	JobReclaim JobKind = "reclaim"
	// JobExpiry is due when a park of the run has had its time.
	JobExpiry JobKind = "expiry"
	// JobSettle runs the settle hook of a run again.
	JobSettle JobKind = "settle"
)

// Job is a dispatch ticket for one run. Its JSON form is the body of a queue delivery,
// of which a host sets threadId, runId and agent.
type Job struct {
	Tenant   Tenant   `doc:"Who the run belongs to. Defaults to the default tenant." json:"tenant,omitempty"`
	ThreadID ThreadID `doc:"The thread, as the start returned it."                   example:"t1"            json:"threadId"`
	RunID    RunID    `doc:"The run, as the start returned it."                      example:"r1"            json:"runId"`
	Model    string   `doc:"The model of the run."                                   json:"model,omitempty"`
	Agent    string   `doc:"The agent that runs."                                    example:"assistant"     json:"agent"`
	Kind     JobKind  `doc:"What the job is for. Leave it out."                      json:"kind,omitempty"`
	// Segment is the segment that the ticket is for, so that one which the run has
	// outlived does nothing. Zero: any.
	Segment int `doc:"The segment that the job is for. Leave it out: any." json:"segment,omitempty"`
	// Key names the job in the tenant's queue, so that it is there at most once.
	Key string `doc:"What the queue knows the job by." json:"key,omitempty"`
	// DueAt is when the job may be claimed. Zero: at once.
	DueAt time.Time `doc:"When the job may be carried out." json:"dueAt,omitzero"`
}

// Thread returns the key of the job's thread.
func (j Job) Thread() ThreadKey { return ThreadKey{Tenant: j.Tenant, ID: j.ThreadID} }

// Delivery is a claimed job. Token proves the claim: a later claim of the same job
// makes it worthless.
type Delivery struct {
	Job
	// JobID names the job in its store. Tenants see it, so it says nothing of other jobs: see
	// [NewJobID].
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

	// Limit bounds how many are meant. Zero: all.
	Limit int
	// Before continues a list: only jobs that died before this time, or at it and have a
	// smaller id than BeforeID. Zero: from the newest.
	Before   time.Time
	BeforeID int64
}

// JobState is where a job is that is not dead.
type JobState string

// The states of a job.
const (
	// JobReady is a job that may be claimed, also one whose claim has lapsed.
	JobReady JobState = "ready"
	// JobDelayed is a job that is not due yet, or again.
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
	// FirstDue is when the job was due for the first time, or will be. However often it is
	// released, that stays.
	FirstDue time.Time
}

// QueueStats describes a queue. Extra is what a backend has to add.
type QueueStats struct {
	Ready    int             `doc:"Jobs that wait for a worker."                     json:"ready"`
	Delayed  int             `doc:"Jobs that are not due yet, or again."             json:"delayed"`
	InFlight int             `doc:"Jobs that a worker has."                          json:"inFlight"`
	Dead     int             `doc:"Jobs that were given up."                         json:"dead"`
	OldestMS int64           `doc:"For how long the oldest job that is ready waits." json:"oldestReadyMs"`
	Extra    json.RawMessage `doc:"What the queue has to add."                       json:"extra,omitempty"`
}

// ClaimQuery says how many jobs a worker takes, and of whom.
type ClaimQuery struct {
	// Limit bounds how many jobs are taken. Zero: none.
	Limit int
	// Reserved is how many of Limit are only for tenants that have no job in flight. Defaults
	// to none.
	Reserved int
	// PerTenant bounds how many jobs of a tenant are in flight, whoever has claimed them. Zero:
	// no bound.
	PerTenant int
	// Served returns when the worker has last had a job of a tenant, and the zero time where it
	// does not know of one. Of tenants with as many jobs in flight, the one with the earliest
	// time comes first. It must not block, and may be called once for each tenant. Defaults to
	// the zero time for all.
	Served func(Tenant) time.Time
	// Lease is for how long the jobs are leased.
	Lease time.Duration
}

// ServedAt returns what Served does, also where that is nil.
func (q ClaimQuery) ServedAt(tenant Tenant) time.Time {
	if q.Served == nil {
		return time.Time{}
	}
	return q.Served(tenant)
}

// WaitingTenant is a tenant that has a due job.
type WaitingTenant struct {
	Tenant Tenant
	// InFlight is how many of its jobs are in flight, whoever has claimed them.
	InFlight int
	// DueAt is when the oldest of its due jobs became due.
	DueAt time.Time
}

// Queue hands jobs to workers, at least once each. Jobs get into it by [Tx.Enqueue].
//
// A queue is safe for concurrent use. A delivery's token guards Extend, Ack, Release
// and DeadLetter: each returns an [ErrFenced] error and does nothing when the job was released,
// claimed again or is gone.
type Queue interface {
	// Claim takes up to q.Limit due jobs and leases them. It shares them out one by one: the
	// next one is of the tenant that has the fewest jobs in flight, those of this claim
	// included; of several such tenants, of the one that q.Served has the earliest time for;
	// and of several of those, of the one whose job has been due longest. Of one tenant the
	// job that has been due longest comes first, and of those that are due since one time, the
	// one with the smaller id. A job is in flight from its claim until it is acked, released
	// or dead-lettered, or its lease lapses.
	//
	// The DueAt of each job is when it became due. Claim does not wait. Where it takes nothing,
	// it returns an empty slice and when the next job becomes due that is not due yet, which
	// is the zero time where there is none. The zero time also comes with jobs that were taken.
	// Due jobs that q holds back can be taken once a job of their tenant is not in flight any
	// more. The cost of a claim does not grow with the jobs of a tenant.
	Claim(ctx context.Context, q ClaimQuery) (taken []Delivery, next time.Time, err error)
	// Waiting lists the tenants that have due jobs, the one whose job has been due longest first.
	// Its cost does not grow with the jobs of a tenant.
	Waiting(ctx context.Context) ([]WaitingTenant, error)
	// Extend leases the delivery for the given time from now.
	Extend(ctx context.Context, d Delivery, lease time.Duration) error
	// Ack removes the job.
	Ack(ctx context.Context, d Delivery) error
	// Release makes the job due again after the given time. With refund the delivery
	// does not count as an attempt.
	Release(ctx context.Context, d Delivery, after time.Duration, refund bool) error
	// DeadLetter moves the job to the dead ones.
	DeadLetter(ctx context.Context, d Delivery, cause string) error
	// Dead lists the dead jobs of a tenant, the one that died last first and, of those that
	// died at one time, the one with the greater id.
	Dead(ctx context.Context, tenant Tenant, q DeadQuery) ([]DeadJob, error)
	// Purge removes the dead jobs that Dead lists for q, and returns how many those were.
	Purge(ctx context.Context, tenant Tenant, q DeadQuery) (int, error)
	// Jobs lists a tenant's jobs that are not dead, the one that has been due longest first and,
	// of those that are due since one time, the one with the smaller id.
	Jobs(ctx context.Context, tenant Tenant, q JobQuery) ([]QueuedJob, error)
	// Stats counts the jobs of a tenant, or those of all tenants when it is empty.
	Stats(ctx context.Context, tenant Tenant) (QueueStats, error)
}
