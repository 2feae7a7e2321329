package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"runtime/debug"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

// riverNodes are clients of River over one database: the starter inserts jobs, and the worker works them. One client
// may be both.
type riverNodes struct {
	starter, worker *river.Client[pgx.Tx]
	pools           []*pgxpool.Pool
	called          chan time.Time
}

// riverArgs is a job with the prompt of a start.
type riverArgs struct {
	Prompt string `json:"prompt"`
}

// Kind implements [river.JobArgs].
func (riverArgs) Kind() string { return "prompt" }

// riverWorker notes when it is called.
type riverWorker struct {
	river.WorkerDefaults[riverArgs]

	called chan time.Time
}

// Work implements [river.Worker].
func (w *riverWorker) Work(context.Context, *river.Job[riverArgs]) error {
	w.called <- time.Now()
	return nil
}

// newRiver returns what starts one or two clients on a new database. Cooldown is River's FetchCooldown, 0 for its
// default. It also bounds how often the client that inserts sends a notification.
func newRiver(
	nodes int, cooldown time.Duration,
) func(ctx context.Context, url string) (starter, <-chan time.Time, error) {
	return func(ctx context.Context, url string) (starter, <-chan time.Time, error) {
		n := &riverNodes{called: make(chan time.Time, 1)}
		if err := n.begin(ctx, url, nodes, cooldown); err != nil {
			return nil, nil, errors.Join(err, n.close())
		}
		return n, n.called, nil
	}
}

func (n *riverNodes) begin(ctx context.Context, url string, nodes int, cooldown time.Duration) error {
	for range nodes {
		pool, err := openPool(ctx, url, nil)
		if err != nil {
			return err
		}
		n.pools = append(n.pools, pool)
	}
	migrator, err := rivermigrate.New(riverpgxv5.New(n.pools[0]), nil)
	if err != nil {
		return err
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	workers := river.NewWorkers()
	if err := river.AddWorkerSafely(workers, &riverWorker{called: n.called}); err != nil {
		return err
	}
	n.worker, err = river.NewClient(riverpgxv5.New(n.pools[nodes-1]), &river.Config{
		FetchCooldown: cooldown, Logger: log, Workers: workers,
		Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: pickupSlots}},
	})
	if err != nil {
		return err
	}
	n.starter = n.worker
	if nodes > 1 {
		if n.starter, err = river.NewClient(
			riverpgxv5.New(n.pools[0]), &river.Config{FetchCooldown: cooldown, Logger: log},
		); err != nil {
			return err
		}
	}
	return n.worker.Start(ctx)
}

// start inserts a job.
func (n *riverNodes) start(ctx context.Context) error {
	_, err := n.starter.Insert(ctx, riverArgs{Prompt: startPrompt}, nil)
	return err
}

func (n *riverNodes) close() error {
	var err error
	if n.worker != nil {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		err = n.worker.Stop(ctx)
	}
	for _, pool := range n.pools {
		pool.Close()
	}
	return err
}

// versionOf returns the version of a module that this program has.
func versionOf(module string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == module {
				return m.Version
			}
		}
	}
	return "of an unknown version"
}
