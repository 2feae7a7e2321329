package record

import (
	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Record is the record of a thread, up to its last version.
type Record struct {
	// Thread is the present thread, and RunID the run that has it, or had it last.
	Thread wire.Thread
	RunID  spool.RunID
	// Runs are the present runs, in the order in which they were made.
	Runs []wire.Run
	// Messages are the messages of the view, in their order, and then those of each branch.
	Messages []Message
	// Entries are the entries of the record, by seq.
	Entries []wire.Entry
	// Deltas are what the commits have changed, by version.
	Deltas []store.SnapshotDelta
}

// Message is a message of a record.
type Message struct {
	spool.Message

	// Branch is the branch that has the message. Zero: it is in the view.
	Branch wire.BranchID
}

// Of reads the record of a thread. It returns a [spool.NotFound] error for a thread that does not exist.
func Of(v store.View) (*Record, error) {
	thread, err := v.Thread()
	if err != nil {
		return nil, err
	}
	r := &Record{Thread: thread, RunID: thread.RunID}
	runs, err := v.Runs(wire.RunQuery{})
	if err != nil {
		return nil, err
	}
	r.Runs = make([]wire.Run, len(runs))
	for i := range runs {
		r.Runs[len(runs)-1-i] = runs[i].Run
	}
	if err := r.readMessages(v); err != nil {
		return nil, err
	}
	if r.Entries, err = v.Entries(store.EntryQuery{}); err != nil {
		return nil, err
	}
	r.Deltas, err = v.Deltas(store.DeltaQuery{})
	return r, err
}

// readMessages reads the messages of the view and of all branches.
func (r *Record) readMessages(v store.View) error {
	branches, err := v.Branches()
	if err != nil {
		return err
	}
	ids := make([]wire.BranchID, 1, len(branches)+1) // the first one is the view
	for i := range branches {
		ids = append(ids, branches[len(branches)-1-i].ID)
	}
	for _, id := range ids {
		all, err := v.Messages(store.MessageQuery{Branch: id})
		if err != nil {
			return err
		}
		for _, m := range all {
			r.Messages = append(r.Messages, Message{m, id})
		}
	}
	return nil
}

// Last returns the last version, zero if no commit since the thread is older than its deltas has changed it.
func (r *Record) Last() int64 { return int64(len(r.Deltas)) }

// First returns the first version that [Record.At] takes. It is 1 for a thread with all its deltas, and zero for
// a thread that is older than they are: then version 0 is the thread before the first of them.
func (r *Record) First() int64 {
	if f := r.fold(); len(f.view) == 0 && len(f.order) == 0 && len(r.Deltas) > 0 {
		return 1
	}
	return 0
}

// VersionOf returns the first version whose record has reached a seq, and zero if there is none.
func (r *Record) VersionOf(seq int64) int64 {
	for i := range r.Deltas {
		if r.Deltas[i].Seq >= seq {
			return r.Deltas[i].Version
		}
	}
	return 0
}

// Check returns an [spool.Invalid] error for a version that the record does not have.
func (r *Record) Check(version int64) error {
	if first := r.First(); version < first || version > r.Last() {
		return spool.Errorf(spool.Invalid, "version: there is no version %d, the thread has %d to %d", version, first,
			r.Last())
	}
	return nil
}
