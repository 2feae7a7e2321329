package spooltest

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

func testQueueClaimOrder(q *queueTest) {
	for _, j := range []struct {
		key string
		due time.Duration
	}{
		{"d", -time.Second}, {"a", -time.Hour}, {"e", 0}, {"c", -time.Minute}, {"f", time.Second}, {"b", -59 * time.Minute},
	} {
		q.add(j.due, j.key)
	}
	q.same("claimed", q.claimed(10), "abcde")
	// A job without a time is due when it is enqueued, and so before one that is due later.
	q.clock.Advance(time.Millisecond)
	q.add(0, "g")
	q.clock.Advance(time.Hour - lease)
	q.same("claimed later", q.claimed(2), "gf")
}

func testQueueClaimLimit(q *queueTest) {
	for _, key := range []string{"a", "b", "c"} {
		q.add(0, key)
		q.clock.Advance(time.Microsecond)
	}
	q.same("nothing", q.claimed(0), "")
	q.same("the first two", q.claimed(2), "ab")
	q.same("the rest", q.claimed(2), "c")
	q.same("no more", q.claimed(2), "")
}

func testQueueDelayed(q *queueTest) {
	due := q.clock.Now().Add(time.Minute)
	q.add(2*time.Minute, "b")
	q.add(time.Minute, "a")
	q.next("delayed", due)
	q.clock.Advance(time.Minute - time.Microsecond)
	q.next("just before", due)
	q.clock.Advance(time.Microsecond)
	q.same("claimed", q.claimed(10), "a")
}

func testQueueLeaseLapses(q *queueTest) {
	q.add(0, "a")
	first := q.claimOne()
	q.next("claimed", q.clock.Now().Add(lease))
	q.clock.Advance(lease - time.Microsecond)
	q.next("just before the lease lapses", q.clock.Now().Add(time.Microsecond))
	q.clock.Advance(time.Microsecond)

	second := q.claimOne()
	q.same("job", second.JobID, first.JobID)
	q.same("attempts", []int{first.Attempt, second.Attempt}, []int{1, 2})
	if first.Token == second.Token {
		q.Errorf("both claims have the token %d", first.Token)
	}
	q.worthless("the first claim", first)
	q.ok("Ack of the second claim", q.Store.Ack(q.ctx, second, store.Ack{Kind: store.AckDone}))
}

func testQueueExtend(q *queueTest) {
	q.add(0, "a")
	d := q.claimOne()
	q.clock.Advance(lease / 2)
	q.ok("extend", q.Store.Ack(q.ctx, d, store.Ack{Kind: store.AckExtend, After: 2 * lease}))
	q.next("extended", q.clock.Now().Add(2*lease))
	q.clock.Advance(lease)
	q.ok("extend to a shorter lease", q.Store.Ack(q.ctx, d, store.Ack{Kind: store.AckExtend, After: time.Second}))
	q.next("extended to a shorter lease", q.clock.Now().Add(time.Second))
	q.clock.Advance(time.Second)
	q.same("attempt", q.claimOne().Attempt, 2)
}

func testQueueAck(q *queueTest) {
	q.add(0, "a")
	d := q.claimOne()
	q.add(0, "b")
	q.ok("ack", q.Store.Ack(q.ctx, d, store.Ack{Kind: store.AckDone}))
	q.worthless("an acked job", d)
	q.clock.Advance(time.Hour)
	q.same("claimed", q.claimed(10), "b")
}

func testQueueRelease(q *queueTest) {
	q.add(0, "a")
	d := q.claimOne()
	q.ok("release", q.Store.Ack(q.ctx, d, store.Ack{Kind: store.AckRelease, After: 3 * time.Second}))
	// The delivery is over, so it cannot refund its attempt twice.
	q.worthless("a released job", d)
	q.next("released", q.clock.Now().Add(3*time.Second))
	q.clock.Advance(3 * time.Second)
	again := q.claimOne()
	q.same("job", []any{again.JobID, again.RunID, again.Attempt}, []any{d.JobID, d.RunID, 2})
	q.worthless("the claim before", d)
	q.ok("release at once", q.Store.Ack(q.ctx, again, store.Ack{Kind: store.AckRelease}))
	q.same("attempt", q.claimOne().Attempt, 3)
}

func testQueueReleaseOrder(q *queueTest) {
	q.add(0, "a")
	a := q.claimOne()
	q.clock.Advance(time.Microsecond)
	q.add(0, "b")
	q.clock.Advance(time.Microsecond)
	q.ok("release", q.Store.Ack(q.ctx, a, store.Ack{Kind: store.AckRelease}))
	q.same("claimed", q.claimed(10), "ba")
}

