package enginetest

import (
	"testing"
	"testing/synctest"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/spooltest"
)

// Test checks that an engine over the backend does what package engine promises. Each subtest runs in a
// bubble of testing/synctest and passes [spool.SystemClock] to open, so waiting for a lease or a retry
// takes no time. Everything that open starts must end in its Cleanup. Every subtest's history is
// checked by [spooltest.Check].
func Test(t *testing.T, open spooltest.Open, features spooltest.Features) {
	t.Helper()

	for _, subject := range []struct {
		name  string
		tests map[string]func(s *engineTest)
	}{
		{"Start", startTests},
		{"Wait", cases(waitTests)},
		{"Step", stepTests},
		{"Retry", retryTests},
		{"Stop", stopTests},
		{"Usage", cases(usageTests)},
		{"Budget", cases(budgetTests)},
		{"Park", parkTests},
		{"Approve", cases(approveTests)},
		{"Distinct", cases(distinctTests)},
		{"Expire", cases(expireTests)},
		{"Unknown", unknownTests},
		{"Nested", cases(nestedTests)},
		{"Mixed", cases(mixedTests)},
		{"Edit", editTests},
		{"Context", cases(contextTests)},
		{"Force", cases(forceTests)},
		{"Branch", cases(branchTests)},
		{"Job", jobTests},
		{"Fair", cases(fairTests)},
		{"Storage", cases(storageTests)},
		{"TimeLimit", cases(timeLimitTests)},
		{"Lease", leaseTests},
		{"Alone", cases(aloneTests)},
		{"Sweep", cases(sweepTests)},
		{"Access", cases(accessTests)},
		{"Own", cases(ownTests)},
		{"Describe", cases(describeTests)},
		{"Audit", cases(auditTests)},
		{"Redrive", cases(redriveTests)},
		{"Prune", cases(pruneTests)},
		{"Overview", overviewTests},
		{"Await", cases(awaitTests)},
		{"Settle", cases(settleTests)},
		{"Thread", threadTests},
		{"Snapshot", cases(snapshotTests)},
		{"Follow", cases(followTests)},
		{"Turns", cases(turnTests)},
		{"Retract", cases(retractTests)},
		{"Hole", cases(holeTests)},
		{"SSE", sseTests},
		{"Publish", cases(publishTests)},
		{"HostState", hostStateTests},
		{"ProviderOptions", providerOptionsTests},
		{"ClientTool", clientToolTests},
		{"ClientContext", clientContextTests},
		{"Key", keyTests},
		{"Arguments", cases(argumentTests)},
		{"Empty", cases(emptyTests)},
		{"Bound", cases(boundTests)},
		{"Most", cases(mostTests)},
	} {
		t.Run(subject.name, func(t *testing.T) {
			t.Parallel()
			for name, test := range subject.tests {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					bubble(t, open, test)
				})
			}
		})
	}
	for name, script := range crashScripts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testEngineCrash(t, open, features, script)
		})
	}
	t.Run("WaitCrash", func(t *testing.T) {
		t.Parallel()
		testWaitCrash(t, open, features)
	})
	t.Run("Random", func(t *testing.T) {
		t.Parallel()
		testEngineRandom(t, open, features)
	})
}

// cases converts the cases of one operation, which have a fixture of their own.
func cases[T ~struct{ *engineTest }](tests map[string]func(T)) map[string]func(*engineTest) {
	all := make(map[string]func(*engineTest), len(tests))
	for name, test := range tests {
		all[name] = func(s *engineTest) { test(T(struct{ *engineTest }{s})) }
	}
	return all
}

// bubble runs a test in its own bubble, over a new backend.
func bubble(t *testing.T, open spooltest.Open, test func(s *engineTest)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := newEngineTest(t, open(t, spool.SystemClock{}))
		test(s)
		s.check()
	})
}
