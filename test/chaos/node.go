//go:build unix

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/postgres"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
)

// nodeVariable has the JSON of a [nodeConfig]. With it, the program is a node.
const nodeVariable = "SPOOL_CHAOS_NODE"

// nodeConfig is what the supervisor tells a node.
type nodeConfig struct {
	// Name is that of the process, different after each start.
	Name string
	Port int
	// Database leads through the node's proxy, Effects does not.
	Database, Effects string
	Lease             time.Duration
	Break             string
	// Journal is the file of the process for what its store does: see [journal].
	Journal string
	Seed    uint64
}

// shutdownTimeout bounds how long a node takes to end after a SIGTERM.
const shutdownTimeout = 8 * time.Second

// nodeMain runs a node until a SIGTERM.
func nodeMain() int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	var c nodeConfig
	if err := json.Unmarshal([]byte(os.Getenv(nodeVariable)), &c); err != nil {
		slog.Error("read the configuration", "error", err)
		return 2
	}
	if err := runNode(ctx, c); err != nil {
		slog.Error("node", "error", err)
		return 1
	}
	return 0
}

// runNode serves and works until ctx ends, and then hands its runs back.
func runNode(ctx context.Context, c nodeConfig) error {
	db, err := untilOpen(ctx, c.Database)
	if err != nil {
		return err
	}
	defer db.Close()
	effects, err := openEffects(ctx, c.Effects)
	if err != nil {
		return err
	}
	defer effects.pool.Close()
	j, err := openJournal(c.Journal)
	if err != nil {
		return err
	}
	backend, err := nodeBackend(ctx, c, db, j)
	if err != nil {
		return err
	}
	held := &holds{runs: make(map[string]int)}
	pausing := &window{Store: backend.Store}
	backend.Store = pausing
	began := func(ctx context.Context, call spool.ToolCall) { j.tooLate(ctx, db.Backend().Store, c.Lease, call) }
	e, err := engine.New(backend, engineConfig(c, nodeTools(c.Name, held, effects, began), held))
	if err != nil {
		return err
	}
	surface, err := server.New(e, server.Config{Insecure: true})
	if err != nil {
		return err
	}
	listener, err := listenAgain(ctx, fmt.Sprintf("127.0.0.1:%d", c.Port))
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /chaos/holds", held)
	mux.Handle("GET /chaos/window", pausing)
	mux.Handle("/", surface)
	return serveNode(ctx, e, surface, &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}, listener)
}

// serveNode serves and works until ctx ends, and then shuts down as spool serve does.
func serveNode(
	ctx context.Context, e *engine.Engine, surface *server.Server, h *http.Server, listener net.Listener,
) error {
	workCtx, stopWork := context.WithCancel(context.WithoutCancel(ctx))
	defer stopWork()
	worked, served := make(chan error, 1), make(chan error, 1)
	go func() { worked <- e.Work(workCtx, engine.WorkOptions{Concurrency: 16, MaxDeliveries: 100_000}) }()
	go func() { served <- h.Serve(listener) }()
	select {
	case err := <-served:
		return fmt.Errorf("serve: %w", err)
	case err := <-worked:
		return fmt.Errorf("work: %w", err)
	case <-ctx.Done():
	}
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	surface.Drain()
	closed := make(chan error, 1)
	go func() { closed <- h.Shutdown(limited) }()
	e.Close()
	stopWork()
	failure := surface.Shutdown(limited)
	select {
	case err := <-worked:
		failure = errors.Join(failure, err)
	case <-limited.Done():
		failure = errors.Join(failure, errors.New("the worker did not end in time"))
	}
	if err := <-closed; err != nil {
		failure = errors.Join(failure, h.Close())
	}
	return failure
}

// engineConfig is that of every node.
func engineConfig(c nodeConfig, tools []spool.Tool, held *holds) engine.Config {
	lease := c.Lease
	if c.Break == "lease" {
		lease *= 1000 // see trusting
	}
	return engine.Config{
		Agents: []spool.Agent{{
			Name: "worker", Model: "script", Tools: tools, MaxSteps: 50,
			Spawn: &spool.Spawn{Profiles: map[string]spool.Profile{"helper": {Description: "Helps.", Tools: tools}}},
		}},
		Models: map[string]spool.Model{"script": &scripted{held}},
		Log:    slog.Default(),
		Retry:  option.Retry{Attempts: 1000, Backoff: 200 * time.Millisecond, BackoffMax: 2 * time.Second, Deaths: 1000},
		Stream: option.Stream{Keepalive: time.Second, RetryHint: 100 * time.Millisecond},
		Worker: option.Worker{Lease: lease, SweepEvery: 2 * time.Second},
	}
}

// nodeBackend returns the database with everything that goes wrong in it: late and repeated tickets, and the
// protection that was taken out. What the engine does is written to the journal.
func nodeBackend(ctx context.Context, c nodeConfig, db *postgres.DB, j *journal) (store.Backend, error) {
	b := db.Backend()
	broken, err := breakStore(ctx, &truthful{Store: b.Store, journal: j}, c)
	if err != nil {
		return b, err
	}
	b.Store = broken
	faulty := spooltest.NewFaulty(b)
	random := rand.New(rand.NewPCG(c.Seed, 1))
	claims := 0
	var mu sync.Mutex
	faulty.Intercept(func(_ context.Context, name, _ string, do func() (spooltest.FaultKind, error)) error {
		if name == "Store.Claim" {
			mu.Lock()
			claims++
			switch random.IntN(20) {
			case 0:
				faulty.Plan(spooltest.Fault{Call: claims, On: name, Kind: spooltest.Duplicate})
			case 1:
				faulty.Plan(spooltest.Fault{Call: claims, On: name, Kind: spooltest.Delay})
			}
			mu.Unlock()
		}
		_, err := do()
		return err
	})
	b = faulty.Backend()
	b.Store = &observed{Store: b.Store, journal: j}
	return b, nil
}

// untilOpen opens the database, which may be restarting.
func untilOpen(ctx context.Context, url string) (*postgres.DB, error) {
	for {
		db, err := postgres.Open(ctx, url, &postgres.Options{Pool: 12, Log: slog.Default()})
		if err == nil || spool.CodeOf(err) != spool.Unavailable {
			return db, err
		}
		if !sleep(ctx, 200*time.Millisecond) {
			return nil, err
		}
	}
}

// listenAgain listens on the port of the process before, which may still be closing it.
func listenAgain(ctx context.Context, address string) (net.Listener, error) {
	for {
		listener, err := new(net.ListenConfig).Listen(ctx, "tcp4", address)
		if err == nil || !errors.Is(err, syscall.EADDRINUSE) {
			return listener, err
		}
		if !sleep(ctx, 50*time.Millisecond) {
			return nil, err
		}
	}
}

// holds knows which runs the process executes at the moment.
type holds struct {
	mu   sync.Mutex
	runs map[string]int
}

// hold notes the run of a plan or a call until the returned function is called.
func (h *holds) hold(id string) (release func()) {
	root := rootOf(id)
	h.add(root, 1)
	return func() { h.add(root, -1) }
}

func (h *holds) add(root string, n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.runs[root] += n; h.runs[root] == 0 {
		delete(h.runs, root)
	}
}

// ServeHTTP answers with the runs.
func (h *holds) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	h.mu.Lock()
	runs := make([]string, 0, len(h.runs))
	for run := range h.runs {
		runs = append(runs, run)
	}
	h.mu.Unlock()
	if err := json.NewEncoder(w).Encode(runs); err != nil {
		slog.Warn("answer the supervisor", "error", err)
	}
}

// sleep waits, and reports whether ctx is still alive.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
