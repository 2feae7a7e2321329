package postgres_test

import (
	"os"
	"testing"

	"github.com/spoolhq/spool/internal/testing/enginetest"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
)

// TestEngine runs the engine's cases that need a store. Cases that are rules, campaigns, which make a database for each
// of some hundred crash points, and a few cases that pass days in polls, each of which is a query, run with
// SPOOL_TEST_LONG=1, which takes a quarter of an hour.
func TestEngine(t *testing.T) {
	t.Parallel()
	enginetest.Test(t, engineOptions(opener(), nil))
}

// selected are the subjects of the engine's suite that TestEngineBehindPooler and TestEngineFaulty run without
// SPOOL_TEST_LONG=1. A run starts, makes steps with tools, waits for an answer and is stopped in the first four, so
// they have the transactions that most runs need. Edit drops messages and starts a run in one transaction. In Lease and
// Sweep, processes take a run from each other. Take has starts that claim their run. Usage counts what a transaction
// that runs twice could count twice.
var selected = []string{"Start", "Step", "Stop", "Park", "Edit", "Lease", "Sweep", "Take", "Usage"}

// TestEngineBehindPooler runs the engine's suite behind a PgBouncer with fewer connections to the server than
// the processes of a case have. Each process has a store of its own.
func TestEngineBehindPooler(t *testing.T) {
	t.Parallel()
	open := pooledOpener()
	o := engineOptions(open, selected)
	o.Join = open
	enginetest.Test(t, o)
}

// TestEngineFaulty runs the engine's suite over a store that rolls each third update back and runs its function
// again, as after a conflict. An engine must not notice it.
func TestEngineFaulty(t *testing.T) {
	t.Parallel()
	open := opener()
	enginetest.Test(t, engineOptions(func(t *testing.T, clock store.Clock) store.Backend {
		t.Helper()
		f := spooltest.NewFaulty(open(t, clock))
		for call := 3; call < 3000; call += 3 {
			f.Plan(spooltest.Fault{Call: call, On: "Store.Update", Kind: spooltest.Rerun})
		}
		return f.Backend()
	}, selected))
}

// engineOptions returns the options of the engine's suite. Without SPOOL_TEST_LONG=1, it runs only the given
// subjects, if any, and no rules, no campaigns and no cases that pass days in polls.
func engineOptions(open spooltest.Open, only []string) enginetest.Options {
	o := enginetest.Options{
		Open: open, Features: features, Remote: true, Skip: make(map[string]string),
	}
	if os.Getenv("SPOOL_TEST_LONG") != "1" {
		o.PortOnly = true
		const long = "it takes long: SPOOL_TEST_LONG=1 runs it"
		o.NoCampaigns, o.Only = long, only
		for _, name := range []string{"Audit/Retention", "Job/MaxDeliveries", "Job/DeliveredTooOften", "Prune/Retention"} {
			o.Skip[name] = long
		}
	}
	return o
}
