package spooltest

import (
	"errors"
	"fmt"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/compare"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

func testQueueJobs(q *queueTest) {
	q.same("none", len(q.jobs(spool.DefaultTenant, wire.JobQuery{})), 0)
	begin := q.clock.Now()
	q.add(time.Hour, "later")
	q.add(0, "b")
	q.clock.Advance(time.Second)
	q.add(0, "a", "c")
	foreign := job("x")
	foreign.Tenant = "other"
	q.enqueue(foreign)

	q.same("all", q.listed(wire.JobQuery{}), "b a c later")
	q.same("two", q.listed(wire.JobQuery{Limit: 2}), "b a")
	q.same("ready", q.listed(wire.JobQuery{State: wire.JobReady}), "b a c")
	q.same("delayed", q.listed(wire.JobQuery{State: wire.JobDelayed}), "later")
	q.same("in flight", q.listed(wire.JobQuery{State: wire.JobInFlight}), "")
	q.same("due before", q.listed(wire.JobQuery{DueBefore: begin.Add(time.Second)}), "b")
	q.same("of another tenant", len(q.jobs("other", wire.JobQuery{})), 1)

	q.same("of a thread", q.listed(wire.JobQuery{ThreadID: "t", Limit: 1}), "b")
	q.same("of an unknown thread", q.listed(wire.JobQuery{ThreadID: "u"}), "")
	second := q.jobs(spool.DefaultTenant, wire.JobQuery{})[1]
	q.same("one by its id", q.listed(wire.JobQuery{JobID: second.JobID}), "a")
	q.same("one in another state", q.listed(wire.JobQuery{JobID: second.JobID, State: wire.JobDead}), "")

	d := q.claim(1)[0]
	want := job("b")
	want.DueAt = q.clock.Now().Add(lease)
	q.same("in flight", q.jobs(spool.DefaultTenant, wire.JobQuery{State: wire.JobInFlight}), []wire.QueuedJob{
		{Job: want, JobID: d.JobID, State: wire.JobInFlight, Attempts: 1, FirstDue: begin},
	})

	// However often a job comes back, the time at which it was first due stays.
	q.ok("release", q.Store.Ack(q.ctx, d, store.Ack{Kind: store.AckRelease, After: time.Minute}))
	want.DueAt = q.clock.Now().Add(time.Minute)
	q.same("put back", q.jobs(spool.DefaultTenant, wire.JobQuery{DueBefore: begin.Add(time.Microsecond)}),
		[]wire.QueuedJob{
			{Job: want, JobID: d.JobID, State: wire.JobDelayed, Attempts: 1, FirstDue: begin},
		})
	q.clock.Advance(time.Minute)
	q.claim(10)
	q.clock.Advance(2 * lease)
	q.same("lapsed", q.listed(wire.JobQuery{State: wire.JobReady}), "b a c")
	q.ok("dead-letter", q.Store.Ack(q.ctx, q.claim(1)[0], store.Ack{Kind: store.AckDead, Cause: "cause"}))
	q.same("without the dead", len(q.jobs(spool.DefaultTenant, wire.JobQuery{})), 3)
}

// listed returns the keys of jobs of the default tenant.
func (q *queueTest) listed(query wire.JobQuery) string {
	q.Helper()
	return compare.Spaced(q.jobs(spool.DefaultTenant, query), queuedKey)
}

func testQueueStatsOfTenant(q *queueTest) {
	q.add(0, "a", "b")
	q.add(time.Hour, "c")
	foreign := job("x")
	foreign.Tenant = "other"
	q.clock.Advance(time.Second)
	q.enqueue(foreign)
	q.ok("dead-letter", q.Store.Ack(q.ctx, q.claim(1)[0], store.Ack{Kind: store.AckDead, Cause: "cause"}))
	q.claim(1)
	for tenant, want := range map[spool.Tenant]wire.QueueStats{
		spool.DefaultTenant: {InFlight: 1, Delayed: 1, Dead: 1},
		"other":             {Ready: 1},
		"nobody":            {},
		"":                  {Ready: 1, InFlight: 1, Delayed: 1, Dead: 1},
	} {
		q.same("stats of "+string(tenant), q.statsOf(tenant), want)
	}
}

// deadLetterAll makes a dead job of each key, with a second between them, and returns their ids.
func (q *queueTest) deadLetterAll(keys ...string) (ids []int64) {
	q.Helper()
	for _, key := range keys {
		q.add(0, key)
		d := q.claimOne()
		q.ok("dead-letter", q.Store.Ack(q.ctx, d, store.Ack{Kind: store.AckDead, Cause: "cause"}))
		ids = append(ids, d.JobID)
		q.clock.Advance(time.Second)
	}
	return ids
}

func (q *queueTest) deadKeys(query wire.JobQuery) string {
	q.Helper()
	return compare.Joined(q.dead(spool.DefaultTenant, query), queuedKey)
}

func testQueueDeadPages(q *queueTest) {
	// Three jobs per time, so that a page may end between two jobs that only their ids order.
	q.add(0, "a", "b", "c")
	for _, d := range q.claim(3) {
		q.ok("dead-letter", q.Store.Ack(q.ctx, d, store.Ack{Kind: store.AckDead, Cause: "cause"}))
	}
	q.clock.Advance(time.Second)
	q.deadLetterAll("d", "e")
	const want = "edcba"
	for size := 1; size <= len(want); size++ {
		var got []wire.QueuedJob
		query := wire.JobQuery{Limit: size}
		for range len(want) {
			dead := q.dead(spool.DefaultTenant, query)
			got = append(got, dead...)
			if len(dead) > 0 {
				last := dead[len(dead)-1]
				query.Before, query.BeforeID = last.DiedAt, last.JobID
			}
		}
		q.same(fmt.Sprintf("pages of %d", size), compare.Joined(got, queuedKey), want)
	}
}

func testQueuePurge(q *queueTest) {
	begin := q.clock.Now()
	ids := q.deadLetterAll("a", "b", "c", "d")
	purge := func(tenant spool.Tenant, query store.PruneQuery) int {
		q.Helper()
		query.Kind, query.Tenant = store.PruneDead, tenant
		n, err := q.Store.Prune(q.ctx, query)
		q.ok("purge", err)
		return n
	}
	q.same("died before", q.deadKeys(wire.JobQuery{DiedBefore: begin.Add(time.Second)}), "a")
	q.same("one by its id", q.deadKeys(wire.JobQuery{JobID: ids[1]}), "b")
	q.same("of another tenant", purge("other", store.PruneQuery{}), 0)
	q.same("another tenant's id", purge("other", store.PruneQuery{JobID: ids[1]}), 0)
	q.same("all are left", q.deadKeys(wire.JobQuery{}), "dcba")
	q.same("one", purge(spool.DefaultTenant, store.PruneQuery{JobID: ids[1]}), 1)
	q.same("one again", purge(spool.DefaultTenant, store.PruneQuery{JobID: ids[1]}), 0)
	q.same("one that died later", purge(spool.DefaultTenant,
		store.PruneQuery{JobID: ids[2], Before: begin.Add(time.Second)}), 0)
	q.same("those before", purge(spool.DefaultTenant, store.PruneQuery{Before: begin.Add(time.Second)}), 1)
	q.same("two are left", q.deadKeys(wire.JobQuery{}), "dc")
	q.add(0, "live")
	q.same("a limit", purge(spool.DefaultTenant, store.PruneQuery{Limit: 1}), 1)
	q.same("the newer one is left", q.deadKeys(wire.JobQuery{}), "d")
	q.same("the rest", purge(spool.DefaultTenant, store.PruneQuery{}), 1)
	q.same("a job that lives", q.listed(wire.JobQuery{}), "live")
}

func testQueueTakeDead(q *queueTest) {
	ids := q.deadLetterAll("a", "b")
	take := func(key spool.ThreadKey, ids ...int64) error {
		return q.Store.Update(q.ctx, key, 0, func(tx store.Tx) error { return tx.Write(store.Changes{TakeDead: ids}) })
	}
	for name, key := range map[string]spool.ThreadKey{
		"another thread": {Tenant: spool.DefaultTenant, ID: "x"}, "another tenant": {Tenant: "other", ID: "t"},
		"no thread": {Tenant: spool.DefaultTenant},
	} {
		q.fails(name, take(key, ids[0]), spool.NotFound)
	}
	lost := errors.New("lost")
	err := q.Store.Update(q.ctx, thread("t"), 0, func(tx store.Tx) error {
		return errors.Join(tx.Write(store.Changes{TakeDead: ids[:1]}), lost)
	})
	q.is("the update", err, lost)
	q.fails("one of two", take(thread("t"), ids[0], 7), spool.NotFound)
	q.fails("twice in a transaction", take(thread("t"), ids[0], ids[0]), spool.NotFound)
	q.same("what was rolled back", q.deadKeys(wire.JobQuery{}), "ba")

	q.ok("take", take(thread("t"), ids[0]))
	q.same("what is left", q.deadKeys(wire.JobQuery{}), "b")
	q.fails("a second time", take(thread("t"), ids[0]), spool.NotFound)
	q.ok("take", take(thread("t"), ids[1]))
	q.same("nothing is left", q.deadKeys(wire.JobQuery{}), "")
}
