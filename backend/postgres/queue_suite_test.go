package postgres_test

import (
	"testing"

	"github.com/spoolhq/spool/spooltest"
)

func TestQueue(t *testing.T) {
	t.Parallel()
	spooltest.TestQueue(t, opener(), features)
}

// TestQueueBehindPooler runs the suite behind a PgBouncer with fewer connections to the server than the store
// has.
func TestQueueBehindPooler(t *testing.T) {
	t.Parallel()
	spooltest.TestQueue(t, pooledOpener(), features)
}
