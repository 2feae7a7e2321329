package spooltest

import (
	"errors"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

func testQueueEmpty(q *queueTest) {
	q.next("empty queue", time.Time{})
	q.same("stats", q.stats(), wire.QueueStats{})
	q.same("dead", q.dead(spool.DefaultTenant, wire.JobQuery{}), []wire.QueuedJob{})
}

func testQueueRoundTrip(q *queueTest) {
	want := wire.Job{
		Tenant: "tenant", ThreadID: "t", RunID: "r", Model: "model", Agent: "agent", Kind: wire.JobRetry,
		Segment: 3, Subject: "ann", Key: "key", DueAt: q.clock.Now(),
	}
	q.enqueue(want)
	d := q.claimOne()
	q.same("job", d.Job, want)
	q.same("attempt", d.Attempt, 1)

	q.enqueue(wire.Job{Tenant: "tenant", ThreadID: "t", RunID: "r2", Agent: "agent"})
	added := q.clock.Now()
	q.clock.Advance(time.Second)
	got := q.claimOne().Job
	q.same("job with little", got, wire.Job{Tenant: "tenant", ThreadID: "t", RunID: "r2", Agent: "agent", DueAt: added})
}

func testQueueVisibleWithTransaction(q *queueTest) {
	enqueue := func(fail error) error {
		return q.Store.Update(q.ctx, thread("t"), 0, func(tx store.Tx) error {
			return errors.Join(
				tx.Write(store.Changes{Thread: &wire.Thread{State: wire.Idle}, Jobs: []wire.Job{job("a")}}),
				fail,
			)
		})
	}
	failure := errors.New("no")
	q.is("Update", enqueue(failure), failure)
	q.next("a transaction that failed", time.Time{})
	q.ok("update", enqueue(nil))
	q.same("claimed", q.claimed(10), "a")
}

func testQueueKeys(q *queueTest) {
	q.add(0, "a", "a")
	// In one transaction, and from another thread of the tenant.
	other := job("a")
	other.ThreadID = "t2"
	q.write(other.Thread(), func(tx store.Tx) error {
		return tx.Write(store.Changes{
			Thread: &wire.Thread{State: wire.Idle},
			Jobs:   []wire.Job{other, job("b"), job("b")},
		})
	})
	q.same("ready", q.stats().Ready, 2)
	taken := q.claim(10)
	q.same("claimed", jobKeys(taken), "ab")
	q.same("thread of the first", taken[0].ThreadID, spool.ThreadID("t"))

	// A claimed job is still in the queue, also if its claim has lapsed.
	q.add(0, "a")
	q.next("a job that is claimed", q.clock.Now().Add(lease))
	q.clock.Advance(lease)
	q.add(0, "a", "b")
	q.same("claimed again", q.claimed(10), "ab")

	// Another tenant has its own keys, and a job without a key is never a duplicate.
	foreign := job("a")
	foreign.Tenant = "other"
	q.enqueue(foreign)
	q.add(0, "", "")
	q.same("number of the others", len(q.claim(10)), 3)
}

func testQueueKeyIsFreeAgain(q *queueTest) {
	for _, end := range []func(d store.Delivery) error{
		func(d store.Delivery) error { return q.Store.Ack(q.ctx, d, store.Ack{Kind: store.AckDone}) },
		func(d store.Delivery) error {
			return q.Store.Ack(q.ctx, d, store.Ack{Kind: store.AckDead, Cause: "cause"})
		},
		func(d store.Delivery) error {
			return q.Store.Update(q.ctx, d.Thread(), 0,
				func(tx store.Tx) error { return tx.Write(store.Changes{CancelJobs: []string{d.Key}}) })
		},
	} {
		q.add(0, "a")
		d := q.claimOne()
		q.same("attempt of a new job", d.Attempt, 1)
		q.ok("end the job", end(d))
		q.worthless("the end of the job", d)
		q.next("the end of the job", time.Time{})
		// A later job is another job, even if it has the same key.
		q.add(0, "a")
		q.worthless("a later job of the same key", d)
		q.ok("ack", q.Store.Ack(q.ctx, q.claimOne(), store.Ack{Kind: store.AckDone}))
	}
}

func testQueueCancelJob(q *queueTest) {
	cancel := func(tenant spool.Tenant, key string) {
		q.write(spool.ThreadKey{Tenant: tenant, ID: "t"},
			func(tx store.Tx) error { return tx.Write(store.Changes{CancelJobs: []string{key}}) })
	}
	q.add(0, "a", "b", "")
	cancel(spool.DefaultTenant, "unknown")
	cancel(spool.DefaultTenant, "")
	cancel("other", "a")
	q.same("ready", q.stats().Ready, 3)
	cancel(spool.DefaultTenant, "a")
	q.same("claimed", q.claimed(10), "b")

	// In one transaction, a job replaces the job that was cancelled.
	next := job("b")
	next.Segment = 2
	q.write(next.Thread(), func(tx store.Tx) error {
		return tx.Write(store.Changes{CancelJobs: []string{"b"}, Jobs: []wire.Job{next}})
	})
	q.same("segment", q.claimOne().Segment, 2)
	q.write(next.Thread(), func(tx store.Tx) error {
		return errors.Join(
			tx.Write(store.Changes{Jobs: []wire.Job{job("c")}}),
			tx.Write(store.Changes{CancelJobs: []string{"c"}}),
		)
	})
	q.same("ready after a job that was never there", q.stats().Ready, 0)
}
