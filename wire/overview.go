package wire

import (
	"time"

	"github.com/spoolhq/spool"
)

// RunQuery selects runs: of a tenant across its threads, or of one thread in a [store.View]. A View needs no Tenant
// and no ThreadID, and applies only ID, RootID, Waiting, Whole and Limit.
type RunQuery struct {
	Tenant spool.Tenant
	// Whole also reads the engine's own state of the runs. Else their RunState is zero.
	Whole bool
	// StartKey leaves out runs that were not started under this idempotency key. Empty: all.
	StartKey string
	// RootID leaves out runs that do not have this [Run.RootID]. A View returns them in the order of their
	// insertion. Empty: all.
	RootID spool.RunID
	// Waiting leaves out runs without a [Run.QueuePosition]. A View returns them in that order.
	Waiting bool
	// ID leaves out every other run. Empty: all.
	ID spool.RunID
	// ThreadID leaves out the runs of other threads. Empty: all.
	ThreadID spool.ThreadID
	// State leaves out runs in other states. Empty: all.
	State State
	// StopReason leaves out runs that ended for another reason, or have not ended. Empty:
	// all.
	StopReason StopReason
	// Expired leaves out runs without the mark: see [Run.Expired].
	Expired bool
	// Agent leaves out the runs of other agents. Empty: all.
	Agent string
	// Model leaves out runs with other models. Empty: all.
	Model string
	// Depth leaves out runs of other depths. Nil: all.
	Depth *int
	// CreatedAfter leaves out runs that were made at this time or before it. Zero: all.
	CreatedAfter time.Time
	// CreatedBefore leaves out runs that were made at this time or after it. Zero: all.
	CreatedBefore time.Time

	// Limit bounds how many are returned. Zero: all.
	Limit int
	// Before continues a list: only runs that were made before this time, or at it and have
	// a smaller id than BeforeID. Zero: from the newest.
	Before   time.Time
	BeforeID spool.RunID
}

// Tally has the sums of a tenant's data in a store. The store keeps the sums up to date with each write, so
// reading them costs the same for any amount of data.
type Tally struct {
	// Threads counts the threads.
	Threads int64
	// Runs counts the runs by state, the nested ones included. A state that no run is in is
	// absent.
	Runs map[State]int64
	// Tokens sums the usage of the dispatched runs, which includes that of their nested runs.
	Tokens spool.TokenCount
	// Bytes is the storage that the threads use: at least their messages and the payloads of their records, and
	// more than zero for a thread without any. A row that replaces another does not make it smaller. For a thread with
	// an active run, the newest 64 KiB may be missing. It is zero after all threads are deleted.
	Bytes int64
}

// StatsQuery says which sums a store returns. A sum that nobody asks for costs nothing.
type StatsQuery struct {
	// Tenant is the tenant of the sums. Empty: all tenants together.
	Tenant spool.Tenant
	// Tally asks for the sums of threads, runs and tokens. It needs a Tenant.
	Tally bool
	// Queue asks for the counts of jobs.
	Queue bool
	// Waiting asks for the tenants that have due jobs, whatever Tenant is, and for the subjects of Tenant that
	// have some.
	Waiting bool
	// Queues are the queues whose jobs Queue and Waiting look at. The empty name is the default queue. Nil: all.
	Queues []string
	// NeedsAgent leaves out of the counts of Queue the jobs that need no agent, see [Job.NeedsAgent], and the dead
	// ones: the counts say how much work waits for agents, and cost the same beside any number of events.
	NeedsAgent bool
	// Storage asks for what the store measures about itself.
	Storage bool
}

// Stats has the sums that a [StatsQuery] asks for. The others are zero.
type Stats struct {
	Tally Tally
	Queue QueueStats
	// Waiting has the tenants with due jobs, in the order of their oldest due job. Its cost does not grow with
	// the jobs of a tenant.
	Waiting []WaitingTenant
	// Subjects has the subjects of the query's tenant with due jobs, in the order of their names, up to
	// [store.MaxSubjects].
	Subjects []WaitingSubject
	// Storage has what the store measures about itself.
	Storage []Gauge
}

// Gauge is a number that a store measures about itself, such as the dead tuples of a table.
type Gauge struct {
	// Name says what is measured, in the words of the store: "dead_tuples", "oldest_transaction_seconds".
	Name string
	// Of is the table that was measured. Empty: the store.
	Of    string
	Value float64
}
