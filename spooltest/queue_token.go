package spooltest

import (
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// testQueueLostClaim checks that the operations of an old claim are refused and change nothing.
func testQueueLostClaim(q *queueTest) {
	q.add(0, "a")
	old := q.claimOne()
	q.clock.Advance(lease)
	d := q.claimOne()
	q.clock.Advance(time.Second)
	before := q.stats()

	q.worthless("an old claim", old)
	q.same("stats", q.stats(), before)
	q.same("dead", len(q.dead(spool.DefaultTenant, wire.JobQuery{})), 0)
	q.next("the lease is as it was", q.clock.Now().Add(lease-time.Second))
	q.ok("release", q.Store.Ack(q.ctx, d, store.Ack{Kind: store.AckRelease}))
	q.same("attempt", q.claimOne().Attempt, 3)
}

func testQueueGoneJob(q *queueTest) {
	q.add(0, "a")
	d := q.claimOne()
	q.write(d.Thread(), func(tx store.Tx) error { return tx.Write(store.Changes{CancelJobs: []string{"a"}}) })
	q.worthless("a cancelled job", d)
	q.same("dead", len(q.dead(spool.DefaultTenant, wire.JobQuery{})), 0)
	q.worthless("a job that never was", store.Delivery{Job: job("b"), JobID: d.JobID + 1000, Token: 1})
}

func testQueueTokenOfAnotherJob(q *queueTest) {
	q.add(0, "a", "b")
	taken := q.claim(10)
	if len(taken) != 2 {
		q.Fatalf("claim: got %d jobs, want 2", len(taken))
	}
	forged := taken[0]
	forged.Token += 1000
	q.worthless("a token that was never given", forged)
	forged.Token = 0
	q.worthless("no token", forged)
	for _, d := range taken {
		q.ok("ack", q.Store.Ack(q.ctx, d, store.Ack{Kind: store.AckDone}))
	}
}
