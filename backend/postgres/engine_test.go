package postgres_test

import (
	"os"
	"testing"

	"github.com/spoolhq/spool/internal/enginetest"
)

// TestEngine runs the engine's suite. Its campaigns make a database for each of some thousand crash points, and
// a few cases pass days in polls, each of which is a query. They run with SPOOL_TEST_LONG=1, which takes an hour.
func TestEngine(t *testing.T) {
	t.Parallel()
	o := enginetest.Options{
		Open: opener(), Features: features, Remote: true,
		Skip: map[string]string{"Audit/Retention": "400 days pass in it, and each poll on the way is a query"},
	}
	if os.Getenv("SPOOL_TEST_LONG") != "1" {
		const long = "it takes long: SPOOL_TEST_LONG=1 runs it"
		o.NoCampaigns = long
		for _, name := range []string{"Job/MaxDeliveries", "Job/DeliveredTooOften", "Prune/Retention"} {
			o.Skip[name] = long
		}
	}
	enginetest.Test(t, o)
}
