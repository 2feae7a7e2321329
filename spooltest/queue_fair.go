package spooltest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/compare"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// addOf enqueues jobs of a tenant that are due now, with a microsecond between them.
func (q *queueTest) addOf(tenant spool.Tenant, keys ...string) {
	q.Helper()
	for _, key := range keys {
		j := job(key)
		j.Tenant = tenant
		q.enqueue(j)
		q.clock.Advance(time.Microsecond)
	}
}

// take claims jobs, and returns them and their tenants in order.
func (q *queueTest) take(query store.ClaimQuery) (of string, taken []store.Delivery) {
	q.Helper()
	query.Lease = lease
	taken, _, err := q.Store.Claim(q.ctx, query)
	q.ok("claim", err)
	return compare.Joined(taken, func(d store.Delivery) string { return string(d.Tenant) }), taken
}

// testQueueFair checks that later tenants do not wait for all jobs of the first one.
func testQueueFair(q *queueTest) {
	q.addOf("a", "1", "2", "3", "4", "5", "6")
	q.addOf("b", "1", "2")
	q.addOf("c", "1")
	of, taken := q.take(store.ClaimQuery{Limit: 5})
	q.same("the first five", of, "abcab")
	q.same("of the first tenant", compare.Joined(taken, func(d store.Delivery) string { return d.Key }), "11122")
	for _, d := range taken {
		if d.Tenant == "a" {
			q.ok("ack", q.Store.Ack(q.ctx, d, store.Ack{Kind: store.AckDone}))
		}
	}
	q.addOf("c", "2")
	of, _ = q.take(store.ClaimQuery{Limit: 2}) // a has none in flight, c has one, b has two
	q.same("the next two", of, "aa")
	of, _ = q.take(store.ClaimQuery{Limit: 1})
	q.same("one more", of, "c")
	of, taken = q.take(store.ClaimQuery{Limit: 10})
	q.same("the rest", of, "aa")
	q.ok("release", q.Store.Ack(q.ctx, taken[0], store.Ack{Kind: store.AckRelease, Refund: true}))
	q.clock.Advance(2 * lease) // nothing is in flight any more
	of, _ = q.take(store.ClaimQuery{Limit: 3})
	q.same("what has lapsed", of, "abc")
}

// testQueueServed checks that tenants with the same number of jobs in flight take turns, even if the
// jobs of one are older.
func testQueueServed(q *queueTest) {
	now := q.clock.Now()
	served := map[spool.Tenant]time.Time{"a": now, "b": now.Add(-time.Second), "d": now}
	query := store.ClaimQuery{Limit: 1, Served: func(tenant spool.Tenant) time.Time { return served[tenant] }}
	q.addOf("a", "1", "2", "3")
	q.addOf("b", "1", "2")
	q.addOf("c", "1", "2")
	q.addOf("d", "1")
	var of [4]string
	for i := range of {
		of[i], _ = q.take(query)
	}
	q.same("one of each", strings.Join(of[:], ""), "cbad")
	query.Limit = 4
	next, _ := q.take(query)
	q.same("the rest", next, "cbaa")
	keys := make([]string, 100)
	for i := range keys {
		keys[i] = strconv.Itoa(i)
	}
	q.addOf("e", keys...)
	q.addOf("f", keys...)
	served["e"] = now
	next, _ = q.take(query)
	q.same("of many jobs", next, "fefe")
}

