package spooltest

import (
	"context"
	"errors"
	"slices"

	"github.com/spoolhq/spool"
)

// Record returns the backend with a store that adds all writes to the history. It must wrap the backend
// directly, below a [Faulty], because it has to see what really happened.
func (h *History) Record(b spool.Backend) spool.Backend {
	b.Store = &recorder{Store: b.Store, h: h}
	return b
}

// recorder adds the commits of a store to a history.
type recorder struct {
	spool.Store

	h *History
}

// Update adds the writes of fn's last run to the history. It locks the history within the transaction,
// so that the commits of a thread have the order of the store.
func (r *recorder) Update(ctx context.Context, key spool.ThreadKey, fence int64, fn func(spool.Tx) error) error {
	at := -1
	err := r.Store.Update(ctx, key, fence, func(tx spool.Tx) error {
		rtx := &recorderTx{Tx: tx, c: Commit{Thread: key, Fence: fence, At: tx.Now()}}
		if err := fn(rtx); err != nil {
			return err
		}
		if thread, err := tx.Thread(); err == nil {
			rtx.c.FenceAfter, rtx.c.State, rtx.c.RunID = thread.Fence, thread.State, thread.RunID
		}
		r.h.mu.Lock()
		defer r.h.mu.Unlock()
		if at >= 0 {
			r.h.Commits[at].Thread = spool.ThreadKey{} // the transaction was rolled back
		}
		at = len(r.h.Commits)
		r.h.Commits = append(r.h.Commits, rtx.c)
		return nil
	})
	if err != nil && at >= 0 {
		r.h.mu.Lock()
		defer r.h.mu.Unlock()
		r.h.Commits[at].Thread = spool.ThreadKey{}
	}
	return err
}

// recorderTx records writes.
type recorderTx struct {
	spool.Tx

	c Commit
}

func (t *recorderTx) DeleteThread() error {
	t.c.Deleted = true
	return t.Tx.DeleteThread()
}

func (t *recorderTx) InsertRun(r spool.RunRow) error {
	err := t.Tx.InsertRun(r)
	if err == nil {
		t.c.Runs = append(t.c.Runs, asWritten(r))
	}
	return err
}

func (t *recorderTx) UpdateRun(r spool.RunRow) error {
	err := t.Tx.UpdateRun(r)
	if err == nil {
		t.c.Runs = append(t.c.Runs, asWritten(r))
	}
	return err
}

// asWritten returns a copy of the run's present values, because the engine continues to change the
// allowance that it wrote.
func asWritten(r spool.RunRow) spool.RunRow {
	if r.Allowance != nil {
		a := *r.Allowance
		a.Reservations = slices.Clone(a.Reservations)
		r.Allowance = &a
	}
	return r
}

func (t *recorderTx) AppendMessages(messages ...*spool.Message) error {
	last, err := t.Messages(spool.MessageQuery{Limit: 1})
	if err != nil {
		return err
	}
	after := spool.MessageID("")
	if len(last) > 0 {
		after = last[0].ID
	}
	if err = t.Tx.AppendMessages(messages...); err == nil {
		for _, m := range messages {
			t.c.After, after = append(t.c.After, after), m.ID
			t.c.Messages = append(t.c.Messages, cloneMessage(*m))
		}
	}
	return err
}

func (t *recorderTx) DropMessages(from spool.MessageID, seq int64) error {
	messages, err := t.Messages(spool.MessageQuery{})
	if err != nil {
		return err
	}
	dropped := false
	for _, m := range messages {
		if dropped = dropped || m.ID == from; dropped {
			t.c.Dropped = append(t.c.Dropped, m.ID)
		}
	}
	return t.Tx.DropMessages(from, seq)
}

func (t *recorderTx) AppendEntries(entries ...*spool.Entry) error {
	err := t.Tx.AppendEntries(entries...)
	if err == nil {
		for _, e := range entries {
			t.c.Entries = append(t.c.Entries, *e)
		}
	}
	return err
}

func (t *recorderTx) AddUsage(row spool.UsageRow) error {
	err := t.Tx.AddUsage(row)
	if err == nil {
		t.c.Usage = append(t.c.Usage, row)
	}
	return err
}

func (t *recorderTx) Enqueue(j spool.Job) error {
	err := t.Tx.Enqueue(j)
	if err == nil {
		t.c.Jobs = append(t.c.Jobs, j)
	}
	return err
}

func isPark(err error) bool {
	var p *spool.ParkRequest
	return errors.As(err, &p)
}
