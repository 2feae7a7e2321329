// Command adapters measures what Spool's model adapters cost, and prints a table.
//
// A run has a number of steps, and each step streams 500 pieces of text and one tool call from a fake provider, which
// is another process. The same is done by a bare loop over the provider's SDK. What is compared is the CPU time of this
// process, in turns: of the bare loop, of the same loop over the adapter without an engine, and of runs on the memory
// backend and on SQLite.
// The figure adapters of bench runs it and writes bench/RESULTS.md. With -sizes it builds cmd/spool with and without
// each adapter instead, and prints the sizes of the stripped binaries.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"time"

	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/backend/sqlite"
	"github.com/spoolhq/spool/store"
)

// goal is how much CPU time a run on the memory backend may take, relative to the bare loop.
const goal = 1.3

// fakeEnv makes this binary the fake provider.
const fakeEnv = "SPOOL_BENCH_FAKE"

func main() {
	if os.Getenv(fakeEnv) != "" {
		exit(fake())
	}
	ctx, release := signal.NotifyContext(context.Background(), os.Interrupt)
	defer release()
	exit(run(ctx, os.Args[1:], os.Stdout))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "adapters:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("adapters", flag.ContinueOnError)
	flags.SetOutput(out)
	rounds := flags.Int("rounds", 5, "how often each arm is measured")
	steps := flags.Int("steps", 40, "how many steps a run has")
	root := flags.String("sizes", "", "the root of the repository: print the sizes of cmd/spool instead")
	asJSON := flags.Bool("json", false, "print all rounds as JSON, as the figure adapters of bench reads them")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *root != "" {
		return printSizes(ctx, out, *root, *asJSON)
	}
	url, end, err := startFake(ctx)
	if err != nil {
		return err
	}
	defer end()
	dir, err := os.MkdirTemp("", "adapters")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	db, err := sqlite.Open(filepath.Join(dir, "spool.db"), nil)
	if err != nil {
		return err
	}
	defer db.Close()
	if *asJSON {
		return printRounds(ctx, out, url, *steps, *rounds, db.Backend())
	}
	fmt.Fprintf(out,
		"| adapter | bare loop, ms of CPU a step | adapter alone | memory | SQLite | alone / bare | memory / bare (goal %.1f) | SQLite / bare |\n"+
			"|---|---|---|---|---|---|---|---|\n", goal)
	for _, a := range adapters {
		m := &measured{adapter: a, url: url, steps: *steps}
		if err := m.measure(ctx, *rounds, memory.New(nil), db.Backend()); err != nil {
			return fmt.Errorf("%s: %w", a.name, err)
		}
		bare, alone, inMemory, onDisk := median(m.bare), median(m.alone), median(m.memory), median(m.sqlite)
		fmt.Fprintf(out, "| %s | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f |\n",
			a.name, bare, alone, inMemory, onDisk, alone/bare, inMemory/bare, onDisk/bare)
	}
	return nil
}

// printRounds prints the rounds of each adapter as a line of JSON.
func printRounds(ctx context.Context, out io.Writer, url string, steps, rounds int, onDisk store.Backend) error {
	for _, a := range adapters {
		m := &measured{adapter: a, url: url, steps: steps}
		if err := m.measure(ctx, rounds, memory.New(nil), onDisk); err != nil {
			return fmt.Errorf("%s: %w", a.name, err)
		}
		line := map[string]any{"adapter": a.name, "bare": m.bare, "alone": m.alone, "memory": m.memory, "sqlite": m.sqlite}
		if err := json.NewEncoder(out).Encode(line); err != nil {
			return err
		}
	}
	return nil
}

// measured has the CPU time of a step in each round, in milliseconds.
type measured struct {
	adapter

	url                         string
	steps                       int
	bare, alone, memory, sqlite []float64
}

// measure measures the arms in turns. The first round only warms up.
func (m *measured) measure(ctx context.Context, rounds int, inMemory, onDisk store.Backend) error {
	runs := make([]func(context.Context) error, 2)
	for i, backend := range []store.Backend{inMemory, onDisk} {
		e, err := newEngine(backend, m.adapter, m.url, m.steps)
		if err != nil {
			return err
		}
		defer e.Close()
		runs[i] = func(ctx context.Context) error { return runSteps(ctx, e, backend.Store, m.steps) }
	}
	model, err := m.open(m.url)
	if err != nil {
		return err
	}
	arms := []struct {
		run func(context.Context) error
		out *[]float64
	}{
		{func(ctx context.Context) error { return m.adapter.bare(ctx, m.url, m.steps) }, &m.bare},
		{func(ctx context.Context) error { return streamSteps(ctx, model, m.steps) }, &m.alone},
		{runs[0], &m.memory},
		{runs[1], &m.sqlite},
	}
	for round := range rounds + 1 {
		for _, arm := range arms {
			before := cpuTime()
			if err := arm.run(ctx); err != nil {
				return err
			}
			if took := cpuTime() - before; round > 0 {
				*arm.out = append(*arm.out, float64(took)/float64(time.Millisecond)/float64(m.steps))
			}
		}
	}
	return nil
}

func median(s []float64) float64 {
	sorted := slices.Sorted(slices.Values(s))
	half := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[half]
	}
	return (sorted[half-1] + sorted[half]) / 2
}

// startFake starts the fake provider as a process of this binary. It ends with its standard input.
func startFake(ctx context.Context) (url string, end func(), err error) {
	program, err := os.Executable()
	if err != nil {
		return "", nil, err
	}
	cmd := exec.CommandContext(ctx, program)
	cmd.Env = append(os.Environ(), fakeEnv+"=1")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return "", nil, err
	}
	said, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	end = func() {
		_ = in.Close()
		_ = cmd.Wait()
	}
	if _, err := fmt.Fscanln(said, &url); err != nil {
		end()
		return "", nil, err
	}
	return url, end, nil
}

// fake is the fake provider.
func fake() error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: http.HandlerFunc(serveFake), ReadHeaderTimeout: time.Minute}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = server.Close()
	}()
	fmt.Println("http://" + listener.Addr().String()) //nolint:forbidigo // the other process reads it
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
