package spooltest

import (
	"context"
	"errors"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
)

// Record returns the backend with a store that adds all writes to the history. It must wrap the backend
// directly, below a [Faulty], because it has to see what really happened.
func (h *History) Record(b store.Backend) store.Backend {
	b.Store = &recorder{Store: b.Store, h: h}
	return b
}

// recorder adds the commits of a store to a history.
type recorder struct {
	store.Store

	h *History
}

// Update adds the writes of fn's last run to the history. It locks the history within the transaction,
// so that the commits of a thread have the order of the store.
func (r *recorder) Update(ctx context.Context, key spool.ThreadKey, fence int64, fn func(store.Tx) error) error {
	at := -1
	err := r.Store.Update(ctx, key, fence, func(tx store.Tx) error {
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
	store.Tx

	c Commit
}

// Write adds the changes to the commit. If one of them fails later, the whole commit is taken back.
func (t *recorderTx) Write(c store.Changes) error {
	dropped, err := t.dropped(c)
	if err != nil {
		return err
	}
	if err := t.Tx.Write(c); err != nil {
		return err
	}
	t.c.Deleted = t.c.Deleted || c.DeleteThread
	for _, r := range slices.Concat(c.NewRuns, c.Runs) {
		t.c.Runs = append(t.c.Runs, asWritten(r))
	}
	t.c.Dropped = append(t.c.Dropped, dropped...)
	for _, e := range c.Entries {
		t.c.Entries = append(t.c.Entries, *e)
	}
	t.c.Usage = append(t.c.Usage, c.Usage...)
	t.c.Jobs, t.c.Claimed = append(t.c.Jobs, c.Jobs...), append(t.c.Claimed, c.Claimed...)
	t.c.CancelJobs = append(t.c.CancelJobs, c.CancelJobs...)
	return t.said(c.Messages)
}

// dropped returns the messages that the changes drop.
func (t *recorderTx) dropped(c store.Changes) (ids []spool.MessageID, err error) {
	if c.Drop == nil {
		return nil, nil
	}
	messages, err := t.Messages(store.MessageQuery{})
	if err != nil {
		return nil, err
	}
	dropped := false
	for _, m := range messages {
		if dropped = dropped || m.ID == c.Drop.From; dropped {
			ids = append(ids, m.ID)
		}
	}
	return ids, nil
}

// said adds messages that were saved, each with the message before it.
func (t *recorderTx) said(messages []*spool.Message) error {
	if len(messages) == 0 {
		return nil
	}
	last, err := t.Messages(store.MessageQuery{Limit: len(messages) + 1})
	if err != nil {
		return err
	}
	after := spool.MessageID("")
	if len(last) > len(messages) {
		after = last[0].ID
	}
	for _, m := range messages {
		t.c.After, after = append(t.c.After, after), m.ID
		t.c.Messages = append(t.c.Messages, cloneMessage(*m))
	}
	return nil
}

// asWritten returns a copy of the run's present values, because the engine continues to change the
// allowance that it wrote.
func asWritten(r store.RunRow) store.RunRow {
	if r.Allowance != nil {
		a := *r.Allowance
		a.Reservations = slices.Clone(a.Reservations)
		r.Allowance = &a
	}
	return r
}

func isPark(err error) bool {
	var p *spool.ParkRequest
	return errors.As(err, &p)
}

// looks reports whether a call only looks at work that an earlier one has begun.
func looks(c spool.ToolCall) bool { return c.Pending != nil }
