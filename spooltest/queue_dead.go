package spooltest

import (
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/compare"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

func testQueueDeadLetter(q *queueTest) {
	want := wire.Job{
		Tenant: "tenant", ThreadID: "t", RunID: "r", Model: "model", Agent: "agent", Kind: wire.JobRetry,
		Segment: 3, Subject: "ann", Key: "key", DueAt: q.clock.Now(),
	}
	q.enqueue(want)
	q.ok("release", q.Store.Ack(q.ctx, q.claimOne(), store.Ack{Kind: store.AckRelease}))
	d := q.claimOne()
	q.clock.Advance(time.Second)
	q.ok("dead-letter", q.Store.Ack(q.ctx, d, store.Ack{Kind: store.AckDead, Cause: "it “broke”"}))
	q.worthless("a dead-lettered job", d)
	q.clock.Advance(time.Hour)
	q.next("a dead-lettered job", time.Time{})

	dead := q.dead("tenant", wire.JobQuery{})
	if len(dead) != 1 {
		q.Fatalf("dead: got %d, want one", len(dead))
	}
	dead[0].DueAt = want.DueAt // the time at which it became due, or the time that was given
	q.same("dead job", dead[0], wire.QueuedJob{
		Job: want, JobID: d.JobID, State: wire.JobDead, Attempts: 2, Cause: "it “broke”",
		DiedAt: q.clock.Now().Add(-time.Hour),
	})
}

func testQueueDead(q *queueTest) {
	for _, key := range []string{"b", "c", "a"} {
		q.add(0, key)
		q.ok("dead-letter", q.Store.Ack(q.ctx, q.claimOne(), store.Ack{Kind: store.AckDead, Cause: "cause"}))
	}
	foreign := job("a")
	foreign.Tenant = "other"
	q.enqueue(foreign)
	q.ok("dead-letter", q.Store.Ack(q.ctx, q.claimOne(), store.Ack{Kind: store.AckDead, Cause: "cause"}))

	keys := func(tenant spool.Tenant, limit int) string {
		return compare.Joined(q.dead(tenant, wire.JobQuery{Limit: limit}), queuedKey)
	}
	q.same("all", keys(spool.DefaultTenant, 10), "acb")
	q.same("two", keys(spool.DefaultTenant, 2), "ac")
	q.same("of another tenant", keys("other", 10), "a")
	q.same("of nobody", keys("nobody", 10), "")
	q.same("stats", q.stats(), wire.QueueStats{Dead: 4})
}

func testQueueStats(q *queueTest) {
	q.add(0, "a", "b")
	taken := q.claim(10)
	q.same("claimed", q.stats(), wire.QueueStats{InFlight: 2})
	q.ok("dead-letter", q.Store.Ack(q.ctx, taken[0], store.Ack{Kind: store.AckDead, Cause: "cause"}))

	q.add(0, "c")
	q.clock.Advance(1500 * time.Millisecond)
	q.add(0, "d")
	q.add(time.Hour, "e")
	foreign := job("f")
	foreign.Tenant = "other"
	q.enqueue(foreign)
	q.same("some of each", q.stats(), wire.QueueStats{Ready: 3, Delayed: 1, InFlight: 1, Dead: 1, OldestMS: 1500})

	// A job whose lease has lapsed is ready, since then.
	q.same("claimed", len(q.claim(10)), 3)
	q.clock.Advance(lease + time.Second)
	q.same("lapsed", q.stats(), wire.QueueStats{Ready: 4, Delayed: 1, Dead: 1, OldestMS: 2500})
	q.ok("release", q.Store.Ack(q.ctx, q.claim(1)[0], store.Ack{Kind: store.AckRelease, After: time.Minute, Refund: true}))
	q.same("released for later", q.stats(), wire.QueueStats{Ready: 3, Delayed: 2, Dead: 1, OldestMS: 1000})
}

// testQueueAddDead adds a job that died without having been in the queue, while the queue has a job
// with the same key.
func testQueueAddDead(q *queueTest) {
	q.add(0, "a")
	taken := q.claimOne()
	add := job("a")
	add.Kind, add.Segment, add.DueAt = wire.JobReclaim, 3, q.clock.Now().Add(-time.Minute)
	before := q.clock.Now()
	q.write(thread("t"), func(tx store.Tx) error {
		return tx.Write(store.Changes{Dead: []wire.QueuedJob{{Job: add, Attempts: 5, Cause: "it “broke”"}}})
	})
	dead := q.dead(spool.DefaultTenant, wire.JobQuery{})
	if len(dead) != 1 || dead[0].JobID <= taken.JobID {
		q.Fatalf("the dead jobs are %+v", dead)
	}
	q.same("the dead job", dead[0], wire.QueuedJob{
		Job: add, JobID: dead[0].JobID, State: wire.JobDead, Attempts: 5, Cause: "it “broke”", DiedAt: before,
	})
	q.ok("the job of the same key", q.Store.Ack(q.ctx, taken, store.Ack{Kind: store.AckDone}))
	q.same("what is left", q.listed(wire.JobQuery{}), "")
	q.write(thread("t"), func(tx store.Tx) error {
		return tx.Write(store.Changes{TakeDead: []int64{dead[0].JobID}})
	})
	q.same("after a redrive", q.deadKeys(wire.JobQuery{}), "")
}
