// Package view turns the snapshots and frames of a thread into what a user sees: the messages, the text that
// is being streamed, the state, and the questions that wait for an answer. It sends nothing and starts nothing.
//
// It does what spec/events.md asks of a client: what a step said is provisional until STEP_FINISHED, what a
// failed segment said is dropped, and a snapshot corrects what was lost.
package view

import (
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
	"github.com/spoolhq/spool/wire/fold"
)

// Thread is what a client shows of a thread. It is not safe for concurrent use. What its methods return is
// valid until the next Apply, and must not be changed.
type Thread struct {
	row      wire.Thread
	messages []spool.Message
	runs     []wire.Run
	queue    []wire.QueuedRun
	parks    fold.Parks
	pending  []fold.Pending
	retry    *fold.Retry
	waits    []wire.ProviderWait
	cursor   *wire.Cursor
	seq      int64 // the last record entry
	deleted  bool
	// current is the run of the state, and ended the end of the last segment. whole says that the present state is
	// that of a snapshot, which has everything before it.
	current spool.RunID
	ended   lastEnd
	whole   bool
	// stream is the stream of the present segment. Empty: none is open.
	stream wire.StreamID
	// steps have what agents said since their last finished step, in the order in which they began.
	steps []*fold.Step
}

// New returns the view of a thread with the snapshot. Nil: an empty view, for a follower without a cursor.
func New(s *wire.Snapshot) *Thread {
	t := &Thread{}
	if s != nil {
		t.replace(s)
	}
	return t
}

// Row returns the thread itself, with its state and title.
func (t *Thread) Row() wire.Thread { return t.row }

// State returns the state of the thread.
func (t *Thread) State() wire.State { return t.row.State }

// Deleted reports whether the thread was deleted.
func (t *Thread) Deleted() bool { return t.deleted }

// Messages returns the messages, in order, including those of nested runs, which have an AgentID.
//
// A message that came with the stream has the content of the saved one. Until a snapshot replaces it, it has an
// id of its own, no time, and no data of the model's provider. The prompts of nested runs and the summaries of
// older messages come with snapshots only.
func (t *Thread) Messages() []spool.Message { return t.messages }

// Drafts returns what is being streamed, in the form of messages that come after Messages. Each agent that is
// in the middle of a step has one, and a second one for the results of its calls. The text of a draft grows;
// the draft becomes a message, with the same id, or goes. The arguments of an unfinished call are the text so
// far, as a JSON string.
func (t *Thread) Drafts() []spool.Message {
	var out []spool.Message
	for _, s := range t.steps {
		out = append(out, s.Messages(t.row.ID)...)
	}
	return out
}

// Parks returns the questions that wait for an answer, in the order in which they were asked.
func (t *Thread) Parks() []fold.Park { return t.parks }

// Pending returns the calls whose work goes on elsewhere, in the order in which they began to wait.
func (t *Thread) Pending() []fold.Pending { return t.pending }

// Retry returns the next attempt of the thread's run. Nil: the run does not wait for one.
func (t *Thread) Retry() *fold.Retry { return t.retry }

// ProviderWaits returns the agents whose next answer waits for a limit of the model's provider.
func (t *Thread) ProviderWaits() []wire.ProviderWait { return t.waits }

// Runs returns the runs that the view knows, the newest first, with those that are nested in a run before it. A run
// that came with the stream has only some fields until a snapshot replaces it.
func (t *Thread) Runs() []wire.Run { return t.runs }

// Queue returns the runs that wait for the thread, the next one first.
func (t *Thread) Queue() []wire.QueuedRun { return t.queue }

// Cursor returns the position from which to follow on. Nil: the view is empty.
func (t *Thread) Cursor() *wire.Cursor { return t.cursor }

// Apply adds a frame. Frames come in the order in which a follower gets them, and a snapshot of the thread has
// all its messages. A frame of a record entry that
// the view already has changes nothing, nor does one of an unknown kind. Apply returns an error for a known
// kind that cannot be decoded, and then leaves the view as it was.
func (t *Thread) Apply(f wire.Frame) error {
	var err error
	switch {
	case f.Kind == wire.FrameThread && f.Event != nil && f.Event.Seq > 0 && f.Event.Seq <= t.seq:
		return nil
	case f.Kind == wire.FrameThread && f.Event != nil:
		err = t.applyEntry(*f.Event)
	case f.Kind == wire.FrameStream && f.Item != nil:
		err = t.applyItem(f.StreamID, *f.Item)
	case f.Kind == wire.FrameSnapshot && f.Snapshot != nil && f.Snapshot.AfterMessageID != nil:
		t.correct(f.Snapshot)
	case f.Kind == wire.FrameSnapshot && f.Snapshot != nil:
		t.replace(f.Snapshot)
	}
	if err == nil && f.Cursor != nil {
		t.cursor = f.Cursor
	}
	return err
}

// replace takes everything from a snapshot of the thread.
func (t *Thread) replace(s *wire.Snapshot) {
	at := s.Cursor()
	*t = Thread{
		row: s.Thread, messages: slices.Clone(s.Messages), runs: byFamily(slices.Clone(s.Runs)), queue: s.Queue,
		cursor: &at, seq: s.LastEventSeq, whole: true,
	}
	t.restsIn()
	t.catchUp(s)
}

// catchUp applies the open questions and the stream of a snapshot. What cannot be decoded is left out, because
// the rest of the snapshot is still right.
func (t *Thread) catchUp(s *wire.Snapshot) {
	t.steps, t.stream, t.waits = nil, "", nil
	t.waitOnly("")
	for _, e := range s.ActiveEvents {
		if payload, err := fold.Entry(e); err == nil {
			t.applyWait(payload)
		}
	}
	if s.Stream == nil {
		return
	}
	for _, item := range s.Stream.Items {
		_ = t.applyItem(s.Stream.StreamID, item)
	}
	if s.Stream.End != nil {
		t.stream = ""
	}
}
