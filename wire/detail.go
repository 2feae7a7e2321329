package wire

import (
	"encoding/json"
	"time"

	"github.com/spoolhq/spool"
)

// RunOutcome is the state of a run and its results so far, as one consistent view.
type RunOutcome struct {
	ThreadID spool.ThreadID `doc:"The thread."                                                                 example:"t1"                                                       json:"threadId"`
	RunID    spool.RunID    `doc:"The run."                                                                    example:"r1"                                                       json:"runId"`
	State    State          `doc:"The state of the run. COMPLETED, CANCELLED and FAILED mean that it is over." enum:"QUEUED,RUNNING,WAITING_FOR_INPUT,COMPLETED,CANCELLED,FAILED" json:"state"`
	// Position is the run's position in the queue of the thread, from 1. Zero: it does not wait.
	Position int `doc:"The run's position in the queue of the thread, from 1. Left out: it does not wait." json:"position,omitempty"`
	// StopReason is why the run ended. Empty: it has not.
	StopReason StopReason `doc:"Why it ended. Left out: it has not." example:"completed" json:"stopReason,omitempty"`
	// Error is why the run failed, in words for a person.
	Error string `doc:"Why it failed, for a person." json:"error,omitempty"`
	// Expired is the mark of a dispatched run: see [Run.Expired].
	Expired Expired `doc:"The questions of the run that nobody answered in time. Left out: none." json:"expired,omitzero"`
	// Delivered says which run has read the message of a steer. Nil: none has, or the run is no steer.
	Delivered *Delivered `doc:"The run that has read the message of a steer. Left out: none, or the run is no steer." json:"delivered,omitempty" nullable:"false"`
	// Text is the text of Message. Empty: there is none.
	Text string `doc:"The text of message: the answer, once the run is over." json:"text"`
	// Output is the JSON value of a run that was asked for one and has completed: see [spool.Agent.Output]. Nil:
	// there is none.
	Output json.RawMessage `doc:"The JSON value that the run was asked for. Left out: the run was not asked for one, or has not completed." json:"output,omitempty"`
	// Message is the last saved answer of the run's model; of a run that has ended, the final one.
	// Nil: the model has not answered yet, or an edit or a rollback has replaced the turn.
	Message *spool.Message `doc:"The last saved answer of the model. Left out: there is none yet, or an edit or a rollback has replaced the turn." json:"message,omitempty" nullable:"false"`
	// Parks are the open questions of the run, in the order in which they were asked, in the form of
	// INPUT_REQUIRED. Empty: the run waits for nobody.
	Parks []InputRequired `doc:"The questions that somebody must answer before the run continues. If the list is empty, the run has ended or continues by itself." json:"parks"`
	// Usage is the usage of the run. For a dispatched run it includes that of its nested runs.
	Usage spool.TokenCount `doc:"The usage of the run and of all runs nested in it." json:"usage"`
	// Costs has the cost of the same runs. Empty: no price is known.
	Costs []Money `doc:"The cost of the run and of all runs nested in it. Left out: no price is known." json:"costs,omitempty"`
	// Steps counts the finished steps.
	Steps      int       `doc:"How many steps are finished." json:"steps"`
	EnqueuedAt time.Time `doc:"When it was accepted."        json:"enqueuedAt,omitzero"`
	// StartedAt is when a worker first claimed the run. Zero: no worker has.
	StartedAt time.Time `doc:"When a worker first claimed it. Left out: no worker has." json:"startedAt,omitzero"`
	EndedAt   time.Time `doc:"When it ended. Left out: it has not."                     json:"endedAt,omitzero"`
}

// RunDetail has everything about one run, as one consistent view. None of its lists has more than 1,000
// elements.
type RunDetail struct {
	Run Run `doc:"The run." json:"run"`
	// WaitsFor says which limit of a model's provider the run or a run nested in it waits for, and how many
	// runs are before it. Empty: it waits for none.
	WaitsFor string `doc:"The limit of a model's provider that it waits for, in a sentence for a person. Left out: it waits for none." json:"waitsFor,omitempty"`
	// Revision is the revision of the agent in the latest segment. That of a nested run is its dispatched
	// run's. The RUN_STARTED entries have the revision of each segment. Empty: no worker has claimed the run.
	Revision RevisionID `doc:"The revision of the run's agent in the latest segment. Left out: no worker has claimed the run." json:"revision,omitempty"`
	// Delivered says which run has read the message of a steer. Nil: none has, or the run is no steer.
	Delivered *Delivered `doc:"The run that has read the message of a steer. Left out: none, or the run is no steer." json:"delivered,omitempty" nullable:"false"`
	// Queue has the runs that wait for the thread of the run, without their turns, if the run has the thread. A
	// steer among them is a message that waits to be put into the run.
	Queue []QueuedRun `doc:"The runs that wait for the thread while the run has it, without their turns. Left out: none." json:"queue,omitempty"`
	// Output is the JSON value of the run: see [RunOutcome.Output]. Nil: there is none.
	Output json.RawMessage `doc:"The JSON value that the run was asked for. Left out: the run was not asked for one, or has not completed." json:"output,omitempty"`
	// Steps are the run's own steps, including the unfinished one.
	Steps []StepRecord `doc:"The steps, including the unfinished one." json:"steps"`
	// Children are the runs that this one has spawned.
	Children []Run `doc:"The runs that it has spawned." json:"children"`
	// Entries are the run's entries of the thread's record, the oldest first. The entries of a nested run are
	// those of its dispatched run.
	Entries []Entry `doc:"The run's entries of the thread's record." json:"entries"`
	// Parks are the run's waits for an answer, in the order of their creation.
	Parks []ParkDetail `doc:"Its waits for an answer." json:"parks"`
	// Usage has the run's rows of the ledger. For a dispatched run it includes those of its nested runs.
	Usage []UsageRow `doc:"Each call of a model, including those of nested runs." json:"usage"`
}

