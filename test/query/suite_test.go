package query

import (
	"testing"

	"github.com/spoolhq/spool/rest/bunquery"
	"github.com/spoolhq/spool/rest/gormquery"
	"github.com/spoolhq/spool/rest/query"
	"github.com/spoolhq/spool/rest/query/querytest"
)

func TestBunSQLite(t *testing.T) {
	t.Parallel()

	querytest.Test(t, func(t *testing.T, data *querytest.Data) query.Set[querytest.Book] {
		t.Helper()

		db := bunSQLite(t)
		fillBun(t, db, data)
		return bunquery.Set[querytest.Book](db)
	})
}

func TestBunPostgres(t *testing.T) {
	t.Parallel()

	querytest.Test(t, func(t *testing.T, data *querytest.Data) query.Set[querytest.Book] {
		t.Helper()

		db := bunPostgres(t)
		fillBun(t, db, data)
		return bunquery.Set[querytest.Book](db)
	})
}

func TestGormSQLite(t *testing.T) {
	t.Parallel()

	querytest.Test(t, func(t *testing.T, data *querytest.Data) query.Set[querytest.Book] {
		t.Helper()

		db := gormSQLite(t)
		fillGorm(t, db, data)
		return gormquery.Set[querytest.Book](db)
	})
}

func TestGormPostgres(t *testing.T) {
	t.Parallel()

	querytest.Test(t, func(t *testing.T, data *querytest.Data) query.Set[querytest.Book] {
		t.Helper()

		db := gormPostgres(t)
		fillGorm(t, db, data)
		return gormquery.Set[querytest.Book](db)
	})
}
