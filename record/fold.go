package record

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/excerpt"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// At returns the snapshot of the thread at a version, without a stream. The UpdatedAt of its thread is when the
// version's commit happened.
func (r *Record) At(version int64) (*wire.Snapshot, error) {
	if err := r.Check(version); err != nil {
		return nil, err
	}
	f := r.fold()
	for i := range r.Deltas[:version] {
		f.apply(&r.Deltas[i])
	}
	return f.snapshot()
}

// All returns the snapshots of all versions, in order. It stops at the first that is damaged.
func (r *Record) All() iter.Seq2[int64, *wire.Snapshot] {
	return func(yield func(int64, *wire.Snapshot) bool) {
		f := r.fold()
		for v := r.First(); v <= r.Last(); v++ {
			if v > 0 {
				f.apply(&r.Deltas[v-1])
			}
			if s, err := f.snapshot(); err != nil || !yield(v, s) {
				return
			}
		}
	}
}

// folder has the state of a thread at one of its versions.
type folder struct {
	record   *Record
	messages map[spool.MessageID]spool.Message

	seq      int64
	at       time.Time
	thread   wire.Thread
	run      spool.RunID
	view     []spool.MessageID
	branches map[wire.BranchID][]spool.MessageID
	order    []spool.RunID
	runs     map[spool.RunID]*foldedRun
	parks    map[call]wire.ParkState
}

type foldedRun struct {
	wire.RunJSON

	place int64
	wait  *store.DeltaWait
}

// call names a park.
type call struct {
	run  spool.RunID
	call spool.ToolCallID
}

// fold returns the state before the first delta.
func (r *Record) fold() *folder {
	f := &folder{
		record: r, messages: make(map[spool.MessageID]spool.Message, len(r.Messages)),
		thread: r.Thread, run: r.RunID, seq: r.Thread.LastSeq, at: r.Thread.UpdatedAt,
		branches: make(map[wire.BranchID][]spool.MessageID), runs: make(map[spool.RunID]*foldedRun),
		parks: make(map[call]wire.ParkState),
	}
	if n := len(r.Entries); n > 0 {
		f.seq = r.Entries[n-1].Seq
	}
	for _, m := range r.Messages {
		f.messages[m.ID] = m.Message
		if m.Branch == 0 {
			f.view = append(f.view, m.ID)
		} else {
			f.branches[m.Branch] = append(f.branches[m.Branch], m.ID)
		}
	}
	f.undo()
	known := make(map[spool.RunID]bool)
	for i := range r.Deltas {
		for _, run := range r.Deltas[i].Runs {
			known[run.ID] = true
		}
	}
	for _, run := range r.Runs {
		if !known[run.ID] {
			f.order = append(f.order, run.ID)
			f.runs[run.ID] = &foldedRun{RunJSON: run.Wire()}
		}
	}
	for i := range r.Deltas {
		if d := &r.Deltas[i]; d.Thread != nil {
			f.setThread(d)
			break
		}
	}
	return f
}

// undo takes all changes of the view back.
func (f *folder) undo() {
	for i, d := range slices.Backward(f.record.Deltas) {
		if i == 0 {
			f.seq, f.at = seqBefore(f.record.Entries, d), d.At
		}
		for _, c := range slices.Backward(d.View) {
			switch {
			case c.Drop != 0:
				f.view = append(f.view, f.branches[c.Drop]...)
				delete(f.branches, c.Drop)
			case c.Restore != 0:
				f.cut(c.From, c.Restore)
			case len(c.Add) > 0:
				f.view = f.view[:max(0, len(f.view)-len(c.Add))]
			}
		}
	}
}

// seqBefore returns the last seq before the first delta.
func seqBefore(entries []wire.Entry, first store.SnapshotDelta) int64 {
	seq := int64(0)
	for _, e := range entries {
		if e.Seq <= first.Seq && e.CreatedAt.Before(first.At) {
			seq = e.Seq
		}
	}
	return seq
}

