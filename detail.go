package spool

import (
	"encoding/json"
	"time"
)

// RunOutcome is where a run is, and what it has come to, as one consistent state.
type RunOutcome struct {
	ThreadID ThreadID `doc:"The thread."                                                             example:"t1"                                                       json:"threadId"`
	RunID    RunID    `doc:"The run."                                                                example:"r1"                                                       json:"runId"`
	State    State    `doc:"Where the run is. It is over when it is COMPLETED, CANCELLED or FAILED." enum:"QUEUED,RUNNING,WAITING_FOR_INPUT,COMPLETED,CANCELLED,FAILED" json:"state"`
	// Position is the run's place among those that wait for the thread, from 1. Zero: it does
	// not wait.
	Position int `doc:"Its place among the runs that wait for the thread, from 1. Left out: it does not wait for it." json:"position,omitempty"`
	// StopReason is why the run ended. Empty: it has not.
	StopReason StopReason `doc:"Why it ended. Left out: it has not." example:"completed" json:"stopReason,omitempty"`
	// Error is why the run failed, in words for a person.
	Error string `doc:"Why it failed, for a person." json:"error,omitempty"`
	// Text is the text of Message. Empty: there is none.
	Text string `doc:"The text of message: the answer, once the run is over." json:"text"`
	// Message is the last saved answer of the run's model; of a run that has ended, the final one.
	// Nil: the model has not answered yet, or an edit or a rollback has replaced the turn.
	Message *Message `doc:"The last saved answer of the model. Left out: there is none yet, or an edit or a rollback has replaced the turn." json:"message,omitempty" nullable:"false"`
	// Parks are the questions that the run waits with, in the order in which they were asked, as
	// INPUT_REQUIRED tells them. Empty: nobody has to answer anything for the run to go on.
	Parks []InputRequired `doc:"What somebody has to answer before the run goes on. It has ended, or goes on by itself, where there are none." json:"parks"`
	// Usage is what the run has used, and of a dispatched run what its nested runs have as well.
	Usage TokenCount `doc:"What the run has used, with all runs under it." json:"usage"`
	// Costs are what all of it cost. Empty: nothing was priced.
	Costs []Money `doc:"What it cost, with all runs under it. Left out: nothing was priced." json:"costs,omitempty"`
	// Steps counts the finished steps.
	Steps      int       `doc:"How many steps are finished." json:"steps"`
	EnqueuedAt time.Time `doc:"When it was accepted."        json:"enqueuedAt,omitzero"`
	// StartedAt is when the first worker picked the run up. Zero: none has.
	StartedAt time.Time `doc:"When a worker picked it up first. Left out: none has." json:"startedAt,omitzero"`
	EndedAt   time.Time `doc:"When it ended. Left out: it has not."                  json:"endedAt,omitzero"`
}

// RunDetail is all that is known of one run, as one consistent state. None of its lists has
// more than 1,000 elements.
type RunDetail struct {
	Run Run `doc:"The run." json:"run"`
	// Steps are the run's own, the one in hand included.
	Steps []StepRecord `doc:"Its steps, the one in hand included." json:"steps"`
	// Children are the runs that this one has spawned.
	Children []Run `doc:"The runs that it has spawned." json:"children"`
	// Entries are the run's part of the thread's record, the oldest first. That of a nested
	// run is in its dispatched run's.
	Entries []Entry `doc:"Its part of the thread's record." json:"entries"`
	// Parks are the run's waits for an answer, in the order of their creation.
	Parks []ParkDetail `doc:"Its waits for an answer." json:"parks"`
	// Usage are the run's rows of the ledger, for a dispatched run with those of the runs
	// under it.
	Usage []UsageRow `doc:"Each question to a model, also of the runs under it." json:"usage"`
}