func testQueueRefund(q *queueTest) {
	q.add(0, "a")
	for range 3 {
		d := q.claimOne()
		q.same("attempt", d.Attempt, 1)
		q.ok("release", q.Store.Ack(q.ctx, d, store.Ack{Kind: store.AckRelease, Refund: true}))
	}
	q.ok("release without a refund", q.Store.Ack(q.ctx, q.claimOne(), store.Ack{Kind: store.AckRelease}))
	q.same("attempt", q.claimOne().Attempt, 2)
	q.clock.Advance(lease)
	d := q.claimOne()
	q.same("attempt after a lapsed lease", d.Attempt, 3)
	q.ok("release with a refund", q.Store.Ack(q.ctx, d, store.Ack{Kind: store.AckRelease, Refund: true}))
	q.same("attempt after a refund", q.claimOne().Attempt, 3)
}

// testQueueLapsedNotTaken checks that a claim stays valid until the job is claimed again, however late.
func testQueueLapsedNotTaken(q *queueTest) {
	q.add(0, "a")
	d := q.claimOne()
	q.clock.Advance(time.Hour)
	q.ok("extend", q.Store.Ack(q.ctx, d, store.Ack{Kind: store.AckExtend, After: lease}))
	q.next("extended", q.clock.Now().Add(lease))
	q.clock.Advance(time.Hour)
	q.ok("ack", q.Store.Ack(q.ctx, d, store.Ack{Kind: store.AckDone}))
	q.next("acked", time.Time{})
}

func testQueueContextEnded(q *queueTest) {
	q.add(0, "a")
	d := q.claimOne()
	q.add(0, "b")
	ctx, cancel := context.WithCancel(q.ctx)
	cancel()
	_, _, err := q.Store.Claim(ctx, store.ClaimQuery{Limit: 1, Lease: lease})
	q.fails("Claim", err, spool.Canceled)
	q.fails("Extend", q.Store.Ack(ctx, d, store.Ack{Kind: store.AckExtend, After: lease}), spool.Canceled)
	q.fails("Ack", q.Store.Ack(ctx, d, store.Ack{Kind: store.AckDone}), spool.Canceled)
	q.fails("Release", q.Store.Ack(ctx, d, store.Ack{Kind: store.AckRelease}), spool.Canceled)
	q.fails("DeadLetter", q.Store.Ack(ctx, d, store.Ack{Kind: store.AckDead, Cause: "cause"}), spool.Canceled)
	q.same("claimed", q.claimed(10), "b")
	q.ok("ack", q.Store.Ack(q.ctx, d, store.Ack{Kind: store.AckDone}))
}

func testQueueRaceClaim(q *queueTest) {
	const jobs = 100
	for i := range jobs {
		q.add(0, fmt.Sprint("j", i))
	}
	var taken [racers][]store.Delivery
	errs := race(func(i int) error {
		for {
			batch, _, err := q.Store.Claim(q.ctx, store.ClaimQuery{Limit: 3, Lease: lease})
			if err != nil || len(batch) == 0 {
				return err
			}
			taken[i] = append(taken[i], batch...)
		}
	})
	q.ok("claim", errors.Join(errs...))
	seen := make(map[string]bool)
	for _, batch := range taken {
		for _, d := range batch {
			if seen[d.Key] {
				q.Errorf("job %s was claimed twice", d.Key)
			}
			seen[d.Key] = true
		}
	}
	q.same("jobs that were claimed", len(seen), jobs)
}

// testQueueRaceClaimAndFinish lets leases lapse while workers run: each job must be acked once.
func testQueueRaceClaimAndFinish(q *queueTest) {
	const jobs = 20
	for i := range jobs {
		q.add(0, fmt.Sprint("j", i))
	}
	var acked atomic.Int64
	errs := race(func(i int) error {
		for round := 0; acked.Load() < jobs; round++ {
			batch, _, err := q.Store.Claim(q.ctx, store.ClaimQuery{Limit: 2, Lease: lease})
			if err != nil {
				return err
			}
			// A store that serves callers in turn would otherwise never see an ack before the lease has lapsed.
			if i%4 == 0 && round < jobs {
				q.clock.Advance(lease)
			}
			for _, d := range batch {
				switch err := q.Store.Ack(q.ctx, d, store.Ack{Kind: store.AckDone}); {
				case err == nil:
					acked.Add(1)
				case !errors.Is(err, store.ErrFenced):
					return err
				}
			}
		}
		return nil
	})
	q.ok("work", errors.Join(errs...))
	q.same("acked", acked.Load(), int64(jobs))
	q.same("stats", q.stats(), wire.QueueStats{})
}
