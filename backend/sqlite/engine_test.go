package sqlite_test

import (
	"os"
	"testing"

	"github.com/spoolhq/spool/internal/testing/enginetest"
)

// TestEngine runs the engine's suite: the cases that need a store and the campaigns, and all cases with
// SPOOL_TEST_LONG=1.
func TestEngine(t *testing.T) {
	t.Parallel()
	enginetest.Test(t, enginetest.Options{
		Open: opener(t), Features: features, PortOnly: os.Getenv("SPOOL_TEST_LONG") != "1",
	})
}
