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
	// (RunID, ToolCallID) is greater than (AfterRun, AfterCall). The time is [store.Park.CreatedAt] or [store.Park.ExpiresAt]. In
	// the list of the expired parks they are before it, or less. Zero: from the first.
	After     time.Time
	AfterRun  spool.RunID
	AfterCall spool.ToolCallID
}

// Question is a park as a list shows it.
type Question struct {
	ThreadID spool.ThreadID    `doc:"The thread that waits."                                example:"t1"            json:"threadId"`
	Title    string            `doc:"The title of the thread."                              json:"title"`
	Owner    string            `doc:"The subject who made the thread. Left out: not known." example:"ann"           json:"owner,omitempty"`
	Labels   map[string]string `doc:"The labels of the thread."                             json:"labels,omitempty"`
	// RunID is the dispatched run.
	RunID     spool.RunID `doc:"The run that waits."                                   example:"r1"  json:"runId"`
	StartedBy string      `doc:"The subject who started the run. Left out: not known." example:"ann" json:"startedBy,omitempty"`
	Agent     string      `doc:"The agent of the run."                                 json:"agent"`
	// Path are the agents from the run's own down to the one that made the call.
	Path    []string  `doc:"The agents from the run's own down to the one that made the call. It has one name unless a nested run asks." json:"path"`
	AskedAt time.Time `doc:"When the question was asked."                                                                                json:"askedAt"`
	// Expired is true if nobody answered in time. Such a question takes no answer.
	Expired bool `doc:"Whether nobody answered until expiresAt. Left out: somebody can answer." json:"expired,omitempty"`

	InputRequired

	// ArgumentsBytes is the size of arguments that a list leaves out because they are large, and ArgumentsPreview
	// their beginning. Zero: Arguments has them.
	ArgumentsBytes   int    `doc:"The size of arguments that are left out because they are large. Then arguments is null, and the thread has them. Left out: arguments has all of them." json:"argumentsBytes,omitempty"`
	ArgumentsPreview string `doc:"The beginning of the JSON of arguments that are left out."                                                                                             json:"argumentsPreview,omitempty"`
}

// QuestionPage is a page of questions.
type QuestionPage struct {
	Questions []Question
	// Next is the query of the next page. Nil: this is the last one.
	Next *ParkQuery
}
