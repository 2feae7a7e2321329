// Package delta adds to each commit of a thread what it changes of the thread's snapshots: a
// [store.SnapshotDelta]. No other part of the engine writes one.
//
// It knows the state before a commit from what the transaction has read, and reads nothing itself, except the
// branch that a transaction restores. For the events of the commit, it tells package notify what it sees.
package delta

import (
	"context"
	"maps"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/notify"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Store adds a delta to each commit of a store that changes what a snapshot shows. It must be next to the
// backend's store, so that no write bypasses it.
type Store struct {
	store.Store

	// Events finds the events of each commit. Nil: nobody is told of any.
	Events *notify.Hook
}

// Update implements [store.Store].
func (s Store) Update(ctx context.Context, key spool.ThreadKey, fence int64, fn func(tx store.Tx) error) error {
	if key.ID == "" { // no thread changes
		return s.Store.Update(ctx, key, fence, fn)
	}
	told, err := s.Events.Begin(ctx, key.Tenant)
	if err != nil {
		return err
	}
	err = s.Store.Update(ctx, key, fence, func(inner store.Tx) error {
		tx := &watchedTx{Tx: inner, watch: told.Watch()}
		if err := fn(tx); err != nil {
			return err
		}
		version, err := tx.finish()
		if err != nil {
			return err
		}
		return tx.watch.Finish(inner, version)
	})
	if err == nil {
		told.Committed()
	}
	return err
}

// watchedTx notes what a transaction reads and writes.
type watchedTx struct {
	store.Tx

	thread  changed[threadView]
	runs    map[spool.RunID]*runChange
	written []*runChange // in the order of their first write
	parks   []parkChange
	view    []store.ViewChange
	entries bool
	watch   *notify.Watch
}

// changed is a value before the transaction, if that is known, and after it, if it was written.
type changed[T any] struct {
	before, after  T
	known, written bool
}

// saw notes a value that was read. Only the first one is that before the transaction.
func (c *changed[T]) saw(value T) {
	if !c.known && !c.written {
		c.before, c.known = value, true
	}
}

// threadView is what a snapshot shows of a thread's row, without its times.
type threadView struct {
	state        wire.State
	model, title string
	owner        string
	labels       map[string]string
	run          spool.RunID
}

func viewOf(t wire.Thread) threadView {
	return threadView{t.State, t.Model, t.Title, t.Owner, maps.Clone(t.Labels), t.RunID}
}

func (v threadView) same(w threadView) bool {
	return v.state == w.state && v.model == w.model && v.title == w.title && v.owner == w.owner && v.run == w.run &&
		maps.Equal(v.labels, w.labels)
}

// runChange is what a transaction knows of a run.
type runChange struct {
	changed[wire.RunJSON]

	// place is the present position in the queue, and placed the one before the transaction.
	place, placed int64
	wait          *store.DeltaWait
}

// parkChange is what a transaction knows of a park.
type parkChange struct {
	changed[wire.ParkState]

	run  spool.RunID
	call spool.ToolCallID
}

// Thread implements [store.View].
func (x *watchedTx) Thread() (wire.Thread, error) {
	thread, err := x.Tx.Thread()
	if err == nil {
		x.thread.saw(viewOf(thread))
		x.watch.SawThread(thread)
	}
	return thread, err
}

// Runs implements [store.View].
func (x *watchedTx) Runs(q wire.RunQuery) ([]store.RunRow, error) {
	all, err := x.Tx.Runs(q)
	for i := range all {
		x.watch.SawRun(&all[i])
		if r := x.run(all[i].ID); !r.known && !r.written {
			r.saw(shown(all[i].Run))
			r.placed = all[i].QueuePosition
		}
	}
	return all, err
}

// Parks implements [store.View].
func (x *watchedTx) Parks(run spool.RunID) ([]store.Park, error) {
	all, err := x.Tx.Parks(run)
	for _, p := range all {
		x.park(p).saw(p.State)
	}
	return all, err
}

// Write implements [store.Tx].
func (x *watchedTx) Write(c store.Changes) error {
	var restored spool.MessageID
	if c.Restore != 0 {
		branches, err := x.Branches()
		if err != nil {
			return err
		}
		for _, b := range branches {
			if b.ID == c.Restore {
				restored = b.FromMessageID
			}
		}
	}
	if err := x.watch.Before(x.Tx, &c); err != nil {
		return err
	}
	if err := x.Tx.Write(c); err != nil {
		return err
	}
	x.watch.Wrote(&c)
	if c.DeleteThread {
		*x = watchedTx{Tx: x.Tx, watch: x.watch}
	}
	if c.Thread != nil {
		x.thread.after, x.thread.written = viewOf(*c.Thread), true
	}
	for i := range c.NewRuns {
		x.wrote(&c.NewRuns[i])
	}
	for i := range c.Runs {
		x.wrote(&c.Runs[i])
	}
	if c.Drop != nil {
		x.view = append(x.view, store.ViewChange{Drop: wire.BranchID(c.Drop.Seq), From: c.Drop.From})
	}
	if c.Restore != 0 {
		x.view = append(x.view, store.ViewChange{Restore: c.Restore, From: restored})
	}
	x.added(c.Messages)
	x.entries = x.entries || len(c.Entries) > 0
	for _, p := range c.Parks {
		park := x.park(p)
		park.after, park.written = p.State, true
	}
	return nil
}

func (x *watchedTx) wrote(row *store.RunRow) {
	r := x.run(row.ID)
	if !r.written {
		x.written = append(x.written, r)
	}
	r.after, r.written, r.place = shown(row.Run), true, row.QueuePosition
	if row.QueuePosition > 0 && row.Wait != nil {
		r.wait = &store.DeltaWait{
			WhenBusy: row.Wait.WhenBusy, Content: row.Wait.Content, ClientMessageID: row.Wait.ClientMessageID,
		}
	}
}

func (x *watchedTx) added(messages []*spool.Message) {
	if len(messages) == 0 {
		return
	}
	if n := len(x.view); n == 0 || x.view[n-1].Add == nil {
		x.view = append(x.view, store.ViewChange{})
	}
	last := &x.view[len(x.view)-1]
	for _, m := range messages {
		last.Add = append(last.Add, m.ID)
	}
}

func (x *watchedTx) run(id spool.RunID) *runChange {
	if r := x.runs[id]; r != nil {
		return r
	}
	if x.runs == nil {
		x.runs = make(map[spool.RunID]*runChange)
	}
	r := &runChange{}
	x.runs[id] = r
	return r
}

func (x *watchedTx) park(p store.Park) *parkChange {
	for i := range x.parks {
		if k := &x.parks[i]; k.run == p.RunID && k.call == p.ToolCallID {
			return k
		}
	}
	x.parks = append(x.parks, parkChange{run: p.RunID, call: p.ToolCallID})
	return &x.parks[len(x.parks)-1]
}

// finish writes the delta of the transaction, if there is one, and returns its version.
func (x *watchedTx) finish() (version int64, err error) {
	d := store.SnapshotDelta{View: x.view}
	if t := &x.thread; t.written && (!t.known || !t.before.same(t.after)) {
		d.Thread = &store.DeltaThread{
			State: t.after.state, Model: t.after.model, Title: t.after.title, Owner: t.after.owner, Labels: t.after.labels,
		}
		d.RunID = t.after.run
	}
	for _, r := range x.written {
		if run, ok := r.delta(); ok {
			d.Runs = append(d.Runs, run)
		}
	}
	for i := range x.parks {
		if p := &x.parks[i]; p.written && (!p.known || p.before != p.after) {
			d.Parks = append(d.Parks, store.DeltaPark{RunID: p.run, ToolCallID: p.call, State: p.after})
		}
	}
	if d.Thread == nil && d.Runs == nil && d.View == nil && d.Parks == nil && !x.entries {
		return 0, nil
	}
	err = x.Tx.Write(store.Changes{Delta: &d})
	return d.Version, err
}

// delta returns what changed of the run, if anything did.
func (r *runChange) delta() (store.DeltaRun, bool) {
	d := store.DeltaRun{RunJSON: r.after, Place: r.place}
	if r.place > 0 && r.placed == 0 {
		d.Wait = r.wait
	}
	if !r.known {
		return d, true
	}
	before := r.before
	if before.Result != nil && d.Result != nil && *before.Result == *d.Result {
		before.Result = d.Result
	}
	if r.place == r.placed && before == d.RunJSON {
		return d, false
	}
	if d.Prompt == before.Prompt {
		d.Prompt = ""
	}
	if d.Result == before.Result {
		d.Result = nil
	}
	return d, true
}
