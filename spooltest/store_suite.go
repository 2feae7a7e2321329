package spooltest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/compare"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// TestStore checks that a store keeps the contract of [store.Store], except for its jobs: see [TestQueue].
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
		"ViewRuns":          testStoreViewRuns,
		"RunIDUsed":         testStoreRunIDUsed,
		"OneActiveRun":      testStoreOneActiveRun,
		"WaitingRuns":       testStoreWaitingRuns,
		"LateErrors":        testStoreLateErrors,
		"NoThread":          testStoreNoThread,
		"OrderOfChanges":    testStoreOrderOfChanges,
		"StartKeys":         testStoreStartKeys,
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
		"DeltaRoundTrip":    testStoreDeltaRoundTrip,
		"DeltaAtOnce":       testStoreDeltaAtOnce,
		"DeltaQuery":        testStoreDeltaQuery,
		"DeltaRollsBack":    testStoreDeltaRollsBack,
		"DeltaDeleted":      testStoreDeltaDeleted,
		"DeltaBig":          testStoreDeltaBig,
		"DeltaRace":         testStoreDeltaRace,
		"NestedRuns":        testStoreNestedRuns,
		"Parks":             testStoreParks,
		"Effects":           testStoreEffects,
		"Inbox":             testStoreInbox,
		"InboxNested":       testStoreInboxNested,
		"InboxFilters":      testStoreInboxFilters,
		"InboxPages":        testStoreInboxPages,
		"InboxExpired":      testStoreInboxExpired,
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
		"Stats":             testStoreStats,
		"Rows":              testStoreRows,
		"RowsCompare":       testStoreRowsCompare,
		"RowsAgain":         testStoreRowsAgain,
		"RowsExpire":        testStoreRowsExpire,
		"RowsPages":         testStoreRowsPages,
		"RowsApart":         testStoreRowsApart,
		"RowsWithThread":    testStoreRowsWithThread,
		"RowsRace":          testStoreRowsRace,
		"RowsPruned":        testStoreRowsPruned,
		"PruneKinds":        testStorePruneKinds,
		"Check":             testStoreCheck,
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
		"StrandedOrder":     testStoreStrandedOrder,
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
	store.Backend
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
func (s *storeTest) write(key spool.ThreadKey, fn func(tx store.Tx) error) {
	s.Helper()
	if err := s.Store.Update(context.Background(), key, 0, fn); err != nil {
		s.Fatalf("update %s: %v", key, err)
	}
}

func (s *storeTest) read(key spool.ThreadKey, fn func(v store.View) error) {
	s.Helper()
	if err := s.Store.View(context.Background(), key, fn); err != nil {
		s.Fatalf("view %s: %v", key, err)
	}
}

// queued creates a thread whose run waits for a worker and has no job.
func (s *storeTest) queued(key spool.ThreadKey, run spool.RunID) {
	s.Helper()
	s.write(key, func(tx store.Tx) error { return putQueued(tx, run) })
}

func putQueued(tx store.Tx, run spool.RunID) error {
	return tx.Write(store.Changes{
		Thread:  &wire.Thread{State: wire.Queued, RunID: run},
		NewRuns: []store.RunRow{{Run: wire.Run{ID: run, State: wire.Queued, StartedAt: tx.Now()}}},
	})
}

// all reads a thread. The parks are the run's, and the effects are those of the run's step 1.
func (s *storeTest) all(key spool.ThreadKey, run spool.RunID) (c compare.Contents) {
	s.Helper()
	s.read(key, func(v store.View) (err error) {
		c, err = compare.Read(v, run)
		return err
	})
	return c
}

// fill writes a row of every kind to a new thread.
func fill(tx store.Tx, key spool.ThreadKey, run spool.RunID) error {
	n := int64(7)
	return errors.Join(
		putQueued(tx, run),
		tx.Write(store.Changes{
			Messages: []*spool.Message{
				{ID: "m1", Role: spool.RoleUser, Content: spool.TextContent("hello"), RunID: run},
				{ID: "m2", Role: spool.RoleAssistant, Content: spool.TextContent("hi"), RunID: run},
			},
			Entries: []*wire.Entry{wire.NewEntry(wire.EntryRunStarted, run, nil), wire.NewEntry(wire.EntryRunEnded, run, nil)},
			Parks:   []store.Park{{RunID: run, ToolCallID: "c1", State: wire.ParkOpen, ExpiresAt: tx.Now().Add(time.Hour)}},
			Effects: []store.Effect{{RunID: run, Step: 1, ToolCallID: "c1", State: wire.EffectPending}},
			Usage:   []wire.UsageRow{{RunID: run, Agent: "a", Model: "m", Usage: spool.Usage{Input: &n}}},
			Delta:   &store.SnapshotDelta{RunID: run, View: []store.ViewChange{{Add: []spool.MessageID{"m1", "m2"}}}},
			Jobs:    []wire.Job{{Tenant: key.Tenant, ThreadID: key.ID, RunID: run, Agent: "a", Key: "job:" + string(run)}},
		}),
	)
}

// errNotFound stands for any error with this code.
var errNotFound = &spool.Error{Code: spool.NotFound, Message: "any"}

func (s *storeTest) ok(what string, err error) {
	s.Helper()
	if err != nil {
		s.Fatalf("%s: %v", what, err)
	}
}

// refuses checks that a transaction fails with the wanted error and changes nothing of the thread: both if its
// function returns the error of Write, and if it returns nil.
func (s *storeTest) refuses(what string, key spool.ThreadKey, want *spool.Error, changes ...store.Changes) {
	s.Helper()
	before := s.all(key, "r")
	for _, ignore := range []bool{false, true} {
		err := s.Store.Update(context.Background(), key, 0, func(tx store.Tx) error {
			for _, c := range changes {
				if err := tx.Write(c); err != nil && ignore {
					return nil
				} else if err != nil {
					return err
				}
			}
			return nil
		})
		if want == errNotFound {
			s.fails(what, err, spool.NotFound)
		} else {
			s.is(what, err, want)
		}
		s.same("contents after: "+what, s.all(key, "r"), before)
	}
}

// started returns the run that was started with a key.
func (s *storeTest) started(tenant spool.Tenant, startKey string) []store.RunRow {
	s.Helper()
	return s.listRuns(wire.RunQuery{Tenant: tenant, StartKey: startKey, Whole: true})
}

// tally returns the sums of a tenant.
func (s *storeTest) tally(tenant spool.Tenant) wire.Tally {
	s.Helper()
	stats, err := s.Store.Stats(context.Background(), wire.StatsQuery{Tenant: tenant, Tally: true})
	if err != nil {
		s.Fatalf("tally: %v", err)
	}
	return stats.Tally
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
