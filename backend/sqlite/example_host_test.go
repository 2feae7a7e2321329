package sqlite_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/sqlite"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/model/demo"
	"github.com/spoolhq/spool/wire"
)

// createOrders creates the host's table. Its name begins with "app_".
func createOrders(ctx context.Context, db *sqlite.DB) error {
	return db.Transact(ctx, func(tx *sqlite.Transaction) error {
		_, err := tx.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS app_order (id TEXT PRIMARY KEY, run TEXT NOT NULL)")
		return err
	})
}

// placeOrder stores an order and starts a run that handles it: both, or neither.
func placeOrder(ctx context.Context, db *sqlite.DB, e *engine.Engine, id string) error {
	thread := spool.ThreadKey{Tenant: spool.DefaultTenant, ID: spool.ThreadID("order-" + id)}
	var wake func()
	err := db.Transact(ctx, func(tx *sqlite.Transaction) error {
		started, w, err := e.StartTx(ctx, sqlite.Tx(tx), thread, wire.StartRequest{Prompt: "Check order " + id})
		if err != nil {
			return err
		}
		if !started.Accepted {
			return fmt.Errorf("the run is refused: %s", started.Error)
		}
		wake = w
		_, err = tx.ExecContext(ctx, "INSERT INTO app_order VALUES (?, ?)", id, started.RunID)
		return err
	})
	if err == nil {
		wake() // a worker begins at once
	}
	return err
}

// orders counts the orders, without waiting for writes.
func orders(ctx context.Context, db *sqlite.DB) (n int, err error) {
	err = db.Read(ctx, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, "SELECT count(*) FROM app_order").Scan(&n)
	})
	return n, err
}

// A row of the host and the run that belongs to it are committed together.
func ExampleDB_Transact() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	db, err := sqlite.Open(filepath.Join(dir, "spool.db"), &sqlite.Options{Exclusive: true})
	if err != nil {
		panic(err)
	}
	defer db.Close()
	e, err := engine.New(db.Backend(), engine.Config{
		Models: map[string]spool.Model{"demo": demo.New(demo.Config{})},
		Agents: []spool.Agent{{Name: "assistant", Model: "demo"}},
	})
	if err != nil {
		panic(err)
	}
	defer e.Close()

	fmt.Println(createOrders(ctx, db))
	fmt.Println(placeOrder(ctx, db, e, "17"))
	fmt.Println(placeOrder(ctx, db, e, "17"))
	fmt.Println(orders(ctx, db))
	// Output:
	// <nil>
	// <nil>
	// the run is refused: Thread has an active run
	// 1 <nil>
}
