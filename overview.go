package spool

import "time"

// RunQuery selects runs of a tenant, across its threads.
type RunQuery struct {
	// ID leaves out every other run. Empty: all.
	ID RunID
	// ThreadID leaves out the runs of other threads. Empty: all.
	ThreadID ThreadID
	// State leaves out runs in other states. Empty: all.
	State State
	// StopReason leaves out runs that ended for another reason, or have not ended. Empty:
	// all.
	StopReason StopReason
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
	BeforeID RunID
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
	Tokens TokenCount
	// Bytes is the storage that the threads use: at least their messages and the payloads of their records.
	// For a thread with an active run, the newest 64 KiB may be missing. It is zero after all threads are
	// deleted.
	Bytes int64
}

// IdleQuery selects idle threads.
type IdleQuery struct {
	// Tenant leaves out the threads of others. Empty: those of all tenants.
	Tenant Tenant
	// Before leaves out threads that were updated at this time or after it. Required.
	Before time.Time
	// Limit bounds how many are returned. Zero: all.
	Limit int
}
