package crud

import (
	"strings"
	"testing"

	"github.com/spoolhq/spool/rest/bunquery"
	"github.com/spoolhq/spool/rest/crud"
	"github.com/spoolhq/spool/rest/crud/crudtest"
	"github.com/spoolhq/spool/rest/gormquery"
)

// storeOf opens a backend with tables, and returns a store of T in it. The first statements
// are for PostgreSQL, the others for SQLite.
func storeOf[T, K any](t *testing.T, b backend, postgres, sqlite []string) crud.Store[T, K] {
	t.Helper()

	statements := sqlite
	if strings.HasSuffix(b.name, "Postgres") {
		statements = postgres
	}
	if b.bun != nil {
		db := b.bun(t)
		b.run(t, db, nil, statements...)
		return bunquery.Store[T, K](db)
	}
	db := b.gorm(t)
	b.run(t, nil, db, statements...)
	return gormquery.Store[T, K](db)
}

func TestStore(t *testing.T) {
	t.Parallel()

	for _, b := range backends() {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()

			crudtest.TestStore(t, func(t *testing.T) crud.Store[crudtest.Item, int64] {
				t.Helper()

				return storeOf[crudtest.Item, int64](t, b, []string{crudtest.Postgres}, []string{crudtest.SQLite})
			}, crudtest.Features{Checks: true})
		})
	}
}
