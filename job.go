package spool

import (
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
	// JobPoll is due when the engine looks at a pending call of the run: see [Pending].
	JobPoll JobKind = "poll"
	// JobCancel cancels the work of a call that was pending: see [Tool.Cancel].
	JobCancel JobKind = "cancel"
	// JobSettle runs the settle hook of a run again.
	JobSettle JobKind = "settle"
)

// Job is a dispatch ticket for one run, or an event of the outbox. Its JSON form is the body of a queue
// delivery. A host sets only threadId, runId and agent.
//
// An event of the outbox has a Queue and a Payload, and no agent. A worker that claims from its queue delivers
// it at least once. It need not belong to a thread, and it outlives the thread that it is about.
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
	// Subject is the subject that started the run, or "" if it is not known. Workers share the slots of a tenant
	// among its subjects. Jobs without a subject count as those of one.
	Subject string `json:"-"`
	// Queue is the named queue that the job is in. Empty: the default one.
	Queue string `doc:"The named queue of the job. Leave it out: the default one." json:"queue,omitempty"`
	// Payload is the JSON of an event of the outbox. Nil for the ticket of a run.
	Payload json.RawMessage `doc:"The content of an event. Leave it out." json:"payload,omitempty"`
	// Key names the job among the tenant's jobs, which have different keys.
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

// ClaimedJob is a job that is added for a worker that its writer has chosen. No other worker sees it before its
// lease lapses.
type ClaimedJob struct {
	// Job is the job, which became due at its DueAt, or now if that is zero.
	Job
	// JobID is of [NewJobID].
	JobID int64
	// Lease is for how long the worker has the job, from now.
	Lease time.Duration
}

// Delivery returns what the worker of the job acknowledges. It is the job's first delivery, and its token is 1.
func (c ClaimedJob) Delivery() Delivery {
	return Delivery{Job: c.Job, JobID: c.JobID, Token: 1, Attempt: 1}
}

// Event reports whether the job is an event of the outbox, and not the ticket of a run.
func (j Job) Event() bool { return j.RunID == "" }

// NeedsAgent reports whether only a worker that has the job's agent can do it. An event of the outbox has no
// agent, and every worker can settle a run.
func (j Job) NeedsAgent() bool { return !j.Event() && j.Kind != JobSettle }

// JobState is the state of a job.
type JobState string

// The states of a job.
const (
	// JobReady is a job that may be claimed, also one whose claim has lapsed.
	JobReady JobState = "ready"
	// JobDelayed is a job that is not due yet.
	JobDelayed JobState = "delayed"
	// JobInFlight is a job that a worker has.
	JobInFlight JobState = "inflight"
	// JobDead is a job that the queue has given up.
	JobDead JobState = "dead"
)

// JobQuery selects jobs of a tenant. A zero field does not exclude any, but for State: the zero State leaves
// out the dead jobs.
type JobQuery struct {
	Tenant Tenant
	// State leaves out jobs in other states. Empty: all that are not dead.
	State JobState
	// JobID leaves out every other job.
	JobID int64
	// ThreadID leaves out the jobs of other threads.
	ThreadID ThreadID
	// DueBefore leaves out jobs that were due for the first time at this time or after it. It does not apply
	// to dead jobs.
	DueBefore time.Time
	// DiedBefore leaves out jobs that died at this time or after it. It applies to dead jobs only.
	DiedBefore time.Time

	// Limit bounds how many are returned. Zero: all.
	Limit int
	// Before continues a list of dead jobs: only jobs that died before this time, or that died at this time
	// and have a smaller id than BeforeID. Zero: from the newest.
	Before   time.Time
	BeforeID int64
}

