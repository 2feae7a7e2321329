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
	// JobHandBack is the ticket of a run whose worker shut down.
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
	Tenant   Tenant   `json:"tenant,omitempty"`
	ThreadID ThreadID `json:"threadId"`
	RunID    RunID    `json:"runId"`
	Model    string   `json:"model,omitempty"`
	Agent    string   `json:"agent"`
	Kind     JobKind  `json:"kind,omitempty"`
	// Segment is the segment that the ticket is for, so that one which the run has
	// outlived does nothing. Zero: any.
	Segment int `json:"segment,omitempty"`
	// Key names the job in the tenant's queue, so that it is there at most once.
	Key string `json:"key,omitempty"`
	// DueAt is when the job may be claimed. Zero: at once.
	DueAt time.Time `json:"dueAt,omitzero"`
}

// Thread returns the key of the job's thread.
func (j Job) Thread() ThreadKey { return ThreadKey{Tenant: j.Tenant, ID: j.ThreadID} }

// Delivery is a claimed job. Token proves the claim: a later claim of the same job
// makes it worthless.
type Delivery struct {
	Job
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

// QueueStats describes a queue. Extra is what a backend has to add.
type QueueStats struct {
	Ready    int             `json:"ready"`
	Delayed  int             `json:"delayed"`
	InFlight int             `json:"inFlight"`
	Dead     int             `json:"dead"`
	OldestMS int64           `json:"oldestReadyMs"`
	Extra    json.RawMessage `json:"extra,omitempty"`
}

// Queue hands jobs to workers, at least once each. Jobs get into it by [Tx.Enqueue].
//
// A queue is safe for concurrent use. A delivery's token guards Extend, Ack, Release
// and Bury: each returns an [ErrFenced] error and does nothing when the job was released,
// claimed again or is gone.
type Queue interface {
	// Claim takes up to limit due jobs, the one that has been due longest first, and
	// leases them. It does not wait. With nothing to take it returns an empty slice and
	// when the next job becomes due, which is the zero time for an empty queue, and when
	// something was taken.
	Claim(ctx context.Context, limit int, lease time.Duration) (taken []Delivery, next time.Time, err error)
	// Extend leases the delivery for the given time from now.
	Extend(ctx context.Context, d Delivery, lease time.Duration) error
	// Ack removes the job.
	Ack(ctx context.Context, d Delivery) error
	// Release makes the job due again after the given time. With refund the delivery
	// does not count as an attempt.
	Release(ctx context.Context, d Delivery, after time.Duration, refund bool) error
	// Bury moves the job to the dead ones.
	Bury(ctx context.Context, d Delivery, cause string) error
	// Dead lists the dead jobs of a tenant, the newest first.
	Dead(ctx context.Context, tenant Tenant, limit int) ([]DeadJob, error)
	// Stats counts the jobs of all tenants.
	Stats(ctx context.Context) (QueueStats, error)
}
