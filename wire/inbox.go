package wire

import (
	"time"

	"github.com/spoolhq/spool"
)

// ParkOrder is the order of a list of parks.
type ParkOrder string

// The orders of a list of parks.
const (
	// ParksByAge lists the park that was asked first, first. A park that is made later comes last.
	ParksByAge ParkOrder = "age"
	// ParksByExpiry lists the park that expires first, first.
	ParksByExpiry ParkOrder = "expiry"
)

// ParkQuery selects parks of a tenant across its threads, the open or the expired ones. A park must pass all fields.
type ParkQuery struct {
	// Tenant is the tenant of the parks. Required.
	Tenant spool.Tenant
	// State is [ParkOpen] for the parks that somebody can answer now, or [ParkExpired] for those that nobody answered
	// in time, also of runs that are over. The expired ones come by their expiry, the last one first, whatever Order
	// says. Defaults to [ParkOpen].
	State ParkState
	// Order is the order of the open parks. Defaults to [ParksByAge].
	Order ParkOrder
	// ThreadID leaves out the parks of other threads. Empty: all.
	ThreadID spool.ThreadID
	// Agent leaves out parks of other agents. It is the agent of the dispatched run, or of the nested run that made
	// the call. Empty: all.
	Agent string
	// Tool leaves out the calls of other tools. Empty: all.
	Tool string
	// Reason leaves out parks with another [store.Park.Reason]. Empty: all.
	Reason string
	// StartedBy leaves out parks whose dispatched run another subject started. Empty: all.
	StartedBy string
	// Owner leaves out parks in the threads of others. Empty: all.
	Owner string

	// Limit bounds how many are returned. Zero: all.
	Limit int
	// After continues a list: only parks whose time of the order is after this one, or equal to it and their
	// (RunID, ToolCallID) is greater than (AfterRun, AfterCall). The time is [store.Park.CreatedAt] or
	// [store.Park.ExpiresAt]. In the list of the expired parks they are before it, or less. Zero: from the first.
	After     time.Time
	AfterRun  spool.RunID
	AfterCall spool.ToolCallID
}

// Question is a park as a list shows it.
type Question struct {
	ThreadID spool.ThreadID `example:"t1" json:"threadId"` // The thread that waits.
	Title    string         `json:"title"`                 // The title of the thread.
	// Owner is the subject who made the thread. Left out: not known.
	Owner  string            `example:"ann"           json:"owner,omitempty"`
	Labels map[string]string `json:"labels,omitempty"` // The labels of the thread.
	// RunID is the run that waits.
	RunID spool.RunID `example:"r1" json:"runId"`
	// StartedBy is the subject who started the run. Left out: not known.
	StartedBy string `example:"ann" json:"startedBy,omitempty"`
	Agent     string `json:"agent"` // The agent of the run.
	// Path are the agents from the run's own down to the one that made the call. It has one name unless a nested run
	// asks.
	Path    []string  `json:"path"`
	AskedAt time.Time `json:"askedAt"` // When the question was asked.
	// Expired is whether nobody answered until expiresAt. Left out: somebody can answer.
	//
	// Such a question takes no answer.
	Expired bool `json:"expired,omitempty"`

	InputRequired

	// ArgumentsBytes are the size of arguments that are left out because they are large. Then arguments is null, and
	// the thread has them. Left out: arguments has all of them.
	ArgumentsBytes int `json:"argumentsBytes,omitempty"`
	// ArgumentsPreview is the beginning of the JSON of arguments that are left out.
	ArgumentsPreview string `json:"argumentsPreview,omitempty"`
}

// QuestionPage is a page of questions.
type QuestionPage struct {
	Questions []Question
	// Next is the query of the next page. Nil: this is the last one.
	Next *ParkQuery
}
