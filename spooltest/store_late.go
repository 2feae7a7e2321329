package spooltest

import (
	"context"
	"errors"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/compare"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// testStoreLateErrors lets each kind of change fail in a transaction whose function ignores it and returns nil.
// Update must return the error, and nothing may be committed: not what was written before, in the same call or
// afterwards.
func testStoreLateErrors(s *storeTest) {
	key := thread("t")
	s.write(key, func(tx store.Tx) error { return fill(tx, key, "r") })
	s.drops(key, "m2", "r")
	s.ok("put the row", s.putRows(key, store.Row{Kind: "k", Key: "a", Value: []byte(`1`)}))
	before := s.all(key, "r")
	for name, c := range map[string]struct {
		want   *spool.Error
		change store.Changes
	}{
		"a run id": {
			store.ErrRunIDUsed, store.Changes{NewRuns: []store.RunRow{{Run: wire.Run{ID: "r", State: wire.Completed}}}},
		},
		"an active run": {
			store.ErrActiveRun, store.Changes{NewRuns: []store.RunRow{{Run: wire.Run{ID: "r2", State: wire.Queued}}}},
		},
		"a message id": {
			store.ErrMessageIDUsed, store.Changes{Messages: []*spool.Message{{ID: "m1", Role: spool.RoleUser}}},
		},
		"a branch id":   {store.ErrBranchUsed, store.Changes{Drop: &store.Drop{From: "m1", Seq: 3}}},
		"a branch":      {errNotFound, store.Changes{Restore: 99}},
		"a dropped one": {errNotFound, store.Changes{Drop: &store.Drop{From: "m2", Seq: 9}}},
		"a run":         {errNotFound, store.Changes{Runs: []store.RunRow{{Run: wire.Run{ID: "r2", State: wire.Failed}}}}},
		"a dead job":    {errNotFound, store.Changes{TakeDead: []int64{7}}},
		"a row":         {store.ErrRowChanged, store.Changes{Rows: []store.Row{{Kind: "k", Key: "a", Value: []byte(`2`)}}}},
	} {
		for at := range 3 {
			all := []store.Changes{unremarkable("x"), c.change, unremarkable("y")}
			if at == 2 { // all in one
				all = []store.Changes{unremarkable("x")}
				all[0].NewRuns, all[0].Runs, all[0].Messages = c.change.NewRuns, c.change.Runs, c.change.Messages
				all[0].Drop, all[0].Restore = c.change.Drop, c.change.Restore
				all[0].TakeDead, all[0].Rows = c.change.TakeDead, append(c.change.Rows, all[0].Rows...)
			}
			err := s.Store.Update(context.Background(), key, 0, func(tx store.Tx) error {
				for _, change := range all[at%2:] {
					_ = tx.Write(change)
				}
				return nil
			})
			if c.want == errNotFound {
				s.fails(name, err, spool.NotFound)
			} else {
				s.is(name, err, c.want)
			}
		}
	}
	s.same("contents", s.all(key, "r"), before)
	s.same("the audit log", s.audited(key.Tenant, wire.AuditQuery{}), "")
	s.same("rows", s.rowKeys(store.RowQuery{Tenant: key.Tenant, Kind: "k"}), "a")
	s.same("jobs", s.jobKeys(), "job:r")
}

// unremarkable returns changes that cannot fail, of most kinds.
func unremarkable(name string) store.Changes {
	return store.Changes{
		Thread:     &wire.Thread{State: wire.Failed, Title: name},
		Entries:    []*wire.Entry{wire.NewEntry("A", "", nil)},
		Effects:    []store.Effect{{RunID: "r", Step: 1, ToolCallID: "c2"}},
		Usage:      []wire.UsageRow{{RunID: "r", Model: name}},
		Delta:      &store.SnapshotDelta{RunID: "r"},
		CancelJobs: []string{"job:r"},
		Jobs:       []wire.Job{{RunID: "r", Key: name}},
		Audit:      []*wire.AuditEntry{{Action: wire.AuditStop}},
		Rows:       []store.Row{{Kind: "k", Key: name, Value: []byte(`1`)}},
	}
}

// jobKeys lists the keys of the default tenant's jobs.
func (s *storeTest) jobKeys() string {
	s.Helper()
	jobs, err := s.Store.Jobs(context.Background(), wire.JobQuery{Tenant: spool.DefaultTenant})
	s.ok("list jobs", err)
	return compare.Spaced(jobs, queuedKey)
}

// testStoreNoThread checks which changes need the thread.
func testStoreNoThread(s *storeTest) {
	nobody := spool.ThreadKey{Tenant: spool.DefaultTenant}
	for _, key := range []spool.ThreadKey{thread("t"), nobody} {
		for name, c := range map[string]store.Changes{
			"a run":         {NewRuns: []store.RunRow{{Run: wire.Run{ID: "r", State: wire.Completed}}}},
			"a changed run": {Runs: []store.RunRow{{Run: wire.Run{ID: "r", State: wire.Completed}}}},
			"a drop":        {Drop: &store.Drop{From: "m", Seq: 1}},
			"a branch":      {Restore: 1},
			"a message":     {Messages: []*spool.Message{{ID: "m", Role: spool.RoleUser}}},
			"an entry":      {Entries: []*wire.Entry{wire.NewEntry("A", "", nil)}},
			"a park":        {Parks: []store.Park{{RunID: "r", ToolCallID: "c"}}},
			"an effect":     {Effects: []store.Effect{{RunID: "r", ToolCallID: "c"}}},
			"a delta":       {Delta: &store.SnapshotDelta{}},
			"usage":         {Usage: []wire.UsageRow{{RunID: "r", Model: "m"}}},
		} {
			s.refuses(name+" without a thread", key, errNotFound, c)
			c.Audit = []*wire.AuditEntry{{Action: wire.AuditStop}}
			s.refuses(name+" without a thread, and an audit entry", key, errNotFound, c)
		}
		s.write(key, func(tx store.Tx) error {
			return tx.Write(store.Changes{
				DeleteThread: true,
				CancelJobs:   []string{"unknown"},
				Jobs:         []wire.Job{{RunID: "r", Key: "job-" + string(key.ID)}},
				Audit:        []*wire.AuditEntry{{Action: wire.AuditStop}},
				Rows:         []store.Row{{Kind: "k", Key: "row-" + string(key.ID), Value: []byte(`1`)}},
			})
		})
		s.same("contents", s.all(key, "r"), compare.Contents{})
	}
	s.same("jobs", s.jobKeys(), "job-t job-")
	s.same("the audit log", s.audited(spool.DefaultTenant, wire.AuditQuery{}), "ba")
	s.same("rows", s.rowKeys(store.RowQuery{Tenant: spool.DefaultTenant, Kind: "k"}), "row- row-t")

	s.queued(thread("t"), "r")
	s.refuses("a run of a thread that the same changes delete", thread("t"), errNotFound, store.Changes{
		DeleteThread: true, NewRuns: []store.RunRow{{Run: wire.Run{ID: "r2", State: wire.Completed}}},
	})
}

// testStoreOrderOfChanges checks that one write makes its changes in the order of the fields.
func testStoreOrderOfChanges(s *storeTest) {
	key := thread("t")
	s.write(key, func(tx store.Tx) error {
		message := &spool.Message{ID: "m", Role: spool.RoleUser}
		entry := wire.NewEntry("A", "r", nil)
		err := tx.Write(store.Changes{
			Thread:   &wire.Thread{State: wire.Running},
			NewRuns:  []store.RunRow{{Run: wire.Run{ID: "r", State: wire.Running}}},
			Runs:     []store.RunRow{{Run: wire.Run{ID: "r", State: wire.Completed}}},
			Messages: []*spool.Message{message}, Entries: []*wire.Entry{entry},
			Parks: []store.Park{{RunID: "r", ToolCallID: "c"}, {RunID: "r", ToolCallID: "c", State: wire.ParkClosed}},
			Effects: []store.Effect{
				{RunID: "r", Step: 1, ToolCallID: "c"},
				{RunID: "r", Step: 1, ToolCallID: "c", State: wire.EffectVoid},
			},
			Jobs: []wire.Job{{RunID: "r", Key: "k", Segment: 1}},
		})
		s.same("AfterSeq", message.AfterSeq, int64(0))
		s.same("Seq", entry.Seq, int64(1))
		return errors.Join(err, tx.Write(store.Changes{Messages: []*spool.Message{{ID: "n", Role: spool.RoleUser}}}))
	})
	c := s.all(key, "r")
	s.same("the run", c.Runs[0].State, wire.Completed)
	s.same("the parks", each(c.Parks, func(p store.Park) wire.ParkState { return p.State }),
		[]wire.ParkState{wire.ParkClosed})
	s.same("the effects", each(c.Effects, func(e store.Effect) wire.EffectState { return e.State }),
		[]wire.EffectState{wire.EffectVoid})
	s.same("AfterSeq", each(c.Messages, func(m spool.Message) int64 { return m.AfterSeq }), []int64{0, 1})

	s.write(key, func(tx store.Tx) error {
		return tx.Write(store.Changes{CancelJobs: []string{"k"}, Jobs: []wire.Job{{RunID: "r", Key: "k", Segment: 2}}})
	})
	jobs, err := s.Store.Jobs(context.Background(), wire.JobQuery{Tenant: key.Tenant})
	s.ok("list jobs", err)
	s.same("the job", each(jobs, func(j wire.QueuedJob) int { return j.Segment }), []int{2})
	s.write(key, func(tx store.Tx) error {
		return tx.Write(store.Changes{DeleteThread: true, Jobs: []wire.Job{{RunID: "r", Key: "k2"}}})
	})
	s.same("the jobs after the thread", s.jobKeys(), "k2")
	s.same("the thread", s.all(key, "r"), compare.Contents{})
}
