package wire

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/spoolhq/spool"
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
	// JobPoll is due when the engine looks at a pending call of the run: see [spool.Pending].
	JobPoll JobKind = "poll"
	// JobCancel cancels the work of a call that was pending: see [spool.Tool.Cancel].
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
	// Tenant is the tenant of the run. Defaults to the default tenant.
	Tenant   spool.Tenant   `json:"tenant,omitempty"`
	ThreadID spool.ThreadID `example:"t1"            json:"threadId"` // The thread, as the start returned it.
	RunID    spool.RunID    `example:"r1"            json:"runId"`    // The run, as the start returned it.
	Model    string         `json:"model,omitempty"`                  // The model of the run.
	Agent    string         `example:"assistant"     json:"agent"`    // The agent that runs.
	Kind     JobKind        `json:"kind,omitempty"`                   // The kind of the job. Leave it out.
	// Segment is the segment that the job is for. Leave it out: any.
	//
	// A ticket for an earlier segment does nothing.
	Segment int `json:"segment,omitempty"`
	// Subject is the subject that started the run, or "" if it is not known. Workers share the slots of a tenant
	// among its subjects. Jobs without a subject count as those of one.
	Subject string `json:"-"`
	// Queue are the named queue of the job. Leave it out: the default one.
	Queue string `json:"queue,omitempty"`
	// Payload is the content of an event. Leave it out.
	//
	// Nil for the ticket of a run.
	Payload json.RawMessage `json:"payload,omitempty"`
	// Key is the queue's own id of the job.
	//
	// It names the job among the tenant's jobs.
	Key string `json:"key,omitempty"`
	// DueAt is when the job is due.
	//
	// Zero: at once.
	DueAt time.Time `json:"dueAt,omitzero"`
}

// Thread returns the key of the job's thread.
func (j Job) Thread() spool.ThreadKey { return spool.ThreadKey{Tenant: j.Tenant, ID: j.ThreadID} }

// Event reports whether the job is an event of the outbox, and not the ticket of a run.
func (j Job) Event() bool { return j.RunID == "" }

// NeedsAgent reports whether only a worker that has the job's agent can do it. An event of the outbox has no
// agent, and every worker can settle a run.
func (j Job) NeedsAgent() bool { return !j.Event() && j.Kind != JobSettle }

// ownQueues begins the names of the engine's own queues.
const ownQueues = "spool."

// CheckQueue returns an [spool.Invalid] error that names field unless an application may have a queue of this name. It
// is an id (see [spool.CheckID]) that does not begin with "spool.", as the engine's own queues do.
func CheckQueue(field, name string) error {
	if strings.HasPrefix(name, ownQueues) {
		return spool.Errorf(spool.Invalid, "%s must not begin with %q, as the engine's own queues do", field, ownQueues)
	}
	return spool.CheckID(field, name)
}

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
	Tenant spool.Tenant
	// State leaves out jobs in other states. Empty: all that are not dead.
	State JobState
	// JobID leaves out every other job.
	JobID int64
	// ThreadID leaves out the jobs of other threads.
	ThreadID spool.ThreadID
	// Queue leaves out the jobs of other queues. The empty name is the default queue. Nil: all.
	Queue *string
	// Subject leaves out the jobs of other subjects.
	Subject string
	// DueBefore leaves out jobs that were due for the first time at this time or after it. It does not apply
	// to dead jobs.
	DueBefore time.Time
	// DueSince leaves out jobs that were due for the first time before this time. It does not apply to dead jobs.
	DueSince time.Time
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
	Ready    int             `json:"ready"`           // Jobs that wait for a worker.
	Delayed  int             `json:"delayed"`         // Jobs that are not due yet, or again.
	InFlight int             `json:"inFlight"`        // Jobs that a worker has.
	Dead     int             `json:"dead"`            // Dead are dead jobs.
	OldestMS int64           `json:"oldestReadyMs"`   // How long the oldest due job has waited.
	Extra    json.RawMessage `json:"extra,omitempty"` // Further numbers of this queue.
}

// WaitingTenant is a tenant that has a due job. Both its jobs in flight and its due jobs are those of the queues that a
// [StatsQuery] names.
type WaitingTenant struct {
	Tenant spool.Tenant
	// InFlight is how many of its jobs are in flight, at all workers of these queues.
	InFlight int
	// DueAt is when the oldest of its due jobs became due.
	DueAt time.Time
}

// WaitingSubject is a subject that has a due job, of the same queues.
type WaitingSubject struct {
	Subject string
	// InFlight is how many jobs the subject has in flight, at all workers of these queues.
	InFlight int
}

// JobResult is the result of a job.
type JobResult struct {
	// Accepted is true if the job need not come back: it was executed, or there was nothing to do.
	Accepted bool
	// Reason is why nothing was executed, in words for a log.
	Reason string
	// RetryAfter is the time after which the job should come back. Zero for an accepted job.
	RetryAfter time.Duration
}
