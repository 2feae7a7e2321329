package pgtest

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/jackc/pgx/v5"

	"github.com/spoolhq/spool/internal/testing/testwait"
)

// newTemplate returns a template that no other test has.
func newTemplate() *Template {
	return &Template{Prepare: func(ctx context.Context, url string) error {
		conn, err := pgx.Connect(ctx, url)
		if err != nil {
			return err
		}
		defer conn.Close(ctx)
		_, err = conn.Exec(ctx, `CREATE SCHEMA app;
			CREATE TABLE app.version (number int PRIMARY KEY);
			INSERT INTO app.version VALUES (1);
			CREATE TABLE app.note (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, words text NOT NULL, day int NOT NULL DEFAULT 0);
			CREATE INDEX note_words ON app.note (words);
			CREATE TABLE app.item (day int NOT NULL, words text) PARTITION BY LIST (day);
			CREATE SEQUENCE app.ticket;
			CREATE FUNCTION app.one() RETURNS int LANGUAGE sql AS 'SELECT 1'`)
		return err
	}}
}

// use lets a test that has a database of the template execute statements there. It returns the number of the
// database and a connection that is still open.
func use(t *testing.T, template *Template, statements string) (oid uint32, url string, left *pgx.Conn) {
	t.Helper()
	t.Run("use", func(t *testing.T) {
		url = Database(t, template)
		ctx := testwait.Context(t, "a connection")
		var err error
		if left, err = pgx.Connect(ctx, url); err != nil {
			t.Fatal(err)
		}
		if err := left.QueryRow(
			ctx, "SELECT oid FROM pg_database WHERE datname = current_database()",
		).Scan(&oid); err != nil {
			t.Fatal(err)
		}
		if _, err := left.Exec(ctx, statements); err != nil {
			t.Fatal(err)
		}
	})
	return oid, url, left
}

// linesOf returns the state of a database.
func linesOf(t *testing.T, address string) []string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	var s *state
	err = Shared(t).connected(testwait.Context(t, "a state"), strings.TrimPrefix(u.Path, "/"),
		func(conn *pgx.Conn) (err error) {
			s, err = readState(t.Context(), conn)
			return err
		})
	if err != nil {
		t.Fatal(err)
	}
	return s.lines
}

// A database that a test has used is like a new one, and the test's connections are ended.
func TestReuse(t *testing.T) { //nolint:tparallel // the test before must have ended
	t.Parallel()
	template := newTemplate()
	first, used, left := use(t, template, `
		INSERT INTO app.note (words) SELECT repeat(md5(n::text), 100) FROM generate_series(1, 1000) AS n;
		DELETE FROM app.note WHERE id > 10;
		SELECT nextval('app.ticket');
		CREATE TABLE app.item_1 PARTITION OF app.item FOR VALUES IN (1);
		INSERT INTO app.item VALUES (1, 'one');
		CREATE TABLE public.mine (id int)`)
	if _, err := left.Exec(t.Context(), "SELECT 1"); err == nil {
		t.Error("a connection of the test before is still open")
	}
	if conn, err := pgx.Connect(t.Context(), used); err == nil {
		_ = conn.Close(t.Context())
		t.Error("the test before can still connect")
	}
	fresh, err := Shared(t).create(t.Context(), Shared(t).templates[template].name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { Shared(t).drop(context.WithoutCancel(t.Context()), fresh) })
	want := linesOf(t, Shared(t).at(fresh))
	if !slices.ContainsFunc(want, func(line string) bool { return strings.HasPrefix(line, "relation app.note:") }) ||
		!slices.Contains(want, "row of app.version: (1)") {
		t.Fatalf("the state lacks a table or a row:\n%s", strings.Join(want, "\n"))
	}
	address := Database(t, template)
	if got := linesOf(t, address); !slices.Equal(got, want) {
		t.Errorf("the database that was used before is\n%s\nand a new one is\n%s", strings.Join(got, "\n"),
			strings.Join(want, "\n"))
	}
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	var oid uint32
	var id, ticket int64
	err = conn.QueryRow(t.Context(), `INSERT INTO app.note (words) VALUES ('') RETURNING id, nextval('app.ticket'),
		(SELECT oid FROM pg_database WHERE datname = current_database())`).Scan(&id, &ticket, &oid)
	if err != nil || oid != first || id != 1 || ticket != 1 {
		t.Errorf("database %d, row %d, ticket %d, %v: want database %d, row 1, ticket 1", oid, id, ticket, err, first)
	}
}

// A test that changes more than rows leaves a database that no other test gets.
func TestNotReused(t *testing.T) {
	t.Parallel()
	for name, statements := range map[string]string{
		"Access":      "GRANT SELECT ON app.note TO pg_monitor",
		"Composite":   "CREATE TYPE app.kind AS (id int)",
		"Column":      "ALTER TABLE app.note ADD COLUMN more int",
		"Comment":     "COMMENT ON TABLE app.note IS 'mine'",
		"Constraint":  "ALTER TABLE app.note ADD CHECK (words <> 'x')",
		"Default":     "ALTER TABLE app.note ALTER COLUMN day SET DEFAULT 2",
		"Enum":        "CREATE TYPE app.colour AS ENUM ('red')",
		"FunctionNew": "CREATE FUNCTION app.two() RETURNS int LANGUAGE sql AS 'SELECT 2'",
		"Function":    "CREATE OR REPLACE FUNCTION app.one() RETURNS int LANGUAGE sql AS 'SELECT 2'",
		"Index":       "DROP INDEX app.note_words",
		"Large":       "SELECT lo_create(0)",
		"Options":     "ALTER TABLE app.note SET (fillfactor = 50)",
		"Row":         "UPDATE app.version SET number = 2",
		"RowAdded":    "INSERT INTO app.version VALUES (2)",
		"Schema":      "CREATE SCHEMA mine",
		"Sequence":    "ALTER SEQUENCE app.ticket INCREMENT 2",
		"Setting":     "DO $$ BEGIN EXECUTE 'ALTER DATABASE ' || current_database() || ' SET synchronous_commit = off'; END $$",
		"ReadOnly":    "DO $$ BEGIN EXECUTE 'ALTER DATABASE ' || current_database() || ' SET default_transaction_read_only = on'; END $$",
		"Statistics":  "INSERT INTO app.note (words) VALUES ('x'); ANALYZE app.note",
		"Table":       "DROP TABLE app.item",
		"View":        "CREATE VIEW app.all_notes AS SELECT * FROM app.note",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			template := newTemplate()
			first, _, _ := use(t, template, statements)
			if next, _, _ := use(t, template, ""); next == first {
				t.Error("the next test has got the database")
			}
		})
	}
}

// A case in a bubble gives its database to a case in another one.
func TestReuseInBubbles(t *testing.T) {
	t.Parallel()
	template := newTemplate()
	var seen []uint32
	for range 2 {
		synctest.Test(t, func(t *testing.T) {
			address := Database(t, template)
			conn, err := pgx.Connect(t.Context(), address)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close(t.Context())
			var oid uint32
			var rows int
			err = conn.QueryRow(t.Context(),
				"SELECT (SELECT oid FROM pg_database WHERE datname = current_database()), count(*) FROM app.note").Scan(&oid, &rows)
			if err != nil || rows != 0 {
				t.Fatalf("%d rows, %v", rows, err)
			}
			if _, err := conn.Exec(t.Context(), "INSERT INTO app.note (words) VALUES ('mine')"); err != nil {
				t.Fatal(err)
			}
			seen = append(seen, oid)
		})
	}
	if seen[0] != seen[1] {
		t.Errorf("the databases %d, want the same one twice", seen)
	}
}
