package store

import (
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// Delivery is a claimed job. Token proves the claim, until the same job is claimed again.
type Delivery struct {
	wire.Job
	// JobID names the job in its store. Tenants see it, so it tells nothing about other jobs:
	// see [wire.NewJobID].
	JobID int64
	Token int64
	// Attempt counts the deliveries that were not refunded, this one included.
	Attempt int
}

// ClaimedJob is a job that is added for a worker that its writer has chosen. No other worker sees it before its
// lease lapses.
type ClaimedJob struct {
	// Job is the job, which became due at its DueAt, or now if that is zero.
	wire.Job
	// JobID is of [wire.NewJobID].
	JobID int64
	// Lease is for how long the worker has the job, from now.
	Lease time.Duration
}

// Delivery returns what the worker of the job acknowledges. It is the job's first delivery, and its token is 1.
func (c ClaimedJob) Delivery() Delivery {
	return Delivery{Job: c.Job, JobID: c.JobID, Token: 1, Attempt: 1}
}

// ClaimQuery says how many jobs a worker takes, and of which tenants.
type ClaimQuery struct {
	// Limit bounds how many jobs are taken. Zero: none.
	Limit int
	// Reserved is how many of Limit are only for tenants and subjects that have less than their share: see
	// [ClaimQuery.Kept]. Defaults to none.
	Reserved int
	// PerTenant bounds how many jobs of a tenant in Queues are in flight, including those of other workers. Zero:
	// no bound.
	PerTenant int
	// Served returns when the worker last had a job of a tenant, or the zero time. Among tenants with equally
	// many jobs in flight, the tenant with the earliest time comes first. Served must not block, and may be
	// called once for each tenant. Defaults to the zero time for all.
	Served func(spool.Tenant) time.Time
	// Lease is for how long the jobs are leased.
	Lease time.Duration

	// Queues are the named queues to claim from. The empty name is the default queue. Nil: the default queue
	// only. The claim does not look at jobs of other queues, also where it counts those in flight.
	Queues []string
	// Agents are the agents whose jobs may be claimed. Nil: those of all agents. This does not exclude jobs
	// that need no agent: see [wire.Job.NeedsAgent].
	Agents []string
}

// ServedAt returns what Served returns, or the zero time if Served is nil.
func (q ClaimQuery) ServedAt(tenant spool.Tenant) time.Time {
	if q.Served == nil {
		return time.Time{}
	}
	return q.Served(tenant)
}

// ClaimLoad describes the tenant and the subject of a due job when a claim may take the job. The jobs in flight
// are those in the queues of the claim, at all workers, and those that the claim has taken before.
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

// MaxSubjects bounds how many subjects [wire.Stats.Subjects] has. If a tenant has many due jobs, a claim compares at
// least that many of its subjects, those with the smallest names in the order of bytes, and the oldest jobs of the
// tenant. So no subject waits longer than in one queue for all.
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

// AckError is the error of a handler of events that says itself what becomes of its event. The worker acknowledges the
// delivery with Ack, which has the kind [AckDone], [AckRelease] or [AckDead]. With another kind it is an error like any
// other.
type AckError struct{ Ack Ack }

func (e *AckError) Error() string {
	if e.Ack.Kind == AckRelease {
		return "the event comes again after " + e.Ack.After.String()
	}
	return strings.TrimSuffix("the event is "+string(e.Ack.Kind)+": "+e.Ack.Cause, ": ")
}
