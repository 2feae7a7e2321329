package postgres

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/testing/pgtest"
	"github.com/spoolhq/spool/internal/testing/testwait"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

var faultKey = spool.ThreadKey{Tenant: spool.DefaultTenant, ID: "t"}

func openFresh(t *testing.T) *DB {
	t.Helper()
	return openURL(t, pgtest.Database(t, nil), nil)
}

func openURL(t *testing.T, url string, o *Options) *DB {
	t.Helper()
	db, err := Open(t.Context(), url, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// appendEntry adds an entry to the thread, which it creates if need be.
func appendEntry(tx store.Tx) error {
	c := store.Changes{Entries: []*wire.Entry{wire.NewEntry("A", "", nil)}}
	if _, err := tx.Thread(); spool.CodeOf(err) == spool.NotFound {
		c.Thread = &wire.Thread{State: wire.Idle}
	}
	return tx.Write(c)
}

// entries returns how many entries the thread has.
func entries(t *testing.T, db *DB) int {
	t.Helper()
	n := 0
	err := db.View(t.Context(), faultKey, func(v store.View) error {
		all, err := v.Entries(store.EntryQuery{})
		n = len(all)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Idle connections that were cut are noticed by the next call, which takes other ones.
func TestCutConnections(t *testing.T) {
	t.Parallel()
	for name, call := range map[string]func(db *DB) error{
		"Update": func(db *DB) error { return db.Update(t.Context(), faultKey, 0, appendEntry) },
		"View": func(db *DB) error {
			return db.View(t.Context(), faultKey, func(v store.View) error {
				_, err := v.Thread()
				return err
			})
		},
		"List": func(db *DB) error {
			_, err := db.Threads(t.Context(), wire.ThreadQuery{Tenant: faultKey.Tenant})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, wire := openWire(t, pgtest.Database(t, nil), &Options{})
			if err := db.Update(t.Context(), faultKey, 0, appendEntry); err != nil {
				t.Fatal(err)
			}
			wire.cut()
			if err := call(db); err != nil {
				t.Errorf("after the connections were cut: %v", err)
			}
		})
	}
}

// A transaction whose connection the server ends fails as a whole.
func TestTerminated(t *testing.T) {
	t.Parallel()
	db := openFresh(t)
	if err := db.Update(t.Context(), faultKey, 0, appendEntry); err != nil {
		t.Fatal(err)
	}
	err := db.Update(t.Context(), faultKey, 0, func(tx store.Tx) error {
		if err := appendEntry(tx); err != nil {
			return err
		}
		terminate(t, db)
		_, err := tx.Entries(store.EntryQuery{})
		return err
	})
	if spool.CodeOf(err) != spool.Unavailable {
		t.Errorf("a read after the connection was ended: %v, want %s", err, spool.Unavailable)
	}
	err = db.Update(t.Context(), faultKey, 0, func(tx store.Tx) error {
		defer terminate(t, db)
		return appendEntry(tx)
	})
	if spool.CodeOf(err) != spool.Unavailable {
		t.Errorf("a commit after the connection was ended: %v, want %s", err, spool.Unavailable)
	}
	if n := entries(t, db); n != 1 {
		t.Errorf("%d entries, want that of the transaction before", n)
	}
}

// terminate ends all other connections to the database.
func terminate(t *testing.T, db *DB) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), db.pool.Config().ConnString())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	_, err = conn.Exec(t.Context(),
		"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
	if err != nil {
		t.Fatal(err)
	}
}

// A server that goes away makes calls fail with a code, and they work again when it is back.
func TestServerGone(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t, pgtest.Options{NoSync: true})
	db := openURL(t, server.Database(t, nil), nil)
	if err := db.Update(t.Context(), faultKey, 0, appendEntry); err != nil {
		t.Fatal(err)
	}
	server.Stop(t)
	if err := db.Update(t.Context(), faultKey, 0, appendEntry); spool.CodeOf(err) != spool.Unavailable {
		t.Errorf("an update without a server: %v, want %s", err, spool.Unavailable)
	}
	if err := db.Check(t.Context()); spool.CodeOf(err) != spool.Unavailable ||
		spool.MessageOf(err) != "The database cannot be reached" {
		t.Errorf("a check without a server: %v", err)
	}
	server.Restart(t)
	if err := db.Check(t.Context()); err != nil {
		t.Errorf("a check after the server is back: %v", err)
	}
	if err := db.Update(t.Context(), faultKey, 0, appendEntry); err != nil {
		t.Errorf("an update after the server is back: %v", err)
	}
}

// A database that only allows reads refuses writes, and Check says so.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t, nil)
	openURL(t, url, nil)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	if _, err := conn.Exec(
		t.Context(),
		"DO $$ BEGIN EXECUTE 'ALTER DATABASE ' || current_database() || ' SET default_transaction_read_only = on'; END $$",
	); err != nil {
		t.Fatal(err)
	}
	db := openURL(t, url, nil)
	if err := db.Update(t.Context(), faultKey, 0, appendEntry); spool.CodeOf(err) != spool.Unavailable {
		t.Errorf("an update: %v, want %s", err, spool.Unavailable)
	}
	if err := db.Check(t.Context()); spool.MessageOf(err) != "The database can only be read" {
		t.Errorf("a check: %v", err)
	}
	if n := entries(t, db); n != 0 {
		t.Errorf("%d entries", n)
	}
}