// QueuedJob is a job as the queue has it. Its DueAt is when it may be claimed, which for a job in flight is
// when the claim lapses.
type QueuedJob struct {
	Job
	JobID int64
	State JobState
	// Attempts counts the deliveries that were not refunded.
	Attempts int
	// FirstDue is when the job was due for the first time, or will be. A release does not change it. Zero for
	// a dead job.
	FirstDue time.Time
	// Cause is why a dead job was given up, and DiedAt when.
	Cause  string
	DiedAt time.Time
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
	// Reserved is how many of Limit are only for tenants and subjects that have less than their share: see
	// [ClaimQuery.Kept]. Defaults to none.
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

	// Queues are the named queues to claim from. The empty name is the default queue. Nil: the default queue
	// only.
	Queues []string
	// Agents are the agents whose jobs may be claimed. Nil: those of all agents. This does not exclude jobs
	// that need no agent: see [Job.NeedsAgent].
	Agents []string
}

// ServedAt returns what Served returns, or the zero time if Served is nil.
func (q ClaimQuery) ServedAt(tenant Tenant) time.Time {
	if q.Served == nil {
		return time.Time{}
	}
	return q.Served(tenant)
}

// ClaimLoad describes the tenant and the subject of a due job when a claim may take the job. The jobs in flight
// are those at all workers, and those that the claim has taken before.
type ClaimLoad struct {
	// Tenant and Subject are how many jobs the tenant has in flight, and how many of them the subject has.
	Tenant, Subject int
	// TenantShare and SubjectShare are the shares of the tenant and of the subject: see [ClaimQuery.TenantShare]
	// and [ClaimQuery.SubjectShare].
	TenantShare, SubjectShare int
}

// TenantShare returns the share of each tenant that has a job in flight or a due one: an equal part of the
// jobs in flight and of the free slots that are not reserved.
func (q ClaimQuery) TenantShare(inFlight, tenants int) int {
	return max(1, (inFlight+q.Limit-q.Reserved)/max(1, tenants))
}

// SubjectShare returns the share of each subject of a tenant that has a job in flight or a due one.
func (q ClaimQuery) SubjectShare(tenantShare, subjects int) int {
	return max(1, tenantShare/max(1, subjects))
}

// Kept returns how many of the free slots a job must leave free. A tenant without a job in flight may take the
// last slot. So may a tenant that has one and is below its share; with more jobs it must leave more, up to half
// of the reserved slots. The other half is out of reach for a tenant that has its share, unless the subject is
// below its own one. All other jobs leave the reserved slots free.
func (q ClaimQuery) Kept(l ClaimLoad) int {
	half := (q.Reserved + 1) / 2
	switch {
	case l.Tenant < max(1, l.TenantShare):
		return min(max(0, l.Tenant-1), half)
	case l.Subject < l.SubjectShare:
		return min(half+max(0, l.Subject-1), q.Reserved)
	default:
		return q.Reserved
	}
}

// WaitingTenant is a tenant that has a due job.
type WaitingTenant struct {
	Tenant Tenant
	// InFlight is how many of its jobs are in flight, at all workers.
	InFlight int
	// DueAt is when the oldest of its due jobs became due.
	DueAt time.Time
}

// WaitingSubject is a subject that has a due job.
type WaitingSubject struct {
	Subject string
	// InFlight is how many jobs the subject has in flight, at all workers.
	InFlight int
}

// MaxSubjects bounds how many subjects [Stats.Subjects] has. If a tenant has many due jobs, a claim compares at least
// that many of its subjects, those with the smallest names in the order of bytes, and the oldest jobs of the tenant. So
// no subject waits longer than in one queue for all.
const MaxSubjects = 64

// AckKind is what a worker tells the queue about a delivery.
type AckKind string

// The kinds of acknowledgement.
const (
	// AckDone: the job is done, and the queue removes it.
	AckDone AckKind = "done"
	// AckExtend: the worker needs more time. The delivery is leased for Ack.After from now.
	AckExtend AckKind = "extend"
	// AckRelease: the job becomes due again after Ack.After.
	AckRelease AckKind = "release"
	// AckDead: the queue gives the job up, and moves it to the dead ones.
	AckDead AckKind = "dead"
)

// Ack is an acknowledgement of a delivery.
type Ack struct {
	Kind AckKind
	// After is the lease for [AckExtend], and the delay for [AckRelease].
	After time.Duration
	// Refund says for [AckRelease] that the delivery does not count as an attempt.
	Refund bool
	// Cause is for [AckDead] why the job is given up.
	Cause string
}
