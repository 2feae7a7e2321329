package postgres_test

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/postgres"
	"github.com/spoolhq/spool/internal/pgtest"
	"github.com/spoolhq/spool/spooltest"
)

// hosted is a store whose updates are in transactions of a host.
type hosted struct {
	*postgres.DB

	host host
}

// host begins transactions of its own.
type host interface {
	begin(ctx context.Context, db *postgres.DB) (_ spool.HostTx, exec func(sql string) error, end func(commit bool) error, err error)
}

func (h hosted) Update(ctx context.Context, key spool.ThreadKey, fence int64, fn func(tx spool.Tx) error) error {
	if fence != 0 || ctx.Err() != nil {
		return h.DB.Update(ctx, key, fence, fn)
	}
	tx, _, end, err := h.host.begin(ctx, h.DB)
	if err != nil {
		return err
	}
	if err := tx.Update(ctx, key, fn); err != nil {
		_ = end(false)
		return err
	}
	return end(true)
}

// pgxHost has a connection for each transaction.
type pgxHost struct{ url string }

func (h pgxHost) begin(ctx context.Context, db *postgres.DB) (_ spool.HostTx, exec func(string) error, end func(bool) error, err error) {
	conn, err := pgx.Connect(ctx, h.url)
	if err != nil {
		return spool.HostTx{}, nil, nil, err
	}
	tx, err := conn.Begin(ctx)
	if err != nil {
		return spool.HostTx{}, nil, nil, err
	}
	exec = func(sql string) error {
		_, err := tx.Exec(ctx, sql)
		return err
	}
	end = func(commit bool) error {
		defer conn.Close(context.WithoutCancel(ctx))
		if commit {
			return tx.Commit(ctx)
		}
		return tx.Rollback(context.WithoutCancel(ctx))
	}
	return db.Tx(tx), exec, end, nil
}

type sqlHost struct{ db *sql.DB }

func (h sqlHost) begin(ctx context.Context, db *postgres.DB) (_ spool.HostTx, exec func(string) error, end func(bool) error, err error) {
	tx, err := h.db.BeginTx(context.WithoutCancel(ctx), nil)
	if err != nil {
		return spool.HostTx{}, nil, nil, err
	}
	exec = func(sql string) error {
		_, err := tx.ExecContext(ctx, sql)
		return err
	}
	end = func(commit bool) error {
		if commit {
			return tx.Commit()
		}
		return tx.Rollback()
	}
	return db.SQLTx(tx), exec, end, nil
}

func hosts(t *testing.T, url string) map[string]host {
	t.Helper()
	db, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return map[string]host{"Tx": pgxHost{url}, "SQLTx": sqlHost{db}}
}

// TestStoreInHostTx runs the suite with all updates in transactions of database/sql, which send one statement at a
// time.
func TestStoreInHostTx(t *testing.T) {
	t.Parallel()
	var urls sync.Map
	spooltest.TestStore(t, func(t *testing.T, clock spool.Clock) spool.Backend {
		t.Helper()
		once, _ := urls.LoadOrStore(t.Name(), sync.OnceValue(func() string { return pgtest.Database(t, template) }))
		url := once.(func() string)() //nolint:errcheck,forcetypeassert // it has only these
		db := open(t, url, &postgres.Options{Clock: clock})
		return spool.Backend{Store: hosted{db, hosts(t, url)["SQLTx"]}, Shared: true}
	}, features)
}

// refusedInHost checks that a refused update leaves nothing in the host's transaction, which goes on.
func refusedInHost(t *testing.T, db *postgres.DB, h host, key spool.ThreadKey) {
	t.Helper()

	ctx := t.Context()
	run := spool.RunRow{Run: spool.Run{ID: "r1", State: spool.Completed}}
	if err := db.Update(ctx, key, 0, func(tx spool.Tx) error { return tx.Write(spool.Changes{NewRuns: []spool.RunRow{run}}) }); err != nil {
		t.Fatal(err)
	}
	tx, exec, end, err := h.begin(ctx, db)
	if err != nil {
		t.Fatal(err)
	}
	other := spool.ThreadKey{Tenant: key.Tenant, ID: "other"}
	err = tx.Update(ctx, other, func(tx spool.Tx) error {
		return tx.Write(spool.Changes{Thread: &spool.Thread{State: spool.Idle}, NewRuns: []spool.RunRow{run}})
	})
	if !errors.Is(err, spool.ErrRunIDUsed) {
		t.Errorf("a used id: %v", err)
	}
	if err := errors.Join(exec("INSERT INTO orders VALUES (7)"), end(true)); err != nil {
		t.Errorf("the host goes on: %v", err)
	}
	err = db.View(ctx, other, func(v spool.View) error {
		_, err := v.Thread()
		return err
	})
	if spool.CodeOf(err) != spool.NotFound {
		t.Errorf("the refused thread: %v", err)
	}
}

// The host's row and the thread are committed together, or not at all.
func TestHostTx(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"Tx", "SQLTx"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			url := pgtest.Database(t, template)
			db := open(t, url, nil)
			h := hosts(t, url)[kind]
			ctx := t.Context()
			key := spool.ThreadKey{Tenant: "a", ID: "t"}
			create := func(tx spool.Tx) error { return tx.Write(spool.Changes{Thread: &spool.Thread{State: spool.Idle}}) }
			for _, commit := range []bool{false, true} {
				tx, exec, end, err := h.begin(ctx, db)
				if err != nil {
					t.Fatal(err)
				}
				err = errors.Join(exec("CREATE TABLE orders (id bigint)"), tx.Update(ctx, key, create), exec("INSERT INTO orders VALUES (1)"), end(commit))
				if err != nil {
					t.Fatal(err)
				}
				err = db.View(ctx, key, func(v spool.View) error {
					_, err := v.Thread()
					return err
				})
				if commit != (err == nil) {
					t.Errorf("commit %t: the thread: %v", commit, err)
				}
			}
			_, exec, end, err := h.begin(ctx, db)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(exec("DELETE FROM orders WHERE id = 1"), end(true)); err != nil {
				t.Errorf("the host's table: %v", err)
			}
			refusedInHost(t, db, h, key)
		})
	}
	if err := (spool.HostTx{}).Update(t.Context(), spool.ThreadKey{}, nil); spool.CodeOf(err) != spool.Invalid {
		t.Errorf("the zero value: %v", err)
	}
}
