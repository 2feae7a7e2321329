package spooltest

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/compare"
)

// audit lists entries of the audit log.
func (s *storeTest) audit(tenant spool.Tenant, q spool.AuditQuery) []spool.AuditEntry {
	s.Helper()
	q.Tenant = tenant
	list, err := s.Store.Audit(context.Background(), q)
	if err != nil {
		s.Fatalf("list the audit log: %v", err)
	}
	return list
}

// audited lists the numbers of entries, each as a letter, where a is 1.
func (s *storeTest) audited(tenant spool.Tenant, q spool.AuditQuery) string {
	s.Helper()
	return compare.Joined(s.audit(tenant, q), func(e spool.AuditEntry) string { return string(rune('a' - 1 + e.Seq)) })
}

// act adds entries to the log of a tenant. They are not about an existing thread.
func (s *storeTest) act(tenant spool.Tenant, entries ...*spool.AuditEntry) {
	s.Helper()
	s.write(spool.ThreadKey{Tenant: tenant}, func(tx spool.Tx) error { return tx.Write(spool.Changes{Audit: entries}) })
}

func fullAudit() spool.AuditEntry {
	yes := true
	return spool.AuditEntry{
		Action: spool.AuditAnswer, By: "anna", ByTenant: "ops", ThreadID: "t", RunID: "r", ToolCallID: "c", JobID: 7,
		Approved: &yes, Digest: "d", Reason: "why", Count: 3, Address: "192.0.2.1", Detail: json.RawMessage(`{"a":1}`),
	}
}

// testStoreAudit checks that an entry is read as it was written, with its number and the time of its
// transaction.
func testStoreAudit(s *storeTest) {
	s.same("of a tenant that has none", len(s.audit("nobody", spool.AuditQuery{})), 0)
	full, plain, no := fullAudit(), spool.AuditEntry{Action: spool.AuditStop}, false
	denied := spool.AuditEntry{Action: spool.AuditAnswer, Approved: &no}
	s.act(spool.DefaultTenant, &full, &plain)
	s.clock.Advance(time.Second)
	s.act(spool.DefaultTenant, &denied)
	s.act("other", &spool.AuditEntry{Action: spool.AuditPurge})
	s.act("", &spool.AuditEntry{Action: spool.AuditLogin})

	want := []spool.AuditEntry{denied, plain, full}
	for i, seq := range []int64{3, 2, 1} {
		want[i].Tenant, want[i].Seq, want[i].At = spool.DefaultTenant, seq, s.clock.Now().Add(-time.Second)
	}
	want[0].At = s.clock.Now()
	s.same("the entries as they were set", []spool.AuditEntry{denied, plain, full}, want)
	s.same("the entries", s.audit(spool.DefaultTenant, spool.AuditQuery{}), want)
	s.same("of another tenant", s.audited("other", spool.AuditQuery{}), "a")
	s.same("of no tenant", s.audit("", spool.AuditQuery{})[0].Action, spool.AuditLogin)
}

func testStoreAuditFilters(s *storeTest) {
	first := s.clock.Now()
	for _, e := range []spool.AuditEntry{
		{Action: spool.AuditStop, ThreadID: "t", By: "anna"},
		{Action: spool.AuditStop, ThreadID: "u", By: "bert"},
		{Action: spool.AuditDelete, ThreadID: "t", By: "bert"},
		{Action: spool.AuditDelete, ThreadID: "u"},
	} {
		s.act(spool.DefaultTenant, &e)
		s.clock.Advance(time.Second)
	}
	for name, c := range map[string]struct {
		q    spool.AuditQuery
		want string
	}{
		"all":            {spool.AuditQuery{}, "dcba"},
		"a page":         {spool.AuditQuery{Limit: 2}, "dc"},
		"the next one":   {spool.AuditQuery{Limit: 2, Before: 3}, "ba"},
		"after it":       {spool.AuditQuery{Before: 1}, ""},
		"of an action":   {spool.AuditQuery{Action: spool.AuditStop}, "ba"},
		"of a thread":    {spool.AuditQuery{ThreadID: "t"}, "ca"},
		"its next page":  {spool.AuditQuery{ThreadID: "t", Before: 3, Limit: 1}, "a"},
		"of a subject":   {spool.AuditQuery{By: "bert"}, "cb"},
		"since a time":   {spool.AuditQuery{Since: first.Add(time.Second)}, "dcb"},
		"until a time":   {spool.AuditQuery{Until: first.Add(time.Second)}, "a"},
		"of all of them": {spool.AuditQuery{Action: spool.AuditDelete, By: "bert", ThreadID: "t", Since: first, Until: first.Add(time.Hour)}, "c"},
	} {
		s.same(name, s.audited(spool.DefaultTenant, c.q), c.want)
	}
}