// testQueueReserved checks that the last slots are kept for tenants without a job in flight.
func testQueueReserved(q *queueTest) {
	q.addOf("a", "1", "2", "3", "4")
	of, _ := q.take(store.ClaimQuery{Limit: 1, Reserved: 1})
	q.same("the only place", of, "a")
	of, _ = q.take(store.ClaimQuery{Limit: 1, Reserved: 1})
	q.same("the only place, again", of, "")
	of, _ = q.take(store.ClaimQuery{Limit: 3, Reserved: 1})
	q.same("three places", of, "aa")
	taken, next, err := q.Store.Claim(q.ctx, store.ClaimQuery{Limit: 1, Reserved: 1, Lease: lease})
	q.ok("claim", err)
	q.same("what is held back", len(taken), 0)
	if !next.After(q.clock.Now()) {
		q.Errorf("the next job is due at %s, which is not in the future", next)
	}
	q.addOf("b", "1", "2")
	of, _ = q.take(store.ClaimQuery{Limit: 1, Reserved: 1})
	q.same("of another tenant", of, "b")
	of, _ = q.take(store.ClaimQuery{Limit: 9, Reserved: 9})
	q.same("all places are reserved, for the tenant below its share", of, "b")
	of, _ = q.take(store.ClaimQuery{Limit: 9, Reserved: 1})
	q.same("the rest", of, "a")
}

// testQueueShare checks that a tenant with jobs in flight may take reserved slots while it is below its share, and
// must leave some of them to the next tenant.
func testQueueShare(q *queueTest) {
	many := make([]string, 40)
	for i := range many {
		many[i] = strconv.Itoa(i)
	}
	q.addOf("many", many...)
	_, taken := q.take(store.ClaimQuery{Limit: 21, Reserved: 5})
	q.same("alone", len(taken), 16)
	q.addOf("b", "1", "2", "3", "4", "5")
	of, _ := q.take(store.ClaimQuery{Limit: 5, Reserved: 5})
	q.same("of the reserved slots", of, "bbb")
	q.addOf("c", "1")
	of, _ = q.take(store.ClaimQuery{Limit: 2, Reserved: 5})
	q.same("of the next tenant", of, "c")
	q.addOf("d", "1", "2")
	of, _ = q.take(store.ClaimQuery{Limit: 1, Reserved: 5})
	q.same("the last slot", of, "d")
}

// subjectsOf returns the subjects of jobs.
func subjectsOf(jobs []store.Delivery) string {
	return compare.Joined(jobs, func(d store.Delivery) string { return d.Subject })
}

// addFor enqueues jobs of a subject, as addOf does.
func (q *queueTest) addFor(subject string, n int) {
	q.Helper()
	for i := range n {
		j := job(subject + strconv.Itoa(i))
		j.Tenant, j.Subject = "a", subject
		q.enqueue(j)
		q.clock.Advance(time.Microsecond)
	}
}

// testQueueSubjects checks that the subjects of a tenant share its slots as tenants share those of the workers: the one
// with the fewest jobs in flight is next, also behind a backlog that no claim reads, and some of the reserved slots are
// for subjects below their share.
func testQueueSubjects(q *queueTest) {
	q.addFor("u", 300)
	q.addFor("v", 2)
	for i := range 3 {
		q.addFor(string(rune('w'+i)), 1)
	}
	_, taken := q.take(store.ClaimQuery{Limit: 4})
	q.same("the first four", subjectsOf(taken), "uvwx")
	_, taken = q.take(store.ClaimQuery{Limit: 4})
	q.same("the next four", subjectsOf(taken), "yuvu")
	_, taken = q.take(store.ClaimQuery{Limit: 13, Reserved: 5})
	q.same("up to the reserved slots", subjectsOf(taken), strings.Repeat("u", 8))
	waiting := func() (lines []string) {
		q.Helper()
		stats, err := q.Store.Stats(q.ctx, wire.StatsQuery{Waiting: true, Tenant: "a"})
		q.ok("waiting", err)
		for _, s := range stats.Subjects {
			lines = append(lines, fmt.Sprint(s.Subject, s.InFlight))
		}
		return lines
	}
	q.addFor("q", 5)
	q.same("who waits", waiting(), []string{"q0", "u11"})
	_, taken = q.take(store.ClaimQuery{Limit: 5, Reserved: 5})
	q.same("of the reserved slots", subjectsOf(taken), "qq")
	q.addOf("b", "1", "2", "3", "4")
	of, _ := q.take(store.ClaimQuery{Limit: 3, Reserved: 5})
	q.same("of another tenant", of, "bb")
	q.same("who still waits", waiting(), []string{"q2", "u11"})
}

