package spooltest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/compare"
)

func testQueueJobs(q *queueTest) {
	q.same("none", len(q.jobs(spool.DefaultTenant, spool.JobQuery{})), 0)
	begin := q.clock.Now()
	q.add(time.Hour, "later")
	q.add(0, "b")
	q.clock.Advance(time.Second)
	q.add(0, "a", "c")
	foreign := job("x")
	foreign.Tenant = "other"
	q.enqueue(foreign)

	q.same("all", q.listed(spool.JobQuery{}), "b a c later")
	q.same("two", q.listed(spool.JobQuery{Limit: 2}), "b a")
	q.same("ready", q.listed(spool.JobQuery{State: spool.JobReady}), "b a c")
	q.same("delayed", q.listed(spool.JobQuery{State: spool.JobDelayed}), "later")
	q.same("in flight", q.listed(spool.JobQuery{State: spool.JobInFlight}), "")
	q.same("due before", q.listed(spool.JobQuery{DueBefore: begin.Add(time.Second)}), "b")
	q.same("of another tenant", len(q.jobs("other", spool.JobQuery{})), 1)

	d := q.claim(1)[0]
	want := job("b")
	want.DueAt = q.clock.Now().Add(lease)
	q.same("in flight", q.jobs(spool.DefaultTenant, spool.JobQuery{State: spool.JobInFlight}), []spool.QueuedJob{
		{Job: want, JobID: d.JobID, State: spool.JobInFlight, Attempts: 1, FirstDue: begin},
	})

	// However often a job comes back, the time at which it was first due stays.
	q.ok("release", q.Queue.Release(q.ctx, d, time.Minute, false))
	want.DueAt = q.clock.Now().Add(time.Minute)
	q.same("put back", q.jobs(spool.DefaultTenant, spool.JobQuery{DueBefore: begin.Add(time.Microsecond)}), []spool.QueuedJob{
		{Job: want, JobID: d.JobID, State: spool.JobDelayed, Attempts: 1, FirstDue: begin},
	})
	q.clock.Advance(time.Minute)
	q.claim(10)
	q.clock.Advance(2 * lease)
	q.same("lapsed", q.listed(spool.JobQuery{State: spool.JobReady}), "b a c")
	q.ok("dead-letter", q.Queue.DeadLetter(q.ctx, q.claim(1)[0], "cause"))
	q.same("without the dead", len(q.jobs(spool.DefaultTenant, spool.JobQuery{})), 3)
}

func (q *queueTest) jobs(tenant spool.Tenant, query spool.JobQuery) []spool.QueuedJob {
	q.Helper()
	jobs, err := q.Queue.Jobs(q.ctx, tenant, query)
	q.ok("jobs", err)
	return jobs
}

// listed returns the keys of jobs of the default tenant.
func (q *queueTest) listed(query spool.JobQuery) string {
	q.Helper()
	return compare.Spaced(q.jobs(spool.DefaultTenant, query), func(j spool.QueuedJob) string { return j.Key })
}

func testQueueStatsOfTenant(q *queueTest) {
	q.add(0, "a", "b")
	q.add(time.Hour, "c")
	foreign := job("x")
	foreign.Tenant = "other"
	q.clock.Advance(time.Second)
	q.enqueue(foreign)
	q.ok("dead-letter", q.Queue.DeadLetter(q.ctx, q.claim(1)[0], "cause"))
	q.claim(1)
	for tenant, want := range map[spool.Tenant]spool.QueueStats{
		spool.DefaultTenant: {InFlight: 1, Delayed: 1, Dead: 1},
		"other":             {Ready: 1},
		"nobody":            {},
		"":                  {Ready: 1, InFlight: 1, Delayed: 1, Dead: 1},
	} {
		got, err := q.Queue.Stats(q.ctx, tenant)
		q.ok("stats", err)
		got.Extra = nil
		q.same("stats of "+string(tenant), got, want)
	}
}

// deadLetterAll makes a dead job of each key, with a second between them, and returns their ids.
func (q *queueTest) deadLetterAll(keys ...string) (ids []int64) {
	q.Helper()
	for _, key := range keys {
		q.add(0, key)
		d := q.claimOne()
		q.ok("dead-letter", q.Queue.DeadLetter(q.ctx, d, "cause"))
		ids = append(ids, d.JobID)
		q.clock.Advance(time.Second)
	}
	return ids
}

func (q *queueTest) deadKeys(query spool.DeadQuery) string {
	q.Helper()
	dead, err := q.Queue.Dead(q.ctx, spool.DefaultTenant, query)
	q.ok("dead", err)
	return compare.Joined(dead, func(d spool.DeadJob) string { return d.Key })
}

