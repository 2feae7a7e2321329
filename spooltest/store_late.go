package spooltest

import (
	"context"
	"errors"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/compare"
)

// testStoreLateErrors lets each kind of change fail in a transaction whose function ignores it and returns nil.
// Update must return the error, and nothing may be committed: not what was written before, in the same call or
// afterwards.
func testStoreLateErrors(s *storeTest) {
	key := thread("t")
	s.write(key, func(tx spool.Tx) error { return fill(tx, key, "r") })
	s.drops(key, "m2", "r")
	s.ok("put the row", s.putRows(key, spool.Row{Kind: "k", Key: "a", Value: []byte(`1`)}))
	before := s.all(key, "r")
	for name, c := range map[string]struct {
		want   *spool.Error
		change spool.Changes
	}{
		"a run id":      {spool.ErrRunIDUsed, spool.Changes{NewRuns: []spool.RunRow{{Run: spool.Run{ID: "r", State: spool.Completed}}}}},
		"an active run": {spool.ErrActiveRun, spool.Changes{NewRuns: []spool.RunRow{{Run: spool.Run{ID: "r2", State: spool.Queued}}}}},
		"a message id":  {spool.ErrMessageIDUsed, spool.Changes{Messages: []*spool.Message{{ID: "m1", Role: spool.RoleUser}}}},
		"a branch id":   {spool.ErrBranchUsed, spool.Changes{Drop: &spool.Drop{From: "m1", Seq: 3}}},
		"a branch":      {errNotFound, spool.Changes{Restore: 99}},
		"a dropped one": {errNotFound, spool.Changes{Drop: &spool.Drop{From: "m2", Seq: 9}}},
		"a run":         {errNotFound, spool.Changes{Runs: []spool.RunRow{{Run: spool.Run{ID: "r2", State: spool.Failed}}}}},
		"a dead job":    {errNotFound, spool.Changes{TakeDead: []int64{7}}},
		"a row":         {spool.ErrRowChanged, spool.Changes{Rows: []spool.Row{{Kind: "k", Key: "a", Value: []byte(`2`)}}}},
	} {
		for at := range 3 {
			all := []spool.Changes{unremarkable("x"), c.change, unremarkable("y")}
			if at == 2 { // all in one
				all = []spool.Changes{unremarkable("x")}
				all[0].NewRuns, all[0].Runs, all[0].Messages = c.change.NewRuns, c.change.Runs, c.change.Messages
				all[0].Drop, all[0].Restore = c.change.Drop, c.change.Restore
				all[0].TakeDead, all[0].Rows = c.change.TakeDead, append(c.change.Rows, all[0].Rows...)
			}
			err := s.Store.Update(context.Background(), key, 0, func(tx spool.Tx) error {
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
	s.same("the audit log", s.audited(key.Tenant, spool.AuditQuery{}), "")
	s.same("rows", s.rowKeys(spool.RowQuery{Tenant: key.Tenant, Kind: "k"}), "a")
	s.same("jobs", s.jobKeys(), "job:r")
}

// unremarkable returns changes that cannot fail, of most kinds.
func unremarkable(name string) spool.Changes {
	return spool.Changes{
		Thread:     &spool.Thread{State: spool.Failed, Title: name},
		Entries:    []*spool.Entry{spool.NewEntry("A", "", nil)},
		Effects:    []spool.Effect{{RunID: "r", Step: 1, ToolCallID: "c2"}},
		Usage:      []spool.UsageRow{{RunID: "r", Model: name}},
		Delta:      &spool.SnapshotDelta{RunID: "r"},
		CancelJobs: []string{"job:r"},
		Jobs:       []spool.Job{{RunID: "r", Key: name}},
		Audit:      []*spool.AuditEntry{{Action: spool.AuditStop}},
		Rows:       []spool.Row{{Kind: "k", Key: name, Value: []byte(`1`)}},
	}
}

// jobKeys lists the keys of the default tenant's jobs.
func (s *storeTest) jobKeys() string {
	s.Helper()
	jobs, err := s.Store.Jobs(context.Background(), spool.JobQuery{Tenant: spool.DefaultTenant})
	s.ok("list jobs", err)
	return compare.Spaced(jobs, queuedKey)
}

// testStoreNoThread checks which changes need the thread.
func testStoreNoThread(s *storeTest) {
	nobody := spool.ThreadKey{Tenant: spool.DefaultTenant}
	for _, key := range []spool.ThreadKey{thread("t"), nobody} {
		for name, c := range map[string]spool.Changes{
			"a run":         {NewRuns: []spool.RunRow{{Run: spool.Run{ID: "r", State: spool.Completed}}}},
			"a changed run": {Runs: []spool.RunRow{{Run: spool.Run{ID: "r", State: spool.Completed}}}},
			"a drop":        {Drop: &spool.Drop{From: "m", Seq: 1}},
			"a branch":      {Restore: 1},
			"a message":     {Messages: []*spool.Message{{ID: "m", Role: spool.RoleUser}}},
			"an entry":      {Entries: []*spool.Entry{spool.NewEntry("A", "", nil)}},
			"a park":        {Parks: []spool.Park{{RunID: "r", ToolCallID: "c"}}},
			"an effect":     {Effects: []spool.Effect{{RunID: "r", ToolCallID: "c"}}},
			"a delta":       {Delta: &spool.SnapshotDelta{}},
			"usage":         {Usage: []spool.UsageRow{{RunID: "r", Model: "m"}}},
		} {
			s.refuses(name+" without a thread", key, errNotFound, c)
			c.Audit = []*spool.AuditEntry{{Action: spool.AuditStop}}
			s.refuses(name+" without a thread, and an audit entry", key, errNotFound, c)
		}
		s.write(key, func(tx spool.Tx) error {
			return tx.Write(spool.Changes{
				DeleteThread: true,
				CancelJobs:   []string{"unknown"},
				Jobs:         []spool.Job{{RunID: "r", Key: "job-" + string(key.ID)}},
				Audit:        []*spool.AuditEntry{{Action: spool.AuditStop}},
				Rows:         []spool.Row{{Kind: "k", Key: "row-" + string(key.ID), Value: []byte(`1`)}},
			})
		})
		s.same("contents", s.all(key, "r"), compare.Contents{})
	}
	s.same("jobs", s.jobKeys(), "job-t job-")
	s.same("the audit log", s.audited(spool.DefaultTenant, spool.AuditQuery{}), "ba")
	s.same("rows", s.rowKeys(spool.RowQuery{Tenant: spool.DefaultTenant, Kind: "k"}), "row- row-t")

	s.queued(thread("t"), "r")
	s.refuses("a run of a thread that the same changes delete", thread("t"), errNotFound, spool.Changes{
		DeleteThread: true, NewRuns: []spool.RunRow{{Run: spool.Run{ID: "r2", State: spool.Completed}}},
	})
}

// testStoreOrderOfChanges checks that one write makes its changes in the order of the fields.
func testStoreOrderOfChanges(s *storeTest) {
	key := thread("t")
	s.write(key, func(tx spool.Tx) error {
		message := &spool.Message{ID: "m", Role: spool.RoleUser}
		entry := spool.NewEntry("A", "r", nil)
		err := tx.Write(spool.Changes{
			Thread:   &spool.Thread{State: spool.Running},
			NewRuns:  []spool.RunRow{{Run: spool.Run{ID: "r", State: spool.Running}}},
			Runs:     []spool.RunRow{{Run: spool.Run{ID: "r", State: spool.Completed}}},
			Messages: []*spool.Message{message}, Entries: []*spool.Entry{entry},
			Parks:   []spool.Park{{RunID: "r", ToolCallID: "c"}, {RunID: "r", ToolCallID: "c", State: spool.ParkClosed}},
			Effects: []spool.Effect{{RunID: "r", Step: 1, ToolCallID: "c"}, {RunID: "r", Step: 1, ToolCallID: "c", State: spool.EffectVoid}},
			Jobs:    []spool.Job{{RunID: "r", Key: "k", Segment: 1}},
		})
		s.same("AfterSeq", message.AfterSeq, int64(0))
		s.same("Seq", entry.Seq, int64(1))
		return errors.Join(err, tx.Write(spool.Changes{Messages: []*spool.Message{{ID: "n", Role: spool.RoleUser}}}))
	})
	c := s.all(key, "r")
	s.same("the run", c.Runs[0].State, spool.Completed)
	s.same("the parks", each(c.Parks, func(p spool.Park) spool.ParkState { return p.State }), []spool.ParkState{spool.ParkClosed})
	s.same("the effects", each(c.Effects, func(e spool.Effect) spool.EffectState { return e.State }), []spool.EffectState{spool.EffectVoid})
	s.same("AfterSeq", each(c.Messages, func(m spool.Message) int64 { return m.AfterSeq }), []int64{0, 1})

	s.write(key, func(tx spool.Tx) error {
		return tx.Write(spool.Changes{CancelJobs: []string{"k"}, Jobs: []spool.Job{{RunID: "r", Key: "k", Segment: 2}}})
	})
	jobs, err := s.Store.Jobs(context.Background(), spool.JobQuery{Tenant: key.Tenant})
	s.ok("list jobs", err)
	s.same("the job", each(jobs, func(j spool.QueuedJob) int { return j.Segment }), []int{2})
	s.write(key, func(tx spool.Tx) error {
		return tx.Write(spool.Changes{DeleteThread: true, Jobs: []spool.Job{{RunID: "r", Key: "k2"}}})
	})
	s.same("the jobs after the thread", s.jobKeys(), "k2")
	s.same("the thread", s.all(key, "r"), compare.Contents{})
}
