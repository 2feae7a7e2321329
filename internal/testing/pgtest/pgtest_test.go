package pgtest_test

import (
	"context"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/spoolhq/spool/internal/testing/pgtest"
	"github.com/spoolhq/spool/internal/testing/testwait"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

var prepared atomic.Int64

var oneRow = &pgtest.Template{Prepare: func(ctx context.Context, url string) error {
	prepared.Add(1)
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, "CREATE TABLE note (text text); INSERT INTO note VALUES ('template')")
	return err
}}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	config, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeExec // PgBouncer 1.18 keeps no prepared statements
	conn, err := pgx.ConnectConfig(testwait.Context(t, "a connection"), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	return conn
}

func ask[T any](t *testing.T, conn *pgx.Conn, query string, args ...any) (got T) {
	t.Helper()
	if err := conn.QueryRow(testwait.Context(t, query), query, args...).Scan(&got); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return got
}

// Tests side by side have databases of their own, made of one template.
func TestDatabase(t *testing.T) {
	t.Parallel()

	var all sync.WaitGroup
	for range 4 {
		url := pgtest.Database(t, oneRow)
		all.Go(func() {
			conn := connect(t, url)
			if _, err := conn.Exec(t.Context(), "INSERT INTO note VALUES ('mine')"); err != nil {
				t.Error(err)
			}
			if n := ask[int](t, conn, "SELECT count(*) FROM note"); n != 2 {
				t.Errorf("%d rows, want that of the template and one", n)
			}
		})
	}
	all.Wait()
	if n := prepared.Load(); n != 1 {
		t.Errorf("the template was prepared %d times", n)
	}
}

// A server of a test waits for the disk, and has what was committed after a crash.
func TestRestart(t *testing.T) {
	t.Parallel()

	server := pgtest.Start(t, pgtest.Options{Settings: []string{"log_lock_waits=on"}})
	conn := connect(t, server.URL())
	for name, want := range map[string]string{"fsync": "on", "synchronous_commit": "on", "log_lock_waits": "on"} {
		if got := ask[string](t, conn, "SELECT current_setting($1)", name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	if _, err := conn.Exec(t.Context(), "CREATE TABLE note (text text)"); err != nil {
		t.Fatal(err)
	}
	server.Restart(t)
	if _, err := conn.Exec(t.Context(), "SELECT 1"); err == nil {
		t.Error("a connection has survived the restart")
	}
	if n := ask[int](t, connect(t, server.URL()), "SELECT count(*) FROM note"); n != 0 {
		t.Errorf("%d rows, want none", n)
	}
}

// More clients than server connections share a pool.
func TestBouncer(t *testing.T) {
	t.Parallel()

	const pool, clients = 2, 8
	url := pgtest.Bouncer(t, pgtest.Database(t, nil), pool)
	servers := make(map[int]bool)
	for range clients {
		servers[ask[int](t, connect(t, url), "SELECT pg_backend_pid()")] = true
	}
	if len(servers) > pool {
		t.Errorf("%d clients had %d connections, want %d at most", clients, len(servers), pool)
	}
}

// A proxy carries bytes until it cuts, and refuses when it is told to.
func TestProxy(t *testing.T) {
	t.Parallel()

	proxy := pgtest.NewProxy(t, pgtest.Database(t, nil))
	conn := connect(t, proxy.URL())
	ask[int](t, conn, "SELECT 1")
	if n := proxy.Cut(); n != 1 {
		t.Errorf("cut %d connections, want 1", n)
	}
	if _, err := conn.Exec(t.Context(), "SELECT 1"); err == nil {
		t.Error("the connection was not cut")
	}
	proxy.Refuse(true)
	if _, err := pgx.Connect(t.Context(), proxy.URL()); err == nil {
		t.Error("the proxy did not refuse")
	}
	proxy.Refuse(false)
	ask[int](t, connect(t, proxy.URL()), "SELECT 1")
}