// testStoreAuditOutlives checks that the entries about a thread stay after the thread was deleted.
func testStoreAuditOutlives(s *storeTest) {
	key := thread("t")
	s.write(key, func(tx spool.Tx) error {
		return errors.Join(
			fill(tx, key, "r"),
			tx.Write(spool.Changes{
				Audit: []*spool.AuditEntry{{Action: spool.AuditStop, ThreadID: "t"}},
			}),
		)
	})
	s.write(key, func(tx spool.Tx) error {
		return tx.Write(spool.Changes{
			DeleteThread: true,
			Audit:        []*spool.AuditEntry{{Action: spool.AuditDelete, ThreadID: "t"}},
		})
	})
	s.same("the thread", s.all(key, "r"), compare.Contents{})
	s.same("the log", s.audited(key.Tenant, spool.AuditQuery{ThreadID: "t"}), "ba")
}

// testStoreAuditRollsBack checks that an entry of a failed transaction is not written and does not use
// up a number.
func testStoreAuditRollsBack(s *storeTest) {
	key, failure := thread("t"), errors.New("no")
	err := s.Store.Update(context.Background(), key, 0, func(tx spool.Tx) error {
		return errors.Join(
			tx.Write(spool.Changes{Audit: []*spool.AuditEntry{{Action: spool.AuditStop}}}),
			failure,
		)
	})
	s.is("Update", err, failure)
	s.same("the log", s.audited(key.Tenant, spool.AuditQuery{}), "")
	s.act(key.Tenant, &spool.AuditEntry{Action: spool.AuditStop})
	s.same("the log after it", s.audited(key.Tenant, spool.AuditQuery{}), "a")
}

// testStoreAuditPruned checks that entries are removed only by age, and that their numbers are not used
// again.
func testStoreAuditPruned(s *storeTest) {
	ctx, first := context.Background(), s.clock.Now()
	for range 3 {
		s.act(spool.DefaultTenant, &spool.AuditEntry{Action: spool.AuditStop})
		s.act("other", &spool.AuditEntry{Action: spool.AuditStop})
		s.clock.Advance(time.Second)
	}
	for _, c := range []struct {
		before time.Time
		limit  int
		gone   int
		left   string
	}{
		{time.Time{}, 0, 0, "cba"},
		{first, 0, 0, "cba"},
		{first.Add(time.Second), 0, 2, "cb"},
		{first.Add(time.Hour), 2, 2, "c"},
		{first.Add(time.Hour), 0, 2, ""},
	} {
		gone, err := s.Store.Prune(ctx, spool.PruneQuery{Kind: spool.PruneAudit, Before: c.before, Limit: c.limit})
		if err != nil {
			s.Fatalf("prune the audit log: %v", err)
		}
		s.same("pruned", gone, c.gone)
		s.same("left", s.audited(spool.DefaultTenant, spool.AuditQuery{}), c.left)
	}
	s.act("other", &spool.AuditEntry{Action: spool.AuditStop})
	s.same("the next number", s.audited("other", spool.AuditQuery{}), "d")
}