// apply applies the next delta.
func (f *folder) apply(d *store.SnapshotDelta) {
	f.seq, f.at = d.Seq, d.At
	if d.Thread != nil {
		f.setThread(d)
	}
	for i := range d.Runs {
		f.applyRun(&d.Runs[i])
	}
	for _, c := range d.View {
		switch {
		case c.Drop != 0:
			f.cut(c.From, c.Drop)
		case c.Restore != 0:
			f.view = append(f.view, f.branches[c.Restore]...)
			delete(f.branches, c.Restore)
		default:
			f.view = append(f.view, c.Add...)
		}
	}
	for _, p := range d.Parks {
		f.parks[call{p.RunID, p.ToolCallID}] = p.State
	}
}

func (f *folder) setThread(d *store.SnapshotDelta) {
	t := &f.thread
	t.State, t.Model, t.Title, t.Owner, t.Labels = d.Thread.State, d.Thread.Model, d.Thread.Title, d.Thread.Owner,
		d.Thread.Labels
	f.run = d.RunID
}

func (f *folder) applyRun(d *store.DeltaRun) {
	before, known := f.runs[d.ID]
	if !known {
		before = &foldedRun{}
		f.order = append(f.order, d.ID)
	}
	run := &foldedRun{RunJSON: d.RunJSON, place: d.Place, wait: d.Wait}
	run.Prompt = cmp.Or(run.Prompt, before.Prompt)
	run.Result = cmp.Or(run.Result, before.Result)
	run.wait = cmp.Or(run.wait, before.wait)
	f.runs[d.ID] = run
}

// cut moves a message of the view, and all behind it, to a branch.
func (f *folder) cut(from spool.MessageID, to wire.BranchID) {
	at := slices.Index(f.view, from)
	if at < 0 {
		at = len(f.view)
	}
	f.branches[to] = slices.Clone(f.view[at:])
	f.view = f.view[:at:at]
}

// snapshot returns the present state.
func (f *folder) snapshot() (*wire.Snapshot, error) {
	s := &wire.Snapshot{Thread: f.thread, Messages: make([]spool.Message, len(f.view)), LastEventSeq: -1}
	s.Thread.UpdatedAt, s.Thread.RunID, s.Thread.LastSeq = f.at, f.run, f.seq
	if f.seq > 0 {
		s.LastEventSeq = f.seq
	}
	for i, id := range f.view {
		m, ok := f.messages[id]
		if !ok {
			return nil, spool.Errorf(spool.Invalid, "the record lacks the message %s", id)
		}
		s.Messages[i] = m
	}
	s.Runs = make([]wire.Run, 0, min(len(f.order), excerpt.MaxRuns))
	for _, id := range slices.Backward(f.order) {
		if len(s.Runs) == excerpt.MaxRuns {
			break
		}
		s.Runs = append(s.Runs, f.runs[id].Run())
	}
	s.Thread.Expired = wire.Expired{}
	if owner := f.runs[f.run]; owner != nil {
		s.Thread.Expired = owner.Expired
	}
	s.ActiveEvents = []wire.Entry{}
	if s.Thread.State.Active() {
		s.Queue, s.ActiveEvents = f.queue(), f.activeEvents()
	}
	return s, nil
}

// queue returns the runs that wait for the thread.
func (f *folder) queue() []wire.QueuedRun {
	var waiting []*foldedRun
	for _, id := range f.order {
		if r := f.runs[id]; r.place > 0 {
			waiting = append(waiting, r)
		}
	}
	slices.SortFunc(waiting, func(a, b *foldedRun) int { return cmp.Compare(a.place, b.place) })
	var queue []wire.QueuedRun
	for i, r := range waiting {
		q := wire.QueuedRun{RunID: r.ID, Position: i + 1, EnqueuedAt: r.EnqueuedAt}
		if w := r.wait; w != nil {
			q.WhenBusy, q.Content, q.ClientMessageID = w.WhenBusy, w.Content, w.ClientMessageID
		}
		queue = append(queue, q)
	}
	return queue
}

// activeEvents returns the entries of the run that has the thread, as far as a snapshot has them.
func (f *folder) activeEvents() []wire.Entry {
	var all []wire.Entry
	for _, e := range f.record.Entries {
		if e.Seq > f.seq {
			break
		}
		if e.RunID == f.run {
			all = append(all, e)
		}
	}
	return excerpt.Entries(all, func(id spool.ToolCallID) wire.ParkState { return f.parks[call{f.run, id}] })
}
