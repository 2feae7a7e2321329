package wire

import (
	"encoding/json"
	"time"

	"github.com/spoolhq/spool"
)

// RunOutcome is the state of a run and its results so far, as one consistent view.
type RunOutcome struct {
	// ThreadID is the thread.
	ThreadID spool.ThreadID `example:"t1" json:"threadId"`
	// RunID is the run.
	RunID spool.RunID `example:"r1" json:"runId"`
	// State is the state of the run. COMPLETED, CANCELLED and FAILED mean that it is over.
	State State `enum:"QUEUED,RUNNING,WAITING_FOR_INPUT,COMPLETED,CANCELLED,FAILED" json:"state"`
	// Position is the run's position in the queue of the thread, from 1. Left out: it does not wait.
	Position int `json:"position,omitempty"`
	// StopReason is why it ended. Left out: it has not.
	StopReason StopReason `example:"completed" json:"stopReason,omitempty"`
	// Error is why it failed, for a person.
	Error string `json:"error,omitempty"`
	// Expired is the questions of the run that nobody answered in time. Left out: none.
	//
	// See [Run.Expired].
	Expired Expired `json:"expired,omitzero"`
	// Delivered is the run that has read the message of a steer. Left out: none, or the run is no steer.
	Delivered *Delivered `json:"delivered,omitempty" nullable:"false"`
	// Text is the text of message: the answer, once the run is over.
	Text string `json:"text"`
	// Output is the JSON value that the run was asked for. Left out: the run was not asked for one, or has not
	// completed.
	//
	// See [spool.Agent.Output].
	Output json.RawMessage `json:"output,omitempty"`
	// Message is the last saved answer of the model. Left out: there is none yet, or an edit or a rollback has
	// replaced the turn.
	//
	// Of a run that has ended, it is the final one.
	Message *spool.Message `json:"message,omitempty" nullable:"false"`
	// Parks are the questions that somebody must answer before the run continues. If the list is empty, the run has
	// ended or continues by itself.
	//
	// In the order in which they were asked, in the form of INPUT_REQUIRED.
	Parks []InputRequired `json:"parks"`
	// Usage are the usage of the run and of all runs nested in it.
	Usage spool.TokenCount `json:"usage"`
	// Costs are the cost of the run and of all runs nested in it. Left out: no price is known.
	Costs []Money `json:"costs,omitempty"`
	// Steps is how many steps are finished.
	Steps      int       `json:"steps"`
	EnqueuedAt time.Time `json:"enqueuedAt,omitzero"` // When it was accepted.
	// StartedAt is when a worker first claimed it. Left out: no worker has.
	StartedAt time.Time `json:"startedAt,omitzero"`
	EndedAt   time.Time `json:"endedAt,omitzero"` // When it ended. Left out: it has not.
}

// RunDetail has everything about one run, as one consistent view. None of its lists has more than 1,000
// elements.
type RunDetail struct {
	Run Run `json:"run"` // The run.
	// WaitsFor is the limit of a model's provider that it waits for, in a sentence for a person. Left out: it waits
	// for none.
	//
	// It also says how many runs are before it.
	WaitsFor string `json:"waitsFor,omitempty"`
	// Revision is the revision of the run's agent in the latest segment. Left out: no worker has claimed the run.
	//
	// That of a nested run is its dispatched run's. The RUN_STARTED entries have the revision of each segment.
	Revision RevisionID `json:"revision,omitempty"`
	// Delivered is the run that has read the message of a steer. Left out: none, or the run is no steer.
	Delivered *Delivered `json:"delivered,omitempty" nullable:"false"`
	// Queue are the runs that wait for the thread while the run has it, without their turns. Left out: none.
	//
	// A steer among them is a message that waits to be put into the run.
	Queue []QueuedRun `json:"queue,omitempty"`
	// Output is the JSON value that the run was asked for. Left out: the run was not asked for one, or has not
	// completed.
	//
	// See [RunOutcome.Output].
	Output json.RawMessage `json:"output,omitempty"`
	// Steps are the steps, including the unfinished one.
	Steps []StepRecord `json:"steps"`
	// Children is the runs that it has spawned.
	Children []Run `json:"children"`
	// Entries are the run's entries of the thread's record.
	//
	// The entries of a nested run are those of its dispatched run.
	Entries []Entry `json:"entries"`
	// Parks are its waits for an answer.
	//
	// In the order of their creation.
	Parks []ParkDetail `json:"parks"`
	// Each call of a model, including those of nested runs.
	Usage []UsageRow `json:"usage"`
}