// Transactions that wait for each other are broken up by the server and called again.
func TestDeadlock(t *testing.T) {
	t.Parallel()
	db := openFresh(t)
	versions := func() map[string]int64 {
		rows, err := db.Rows(t.Context(), store.RowQuery{Tenant: "a", Kind: "k"})
		if err != nil || len(rows) != 2 {
			t.Fatalf("rows %+v, %v", rows, err)
		}
		return map[string]int64{rows[0].Key: rows[0].Version, rows[1].Key: rows[1].Version}
	}
	err := db.Update(t.Context(), spool.ThreadKey{Tenant: "a", ID: "1"}, 0, func(tx store.Tx) error {
		return tx.Write(store.Changes{
			Rows: []store.Row{{Kind: "k", Key: "x", Value: []byte("0")}, {Kind: "k", Key: "y", Value: []byte("0")}},
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	before := versions()
	var both sync.WaitGroup // both transactions hold their first row
	both.Add(2)
	locks := func(first, second string) func(tx store.Tx) error {
		tried := false
		return func(tx store.Tx) error {
			put := func(key string) error {
				err := tx.Write(store.Changes{
					Rows: []store.Row{{Kind: "k", Key: key, Value: []byte("1"), Version: store.AnyVersion}},
				})
				_, readErr := tx.Branches() // sends the change
				return errors.Join(err, readErr)
			}
			if err := put(first); err != nil {
				return err
			}
			if !tried {
				tried = true
				both.Done()
				both.Wait()
			}
			return put(second)
		}
	}
	failed := make(chan error, 2)
	go func() {
		failed <- db.Update(t.Context(), spool.ThreadKey{Tenant: "a", ID: "1"}, 0, locks("x", "y"))
	}()
	go func() {
		failed <- db.Update(t.Context(), spool.ThreadKey{Tenant: "a", ID: "2"}, 0, locks("y", "x"))
	}()
	for range 2 {
		if err := testwait.For(t, failed, "a transaction"); err != nil {
			t.Error(err)
		}
	}
	for key, version := range versions() {
		if version != before[key]+2 {
			t.Errorf("the row %s has version %d after %d: want it written twice", key, version, before[key])
		}
	}
}

// A transaction sets what protects others from its process, also where the database has other defaults.
func TestSettings(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t, nil)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	if _, err := conn.Exec(
		t.Context(), "DO $$ BEGIN EXECUTE 'ALTER DATABASE ' || current_database() || ' SET synchronous_commit = off'; END $$",
	); err != nil {
		t.Fatal(err)
	}
	for name, db := range map[string]*DB{
		"Direct": openURL(t, url, nil),
		"Pooler": openURL(t, pgtest.Bouncer(t, url, 2), &Options{Pooler: true}),
	} {
		var commit, idle, jit string
		err := db.Update(t.Context(), faultKey, 0, func(inner store.Tx) error {
			return inner.(*tx).query( //nolint:errcheck,forcetypeassert // it is the package's
				"SELECT current_setting('synchronous_commit'), current_setting('idle_in_transaction_session_timeout'), current_setting('jit')",
				func(r *row) { commit, idle, jit = r.Text(), r.Text(), r.Text() })
		})
		if err != nil || commit != "on" || idle != "10s" || jit != "off" {
			t.Errorf("%s: synchronous_commit is %q, the timeout %q and jit %q, %v", name, commit, idle, jit, err)
		}
	}
}

// Transactions that wait for a busy thread leave the connections to others.
func TestBusyThread(t *testing.T) {
	t.Parallel()
	db := openURL(t, pgtest.Database(t, tables), &Options{Pool: leastPool})
	held, release := make(chan struct{}), make(chan struct{})
	done := make(chan error, 20)
	go func() {
		done <- db.Update(t.Context(), faultKey, 0, func(tx store.Tx) error {
			close(held)
			<-release
			return appendEntry(tx)
		})
	}()
	testwait.For(t, held, "the transaction that has the thread")
	for range cap(done) - 1 {
		go func() { done <- db.Update(t.Context(), faultKey, 0, appendEntry) }()
	}
	ctx := testwait.Context(t, "the transactions that wait")
	for users := 0; users < cap(done) && db.pool.Stat().AcquiredConns() < db.pool.Config().MaxConns && ctx.Err() == nil; {
		runtime.Gosched()
		db.threads.mu.Lock()
		users = db.threads.held[faultKey].users
		db.threads.mu.Unlock()
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if err := db.Update(ctx, spool.ThreadKey{Tenant: "a", ID: "other"}, 0, appendEntry); err != nil {
		t.Errorf("another thread: %v", err)
	}
	close(release)
	for range cap(done) {
		if err := testwait.For(t, done, "the transactions of the thread"); err != nil {
			t.Error(err)
		}
	}
	if n := entries(t, db); n != cap(done) {
		t.Errorf("%d entries, want %d", n, cap(done))
	}
	if len(db.threads.held) != 0 {
		t.Errorf("%d threads are still locked", len(db.threads.held))
	}
}

// A caller that gives up leaves nothing behind, and the store stays usable.
func TestCanceled(t *testing.T) {
	t.Parallel()
	db := openFresh(t)
	ctx, cancel := context.WithCancel(t.Context())
	err := db.Update(ctx, faultKey, 0, func(tx store.Tx) error {
		if err := appendEntry(tx); err != nil {
			return err
		}
		cancel()
		_, err := tx.Entries(store.EntryQuery{})
		return err
	})
	if spool.CodeOf(err) != spool.Canceled {
		t.Errorf("a read after the end of the context: %v, want %s", err, spool.Canceled)
	}
	called := false
	err = db.Update(ctx, faultKey, 0, func(store.Tx) error {
		called = true
		return nil
	})
	if spool.CodeOf(err) != spool.Canceled || called {
		t.Errorf("an update with an ended context: %v, called %t", err, called)
	}
	ctx, cancel = context.WithCancel(t.Context())
	err = db.Update(ctx, faultKey, 0, func(tx store.Tx) error {
		defer cancel() // the commit happens all the same
		return appendEntry(tx)
	})
	if err != nil {
		t.Errorf("a commit after the end of the context: %v", err)
	}
	if n := entries(t, db); n != 1 {
		t.Errorf("%d entries, want 1", n)
	}
}
