package postgres_test

import (
	"context"
	"flag"
	"os"
	"runtime"
	"strconv"
	"sync"
	"testing"

	"github.com/spoolhq/spool/backend/postgres"
	"github.com/spoolhq/spool/internal/testing/pgtest"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
)

// A case waits for the server half of its time, so twice as many as usual run side by side. A flag of the command line
// still counts.
func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))); err != nil {
		panic(err)
	}
	os.Exit(pgtest.Run(m))
}

var features = spooltest.Features{Durable: true, CrossProcess: true}

// template is a database that has the tables.
var template = &pgtest.Template{Prepare: func(ctx context.Context, url string) error {
	db, err := postgres.Open(ctx, url, nil)
	if err != nil {
		return err
	}
	return db.Close()
}}

func TestStore(t *testing.T) {
	t.Parallel()
	spooltest.TestStore(t, opener(), features)
}

// TestStoreBehindPooler runs the suite behind a PgBouncer with fewer connections to the server than the store
// has.
func TestStoreBehindPooler(t *testing.T) {
	t.Parallel()
	spooltest.TestStore(t, pooledOpener(), features)
}

// opener opens a database for each test, and the same one again for the same test.
func opener() spooltest.Open {
	var urls sync.Map
	return func(t *testing.T, clock store.Clock) store.Backend {
		t.Helper()
		url, _ := urls.LoadOrStore(t.Name(), sync.OnceValue(func() string { return pgtest.Database(t, template) }))
		db := open(t, url.(func() string)(), &postgres.Options{Clock: clock}) //nolint:errcheck,forcetypeassert // it has only these
		return store.Backend{Store: db, Shared: true}
	}
}

// pooledOpener does the same behind a pooler.
func pooledOpener() spooltest.Open {
	var urls sync.Map
	return func(t *testing.T, clock store.Clock) store.Backend {
		t.Helper()
		url, _ := urls.LoadOrStore(t.Name(), sync.OnceValue(func() string {
			return pgtest.Bouncer(t, pgtest.Database(t, template), 3)
		}))
		db := open(t, url.(func() string)(), &postgres.Options{Clock: clock, Pooler: true}) //nolint:errcheck,forcetypeassert // as above
		return store.Backend{Store: db, Shared: true}
	}
}

func open(t *testing.T, url string, o *postgres.Options) *postgres.DB {
	t.Helper()
	db, err := postgres.Open(t.Context(), url, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return db
}

func TestArchive(t *testing.T) {
	t.Parallel()
	spooltest.TestArchive(t, opener())
}

func TestArchiveBehindPooler(t *testing.T) {
	t.Parallel()
	spooltest.TestArchive(t, pooledOpener())
}