// StepRecord is one step of a run, from the ledgers of usage and side effects.
type StepRecord struct {
	// TokenCount sums what all attempts have used.
	spool.TokenCount

	RunID    spool.RunID    `json:"runId"`    // The run.
	ThreadID spool.ThreadID `json:"threadId"` // Its thread.
	// Agent is the agent.
	Agent string `json:"agent"`
	// Index is the number of the step, from 1.
	Index int `json:"index"`
	// Attempts is how often the model was called.
	//
	// Failed ones included.
	Attempts int `json:"attempts"`
	// Outcome is how the last failed attempt ended.
	Outcome Outcome `enum:"finished,aborted,error,lost" json:"outcome"`
	// Calls are the tool calls that were scheduled or had to wait.
	Calls []CallRecord `json:"calls"`
	// At is when the model's answer was complete.
	At time.Time `json:"at"`
	// DurationMS is the time since the answer before, or since a worker claimed the run.
	//
	// It counts from the answer of the step before, or from the claim of the run if that was later. So it includes
	// the tools of the step before.
	DurationMS int64 `json:"durationMs"`
}

// CallRecord is a tool call and its state.
type CallRecord struct {
	ToolCallID spool.ToolCallID `json:"toolCallId"` // The call.
	// ToolName is the tool. Left out: the message with the call is not in the view.
	ToolName string `json:"toolName,omitempty"`
	// Effect is the state of the call's effect. Left out: no worker has begun the call.
	Effect EffectState `enum:"pending,done,void,waiting" json:"effect,omitempty"`
	// Failed is whether the call failed, by its result. Left out: it did not, or has no result.
	Failed bool `json:"failed,omitempty"`
	// Park is the state of the call's wait. Left out: it did not wait.
	Park ParkState `enum:"open,answered,expired,closed,pending,done" json:"park,omitempty"`
}

// ParkDetail is a wait for an answer.
type ParkDetail struct {
	// ToolCallID is the call that waits.
	ToolCallID spool.ToolCallID `json:"toolCallId"`
	ToolName   string           `json:"toolName"` // Its tool.
	Step       int              `json:"step"`     // Its step.
	Reason     string           `json:"reason"`   // Why it waits.
	// State is the state of the wait.
	State ParkState `enum:"open,answered,expired,closed,pending,done" json:"state"`
	// Revision is the revision of the agent that asked.
	//
	// Empty: the park is of an older version.
	Revision RevisionID `json:"revision,omitempty"`
	// Identifies the question. Send it back with the answer.
	//
	// See [store.Park.DigestOf].
	Digest string `json:"digest,omitempty"`
	// Asked is the content that a person is shown.
	//
	// It never has arguments that the tool hides.
	Asked json.RawMessage `json:"asked,omitempty"`
	// Answer is the answer that counted. Left out: none.
	Answer    *spool.Answer `json:"answer,omitempty"   nullable:"false"`
	CreatedAt time.Time     `json:"createdAt"`          // When the wait began.
	ExpiresAt time.Time     `json:"expiresAt,omitzero"` // The end of the time to answer.
}

// Overview has the numbers of a tenant, and its active runs.
type Overview struct {
	Tenant  spool.Tenant `json:"tenant"`  // The tenant.
	Threads int64        `json:"threads"` // How many threads it has.
	// Runs is how many runs, nested ones included.
	Runs int64 `json:"runs"`
	// RunsByState is the number of runs in each state. States without runs are absent.
	RunsByState map[State]int64 `json:"runsByState"`
	// Tokens are the tokens of all threads.
	Tokens spool.TokenCount `json:"tokens"`
	// Bytes is how many bytes it stores, about.
	//
	// BytesLimit is how much the tenant may store. Zero: no bound.
	Bytes      int64 `json:"bytes"`
	BytesLimit int64 `json:"bytesLimit,omitempty"` // The maximum. Left out: there is none.
	// Queue are its jobs.
	//
	// Zero for an engine without a queue.
	Queue QueueStats `json:"queue"`
	// Active is its newest runs that are not over, up to 50.
	//
	// Those that wait for their thread are included.
	Active []Run `json:"active"`
}