func testQueueDeadPages(q *queueTest) {
	// Three jobs per time, so that a page may end between two jobs that only their ids order.
	q.add(0, "a", "b", "c")
	for _, d := range q.claim(3) {
		q.ok("dead-letter", q.Queue.DeadLetter(q.ctx, d, "cause"))
	}
	q.clock.Advance(time.Second)
	q.deadLetterAll("d", "e")
	const want = "edcba"
	for size := 1; size <= len(want); size++ {
		var got []spool.DeadJob
		query := spool.DeadQuery{Limit: size}
		for range len(want) {
			dead, err := q.Queue.Dead(q.ctx, spool.DefaultTenant, query)
			q.ok("dead", err)
			got = append(got, dead...)
			if len(dead) > 0 {
				last := dead[len(dead)-1]
				query.Before, query.BeforeID = last.DiedAt, last.JobID
			}
		}
		q.same(fmt.Sprintf("pages of %d", size), compare.Joined(got, func(d spool.DeadJob) string { return d.Key }), want)
	}
}

func testQueuePurge(q *queueTest) {
	begin := q.clock.Now()
	ids := q.deadLetterAll("a", "b", "c", "d")
	purge := func(tenant spool.Tenant, query spool.DeadQuery) int {
		q.Helper()
		n, err := q.Queue.Purge(q.ctx, tenant, query)
		q.ok("purge", err)
		return n
	}
	q.same("died before", q.deadKeys(spool.DeadQuery{DiedBefore: begin.Add(time.Second)}), "a")
	q.same("one by its id", q.deadKeys(spool.DeadQuery{JobID: ids[1]}), "b")
	q.same("of another tenant", purge("other", spool.DeadQuery{}), 0)
	q.same("another tenant's id", purge("other", spool.DeadQuery{JobID: ids[1]}), 0)
	q.same("all are left", q.deadKeys(spool.DeadQuery{}), "dcba")
	q.same("one", purge(spool.DefaultTenant, spool.DeadQuery{JobID: ids[1]}), 1)
	q.same("one again", purge(spool.DefaultTenant, spool.DeadQuery{JobID: ids[1]}), 0)
	q.same("those before", purge(spool.DefaultTenant, spool.DeadQuery{DiedBefore: begin.Add(time.Second)}), 1)
	q.same("two are left", q.deadKeys(spool.DeadQuery{}), "dc")
	q.add(0, "live")
	q.same("a limit", purge(spool.DefaultTenant, spool.DeadQuery{Limit: 1}), 1)
	q.same("one is left", q.deadKeys(spool.DeadQuery{}), "c")
	q.same("the rest", purge(spool.DefaultTenant, spool.DeadQuery{}), 1)
	q.same("a job that lives", q.listed(spool.JobQuery{}), "live")
}

func testQueueTakeDead(q *queueTest) {
	ids := q.deadLetterAll("a", "b")
	take := func(key spool.ThreadKey, id int64) (dead spool.DeadJob, code spool.Code) {
		q.write(key, func(tx spool.Tx) error {
			var err error
			dead, err = tx.TakeDead(id)
			if code = spool.CodeOf(err); code == spool.NotFound {
				return nil
			}
			return err
		})
		return dead, code
	}
	for name, key := range map[string]spool.ThreadKey{
		"another thread": {Tenant: spool.DefaultTenant, ID: "x"}, "another tenant": {Tenant: "other", ID: "t"},
	} {
		_, code := take(key, ids[0])
		q.same(name, code, spool.NotFound)
	}
	lost := errors.New("lost")
	err := q.Store.Update(context.Background(), thread("t"), 0, func(tx spool.Tx) error {
		_, err := tx.TakeDead(ids[0])
		return errors.Join(err, lost)
	})
	q.is("the update", err, lost)
	q.same("what was rolled back", q.deadKeys(spool.DeadQuery{}), "ba")

	want, err := q.Queue.Dead(q.ctx, spool.DefaultTenant, spool.DeadQuery{JobID: ids[0]})
	q.ok("dead", err)
	dead, code := take(thread("t"), ids[0])
	q.same("code", code, spool.Code(""))
	q.same("the job", []spool.DeadJob{dead}, want)
	q.same("what is left", q.deadKeys(spool.DeadQuery{}), "b")
	_, code = take(thread("t"), ids[0])
	q.same("a second time", code, spool.NotFound)

	q.write(thread("t"), func(tx spool.Tx) error {
		_, err := tx.TakeDead(ids[1])
		_, again := tx.TakeDead(ids[1])
		q.fails("twice in a transaction", again, spool.NotFound)
		return err
	})
	q.same("nothing is left", q.deadKeys(spool.DeadQuery{}), "")
}
