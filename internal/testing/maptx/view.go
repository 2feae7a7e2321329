package maptx

import (
	"cmp"
	"slices"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Now returns the time that the test has set.
func (tx *Tx) Now() time.Time { return tx.At }

// Thread returns the thread's row.
func (tx *Tx) Thread() (wire.Thread, error) {
	if tx.Rows.Thread == nil {
		return wire.Thread{}, errNoThread
	}
	return clone(*tx.Rows.Thread), nil
}

// Runs returns runs of the thread.
func (tx *Tx) Runs(q wire.RunQuery) ([]store.RunRow, error) {
	found := pick(tx.Rows.Runs, func(r store.RunRow) bool {
		return (q.ID == "" || r.ID == q.ID) && (q.RootID == "" || r.RootID == q.RootID) && (!q.Waiting || r.QueuePosition > 0)
	})
	for i := range found {
		if !q.Whole {
			found[i].RunState = store.RunState{}
		}
	}
	switch {
	case q.Waiting:
		slices.SortFunc(found, func(a, b store.RunRow) int { return cmp.Compare(a.QueuePosition, b.QueuePosition) })
	case q.RootID == "":
		slices.Reverse(found)
	}
	return page(found, q.Limit), nil
}

// Messages returns messages of the view, of a branch, or user turns.
func (tx *Tx) Messages(q store.MessageQuery) ([]spool.Message, error) {
	all := tx.Rows.Messages
	if q.ID != "" {
		return pick(all, func(m spool.Message) bool { return m.ID == q.ID }), nil
	}
	if q.Turns {
		all = tx.Rows.added
		return page(pick(all[messageAt(all, q.After)+1:], func(m spool.Message) bool {
			return ofUser(m) && m.AfterSeq >= q.SinceSeq && (q.BeforeSeq == 0 || m.AfterSeq < q.BeforeSeq)
		}), q.Limit), nil
	}
	if q.Branch != 0 {
		all = nil
		if at := tx.branchAt(q.Branch); at >= 0 {
			all = tx.Rows.Branches[at].Messages
		}
	}
	from, to := messageAt(all, q.After)+1, messageAt(all, q.Before)
	if to < 0 {
		to = len(all)
	}
	found := pick(all[from:max(from, to)], func(m spool.Message) bool {
		return m.AfterSeq >= q.SinceSeq && (q.Role == "" || m.Role == q.Role) && (q.Run == "" || m.RunID == q.Run) &&
			(q.Agent == nil || m.AgentID == *q.Agent)
	})
	slices.Reverse(found)
	found = page(found, q.Limit)
	slices.Reverse(found)
	return found, nil
}

// Branches returns the branches, the newest first.
func (tx *Tx) Branches() ([]wire.Branch, error) {
	found := []wire.Branch{}
	for _, b := range slices.Backward(tx.Rows.Branches) {
		b.FromMessageID, b.MessageCount = b.Messages[0].ID, len(b.Messages)
		if at := slices.IndexFunc(b.Messages, ofUser); at >= 0 {
			b.Preview = b.Messages[at].Content.Preview()
		}
		for _, other := range tx.Rows.Branches {
			if messageAt(other.Messages, b.BaseMessageID) >= 0 {
				b.BaseBranchID = other.ID
			}
		}
		found = append(found, b.Branch)
	}
	return found, nil
}

// Entries returns entries of the record.
func (tx *Tx) Entries(q store.EntryQuery) ([]wire.Entry, error) {
	found := pick(tx.Rows.Entries, func(e wire.Entry) bool {
		return e.Seq > q.After && (q.Run == "" || e.RunID == q.Run) && (q.Type == "" || e.Type == q.Type)
	})
	if q.Last {
		slices.Reverse(found)
	}
	return page(found, q.Limit), nil
}

// Parks returns the parks of a run.
func (tx *Tx) Parks(run spool.RunID) ([]store.Park, error) {
	return pick(tx.Rows.Parks, func(p store.Park) bool { return p.RunID == run }), nil
}

// Effects returns the effects of a step.
func (tx *Tx) Effects(run spool.RunID, step int) ([]store.Effect, error) {
	return pick(tx.Rows.Effects, func(e store.Effect) bool { return e.RunID == run && e.Step == step }), nil
}

// Usage returns rows of the ledger.
func (tx *Tx) Usage(q wire.UsageQuery) (wire.UsageReport, error) {
	if q.Sums {
		return wire.UsageReport{}, errNoSums
	}
	found := pick(tx.Rows.Usage, func(r wire.UsageRow) bool {
		return (q.Run == "" || r.RunID == q.Run) && (q.Agent == nil || r.AgentID == *q.Agent) &&
			(q.Kind == "" || r.Kind == q.Kind) && (!q.Counted || r.Usage.Input != nil)
	})
	if q.Last {
		slices.Reverse(found)
	}
	return wire.UsageReport{Rows: page(found, q.Limit)}, nil
}

// Deltas returns what commits have changed.
func (tx *Tx) Deltas(q store.DeltaQuery) ([]store.SnapshotDelta, error) {
	return page(pick(tx.Rows.Deltas, func(d store.SnapshotDelta) bool { return d.Version > q.After }), q.Limit), nil
}

func messageAt(all []spool.Message, id spool.MessageID) int {
	return slices.IndexFunc(all, func(m spool.Message) bool { return m.ID == id })
}

func (tx *Tx) branchAt(id wire.BranchID) int {
	return slices.IndexFunc(tx.Rows.Branches, func(b Branch) bool { return b.ID == id })
}

func ofUser(m spool.Message) bool { return m.Role == spool.RoleUser && m.AgentID == "" }
