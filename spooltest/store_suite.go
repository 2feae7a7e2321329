package spooltest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/compare"
)

// TestStore checks that a store keeps the contract of [spool.Store]. The backend must also have a
// queue, because the store writes jobs that the queue reads.
func TestStore(t *testing.T, open Open, features Features) {
	t.Helper()

	for name, test := range map[string]func(s *storeTest){
		"NothingThere":      testStoreNothingThere,
		"ThreadRoundTrip":   testStoreThreadRoundTrip,
		"ThreadReplaced":    testStoreThreadReplaced,
		"Threads":           testStoreThreads,
		"ThreadsPages":      testStoreThreadsPages,
		"ThreadsFilters":    testStoreThreadsFilters,
		"DeleteThread":      testStoreDeleteThread,
		"DeleteNothing":     testStoreDeleteNothing,
		"Tenants":           testStoreTenants,
		"TenantsApart":      testStoreTenantsApart,
		"RunRoundTrip":      testStoreRunRoundTrip,
		"RunReplaced":       testStoreRunReplaced,
		"RunOfOtherThread":  testStoreRunOfOtherThread,
		"RunsNewestFirst":   testStoreRunsNewestFirst,
		"RunIDUsed":         testStoreRunIDUsed,
		"OneActiveRun":      testStoreOneActiveRun,
		"WaitingRuns":       testStoreWaitingRuns,
		"RefusedRunGoesOn":  testStoreRefusedRunGoesOn,
		"FindStart":         testStoreFindStart,
		"StartKeyUsed":      testStoreStartKeyUsed,
		"MessageRoundTrip":  testStoreMessageRoundTrip,
		"MessageQuery":      testStoreMessageQuery,
		"MessageTurns":      testStoreMessageTurns,
		"DropMessages":      testStoreDropMessages,
		"DropUnknown":       testStoreDropUnknown,
		"Branches":          testStoreBranches,
		"BranchQuery":       testStoreBranchQuery,
		"BranchRestored":    testStoreBranchRestored,
		"BranchNested":      testStoreBranchNested,
		"BranchRefused":     testStoreBranchRefused,
		"EntryRoundTrip":    testStoreEntryRoundTrip,
		"EntryQuery":        testStoreEntryQuery,
		"SeqFollowsOn":      testStoreSeqFollowsOn,
		"NestedRuns":        testStoreNestedRuns,
		"Parks":             testStoreParks,
		"Effects":           testStoreEffects,
		"Usage":             testStoreUsage,
		"UsageNotReported":  testStoreUsageNotReported,
		"UsageCosts":        testStoreUsageCosts,
		"UsageRows":         testStoreUsageRows,
		"RollsBack":         testStoreRollsBack,
		"ReturnsFnError":    testStoreReturnsFnError,
		"OwnWrites":         testStoreOwnWrites,
		"Fence":             testStoreFence,
		"Now":               testStoreNow,
		"ContextEnded":      testStoreContextEnded,
		"RaceStart":         testStoreRaceStart,
		"RaceRunID":         testStoreRaceRunID,
		"RaceSeq":           testStoreRaceSeq,
		"RaceReadAndWrite":  testStoreRaceReadAndWrite,
		"RaceFence":         testStoreRaceFence,
		"ViewIsOneState":    testStoreViewIsOneState,
		"Runs":              testStoreRuns,
		"RunsPages":         testStoreRunsPages,
		"RunsFilters":       testStoreRunsFilters,
		"Tally":             testStoreTally,
		"TallyBytes":        testStoreTallyBytes,
		"Audit":             testStoreAudit,
		"AuditFilters":      testStoreAuditFilters,
		"AuditOutlives":     testStoreAuditOutlives,
		"AuditRollsBack":    testStoreAuditRollsBack,
		"AuditPruned":       testStoreAuditPruned,
		"Idle":              testStoreIdle,
		"Stranded":          testStoreStranded,
		"StrandedLimit":     testStoreStrandedLimit,
		"StrandedClaimed":   testStoreStrandedClaimed,
		"StrandedOtherRuns": testStoreStrandedOtherRuns,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(newStoreTest(t, open))
		})
	}
	t.Run("Durable", func(t *testing.T) {
		t.Parallel()
		if !features.Durable {
			t.Skip("the backend is not durable")
		}
		testStoreDurable(t, open)
	})
	t.Run("CrossProcess", func(t *testing.T) {
		t.Parallel()
		if !features.CrossProcess {
			t.Skip("the backend is for one process")
		}
		testStoreCrossProcess(t, open)
	})
}

