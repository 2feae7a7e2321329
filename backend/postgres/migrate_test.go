package postgres

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/testing/pgtest"
)

// execute runs a statement on a connection of its own.
func execute(t *testing.T, address, sql string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	if _, err := conn.Exec(t.Context(), sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// Processes that open a new database at the same time create its tables once.
func TestMigrateTogether(t *testing.T) {
	t.Parallel()
	address := pgtest.Database(t, nil)
	var together sync.WaitGroup
	for range 6 {
		together.Go(func() {
			db, err := Open(t.Context(), address, nil)
			if err != nil {
				t.Errorf("open: %v", err)
				return
			}
			if err := db.Update(t.Context(), faultKey, 0, appendEntry); err != nil {
				t.Errorf("update: %v", err)
			}
			_ = db.Close()
		})
	}
	together.Wait()
	if n := entries(t, openURL(t, address, nil)); n != 6 {
		t.Errorf("%d entries, want 6", n)
	}
}

// Schemas with different names share a database and nothing else.
func TestSchemas(t *testing.T) {
	t.Parallel()
	address := pgtest.Database(t, nil)
	one, other := openURL(t, address, &Options{Schema: "one"}), openURL(t, address, &Options{Schema: "other"})
	if err := one.Update(t.Context(), faultKey, 0, appendEntry); err != nil {
		t.Fatal(err)
	}
	if n := entries(t, other); n != 0 {
		t.Errorf("the other schema has %d entries", n)
	}
	if n := entries(t, one); n != 1 {
		t.Errorf("the schema has %d entries", n)
	}
	for _, name := range []string{"Upper", `a"b`, "1a", "pg-x", strings.Repeat("a", 49)} {
		if _, err := Open(t.Context(), address, &Options{Schema: name}); spool.CodeOf(err) != spool.Invalid {
			t.Errorf("schema %q: %v", name, err)
		}
	}
}

// A later schema is usable as long as it allows this package's.
func TestSchemaTooNew(t *testing.T) {
	t.Parallel()
	all, err := loadMigrations()
	if err != nil {
		t.Fatal(err)
	}
	known := last(all)
	address := pgtest.Database(t, nil)
	openURL(t, address, nil)
	step := func(version, oldest int) {
		execute(t, address, "INSERT INTO spool.schema_step (version, oldest, name, applied_at) VALUES ("+
			strconv.Itoa(version)+", "+strconv.Itoa(oldest)+", 'later', now())")
	}
	step(known+1, known)
	for _, o := range []*Options{nil, {NoMigrate: true}} {
		if err := openURL(t, address, o).Update(t.Context(), faultKey, 0, appendEntry); err != nil {
			t.Errorf("a later schema that this package may use: %v", err)
		}
	}
	step(known+2, known+1)
	for _, o := range []*Options{nil, {NoMigrate: true}} {
		_, err := Open(t.Context(), address, o)
		if spool.CodeOf(err) != spool.Conflict || !strings.Contains(spool.MessageOf(err), "install a newer version") {
			t.Errorf("a schema that is too new: %v", err)
		}
	}
}

// A database from before the baseline is refused with a sentence that names the way. The refusal changes nothing.
func TestBeforeBaseline(t *testing.T) {
	t.Parallel()
	address := pgtest.Database(t, nil)
	openURL(t, address, nil)
	execute(t, address,
		"TRUNCATE spool.schema_step; INSERT INTO spool.schema_step SELECT n, 1, 'earlier', now() FROM generate_series(1, 5) AS n")
	const want = "the database has schema 5, and this version of the program opens schema 100 and later ones: export it with the version that wrote it " +
		"(spool export --database URL FILE), and import the file into a new database with this one (spool import --database NEW FILE)"
	for _, o := range []*Options{nil, {NoMigrate: true}} {
		if _, err := Open(t.Context(), address, o); spool.CodeOf(err) != spool.Conflict || spool.MessageOf(err) != want {
			t.Errorf("got error %v, want a conflict", err)
		}
	}
	execute(t, address, "DO $$ BEGIN ASSERT (SELECT count(*) = 5 AND max(version) = 5 FROM spool.schema_step); END $$")
}

// Without tables, and without the permission to create them, Open says what to do.
func TestNoMigrate(t *testing.T) {
	t.Parallel()
	address := pgtest.Database(t, nil)
	_, err := Open(t.Context(), address, &Options{NoMigrate: true})
	if spool.CodeOf(err) != spool.Conflict || !strings.Contains(spool.MessageOf(err), "migrate it first") {
		t.Errorf("an empty database: %v", err)
	}
	openURL(t, address, nil)
	openURL(t, address, &Options{NoMigrate: true})
}

// A user who may not create schemas can use one that somebody has created.
func TestMigrateWithoutCreate(t *testing.T) {
	t.Parallel()
	address := pgtest.Database(t, nil)
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	role := "plain_" + strings.TrimPrefix(u.Path, "/")
	execute(t, address, "CREATE ROLE "+role+" LOGIN PASSWORD 'plain'; CREATE SCHEMA spool AUTHORIZATION "+role)
	t.Cleanup(func() {
		conn, err := pgx.Connect(context.WithoutCancel(t.Context()), address)
		if err == nil {
			_, _ = conn.Exec(context.Background(), "DROP OWNED BY "+role+"; DROP ROLE "+role)
			_ = conn.Close(context.Background())
		}
	})
	u.User = url.UserPassword(role, "plain")
	db, err := Open(t.Context(), u.String(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Update(t.Context(), faultKey, 0, appendEntry); err != nil {
		t.Error(err)
	}
}

// A step that fails changes nothing, and the next attempt applies it.
func TestMigrateFails(t *testing.T) {
	t.Parallel()
	db := openFresh(t)
	all, err := loadMigrations()
	if err != nil {
		t.Fatal(err)
	}
	broken := slices.Concat(all, []migration{{
		version: last(all) + 1, oldest: baseline, name: "broken", sql: "CREATE TABLE spool.half (n bigint); SELECT nothing",
	}})
	if err := db.migrateTo(t.Context(), broken); err == nil {
		t.Fatal("a broken step was applied")
	}
	broken[len(all)].sql = "CREATE TABLE spool.half (n bigint)"
	if err := db.migrateTo(t.Context(), broken); err != nil {
		t.Errorf("the step, repaired: %v", err)
	}
	if err := db.Update(t.Context(), faultKey, 0, appendEntry); err != nil {
		t.Errorf("an update afterwards: %v", err)
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	_, err := Open(t.Context(), "postgres://user:secret@host:notaport/x", nil)
	if spool.CodeOf(err) != spool.Invalid || strings.Contains(err.Error(), "secret") {
		t.Errorf("a wrong url: %v", err)
	}
	if _, err = Open(t.Context(), "postgres://host/x", &Options{Pool: 1}); spool.CodeOf(err) != spool.Invalid {
		t.Errorf("a pool of one connection: %v", err)
	}
	_, err = Open(t.Context(), "postgres://spool:secret@127.0.0.1:1/x?sslmode=disable&connect_timeout=2", nil)
	if spool.CodeOf(err) != spool.Unavailable || strings.Contains(err.Error(), "secret") {
		t.Errorf("no server: %v", err)
	}
}
