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
// Version, Seq and At are for the store to set, before the Write that has the delta returns.
type SnapshotDelta struct {
	// Version is its number among the deltas of the thread, from 1 without gaps.
	Version int64 `json:"version"`
	// Seq is the last seq of the record after the commit. Zero: the record is empty.
	Seq int64     `json:"seq"`
	At  time.Time `json:"at"` // When the commit happened.

	// Thread is what the thread's row has now. Left out: it did not change.
	Thread *DeltaThread `json:"thread,omitempty"`
	// RunID is the run that has the thread, or had it last. It comes with the thread.
	RunID spool.RunID `json:"runId,omitempty"`
	// Runs are the runs that are new or have changed.
	//
	// In the order in which they were made.
	Runs []DeltaRun `json:"runs,omitempty"`
	// View is what happened to the view of messages, in order.
	View []ViewChange `json:"view,omitempty"`
	// Parks are the questions and waits that are new or have another state.
	Parks []DeltaPark `json:"parks,omitempty"`
}

// ViewChange is a change of the view of messages. It has one of Add, Drop and Restore.
type ViewChange struct {
	// Add is the messages that were added at the end of the view.
	Add []spool.MessageID `json:"add,omitempty"`
	// Drop is the branch to which the message from, and all behind it, have gone.
	Drop wire.BranchID `json:"drop,omitempty"`
	// Restore is the branch whose messages are at the end of the view again.
	//
	// From is the first of them.
	Restore wire.BranchID `json:"restore,omitempty"`
	// From is the first message that left the view, or came back.
	From spool.MessageID `json:"from,omitempty"`
}

// DeltaThread has the fields of a [wire.Thread] that change.
type DeltaThread struct {
	State  wire.State        `json:"state"`            // The state of the thread's run.
	Model  string            `json:"model"`            // The model of the last run.
	Title  string            `json:"title"`            // The title.
	Owner  string            `json:"owner,omitempty"`  // The subject who made it, or whose it is now.
	Labels map[string]string `json:"labels,omitempty"` // The labels.
}

// DeltaRun is a run in a [SnapshotDelta].
type DeltaRun struct {
	// RunJSON is the run, whose DurationMS and QueuedMS do not count. An empty Prompt, and a nil Result, say that
	// they did not change. Every other field is the present one.
	wire.RunJSON

	// Orders the runs that wait for the thread. Left out: the run does not wait.
	//
	// See [wire.Run.QueuePosition].
	Place int64 `json:"place,omitempty"`
	// Wait is what a waiting run brings. Left out: it did not change.
	Wait *DeltaWait `json:"wait,omitempty"`
}

// DeltaWait has the parts of a [wire.QueuedRun] that its run does not have.
type DeltaWait struct {
	// WhenBusy is what the start asked for, if the thread was busy.
	WhenBusy        spool.WhenBusy `json:"whenBusy"`
	Content         spool.Content  `json:"content,omitempty"`         // The user's turn.
	ClientMessageID string         `json:"clientMessageId,omitempty"` // The client's own id for the turn.
}

// DeltaPark is a park in a [SnapshotDelta].
type DeltaPark struct {
	// RunID is the run that waits.
	RunID spool.RunID `json:"runId"`
	// ToolCallID is the call that waits.
	ToolCallID spool.ToolCallID `json:"toolCallId"`
	// State is the state of the park.
	State wire.ParkState `enum:"open,answered,expired,closed,pending,done" json:"state"`
}

// DeltaQuery selects deltas of a thread.
type DeltaQuery struct {
	// After leaves out deltas up to this version.
	After int64
	// Limit bounds how many are returned. Zero: all.
	Limit int
}