// storeTest is a subtest's backend, with calls that must succeed.
type storeTest struct {
	*testing.T
	spool.Backend
	clock *Clock
}

func newStoreTest(t *testing.T, open Open) *storeTest {
	t.Helper()
	clock := NewClock()
	return &storeTest{T: t, Backend: open(t, clock), clock: clock}
}

// thread returns the key of a thread of the default tenant.
func thread(id spool.ThreadID) spool.ThreadKey {
	return spool.ThreadKey{Tenant: spool.DefaultTenant, ID: id}
}

// write runs fn in a transaction. Fn must return all of its errors joined, and must not fail the test
// itself, because the store may run fn on any goroutine.
func (s *storeTest) write(key spool.ThreadKey, fn func(tx spool.Tx) error) {
	s.Helper()
	if err := s.Store.Update(context.Background(), key, 0, fn); err != nil {
		s.Fatalf("update %s: %v", key, err)
	}
}

func (s *storeTest) read(key spool.ThreadKey, fn func(v spool.View) error) {
	s.Helper()
	if err := s.Store.View(context.Background(), key, fn); err != nil {
		s.Fatalf("view %s: %v", key, err)
	}
}

// queued creates a thread whose run waits for a worker and has no job.
func (s *storeTest) queued(key spool.ThreadKey, run spool.RunID) {
	s.Helper()
	s.write(key, func(tx spool.Tx) error { return putQueued(tx, run) })
}

func putQueued(tx spool.Tx, run spool.RunID) error {
	return errors.Join(
		tx.PutThread(spool.Thread{State: spool.Queued, RunID: run}),
		tx.InsertRun(spool.RunRow{Run: spool.Run{ID: run, State: spool.Queued, StartedAt: tx.Now()}}),
	)
}

// all reads a thread. The parks are the run's, and the effects are those of the run's step 1.
func (s *storeTest) all(key spool.ThreadKey, run spool.RunID) (c compare.Contents) {
	s.Helper()
	s.read(key, func(v spool.View) (err error) {
		c, err = compare.Read(v, run)
		return err
	})
	return c
}

// fill writes a row of every kind to a new thread.
func fill(tx spool.Tx, key spool.ThreadKey, run spool.RunID) error {
	n := int64(7)
	return errors.Join(
		putQueued(tx, run),
		tx.AppendMessages(
			&spool.Message{ID: "m1", Role: spool.RoleUser, Content: spool.TextContent("hello"), RunID: run},
			&spool.Message{ID: "m2", Role: spool.RoleAssistant, Content: spool.TextContent("hi"), RunID: run},
		),
		tx.AppendEntries(spool.NewEntry(spool.EntryRunStarted, run, nil), spool.NewEntry(spool.EntryRunEnded, run, nil)),
		tx.PutPark(spool.Park{RunID: run, ToolCallID: "c1", State: spool.ParkOpen, ExpiresAt: tx.Now().Add(time.Hour)}),
		tx.PutEffect(spool.Effect{RunID: run, Step: 1, ToolCallID: "c1", State: spool.EffectPending}),
		tx.AddUsage(spool.UsageRow{RunID: run, Agent: "a", Model: "m", Usage: spool.Usage{Input: &n}}),
		tx.Enqueue(spool.Job{Tenant: key.Tenant, ThreadID: key.ID, RunID: run, Agent: "a", Key: "job:" + string(run)}),
	)
}

// same reports an error unless got equals want. See [compare.Equal].
func (s *storeTest) same(what string, got, want any) {
	s.Helper()
	if !compare.Equal(got, want) {
		s.Errorf("%s:\n got %s\nwant %s", what, compare.Dump(got), compare.Dump(want))
	}
}

// fails reports an error unless err has the code.
func (s *storeTest) fails(what string, err error, code spool.Code) {
	s.Helper()
	if spool.CodeOf(err) != code {
		s.Errorf("%s: got error %v with code %q, want code %q", what, err, spool.CodeOf(err), code)
	}
}

// is reports an error unless err is target.
func (s *storeTest) is(what string, err, target error) {
	s.Helper()
	if !errors.Is(err, target) {
		s.Errorf("%s: got error %v, want %v", what, err, target)
	}
}
