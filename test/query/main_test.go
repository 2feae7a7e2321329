// Package query tests the adapters of rest/query with the drivers that programs use.
package query

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/glebarez/sqlite"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver pgx
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"
	"github.com/uptrace/bun/dialect/sqlitedialect"
	"github.com/uptrace/bun/schema"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/spoolhq/spool/rest/query/querytest"
)

var schemas atomic.Int64

// postgresURL is the address of a schema of the test's own.
func postgresURL(t *testing.T) string {
	t.Helper()

	address := os.Getenv("SPOOL_TEST_POSTGRES")
	if address == "" {
		if os.Getenv("SPOOL_TEST_REQUIRE") == "1" {
			t.Fatal("SPOOL_TEST_POSTGRES is not set and SPOOL_TEST_REQUIRE is 1")
		}
		t.Skip("skipped: no PostgreSQL (set SPOOL_TEST_POSTGRES, or run test/services/run.sh -- go test ./...)")
	}
	name := fmt.Sprintf("query_%d_%d", os.Getpid(), schemas.Add(1))
	db, err := sql.Open("pgx", address)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), "CREATE SCHEMA "+name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := db.ExecContext(context.WithoutCancel(t.Context()), "DROP SCHEMA "+name+" CASCADE"); err != nil {
			t.Error(err)
		}
		_ = db.Close()
	})
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	values := u.Query()
	values.Set("search_path", name)
	// What is read must not depend on the zone of the session. Gorm's driver does not decode it.
	u.RawQuery = values.Encode() + "&timezone=Asia/Kathmandu"
	return u.String()
}

func sqliteFile(t *testing.T) string {
	t.Helper()

	return filepath.Join(t.TempDir(), "test.db")
}

func openBun(t *testing.T, driver, address string, dialect schema.Dialect) *bun.DB {
	t.Helper()

	conn, err := sql.Open(driver, address)
	if err != nil {
		t.Fatal(err)
	}
	db := bun.NewDB(conn, dialect)
	t.Cleanup(func() { _ = db.Close() })
	db.RegisterModel((*querytest.BookTag)(nil))
	return db
}

func bunSQLite(t *testing.T) *bun.DB {
	t.Helper()

	return openBun(t, "sqlite", sqliteFile(t), sqlitedialect.New())
}

func bunPostgres(t *testing.T) *bun.DB {
	t.Helper()

	return openBun(t, "pgx", postgresURL(t), pgdialect.New())
}

func openGorm(t *testing.T, dialector gorm.Dialector) *gorm.DB {
	t.Helper()

	db, err := gorm.Open(dialector, &gorm.Config{
		DisableForeignKeyConstraintWhenMigrating: true,
		Logger:                                   logger.Discard,
	})
	if err != nil {
		t.Fatal(err)
	}
	conn, err := db.DB()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return db
}

func gormSQLite(t *testing.T) *gorm.DB {
	t.Helper()

	return openGorm(t, sqlite.Open(sqliteFile(t)))
}

func gormPostgres(t *testing.T) *gorm.DB {
	t.Helper()

	return openGorm(t, postgres.Open(postgresURL(t)))
}
