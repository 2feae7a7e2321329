package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/postgres"
	"github.com/spoolhq/spool/internal/testing/pgtest"
	"github.com/spoolhq/spool/spooltest"
)

// TestOldPostgres opens the dumps of each schema of PostgreSQL so far. They are of databases that `spool serve` left
// when it was killed, with runs that were queued, in the middle of a model call, parked, or behind a parked one.
// Today's program migrates them, and executes all runs to their end.
func TestOldPostgres(t *testing.T) {
	t.Parallel()

	dumps, err := filepath.Glob(filepath.Join("..", "..", "backend", "postgres", "testdata", "schema_*.sql"))
	if err != nil {
		t.Fatal(err)
	}
	steps, err := filepath.Glob(filepath.Join("..", "..", "backend", "postgres", "migrations", "*.sql"))
	if err != nil || len(steps) == 0 || len(dumps) != len(steps) {
		t.Fatalf("there are %d dumps for %d steps of the schema: each step needs one (%v)", len(dumps), len(steps), err)
	}
	for i := range dumps {
		version := i + 1
		t.Run(strconv.Itoa(version), func(t *testing.T) {
			t.Parallel()
			url := pgtest.Database(t, nil)
			loadPostgres(t, url, filepath.Join("..", "..", "backend", "postgres", "testdata", fmt.Sprintf("schema_%d.sql", version)), version)
			continues(t, url)
		})
	}
}

// loadPostgres loads a dump. It gives the open questions an hour from now.
func loadPostgres(t *testing.T, url, dump string, version int) {
	t.Helper()

	text, err := os.ReadFile(dump)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	const later = `
		UPDATE spool.park SET expires_at = (extract(epoch FROM now()) * 1000000)::bigint + 3600000000 WHERE state = 'open';
		UPDATE spool.job SET due_at = (extract(epoch FROM now()) * 1000000)::bigint + 3600000000 WHERE kind = 'expiry'`
	if _, err := conn.PgConn().Exec(t.Context(), string(text)+later).ReadAll(); err != nil {
		t.Fatal(err)
	}
	var have int
	err = conn.QueryRow(t.Context(), "SELECT max(version) FROM spool.schema_step").Scan(&have)
	if err != nil || have != version {
		t.Fatalf("the dump has the schema %d, want %d (%v)", have, version, err)
	}
}

// continues runs a server over a database of a dump, and checks what it does with its threads.
func continues(t *testing.T, url string) {
	t.Helper()

	p := startWith(t, []string{"SPOOL_DATABASE=" + url}, t.TempDir())
	p.approve(t, "parked")
	for _, id := range []string{"done", "queued", "running", "parked"} {
		p.becomes(t, id, spool.Completed)
	}
	p.becomes(t, "stopped", spool.Cancelled)
	for id, want := range map[string]string{
		"done": "hello again", "queued": "(demo model, not a language model)", "running": "(demo model, not a language model)", "parked": "No email was sent to ann@example.com",
	} {
		if got := p.get(t, "/api/agent/history?threadId="+id); !strings.Contains(got, want) {
			t.Errorf("the thread %s: %s", id, got)
		}
	}
	if got := p.get(t, "/api/agent/branches?threadId=done"); !strings.Contains(got, `"preview":"hello"`) {
		t.Errorf("the branches: %s", got)
	}
	wholeHistory(t, url)
	file := filepath.Join(t.TempDir(), "export.jsonl")
	if got := command(nil, "export", "--database", url, file); got.code != exitOK || !strings.Contains(got.stderr, "5 threads") {
		t.Errorf("export: %+v", got)
	}
}

// wholeHistory checks the threads of a database.
func wholeHistory(t *testing.T, url string) {
	t.Helper()

	db, err := postgres.Open(t.Context(), url, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	list, err := db.Threads(t.Context(), spool.ThreadQuery{Tenant: spool.DefaultTenant})
	if err != nil || len(list) != 5 {
		t.Fatalf("%d threads, %v", len(list), err)
	}
	h := &spooltest.History{Settled: true}
	for _, thread := range list {
		if err := h.Read(t.Context(), db, thread.Key()); err != nil {
			t.Fatal(err)
		}
	}
	spooltest.Check(t, h)
}
