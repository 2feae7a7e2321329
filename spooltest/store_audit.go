package spooltest

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/compare"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// audit lists entries of the audit log.
func (s *storeTest) audit(tenant spool.Tenant, q wire.AuditQuery) []wire.AuditEntry {
	s.Helper()
	q.Tenant = tenant
	list, err := s.Store.Audit(context.Background(), q)
	if err != nil {
		s.Fatalf("list the audit log: %v", err)
	}
	return list
}

// audited lists the numbers of entries, each as a letter, where a is 1.
func (s *storeTest) audited(tenant spool.Tenant, q wire.AuditQuery) string {
	s.Helper()
	return compare.Joined(s.audit(tenant, q), func(e wire.AuditEntry) string { return string(rune('a' - 1 + e.Seq)) })
}

// act adds entries to the log of a tenant. They are not about an existing thread.
func (s *storeTest) act(tenant spool.Tenant, entries ...*wire.AuditEntry) {
	s.Helper()
	s.write(spool.ThreadKey{Tenant: tenant}, func(tx store.Tx) error { return tx.Write(store.Changes{Audit: entries}) })
}

func fullAudit() wire.AuditEntry {
	yes := true
	return wire.AuditEntry{
		Action: wire.AuditAnswer, By: "anna", ByTenant: "ops", ThreadID: "t", RunID: "r", ToolCallID: "c", JobID: 7,
		Approved: &yes, Digest: "d", Reason: "why", Count: 3, Address: "192.0.2.1", Detail: json.RawMessage(`{"a":1}`),
	}
}

// testStoreAudit checks that an entry is read as it was written, with its number and the time of its
// transaction.
func testStoreAudit(s *storeTest) {
	s.same("of a tenant that has none", len(s.audit("nobody", wire.AuditQuery{})), 0)
	full, plain, no := fullAudit(), wire.AuditEntry{Action: wire.AuditStop}, false
	denied := wire.AuditEntry{Action: wire.AuditAnswer, Approved: &no}
	s.act(spool.DefaultTenant, &full, &plain)
	s.clock.Advance(time.Second)
	s.act(spool.DefaultTenant, &denied)
	s.act("other", &wire.AuditEntry{Action: wire.AuditPurge})
	s.act("", &wire.AuditEntry{Action: wire.AuditLogin})

	want := []wire.AuditEntry{denied, plain, full}
	for i, seq := range []int64{3, 2, 1} {
		want[i].Tenant, want[i].Seq, want[i].At = spool.DefaultTenant, seq, s.clock.Now().Add(-time.Second)
	}
	want[0].At = s.clock.Now()
	s.same("the entries as they were set", []wire.AuditEntry{denied, plain, full}, want)
	s.same("the entries", s.audit(spool.DefaultTenant, wire.AuditQuery{}), want)
	s.same("of another tenant", s.audited("other", wire.AuditQuery{}), "a")
	s.same("of no tenant", s.audit("", wire.AuditQuery{})[0].Action, wire.AuditLogin)
}

func testStoreAuditFilters(s *storeTest) {
	first := s.clock.Now()
	for _, e := range []wire.AuditEntry{
		{Action: wire.AuditStop, ThreadID: "t", By: "anna"},
		{Action: wire.AuditStop, ThreadID: "u", By: "bert"},
		{Action: wire.AuditDelete, ThreadID: "t", By: "bert"},
		{Action: wire.AuditDelete, ThreadID: "u"},
	} {
		s.act(spool.DefaultTenant, &e)
		s.clock.Advance(time.Second)
	}
	for name, c := range map[string]struct {
		q    wire.AuditQuery
		want string
	}{
		"all":           {wire.AuditQuery{}, "dcba"},
		"a page":        {wire.AuditQuery{Limit: 2}, "dc"},
		"the next one":  {wire.AuditQuery{Limit: 2, Before: 3}, "ba"},
		"after it":      {wire.AuditQuery{Before: 1}, ""},
		"of an action":  {wire.AuditQuery{Action: wire.AuditStop}, "ba"},
		"of a thread":   {wire.AuditQuery{ThreadID: "t"}, "ca"},
		"its next page": {wire.AuditQuery{ThreadID: "t", Before: 3, Limit: 1}, "a"},
		"of a subject":  {wire.AuditQuery{By: "bert"}, "cb"},
		"since a time":  {wire.AuditQuery{Since: first.Add(time.Second)}, "dcb"},
		"until a time":  {wire.AuditQuery{Until: first.Add(time.Second)}, "a"},
		"of all of them": {
			wire.AuditQuery{Action: wire.AuditDelete, By: "bert", ThreadID: "t", Since: first, Until: first.Add(time.Hour)}, "c",
		},
	} {
		s.same(name, s.audited(spool.DefaultTenant, c.q), c.want)
	}
}

// testStoreAuditOutlives checks that the entries about a thread stay after the thread was deleted.
func testStoreAuditOutlives(s *storeTest) {
	key := thread("t")
	s.write(key, func(tx store.Tx) error {
		return errors.Join(
			fill(tx, key, "r"),
			tx.Write(store.Changes{
				Audit: []*wire.AuditEntry{{Action: wire.AuditStop, ThreadID: "t"}},
			}),
		)
	})
	s.write(key, func(tx store.Tx) error {
		return tx.Write(store.Changes{
			DeleteThread: true,
			Audit:        []*wire.AuditEntry{{Action: wire.AuditDelete, ThreadID: "t"}},
		})
	})
	s.same("the thread", s.all(key, "r"), compare.Contents{})
	s.same("the log", s.audited(key.Tenant, wire.AuditQuery{ThreadID: "t"}), "ba")
}

// testStoreAuditRollsBack checks that an entry of a failed transaction is not written and does not use
// up a number.
func testStoreAuditRollsBack(s *storeTest) {
	key, failure := thread("t"), errors.New("no")
	err := s.Store.Update(context.Background(), key, 0, func(tx store.Tx) error {
		return errors.Join(
			tx.Write(store.Changes{Audit: []*wire.AuditEntry{{Action: wire.AuditStop}}}),
			failure,
		)
	})
	s.is("Update", err, failure)
	s.same("the log", s.audited(key.Tenant, wire.AuditQuery{}), "")
	s.act(key.Tenant, &wire.AuditEntry{Action: wire.AuditStop})
	s.same("the log after it", s.audited(key.Tenant, wire.AuditQuery{}), "a")
}

// testStoreAuditPruned checks that entries are removed only by age, and that their numbers are not used
// again.
func testStoreAuditPruned(s *storeTest) {
	ctx, first := context.Background(), s.clock.Now()
	for range 3 {
		s.act(spool.DefaultTenant, &wire.AuditEntry{Action: wire.AuditStop})
		s.act("other", &wire.AuditEntry{Action: wire.AuditStop})
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
		gone, err := s.Store.Prune(ctx, store.PruneQuery{Kind: store.PruneAudit, Before: c.before, Limit: c.limit})
		if err != nil {
			s.Fatalf("prune the audit log: %v", err)
		}
		s.same("pruned", gone, c.gone)
		s.same("left", s.audited(spool.DefaultTenant, wire.AuditQuery{}), c.left)
	}
	s.act("other", &wire.AuditEntry{Action: wire.AuditStop})
	s.same("the next number", s.audited("other", wire.AuditQuery{}), "d")
}
