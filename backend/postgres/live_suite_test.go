package postgres_test

import (
	"testing"

	"github.com/spoolhq/spool/backend/postgres"
	"github.com/spoolhq/spool/internal/testing/pgtest"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
)

func TestLive(t *testing.T) {
	t.Parallel()
	spooltest.TestLive(t, func(t *testing.T) store.Live {
		t.Helper()
		return open(t, pgtest.Database(t, template), nil).Live()
	})
}

// TestLiveBehindPooler runs the suite behind a PgBouncer with fewer connections to the server than the store
// has.
func TestLiveBehindPooler(t *testing.T) {
	t.Parallel()
	spooltest.TestLive(t, func(t *testing.T) store.Live {
		t.Helper()
		return open(t, pgtest.Bouncer(t, pgtest.Database(t, template), 3), &postgres.Options{Pooler: true}).Live()
	})
}
