// Package crud tests the stores of rest/crud with the drivers that programs use.
package crud

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
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
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
	name := fmt.Sprintf("crud_%d_%d", os.Getpid(), schemas.Add(1))
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

// sqliteURL is the address of a file of the test's own, whose readers do not wait for a
// writer.
func sqliteURL(t *testing.T) string {
	t.Helper()

	return filepath.Join(t.TempDir(), "test.db") +
		"?_pragma=foreign_keys(1)&_pragma=busy_timeout(20000)&_pragma=journal_mode(WAL)"
}

// backend is a database with one library.
type backend struct {
	name string
	bun  func(t *testing.T) *bun.DB
	gorm func(t *testing.T) *gorm.DB
}

func openBun(t *testing.T, driver, address string) *bun.DB {
	t.Helper()

	conn, err := sql.Open(driver, address)
	if err != nil {
		t.Fatal(err)
	}
	db := bun.NewDB(conn, sqlitedialect.New())
	if driver == "pgx" {
		db = bun.NewDB(conn, pgdialect.New())
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func openGorm(t *testing.T, dialector gorm.Dialector, config *gorm.Config) *gorm.DB {
	t.Helper()

	config.Logger = logger.Discard
	db, err := gorm.Open(dialector, config)
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

// backends are all of them.
func backends() []backend {
	return []backend{
		{name: "BunSQLite", bun: func(t *testing.T) *bun.DB { t.Helper(); return openBun(t, "sqlite", sqliteURL(t)) }},
		{name: "BunPostgres", bun: func(t *testing.T) *bun.DB { t.Helper(); return openBun(t, "pgx", postgresURL(t)) }},
		{name: "GormSQLite", gorm: func(t *testing.T) *gorm.DB {
			t.Helper()
			return openGorm(t, sqlite.Open(sqliteURL(t)), &gorm.Config{})
		}},
		{name: "GormPostgres", gorm: func(t *testing.T) *gorm.DB {
			t.Helper()
			return openGorm(t, postgres.Open(postgresURL(t)), &gorm.Config{})
		}},
	}
}

// run runs statements.
func (b backend) run(t *testing.T, db *bun.DB, g *gorm.DB, statements ...string) {
	t.Helper()

	for _, text := range statements {
		var err error
		if db != nil {
			_, err = db.ExecContext(t.Context(), text)
		} else {
			err = g.WithContext(t.Context()).Exec(text).Error
		}
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
}