// StepRecord is one step of a run, as the ledgers of usage and side effects tell it.
type StepRecord struct {
	// TokenCount sums what all attempts have used.
	TokenCount

	RunID    RunID    `doc:"The run."    json:"runId"`
	ThreadID ThreadID `doc:"Its thread." json:"threadId"`
	// Agent is the name of the agent.
	Agent string `doc:"The agent." json:"agent"`
	// Index counts from 1.
	Index int `doc:"The number of the step, from 1." json:"index"`
	// Attempts counts the questions to the model, those that failed included.
	Attempts int `doc:"How often the model was asked." json:"attempts"`
	// Outcome is how the last of them ended.
	Outcome Outcome `doc:"How the last of these ended." enum:"finished,aborted,error,lost" json:"outcome"`
	// Calls are the tool calls that were about to run or had to wait.
	Calls []CallRecord `doc:"The tool calls that were about to run or had to wait." json:"calls"`
	// At is when the model had answered.
	At time.Time `doc:"When the model had answered." json:"at"`
	// DurationMS is the time until then, from the answer of the step before or from when a
	// worker picked the run up, whichever was later. The tools of the step before are in it.
	DurationMS int64 `doc:"The time until then from the answer before, or from when a worker took the run." json:"durationMs"`
}

// CallRecord is what became of a tool call.
type CallRecord struct {
	ToolCallID ToolCallID `doc:"The call." json:"toolCallId"`
	// ToolName is empty where the message that has the call is not in the thread's view.
	ToolName string `doc:"The tool. Left out: the message with the call is not in view." json:"toolName,omitempty"`
	// Effect is the state of the call's effect. Empty: no worker has begun the call.
	Effect EffectState `doc:"The state of the call's effect. Left out: no worker has begun the call." enum:"pending,done,void,waiting" json:"effect,omitempty"`
	// Park is where its wait for an answer is. Empty: it did not wait.
	Park ParkState `doc:"Where its wait is. Left out: it did not wait." enum:"open,answered,expired,closed" json:"park,omitempty"`
}

// ParkDetail is a wait for an answer.
type ParkDetail struct {
	ToolCallID ToolCallID `doc:"The call that waits." json:"toolCallId"`
	ToolName   string     `doc:"Its tool."            json:"toolName"`
	Step       int        `doc:"Its step."            json:"step"`
	Reason     string     `doc:"Why it waits."        json:"reason"`
	State      ParkState  `doc:"Where the wait is."   enum:"open,answered,expired,closed" json:"state"`
	// Digest names what is asked: see [Park.DigestOf].
	Digest string `doc:"Names what is asked. Send it back with the answer." json:"digest,omitempty"`
	// Asked is what a person is shown: never arguments that the tool keeps to itself.
	Asked     json.RawMessage `doc:"What a person is shown."                  json:"asked,omitempty"`
	Answer    *Answer         `doc:"The answer that counted. Left out: none." json:"answer,omitempty"   nullable:"false"`
	CreatedAt time.Time       `doc:"Since when it waits."                     json:"createdAt"`
	ExpiresAt time.Time       `doc:"Until when."                              json:"expiresAt,omitzero"`
}

// Overview is what a tenant has, and what goes on.
type Overview struct {
	Tenant  Tenant `doc:"The tenant."              json:"tenant"`
	Threads int64  `doc:"How many threads it has." json:"threads"`
	// Runs counts all runs, the nested ones included.
	Runs int64 `doc:"How many runs, nested ones included." json:"runs"`
	// RunsByState counts them by state, where a state that no run is in is absent.
	RunsByState map[State]int64 `doc:"How many of them are in each state. A state without is absent." json:"runsByState"`
	// Tokens sums what all runs have used.
	Tokens TokenCount `doc:"What all of them have used." json:"tokens"`
	// Bytes is how much the tenant stores, and BytesLimit how much it may. Zero: no bound.
	Bytes      int64 `doc:"How many bytes it stores, about."       json:"bytes"`
	BytesLimit int64 `doc:"How many it may. Left out: any number." json:"bytesLimit,omitempty"`
	// Queue counts the tenant's jobs. It is all zero for an engine without a queue.
	Queue QueueStats `doc:"Its jobs." json:"queue"`
	// Active are the newest active runs, up to 50, those that wait for their thread
	// included.
	Active []Run `doc:"Its newest runs that are not over, up to 50." json:"active"`
}
