package projection

import (
	"encoding/json"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// Change is one change of what a client sees. The set of its types is closed: they are those of this file.
type Change interface{ change() }

// RunOpened opens a run. All other changes are inside a run.
type RunOpened struct {
	Thread spool.ThreadID
	Run    spool.RunID
	// Asked is true for the run of [Options.RunID].
	Asked bool
}

// Messages replaces all messages of the client.
type Messages struct {
	// Thread has the messages, in the form of the wire.
	Thread *wire.FormedSnapshot
	// Seq is the entry of the record up to which the messages count. It does not count if All is true.
	Seq int64
	// All is true if all messages of Thread count.
	All bool
	// Through is the last message that counts, if that is known more exactly than by Seq: steps that were saved
	// later may have no entry of their own. Empty: it is not.
	Through spool.MessageID
	// Streamed is what the run said after the messages. It goes on with the next changes. Nil: nothing.
	Streamed *Streamed
	// Given are the results that the client itself gave to calls of a run that has not continued yet. No
	// message has them. By is that run.
	Given []Given
	By    wire.Run
}

// Saved returns the messages in the form of the wire, as the elements of a JSON array, without what was
// streamed after them.
func (m Messages) Saved() [][]byte {
	if m.All {
		return m.Thread.All()
	}
	if pieces := m.Thread.Through(m.Through); pieces != nil {
		return pieces
	}
	return m.Thread.Before(m.Seq)
}

// StepStarted opens a step, or opens it again for a client that has just got its messages.
type StepStarted struct {
	Run spool.RunID
	// Step counts the steps of the run, from 1.
	Step int
}

// StepSaved closes a step that is saved: all that was said in it is in the messages of the thread.
type StepSaved struct {
	Run spool.RunID
	// Step is the number of the step as it was opened. A step that waited for answers is saved more than once.
	Step     int
	Finished wire.StepFinished
}

// StepLeft closes a step without saying what became of it. If its content does not count, [TakenBack] follows.
type StepLeft struct {
	Run  spool.RunID
	Step int
}

// TakenBack says that what was streamed since the last [StepSaved] does not count. [Messages] follows.
type TakenBack struct {
	Run spool.RunID
	// Step is the step that was open. If none was, Opened is false.
	Step   int
	Opened bool
	// Reasonings is the number of the step's blocks of reasoning.
	Reasonings int
}

// BlockKind says what a block has: [Text] or [Reasoning].
type BlockKind = spool.PartType

// The kinds of block.
const (
	Text      = spool.PartText
	Reasoning = spool.PartReasoning
)

// BlockStarted opens a block. At most one block is open, and none while a call is being written.
type BlockStarted struct {
	Kind spool.PartType
	Run  spool.RunID
	Step int
	// N counts the step's blocks of the kind, from 1.
	N int
}

// Delta adds to the open block.
type Delta struct {
	Kind spool.PartType
	Text string
}

// BlockEnded closes the open block.
type BlockEnded struct{ Kind spool.PartType }

// CallStarted opens a call, or opens it again for a client that has just got its messages.
type CallStarted struct {
	ID   spool.ToolCallID
	Name string
	Run  spool.RunID
	Step int
}

// CallArgs adds to the arguments of an open call.
type CallArgs struct {
	ID    spool.ToolCallID
	Delta string
}

// CallEnded says that the arguments of a call are complete, or that they stay incomplete.
type CallEnded struct {
	ID spool.ToolCallID
	// Args are the complete arguments. Nil: they are unknown.
	Args json.RawMessage
	// Whole is true if no [CallArgs] came for the call.
	Whole bool
}

// CallResult is the result of a call. The call may be of an earlier connection.
type CallResult struct {
	ID     spool.ToolCallID
	Name   string
	Result json.RawMessage
	Run    spool.RunID
	Step   int
}

// Cited is a source of the open step's answer, or one that the result of a call names.
type Cited struct {
	spool.Source

	// Call is the call whose result names it. Empty: the answer does.
	Call spool.ToolCallID
	Run  spool.RunID
	Step int
	// N counts the sources of the answer or of the result, from 1.
	N int
}

// FileMade is an image or another file of the open step's answer.
type FileMade struct {
	wire.FileShown

	Run  spool.RunID
	Step int
}

// Asked says what the run waits for. The run's end follows, as [RunEnded] with the same parks.
type Asked struct{ Parks Parks }

// StateChanged is a new state of the thread. A client gets each state once.
type StateChanged struct{ ThreadState }

// ThreadState is the state of a thread, as a viewer of a run sees it.
type ThreadState struct {
	State      wire.State
	RunID      spool.RunID
	StopReason wire.StopReason
	Error      string
}

// Nested is an item about a nested run: its start, its end, something that it said, or its saved step.
type Nested struct{ Item wire.Item }

// Custom is an event of an application, or an entry or item that has no change of its own.
type Custom struct {
	Name string
	// Value is any JSON. It may be empty.
	Value json.RawMessage
	// Published is true for an event of an application.
	Published bool
	// PublishedBy and PublishedByTool name the publisher. Empty: unknown.
	PublishedBy, PublishedByTool string
}

// Steered says that a run has read the message of a steer. [Messages] with that message comes before it.
type Steered struct {
	wire.Steered

	Payload json.RawMessage
}

// SegmentFailed says that a segment failed. If no [RunEnded] follows, the run is retried.
type SegmentFailed struct {
	wire.RunEnded

	Payload json.RawMessage
}

// Outcome says how a run ended for the viewer.
type Outcome uint8

// The outcomes.
const (
	// Finished is the outcome of a run that is over and did not fail.
	Finished Outcome = iota
	// Waits is the outcome of a run that waits for answers.
	Waits
	// Cancelled is the outcome of a run that was stopped.
	Cancelled
	// Failed is the outcome of a run that failed.
	Failed
	// Left is the outcome of a run that goes on without this client: the server shuts down.
	Left
)

// RunEnded closes the run for the viewer. Everything in it is closed before.
type RunEnded struct {
	Thread  spool.ThreadID
	Run     spool.RunID
	Outcome Outcome
	State   ThreadState
	// Usage is that of the whole run. Nil: unknown.
	Usage *spool.TokenCount
	// Output is the JSON value of the run. Nil: none.
	Output json.RawMessage
	// Parks are what the run waits for.
	Parks Parks
	// Expired is the run's mark: see [wire.Run.Expired]. Zero: it has none, or goes on.
	Expired wire.Expired
	// Old is true if the run was over before the client came.
	Old bool
}

func (RunOpened) change()     {}
func (Messages) change()      {}
func (StepStarted) change()   {}
func (StepSaved) change()     {}
func (StepLeft) change()      {}
func (TakenBack) change()     {}
func (BlockStarted) change()  {}
func (Delta) change()         {}
func (BlockEnded) change()    {}
func (CallStarted) change()   {}
func (CallArgs) change()      {}
func (CallEnded) change()     {}
func (CallResult) change()    {}
func (Cited) change()         {}
func (FileMade) change()      {}
func (Asked) change()         {}
func (StateChanged) change()  {}
func (Nested) change()        {}
func (Custom) change()        {}
func (Steered) change()       {}
func (SegmentFailed) change() {}
func (RunEnded) change()      {}
