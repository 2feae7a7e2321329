package spooltest

import (
	"errors"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// testQueueClaimed adds jobs that are in flight at once.
func testQueueClaimed(q *queueTest) {
	claimed := func(key string) store.ClaimedJob {
		return store.ClaimedJob{Job: job(key), JobID: wire.NewJobID(), Lease: lease}
	}
	add := func(j store.ClaimedJob, fail error) error {
		return q.Store.Update(q.ctx, j.Thread(), 0, func(tx store.Tx) error {
			return errors.Join(tx.Write(store.Changes{Thread: &wire.Thread{State: wire.Idle}, Claimed: []store.ClaimedJob{j}}),
				fail)
		})
	}
	failure := errors.New("no")
	a := claimed("a")
	q.is("Update", add(a, failure), failure)
	q.worthless("a transaction that failed", a.Delivery())

	q.ok("update", add(a, nil))
	added := q.clock.Now()
	stats := q.stats()
	q.same("in flight, ready and delayed", []int{stats.InFlight, stats.Ready, stats.Delayed}, []int{1, 0, 0})
	q.next("it is claimed", added.Add(lease))
	listed := q.jobs(spool.DefaultTenant, wire.JobQuery{})
	q.same("listed", len(listed), 1)
	q.same("id", listed[0].JobID, a.JobID)
	q.same("state", listed[0].State, wire.JobInFlight)
	q.same("attempts", listed[0].Attempts, 1)
	q.same("first due", listed[0].FirstDue, added)

	// The tenant has one job in flight, so another tenant comes first.
	q.add(0, "b")
	other := job("c")
	other.Tenant = "other"
	q.clock.Advance(time.Second)
	q.enqueue(other)
	q.same("claimed first", q.claimed(1), "c")
	q.same("claimed next", q.claimed(1), "b")

	// The worker keeps it as one that it has claimed, and loses it when the lease lapses.
	q.ok("extend", q.Store.Ack(q.ctx, a.Delivery(), store.Ack{Kind: store.AckExtend, After: 3 * lease}))
	q.clock.Advance(2 * lease)
	q.same("claimed after the leases of the others", q.claimed(10), "cb")
	q.clock.Advance(lease)
	again := q.claim(10)
	q.same("claimed after its lease", len(again), 3)
	for _, d := range again {
		if d.Key == "a" {
			q.same("attempt", d.Attempt, 2)
			q.same("when it was due", d.DueAt.After(added), true)
		}
	}
	q.worthless("the old claim", a.Delivery())
	for _, d := range again {
		q.ok("done", q.Store.Ack(q.ctx, d, store.Ack{Kind: store.AckDone}))
	}
	q.next("all are done", time.Time{})

	// A job with the same key is there already: nothing is added.
	q.add(0, "d")
	d := claimed("d")
	q.ok("update", add(d, nil))
	q.worthless("a key that is used", d.Delivery())
	q.same("claimed", q.claimed(10), "d")

	// It is released, refunded and done as any other one.
	e := claimed("e")
	e.DueAt = q.clock.Now().Add(-time.Second)
	q.ok("update", add(e, nil))
	q.same("first due", q.jobs(spool.DefaultTenant, wire.JobQuery{JobID: e.JobID})[0].FirstDue, e.DueAt)
	q.ok("release", q.Store.Ack(q.ctx, e.Delivery(), store.Ack{Kind: store.AckRelease, Refund: true}))
	q.worthless("it was released", e.Delivery())
	released := q.claimOne()
	q.same("attempt after a refund", released.Attempt, 1)
	q.ok("done", q.Store.Ack(q.ctx, released, store.Ack{Kind: store.AckDone}))
}
