package memory

import (
	"slices"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

var (
	errNoThread  = spool.Errorf(spool.NotFound, "Thread not found")
	errNoRun     = spool.Errorf(spool.NotFound, "Run not found")
	errNoMessage = spool.Errorf(spool.NotFound, "Message not found")
)

// threadData is a thread and everything that belongs to it. Committed data never changes: a transaction
// works on a fork. A slice that only grows may share its memory with the fork: the older state keeps
// its own length, and so never sees the new elements. Every other change copies the slice first.
type threadData struct {
	// thread is nil if the thread does not exist. Then everything else is empty.
	thread   *wire.Thread
	runs     []store.RunRow
	messages []spool.Message
	entries  []wire.Entry
	parks    []store.Park
	effects  []store.Effect
	usage    []wire.UsageRow
	deltas   []store.SnapshotDelta
	// added has all messages in the order in which they were added, also those of branches.
	added []spool.Message
	// branches are the branches of the thread, in the order of their ids.
	branches []branch
}

func (d *threadData) fork() *threadData {
	next := *d
	if d.thread != nil {
		thread := *d.thread
		next.thread = &thread
	}
	return &next
}

func (d *threadData) runAt(id spool.RunID) int {
	return slices.IndexFunc(d.runs, func(r store.RunRow) bool { return r.ID == id })
}

func messageAt(all []spool.Message, id spool.MessageID) int {
	return slices.IndexFunc(all, func(m spool.Message) bool { return m.ID == id })
}

// view reads one state of a thread.
type view struct {
	key  spool.ThreadKey
	now  time.Time
	data *threadData
}

// end makes any later use of the view panic.
func (v *view) end() { v.data = nil }

// Now returns the time at which the view was taken.
func (v *view) Now() time.Time { return v.now }

// Thread returns the thread's row.
func (v *view) Thread() (wire.Thread, error) {
	if v.data.thread == nil {
		return wire.Thread{}, errNoThread
	}
	return cloneThread(*v.data.thread), nil
}

// Messages returns messages in order.
func (v *view) Messages(q store.MessageQuery) ([]spool.Message, error) {
	if q.ID != "" {
		return v.message(q.ID), nil
	}
	if q.Turns {
		return v.data.turns(q), nil
	}
	all := v.data.messages
	if q.Branch != 0 {
		all = v.data.branched(q.Branch)
	}
	from, to := 0, len(all)
	if at := messageAt(all, q.After); at >= 0 {
		from = at + 1
	}
	if at := messageAt(all, q.Before); at >= 0 {
		to = max(at, from)
	}
	found := []spool.Message{}
	for _, m := range slices.Backward(all[from:to]) {
		if m.AfterSeq >= q.SinceSeq && (q.Role == "" || m.Role == q.Role) &&
			(q.Run == "" || m.RunID == q.Run) && (q.Agent == nil || m.AgentID == *q.Agent) {
			if found = append(found, cloneMessage(m)); len(found) == q.Limit {
				break
			}
		}
	}
	slices.Reverse(found)
	return found, nil
}

func (v *view) message(id spool.MessageID) []spool.Message {
	at := messageAt(v.data.messages, id)
	if at < 0 {
		return []spool.Message{}
	}
	return []spool.Message{cloneMessage(v.data.messages[at])}
}

// Entries returns record entries in the order of their seq.
func (v *view) Entries(q store.EntryQuery) ([]wire.Entry, error) {
	found := []wire.Entry{}
	for _, e := range v.data.entries {
		if e.Seq > q.After && (q.Run == "" || e.RunID == q.Run) && (q.Type == "" || e.Type == q.Type) {
			found = append(found, cloneEntry(e))
		}
	}
	if q.Last {
		slices.Reverse(found)
	}
	return found[:bounded(len(found), q.Limit)], nil
}

// Parks returns the parks of a run.
func (v *view) Parks(run spool.RunID) ([]store.Park, error) {
	found := []store.Park{}
	for _, p := range v.data.parks {
		if p.RunID == run {
			found = append(found, clonePark(p))
		}
	}
	return found, nil
}

// Effects returns the effects of a step.
func (v *view) Effects(run spool.RunID, step int) ([]store.Effect, error) {
	found := []store.Effect{}
	for _, e := range v.data.effects {
		if e.RunID == run && e.Step == step {
			found = append(found, cloneEffect(e))
		}
	}
	return found, nil
}

// Deltas returns what commits have changed.
func (v *view) Deltas(q store.DeltaQuery) ([]store.SnapshotDelta, error) {
	found := []store.SnapshotDelta{}
	for _, c := range v.data.deltas[min(int(q.After), len(v.data.deltas)):] {
		found = append(found, cloneDelta(c))
	}
	return found[:bounded(len(found), q.Limit)], nil
}
