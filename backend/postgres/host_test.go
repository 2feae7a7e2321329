package postgres_test

import (
	"context"
	"database/sql"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/postgres"
	"github.com/spoolhq/spool/internal/testing/enginetest"
	"github.com/spoolhq/spool/internal/testing/pgtest"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
)

// pgxHost has a connection for each transaction.
type pgxHost struct {
	db  *postgres.DB
	url string
}

// Transact implements [spooltest.Host].
func (h pgxHost) Transact(ctx context.Context, fn func(tx spooltest.HostTx) error) error {
	conn, err := pgx.Connect(ctx, h.url)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		return fn(spooltest.HostTx{HostTx: h.db.Tx(tx), Insert: func(n int) error {
			_, err := tx.Exec(ctx, "INSERT INTO orders VALUES ($1)", n)
			return err
		}})
	})
}

// Numbers implements [spooltest.Host].
func (h pgxHost) Numbers(ctx context.Context) ([]int, error) {
	conn, err := pgx.Connect(ctx, h.url)
	if err != nil {
		return nil, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	rows, err := conn.Query(ctx, "SELECT id FROM orders ORDER BY id")
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[int])
}

// sqlHost has transactions of database/sql.
type sqlHost struct {
	pgxHost

	pool *sql.DB
}

// Transact implements [spooltest.Host].
func (h sqlHost) Transact(ctx context.Context, fn func(tx spooltest.HostTx) error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	tx, err := h.pool.BeginTx(context.WithoutCancel(ctx), nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	err = fn(spooltest.HostTx{HostTx: h.db.SQLTx(tx), Insert: func(n int) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO orders VALUES ($1)", n)
		return err
	}})
	if err != nil {
		return err
	}
	return tx.Commit()
}

// hosts returns hosts of each kind.
func hosts(t *testing.T, db *postgres.DB, url string) map[string]spooltest.Host {
	t.Helper()
	pool, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pool.Close() })
	plain := pgxHost{db, url}
	return map[string]spooltest.Host{"Tx": plain, "SQLTx": sqlHost{plain, pool}}
}

// TestStoreInHostTx runs the suite with all updates in transactions of database/sql, which send one statement at a
// time.
func TestStoreInHostTx(t *testing.T) {
	t.Parallel()
	var urls sync.Map
	spooltest.TestStore(t, func(t *testing.T, clock store.Clock) store.Backend {
		t.Helper()
		once, _ := urls.LoadOrStore(t.Name(), sync.OnceValue(func() string { return pgtest.Database(t, template) }))
		url := once.(func() string)() //nolint:errcheck,forcetypeassert // it has only these
		db := open(t, url, &postgres.Options{Clock: clock})
		return store.Backend{Store: spooltest.Hosted(db, hosts(t, db, url)["SQLTx"]), Shared: true}
	}, features)
}

func TestHost(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"Tx", "SQLTx"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			enginetest.TestHost(t, func(t *testing.T) (store.Backend, spooltest.Host) {
				t.Helper()
				url := pgtest.Database(t, template)
				db := open(t, url, nil)
				conn, err := pgx.Connect(t.Context(), url)
				if err != nil {
					t.Fatal(err)
				}
				if _, err = conn.Exec(t.Context(), "CREATE TABLE orders (id bigint PRIMARY KEY)"); err == nil {
					err = conn.Close(t.Context())
				}
				if err != nil {
					t.Fatal(err)
				}
				return db.Backend(), hosts(t, db, url)[kind]
			})
		})
	}
	if err := (store.HostTx{}).Update(t.Context(), spool.ThreadKey{}, nil); spool.CodeOf(err) != spool.Invalid {
		t.Errorf("the zero value: %v", err)
	}
}