// testQueuePerTenant checks the bound on a tenant's jobs in flight.
func testQueuePerTenant(q *queueTest) {
	q.addOf("a", "1", "2", "3", "4")
	q.addOf("b", "1")
	of, taken := q.take(store.ClaimQuery{Limit: 9, PerTenant: 2})
	q.same("two of each", of, "aba")
	of, _ = q.take(store.ClaimQuery{Limit: 9, PerTenant: 2})
	q.same("no more", of, "")
	q.ok("ack", q.Store.Ack(q.ctx, taken[0], store.Ack{Kind: store.AckDone}))
	of, _ = q.take(store.ClaimQuery{Limit: 9, PerTenant: 2})
	q.same("one is over", of, "a")
	q.clock.Advance(lease)
	of, _ = q.take(store.ClaimQuery{Limit: 9, PerTenant: 2})
	q.same("all have lapsed", of, "aba")
}

// testQueueWaiting lists the tenants that have due jobs.
func testQueueWaiting(q *queueTest) {
	waiting := func() (lines []string) {
		q.Helper()
		stats, err := q.Store.Stats(q.ctx, wire.StatsQuery{Waiting: true})
		q.ok("waiting", err)
		for _, t := range stats.Waiting {
			lines = append(lines, fmt.Sprint(t.Tenant, t.InFlight))
			if age := q.clock.Now().Sub(t.DueAt); age < 0 || age > 2*lease {
				q.Errorf("the job of %s became due %s ago", t.Tenant, age)
			}
		}
		return lines
	}
	q.same("nobody", waiting(), []string(nil))
	q.add(time.Hour, "later")
	q.same("a job that is not due", waiting(), []string(nil))
	q.addOf("b", "1", "2", "3")
	q.addOf("a", "1")
	q.addOf("c", "1")
	q.same("those with due jobs", waiting(), []string{"b0", "a0", "c0"})
	_, taken := q.take(store.ClaimQuery{Limit: 4}) // b, a, c, b
	q.same("b has one more", waiting(), []string{"b2"})
	for _, d := range taken[1:3] {
		q.ok("release", q.Store.Ack(q.ctx, d, store.Ack{Kind: store.AckRelease, Refund: true}))
		q.clock.Advance(time.Microsecond)
	}
	q.same("two come back", waiting(), []string{"b2", "a0", "c0"})
	q.clock.Advance(lease)
	q.same("b's have lapsed", waiting(), []string{"b0", "a0", "c0"})
}

// testQueueFairBacklog adds more jobs than a claim may read.
func testQueueFairBacklog(q *queueTest) {
	keys := make([]string, 300)
	for i := range keys {
		keys[i] = strconv.Itoa(i)
	}
	q.addOf("a", keys...)
	q.addOf("b", "x", "y")
	q.add(time.Hour, "later")
	for i := range 9 {
		q.addOf(spool.Tenant(fmt.Sprint("t", i)), "z")
	}
	of, taken := q.take(store.ClaimQuery{Limit: 4})
	q.same("the first four", of, "abt0t1")
	q.same("the oldest", jobKeys(taken), "0xzz")
	of, _ = q.take(store.ClaimQuery{Limit: 12})
	if n := strings.Count(of, "t"); n != 7 || strings.Count(of, "b") != 1 || strings.Count(of, "a") != 4 {
		q.Errorf("the next twelve are of %s", of)
	}
	of, taken = q.take(store.ClaimQuery{Limit: 300, Reserved: 1, PerTenant: 100})
	q.same("the rest", []any{len(taken), strings.Trim(of, "a")}, []any{95, ""})
	if !slices.IsSortedFunc(taken, func(x, y store.Delivery) int { return x.DueAt.Compare(y.DueAt) }) {
		q.Error("they are not in the order in which they became due")
	}
}
