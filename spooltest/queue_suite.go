package spooltest

import (
	"context"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/compare"
)

// TestQueue checks that a queue keeps the contract of [spool.Queue]. The backend must also have a
// store, because only a store adds jobs to the queue.
func TestQueue(t *testing.T, open Open, _ Features) {
	t.Helper()

	for name, test := range map[string]func(q *queueTest){
		"Empty":              testQueueEmpty,
		"RoundTrip":          testQueueRoundTrip,
		"WithTransaction":    testQueueVisibleWithTransaction,
		"Keys":               testQueueKeys,
		"KeyIsFreeAgain":     testQueueKeyIsFreeAgain,
		"CancelJob":          testQueueCancelJob,
		"ClaimOrder":         testQueueClaimOrder,
		"ClaimLimit":         testQueueClaimLimit,
		"Fair":               testQueueFair,
		"Served":             testQueueServed,
		"FairBacklog":        testQueueFairBacklog,
		"Reserved":           testQueueReserved,
		"PerTenant":          testQueuePerTenant,
		"Waiting":            testQueueWaiting,
		"Delayed":            testQueueDelayed,
		"LeaseLapses":        testQueueLeaseLapses,
		"Extend":             testQueueExtend,
		"Ack":                testQueueAck,
		"Release":            testQueueRelease,
		"ReleaseOrder":       testQueueReleaseOrder,
		"Refund":             testQueueRefund,
		"DeadLetter":         testQueueDeadLetter,
		"Dead":               testQueueDead,
		"DeadPages":          testQueueDeadPages,
		"Purge":              testQueuePurge,
		"TakeDead":           testQueueTakeDead,
		"AddDead":            testQueueAddDead,
		"JobIDs":             testQueueJobIDs,
		"Jobs":               testQueueJobs,
		"Stats":              testQueueStats,
		"StatsOfTenant":      testQueueStatsOfTenant,
		"LapsedNotTaken":     testQueueLapsedNotTaken,
		"LostClaim":          testQueueLostClaim,
		"GoneJob":            testQueueGoneJob,
		"TokenOfAnotherJob":  testQueueTokenOfAnotherJob,
		"ContextEnded":       testQueueContextEnded,
		"RaceClaim":          testQueueRaceClaim,
		"RaceClaimAndFinish": testQueueRaceClaimAndFinish,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(&queueTest{storeTest: newStoreTest(t, open), ctx: context.Background()})
		})
	}
}

// lease is the duration of the tests' claims.
const lease = time.Minute

// queueTest is a subtest's backend, with calls that must succeed.
type queueTest struct {
	*storeTest
	ctx context.Context
}

// job returns a job for a run whose id is made from the key.
func job(key string) spool.Job {
	return spool.Job{
		Tenant: spool.DefaultTenant, ThreadID: "t", RunID: spool.RunID("r-" + key), Agent: "agent",
		Kind: spool.JobStart, Key: key,
	}
}

// add enqueues jobs that are due after the given time.
func (q *queueTest) add(after time.Duration, keys ...string) {
	q.Helper()
	for _, key := range keys {
		j := job(key)
		if after != 0 {
			j.DueAt = q.clock.Now().Add(after)
		}
		q.enqueue(j)
	}
}

func (q *queueTest) enqueue(j spool.Job) {
	q.Helper()
	q.write(j.Thread(), func(tx spool.Tx) error {
		if _, err := tx.Thread(); err != nil {
			if err := tx.PutThread(spool.Thread{State: spool.Idle}); err != nil {
				return err
			}
		}
		return tx.Enqueue(j)
	})
}

func (q *queueTest) claim(limit int) []spool.Delivery {
	q.Helper()
	taken, _, err := q.Queue.Claim(q.ctx, spool.ClaimQuery{Limit: limit, Lease: lease})
	if err != nil {
		q.Fatalf("claim: %v", err)
	}
	return taken
}

// claimOne claims the one job that is due.
func (q *queueTest) claimOne() spool.Delivery {
	q.Helper()
	taken := q.claim(10)
	if len(taken) != 1 {
		q.Fatalf("claim: got %d jobs, want one", len(taken))
	}
	return taken[0]
}

// claimed claims jobs and returns their keys.
func (q *queueTest) claimed(limit int) string {
	q.Helper()
	return jobKeys(q.claim(limit))
}

func jobKeys(taken []spool.Delivery) string {
	return compare.Joined(taken, func(d spool.Delivery) string { return d.Key })
}

// next checks that no job is due, and when the next one will be.
func (q *queueTest) next(what string, want time.Time) {
	q.Helper()
	taken, next, err := q.Queue.Claim(q.ctx, spool.ClaimQuery{Limit: 10, Lease: lease})
	if err != nil || len(taken) != 0 {
		q.Fatalf("%s: claim: got %d jobs and error %v, want none", what, len(taken), err)
	}
	q.same(what+": next", next, want)
}

func (q *queueTest) ok(what string, err error) {
	q.Helper()
	if err != nil {
		q.Fatalf("%s: %v", what, err)
	}
}

// worthless checks that every operation with a delivery is refused.
func (q *queueTest) worthless(what string, d spool.Delivery) {
	q.Helper()
	q.is(what+": Extend", q.Queue.Extend(q.ctx, d, lease), spool.ErrFenced)
	q.is(what+": Release", q.Queue.Release(q.ctx, d, 0, true), spool.ErrFenced)
	q.is(what+": DeadLetter", q.Queue.DeadLetter(q.ctx, d, "cause"), spool.ErrFenced)
	q.is(what+": Ack", q.Queue.Ack(q.ctx, d), spool.ErrFenced)
}

func (q *queueTest) stats() spool.QueueStats {
	q.Helper()
	stats, err := q.Queue.Stats(q.ctx, "")
	q.ok("stats", err)
	stats.Extra = nil
	return stats
}

func (q *queueTest) dead(tenant spool.Tenant, limit int) []spool.DeadJob {
	q.Helper()
	dead, err := q.Queue.Dead(q.ctx, tenant, spool.DeadQuery{Limit: limit})
	q.ok("dead", err)
	return dead
}
