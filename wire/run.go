package wire

import (
	"time"

	"github.com/spoolhq/spool"
)

// Run is one attempt to advance a thread, as callers see it. It is encoded as a [RunJSON], the form for
// clients. The state that only the engine needs is a [store.RunState].
type Run struct {
	Tenant   spool.Tenant
	ID       spool.RunID
	ThreadID spool.ThreadID
	// ParentID is the run that spawned this one, empty for a dispatched run.
	ParentID spool.RunID
	// CallID is the tool call of ParentID that spawned this run, empty for a dispatched run.
	CallID spool.ToolCallID
	// RootID is the dispatched run at the top of a nested run's tree. Empty for a dispatched run.
	RootID spool.RunID
	// Depth is 0 for a dispatched run.
	Depth int
	// Agent is the name of the agent. For a nested run it is the name that the spawn call used.
	Agent string
	// Model is the model that the start asked for, or the agent's own.
	Model      string
	State      State
	StopReason StopReason
	// Error is why the run failed, in words for a person.
	Error string
	// StartedBy is the subject that started the run. Empty: not known.
	StartedBy  string
	EnqueuedAt time.Time
	// StartedAt is when the first worker claimed the run. Until then it is EnqueuedAt.
	StartedAt time.Time
	EndedAt   time.Time
	// MaxSteps is the maximum of steps in the start, within the agent's. Zero: none.
	MaxSteps int
	// Steps counts the finished steps.
	Steps int
	// Attempts counts the failed attempts since the last finished step.
	Attempts int
	// Expired is the mark of a dispatched run with the questions of its tree that nobody answered in time.
	Expired Expired
	// TokenCount is the usage of the run. For a dispatched run it includes that of its nested runs.
	spool.TokenCount
	// Prompt is the prompt of a nested run, cut to 2,000 characters. The run's first message has the whole
	// prompt. Empty for a dispatched run.
	Prompt string
	// Result is the result that a nested run returned to its parent. Nil before that, and for a dispatched
	// run.
	Result *NestedResult

	// CostMicros is the cost of the run and its nested runs, in millionths of Currency, as far as prices are
	// known. Only the dispatched run has it.
	CostMicros int64
	// Currency is the currency of CostMicros. Empty: no price is known.
	Currency string

	// Allowance is the run's budget and what is left of it. Nil: it has no budget.
	Allowance *Allowance
	// Segments counts the segments of a dispatched run. The stream of the latest one is Stream().
	// For a nested run it is the dispatched run's segment in which it last saved a step.
	Segments int
	// CreatedAt is when the run was created. It orders the runs of a tenant.
	CreatedAt time.Time
	// QueuePosition orders the runs that wait for the thread while another run has it, the
	// smallest first. Zero: the run does not wait.
	QueuePosition int64
}

// NestedResult is the result of a nested run.
type NestedResult struct {
	// Text is its last answer, which may be cut short.
	//
	// Cut to the ResultCap of its parent's agent.
	Text string `json:"text"`
}

// Root returns the id of the dispatched run at the top of the run's tree, which may be the run itself.
func (r Run) Root() spool.RunID {
	if r.RootID != "" {
		return r.RootID
	}
	return r.ID
}

// AgentID names the run in messages and usage: empty for a dispatched run, else its id.
func (r Run) AgentID() spool.AgentID {
	if r.RootID == "" {
		return ""
	}
	return spool.AgentID(r.ID)
}

// Active reports whether the run owns its thread. A run that waits for the thread does not.
func (r Run) Active() bool { return r.State.Active() && r.QueuePosition == 0 }

// Costs returns the cost of the run, empty if no price is known.
func (r Run) Costs() []Money {
	if r.Currency == "" {
		return nil
	}
	return []Money{{Currency: r.Currency, Micros: r.CostMicros}}
}

// DistinctFrom reports whether the subject is certainly another one than the subject that started the run. If
// either is not known, they could be the same.
func (r Run) DistinctFrom(subject string) bool {
	return subject != "" && r.StartedBy != "" && subject != r.StartedBy
}

// Stream returns the id of the run stream of the latest segment, "" before the first.
func (r Run) Stream() StreamID {
	if r.Segments == 0 {
		return ""
	}
	return NewStreamID(r.ID, r.Segments)
}

// EffectState is the state of a tool call's effect.
type EffectState string

// The states of an effect.
const (
	// EffectPending is a call that is running, or was about to run.
	EffectPending EffectState = "pending"
	// EffectDone is a call whose result is known.
	EffectDone EffectState = "done"
	// EffectWaiting is a call that spawned a nested run, which waits for an answer. It has no result,
	// although its step is saved.
	EffectWaiting EffectState = "waiting"
	// EffectVoid is a call that may execute as if it had never started: it parked itself, or a person allowed
	// it after its outcome was unknown.
	EffectVoid EffectState = "void"
)
