package wire

import (
	"time"

	"github.com/spoolhq/spool"
)

// Thread is the row of a conversation. Its JSON form is the one for clients; fields without a JSON name are
// for the engine and its store.
type Thread struct {
	Tenant spool.Tenant `json:"-"`
	// ID is the thread's id.
	ID spool.ThreadID `example:"t1" json:"id"`
	// State is the state of the thread's run.
	State State `enum:"IDLE,QUEUED,RUNNING,WAITING_FOR_INPUT,COMPLETED,CANCELLED,FAILED" json:"state"`
	// Model is the model of the last run.
	Model string `example:"demo" json:"model"`
	// Title is the title: the beginning of the first prompt, or a title that somebody set.
	Title string `example:"Hello" json:"title"`
	// Owner is the subject who made it. Left out: not known.
	//
	// Or that it was given to.
	Owner string `example:"ann" json:"owner,omitempty"`
	// Labels are the labels of the thread.
	Labels    map[string]string `json:"labels,omitempty"`
	CreatedAt time.Time         `json:"createdAt"` // When it was made.
	UpdatedAt time.Time         `json:"updatedAt"` // When it changed last.
	// Expired is the questions of its last run that nobody answered in time. Left out: none.
	Expired Expired `json:"expired,omitzero"`

	// RunID is the run that owns the thread, or the last one that owned it.
	RunID spool.RunID `json:"-"`
	// LastSeq is the seq of the last record entry, 0 when there is none.
	LastSeq int64 `json:"-"`
	// Fence counts the claims of the thread. A write with an older one is
	// refused.
	Fence int64 `json:"-"`
	// LeaseUntil is when the claim lapses unless it is renewed. Zero: not claimed.
	LeaseUntil time.Time `json:"-"`
}

// Key returns the thread's key.
func (t Thread) Key() spool.ThreadKey { return spool.ThreadKey{Tenant: t.Tenant, ID: t.ID} }

// Leased reports whether a worker holds the thread at the given time.
func (t Thread) Leased(now time.Time) bool { return now.Before(t.LeaseUntil) }

// ThreadWork says which work a thread has.
type ThreadWork string

// The kinds of thread that a [ThreadQuery] can select by their work.
const (
	// ThreadsIdle are threads without an active run, a current lease or the job of a run, due or not. Events
	// of the outbox do not count.
	ThreadsIdle ThreadWork = "idle"
	// ThreadsStranded are active threads that no process works on: they have no current lease, and the run
	// that owns them has no job, due or not.
	ThreadsStranded ThreadWork = "stranded"
)

// ThreadQuery selects threads, the last updated one first.
type ThreadQuery struct {
	// Tenant is the tenant of the threads. It is required, unless Work is set: then the empty tenant stands for
	// all.
	Tenant spool.Tenant
	// Work leaves out threads with other work. If it is set, the thread that was updated longest ago comes
	// first, and of the other fields only Tenant, UpdatedBefore and Limit apply. Empty: all.
	Work ThreadWork
	// Limit bounds how many are returned. Zero: all.
	Limit int
	// Before continues a list: only threads that were updated before this time, or at
	// it and have a smaller id than BeforeID. Zero: from the newest.
	Before   time.Time
	BeforeID spool.ThreadID

	// State leaves out threads in other states. Empty: all.
	State State
	// Expired leaves out threads without the mark: see [Thread.Expired].
	Expired bool
	// Title leaves out threads whose title does not contain this text. Upper and lower case of ASCII letters
	// are equal. Empty: all.
	Title string
	// Owner leaves out the threads of others. Empty: all.
	Owner string
	// Labels leaves out threads that do not have all of these. Nil: all.
	Labels map[string]string
	// UpdatedAfter leaves out threads that were updated at this time or before it. Zero:
	// all.
	UpdatedAfter time.Time
	// UpdatedBefore leaves out threads that were updated at this time or after it. Zero:
	// all.
	UpdatedBefore time.Time
}
