package wire

import (
	"slices"
)

// State is the state of a thread or of a run. Both have the same seven states.
type State string

// The states.
const (
	// Idle is a thread that no run has touched.
	Idle State = "IDLE"
	// Queued is a run that waits for a worker.
	Queued State = "QUEUED"
	// Running is a run that a worker holds.
	Running State = "RUNNING"
	// WaitingForInput is a run that is parked: it holds no process, lock or memory.
	WaitingForInput State = "WAITING_FOR_INPUT"
	// Completed is a run that finished its work, or that ended at a limit of the host.
	Completed State = "COMPLETED"
	// Cancelled is a run that somebody stopped.
	Cancelled State = "CANCELLED"
	// Failed is a run that ended with an error.
	Failed State = "FAILED"
)

// States lists the states in the order in which a run may pass through them.
func States() []State {
	return []State{Idle, Queued, Running, WaitingForInput, Completed, Cancelled, Failed}
}

// Active reports whether a run in this state still owns its thread.
func (s State) Active() bool { return s == Queued || s == Running || s == WaitingForInput }

// Terminal reports whether a run in this state has ended.
func (s State) Terminal() bool { return s == Completed || s == Cancelled || s == Failed }

// Transition is one allowed change of a thread's state, and the engine operation
// that makes it.
type Transition struct {
	From, To State
	By       string
}

// Transitions returns the whole table. The engine refuses a change that is not in the table, which
// would be a defect. docs/operations/state-machine.md prints the table.
func Transitions() []Transition { return slices.Clone(transitions) }

var transitions = []Transition{
	{Idle, Queued, "start"},
	{Completed, Queued, "start"},
	{Failed, Queued, "start"},
	{Cancelled, Queued, "start"},

	{Queued, Running, "claim"},
	{WaitingForInput, Running, "claim"},
	{Running, Running, "claim"}, // the worker before this one died

	{Running, WaitingForInput, "park"},
	{Running, Queued, "retry"},
	{Running, Queued, "hand back"},
	{Running, Queued, "back off"}, // several workers died in its step, and it waits to execute isolated

	{Running, Completed, "settle"},
	{Running, Failed, "settle"},
	{Running, Cancelled, "settle"},

	{Queued, Cancelled, "stop"},
	{Running, Cancelled, "stop"}, // the worker is dead
	{WaitingForInput, Cancelled, "stop"},

	{Queued, Completed, "steer"}, // its message was put into another run

	{Queued, Failed, "dead job"},
	{Running, Failed, "dead job"},
	{WaitingForInput, Failed, "dead job"},
	{WaitingForInput, Failed, "expire"},
}

// CanBecome reports whether the table has a change from s to next.
func (s State) CanBecome(next State) bool {
	for _, t := range transitions {
		if t.From == s && t.To == next {
			return true
		}
	}
	return false
}

// StopReason says why a run ended.
type StopReason string

// The stop reasons.
const (
	StopCompleted StopReason = "completed"
	StopMaxSteps  StopReason = "max_steps"
	StopCancelled StopReason = "cancelled"
	StopFailed    StopReason = "failed"
	StopTimeout   StopReason = "timeout"
	// StopSteered is a run that never began, because its message was put into another run: see [spool.BusySteer].
	StopSteered StopReason = "steered"
	// StopLength is a run whose last answer was cut, by the provider's limit, the agent's
	// MaxOutputTokens or the engine's Limits.AnswerBytes.
	StopLength StopReason = "length"
	// StopFilter is a run whose last answer was cut by the provider's content filter.
	StopFilter StopReason = "content_filter"
	// StopUnknown is a run whose last answer ended with a word of its provider that the adapter does not know. The
	// answer may be cut. The step has the word: see [spool.FinishReason].
	StopUnknown StopReason = "unknown_finish"
	// StopEmpty is a run whose model said nothing and called nothing, twice.
	StopEmpty StopReason = "empty_answer"
	// StopRepeated is a run whose model made the same call with the same result again and again: see [spool.Tool.Polling].
	StopRepeated StopReason = "repeated_call"
	// StopOutput is a run that failed because its answer did not fit the [spool.OutputSchema], twice.
	StopOutput StopReason = "invalid_output"
	// The budgets of a run: see [spool.Budget].
	StopTokenBudget    StopReason = "token_budget"
	StopCostBudget     StopReason = "cost_budget"
	StopToolCallBudget StopReason = "tool_call_budget"
	StopTimeBudget     StopReason = "time_budget"
	// StopTimeLimit ends a run that has executed for as long as the server lets any run execute.
	StopTimeLimit StopReason = "time_limit"
	// StopStorageLimit ends a run before its next step, because its tenant stores as many bytes as
	// it may.
	StopStorageLimit StopReason = "storage_limit"
)