// StepRecord is one step of a run, from the ledgers of usage and side effects.
type StepRecord struct {
	// TokenCount sums what all attempts have used.
	spool.TokenCount

	RunID    spool.RunID    `doc:"The run."    json:"runId"`
	ThreadID spool.ThreadID `doc:"Its thread." json:"threadId"`
	// Agent is the name of the agent.
	Agent string `doc:"The agent." json:"agent"`
	// Index counts from 1.
	Index int `doc:"The number of the step, from 1." json:"index"`
	// Attempts counts the calls of the model, including failed ones.
	Attempts int `doc:"How often the model was called." json:"attempts"`
	// Outcome is how the last attempt ended.
	Outcome Outcome `doc:"How the last failed attempt ended." enum:"finished,aborted,error,lost" json:"outcome"`
	// Calls are the tool calls that were scheduled or had to wait.
	Calls []CallRecord `doc:"The tool calls that were scheduled or had to wait." json:"calls"`
	// At is when the model's answer was complete.
	At time.Time `doc:"When the model's answer was complete." json:"at"`
	// DurationMS is the time until At. It counts from the answer of the step before, or from the claim of the
	// run if that was later. So it includes the tools of the step before.
	DurationMS int64 `doc:"The time since the answer before, or since a worker claimed the run." json:"durationMs"`
}

// CallRecord is a tool call and its state.
type CallRecord struct {
	ToolCallID spool.ToolCallID `doc:"The call." json:"toolCallId"`
	// ToolName is empty if the message with the call is not in the thread's view.
	ToolName string `doc:"The tool. Left out: the message with the call is not in the view." json:"toolName,omitempty"`
	// Effect is the state of the call's effect. Empty: no worker has begun the call.
	Effect EffectState `doc:"The state of the call's effect. Left out: no worker has begun the call." enum:"pending,done,void,waiting" json:"effect,omitempty"`
	// Failed is true for a call that failed, by its result.
	Failed bool `doc:"Whether the call failed, by its result. Left out: it did not, or has no result." json:"failed,omitempty"`
	// Park is the state of its wait for an answer. Empty: it did not wait.
	Park ParkState `doc:"The state of the call's wait. Left out: it did not wait." enum:"open,answered,expired,closed,pending,done" json:"park,omitempty"`
}

// ParkDetail is a wait for an answer.
type ParkDetail struct {
	ToolCallID spool.ToolCallID `doc:"The call that waits."   json:"toolCallId"`
	ToolName   string           `doc:"Its tool."              json:"toolName"`
	Step       int              `doc:"Its step."              json:"step"`
	Reason     string           `doc:"Why it waits."          json:"reason"`
	State      ParkState        `doc:"The state of the wait." enum:"open,answered,expired,closed,pending,done" json:"state"`
	// Revision is the revision of the agent that asked. Empty: the park is of an older version.
	Revision RevisionID `doc:"The revision of the agent that asked." json:"revision,omitempty"`
	// Digest identifies the question: see [store.Park.DigestOf].
	Digest string `doc:"Identifies the question. Send it back with the answer." json:"digest,omitempty"`
	// Asked is the content that a person is shown. It never has arguments that the tool hides.
	Asked     json.RawMessage `doc:"The content that a person is shown."      json:"asked,omitempty"`
	Answer    *spool.Answer   `doc:"The answer that counted. Left out: none." json:"answer,omitempty"   nullable:"false"`
	CreatedAt time.Time       `doc:"When the wait began."                     json:"createdAt"`
	ExpiresAt time.Time       `doc:"The end of the time to answer."           json:"expiresAt,omitzero"`
}

// Overview has the numbers of a tenant, and its active runs.
type Overview struct {
	Tenant  spool.Tenant `doc:"The tenant."              json:"tenant"`
	Threads int64        `doc:"How many threads it has." json:"threads"`
	// Runs counts all runs, the nested ones included.
	Runs int64 `doc:"How many runs, nested ones included." json:"runs"`
	// RunsByState counts the runs by state. States without runs are absent.
	RunsByState map[State]int64 `doc:"The number of runs in each state. States without runs are absent." json:"runsByState"`
	// Tokens sums what all runs have used.
	Tokens spool.TokenCount `doc:"The tokens of all threads." json:"tokens"`
	// Bytes is how much the tenant stores, and BytesLimit how much it may. Zero: no bound.
	Bytes      int64 `doc:"How many bytes it stores, about."      json:"bytes"`
	BytesLimit int64 `doc:"The maximum. Left out: there is none." json:"bytesLimit,omitempty"`
	// Queue counts the tenant's jobs. It is zero for an engine without a queue.
	Queue QueueStats `doc:"Its jobs." json:"queue"`
	// Active has the newest active runs, up to 50, including those that wait for their thread.
	Active []Run `doc:"Its newest runs that are not over, up to 50." json:"active"`
}
