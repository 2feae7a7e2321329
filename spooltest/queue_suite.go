package spooltest

import (
	"context"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/compare"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// TestQueue checks that the jobs of a store keep the contract of [store.Store]. A store must also pass
// [TestStore].
func TestQueue(t *testing.T, open Open, _ Features) {
	t.Helper()

	for name, test := range map[string]func(q *queueTest){
		"Empty":              testQueueEmpty,
		"RoundTrip":          testQueueRoundTrip,
		"WithTransaction":    testQueueVisibleWithTransaction,
		"Keys":               testQueueKeys,
		"KeyIsFreeAgain":     testQueueKeyIsFreeAgain,
		"CancelJob":          testQueueCancelJob,
		"Claimed":            testQueueClaimed,
		"ClaimOrder":         testQueueClaimOrder,
		"ClaimLimit":         testQueueClaimLimit,
		"Fair":               testQueueFair,
		"Served":             testQueueServed,
		"FairBacklog":        testQueueFairBacklog,
		"FairShare":          testQueueShare,
		"FairSubjects":       testQueueSubjects,
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
		"JobsOf":             testQueueJobsOf,
		"Named":              testQueueNamed,
		"Apart":              func(q *queueTest) { testQueueApart(q, 4) },
		"ApartBacklog":       func(q *queueTest) { testQueueApart(q, 60) },
		"Next":               testQueueNext,
		"Agents":             testQueueAgents,
		"Events":             testQueueEvents,
		"EventKeys":          testQueueEventKeys,
		"EventsOutlive":      testQueueEventsOutlive,
		"EventsRollBack":     testQueueEventsRollBack,
		"Stats":              testQueueStats,
		"StatsOfTenant":      testQueueStatsOfTenant,
		"StatsOfQueues":      testQueueStatsOfQueues,
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
func job(key string) wire.Job {
	return wire.Job{
		Tenant: spool.DefaultTenant, ThreadID: "t", RunID: spool.RunID("r-" + key), Agent: "agent",
		Kind: wire.JobStart, Key: key,
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

func (q *queueTest) enqueue(j wire.Job) {
	q.Helper()
	q.write(j.Thread(), func(tx store.Tx) error {
		if _, err := tx.Thread(); err != nil {
			if err := tx.Write(store.Changes{Thread: &wire.Thread{State: wire.Idle}}); err != nil {
				return err
			}
		}
		return tx.Write(store.Changes{Jobs: []wire.Job{j}})
	})
}

func (q *queueTest) claim(limit int) []store.Delivery {
	q.Helper()
	taken, _, err := q.Store.Claim(q.ctx, store.ClaimQuery{Limit: limit, Lease: lease})
	if err != nil {
		q.Fatalf("claim: %v", err)
	}
	return taken
}

// claimOne claims the one job that is due.
func (q *queueTest) claimOne() store.Delivery {
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

func jobKeys(taken []store.Delivery) string {
	return compare.Joined(taken, func(d store.Delivery) string { return d.Key })
}

// next checks that no job is due, and when the next one will be.
func (q *queueTest) next(what string, want time.Time) {
	q.Helper()
	taken, next, err := q.Store.Claim(q.ctx, store.ClaimQuery{Limit: 10, Lease: lease})
	if err != nil || len(taken) != 0 {
		q.Fatalf("%s: claim: got %d jobs and error %v, want none", what, len(taken), err)
	}
	q.same(what+": next", next, want)
}

// worthless checks that every operation with a delivery is refused.
func (q *queueTest) worthless(what string, d store.Delivery) {
	q.Helper()
	q.is(what+": Extend", q.Store.Ack(q.ctx, d, store.Ack{Kind: store.AckExtend, After: lease}), store.ErrFenced)
	q.is(what+": Release", q.Store.Ack(q.ctx, d, store.Ack{Kind: store.AckRelease, Refund: true}), store.ErrFenced)
	q.is(what+": DeadLetter", q.Store.Ack(q.ctx, d, store.Ack{Kind: store.AckDead, Cause: "cause"}), store.ErrFenced)
	q.is(what+": Ack", q.Store.Ack(q.ctx, d, store.Ack{Kind: store.AckDone}), store.ErrFenced)
}

func (q *queueTest) stats() wire.QueueStats {
	q.Helper()
	return q.statsOf("")
}

func (q *queueTest) statsOf(tenant spool.Tenant) wire.QueueStats {
	q.Helper()
	stats, err := q.Store.Stats(q.ctx, wire.StatsQuery{Tenant: tenant, Queue: true})
	q.ok("stats", err)
	stats.Queue.Extra = nil
	return stats.Queue
}

// jobs lists a tenant's jobs.
func (q *queueTest) jobs(tenant spool.Tenant, query wire.JobQuery) []wire.QueuedJob {
	q.Helper()
	query.Tenant = tenant
	jobs, err := q.Store.Jobs(q.ctx, query)
	q.ok("jobs", err)
	return jobs
}

// dead lists a tenant's dead jobs.
func (q *queueTest) dead(tenant spool.Tenant, query wire.JobQuery) []wire.QueuedJob {
	q.Helper()
	query.State = wire.JobDead
	return q.jobs(tenant, query)
}

func queuedKey(j wire.QueuedJob) string { return j.Key }
