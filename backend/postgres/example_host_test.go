package postgres_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/postgres"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/internal/testing/pgtest"
	"github.com/spoolhq/spool/model/demo"
	"github.com/spoolhq/spool/wire"
)

// placeOrder stores an order and starts a run that handles it: both, or neither.
func placeOrder(ctx context.Context, pool *pgxpool.Pool, e *engine.Engine, id string) error {
	thread := spool.ThreadKey{Tenant: spool.DefaultTenant, ID: spool.ThreadID("order-" + id)}
	var wake func()
	err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		started, w, err := e.StartTx(ctx, postgres.Tx(tx), thread, wire.StartRequest{Prompt: "Check order " + id})
		if err != nil {
			return err
		}
		if !started.Accepted {
			return fmt.Errorf("the run is refused: %s", started.Error)
		}
		wake = w
		_, err = tx.Exec(ctx, "INSERT INTO orders VALUES ($1, $2)", id, string(started.RunID))
		return err
	})
	if err == nil {
		wake() // a worker begins at once
	}
	return err
}

// TestPlaceOrder runs the example.
func TestPlaceOrder(t *testing.T) {
	t.Parallel()
	url, ctx := pgtest.Database(t, template), t.Context()
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	if _, err := pool.Exec(ctx, "CREATE TABLE orders (id text PRIMARY KEY, run text NOT NULL)"); err != nil {
		t.Fatal(err)
	}
	e, err := engine.New(open(t, url, nil).Backend(), engine.Config{
		Models: map[string]spool.Model{"demo": demo.New(demo.Config{})},
		Agents: []spool.Agent{{Name: "assistant", Model: "demo"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	if err := placeOrder(ctx, pool, e, "17"); err != nil {
		t.Error(err)
	}
	if err := placeOrder(ctx, pool, e, "17"); err == nil {
		t.Error("the same order twice")
	}
	var run spool.RunID
	if err := pool.QueryRow(ctx, "SELECT run FROM orders").Scan(&run); err != nil {
		t.Fatal(err)
	}
	out, err := e.Outcome(ctx, spool.ThreadKey{Tenant: spool.DefaultTenant, ID: "order-17"}, run)
	if err != nil || !out.State.Active() {
		t.Errorf("%+v, %v", out, err)
	}
}
