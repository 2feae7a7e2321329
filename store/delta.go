package store

import (
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// SnapshotDelta is what one commit changed of what a [wire.Snapshot] of the thread shows. All deltas of a thread, in
// order, say what every earlier snapshot had. A commit that changed nothing visible, such as the renewal of a
// lease, has none.
//
// Version, Seq and At are for the store to set.
type SnapshotDelta struct {
	// Version numbers the deltas of a thread from 1, without gaps.
	Version int64 `doc:"Its number among the deltas of the thread, from 1 without gaps." json:"version"`
	// Seq is the last seq of the record after the commit. Zero: the record is empty.
	Seq int64     `doc:"The last seq of the record after the commit. Zero: the record is empty." json:"seq"`
	At  time.Time `doc:"When the commit happened."                                               json:"at"`

	// Thread is what the thread's row has now. Nil: it did not change.
	Thread *DeltaThread `doc:"What the thread's row has now. Left out: it did not change." json:"thread,omitempty"`
	// RunID is the run that has the thread, or had it last. It comes with Thread.
	RunID spool.RunID `doc:"The run that has the thread, or had it last. It comes with the thread." json:"runId,omitempty"`
	// Runs are the runs that are new or have changed, in the order in which they were made.
	Runs []DeltaRun `doc:"The runs that are new or have changed." json:"runs,omitempty"`
	// View is what happened to the view of messages, in order.
	View []ViewChange `doc:"What happened to the view of messages, in order." json:"view,omitempty"`
	// Parks are the parks that are new or have another state.
	Parks []DeltaPark `doc:"The questions and waits that are new or have another state." json:"parks,omitempty"`
}

// ViewChange is a change of the view of messages. It has one of Add, Drop and Restore.
type ViewChange struct {
	// Add are the messages that were added at the end of the view.
	Add []spool.MessageID `doc:"The messages that were added at the end of the view." json:"add,omitempty"`
	// Drop is the branch that has From, and all messages behind it, from then on.
	Drop wire.BranchID `doc:"The branch to which the message from, and all behind it, have gone." json:"drop,omitempty"`
	// Restore is the branch whose messages are at the end of the view again. From is the first of them.
	Restore wire.BranchID `doc:"The branch whose messages are at the end of the view again." json:"restore,omitempty"`
	// From is the first of the messages of Drop or Restore.
	From spool.MessageID `doc:"The first message that left the view, or came back." json:"from,omitempty"`
}

// DeltaThread has the fields of a [wire.Thread] that change.
type DeltaThread struct {
	State  wire.State        `doc:"The state of the thread's run."               json:"state"`
	Model  string            `doc:"The model of the last run."                   json:"model"`
	Title  string            `doc:"The title."                                   json:"title"`
	Owner  string            `doc:"The subject who made it, or whose it is now." json:"owner,omitempty"`
	Labels map[string]string `doc:"The labels."                                  json:"labels,omitempty"`
}

// DeltaRun is a run in a [SnapshotDelta].
type DeltaRun struct {
	// RunJSON is the run, whose DurationMS and QueuedMS do not count. An empty Prompt, and a nil Result, say that
	// they did not change. Every other field is the present one.
	wire.RunJSON

	// Place orders the runs that wait for the thread: see [wire.Run.QueuePosition].
	Place int64 `doc:"Orders the runs that wait for the thread. Left out: the run does not wait." json:"place,omitempty"`
	// Wait is what a waiting run does when it gets the thread. Nil: it did not change.
	Wait *DeltaWait `doc:"What a waiting run brings. Left out: it did not change." json:"wait,omitempty"`
}

// DeltaWait has the parts of a [wire.QueuedRun] that its run does not have.
type DeltaWait struct {
	WhenBusy        spool.WhenBusy `doc:"What the start asked for, if the thread was busy." json:"whenBusy"`
	Content         spool.Content  `doc:"The user's turn."                                  json:"content,omitempty"`
	ClientMessageID string         `doc:"The client's own id for the turn."                 json:"clientMessageId,omitempty"`
}

// DeltaPark is a park in a [SnapshotDelta].
type DeltaPark struct {
	RunID      spool.RunID      `doc:"The run that waits."    json:"runId"`
	ToolCallID spool.ToolCallID `doc:"The call that waits."   json:"toolCallId"`
	State      wire.ParkState   `doc:"The state of the park." enum:"open,answered,expired,closed,pending,done" json:"state"`
}

// DeltaQuery selects deltas of a thread.
type DeltaQuery struct {
	// After leaves out deltas up to this version.
	After int64
	// Limit bounds how many are returned. Zero: all.
	Limit int
}
