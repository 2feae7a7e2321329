// Command embed is a program with durable agent runs: a tool from a Go function that needs a person's
// approval, a SQLite file, a worker, and the HTTP surface.
package main

import (
	"context"
	"errors"
	"flag"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/sqlite"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/model/demo"
	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/tool"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:8080", "address to listen on")
	data := flag.String("data", ".", "folder of the database")
	flag.Parse()

	db, err := sqlite.Open(filepath.Join(*data, "embed.db"), &sqlite.Options{Exclusive: true})
	if err == nil {
		err = errors.Join(run(db, *listen), db.Close())
	}
	if err != nil {
		slog.Error("embed", "error", err)
		os.Exit(1)
	}
}

// refund is a tool that needs a person's approval. It may be repeated after a crash: the shop pays once
// for each idempotency key.
func refund() spool.Tool {
	type in struct {
		Order string `json:"order" jsonschema:"number of the order"`
		Cents int    `json:"cents"`
	}
	type out struct {
		Receipt string `json:"receipt"`
	}
	t := tool.New("refund", "Pays money back.", func(ctx context.Context, in in) (out, error) {
		call, _ := tool.CallFrom(ctx)
		return out{Receipt: in.Order + " under key " + call.IdempotencyKey()}, nil
	})
	t.Approval = spool.AlwaysApprove
	t.Idempotent = true
	return t
}

func run(db *sqlite.DB, listen string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()

	e, err := engine.New(db.Backend(), engine.Config{
		Models: map[string]spool.Model{"demo": demo.New(demo.Config{Delay: 20 * time.Millisecond})},
		Agents: []spool.Agent{{Name: "clerk", Model: "demo", Tools: []spool.Tool{refund()}}},
	})
	if err != nil {
		return err
	}
	surface, err := server.New(e, server.Config{
		Authenticator: access.Anonymous(spool.DefaultTenant), // everybody on this machine
		Loopback:      true,
	})
	if err != nil {
		return err
	}

	// The worker ends when ctx does, and gives its runs back to the queue.
	worked := make(chan error, 1)
	go func() { worked <- e.Work(ctx, engine.WorkOptions{}) }()

	h := &http.Server{Addr: listen, Handler: surface, ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() {
		e.Close() // tells event streams when to reconnect
		_ = h.Shutdown(context.WithoutCancel(ctx))
	})
	slog.Info("listens", "address", listen)
	if err := h.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-worked
}
