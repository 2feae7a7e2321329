// Command scale says how large an installation must be, and where it ends.
//
//	cd bench && GOWORK=off go run ./scale                        # simulate the plan of the flags with the measured unit costs
//	cd bench && GOWORK=off go run ./scale -threads 1000000 ...
//	cd bench && GOWORK=off go run ./scale -measure               # measure the unit costs here, and write units.json
//
// The table is arithmetic: rates times unit costs, beside what there is. The pick-up is simulated. Neither knows what
// the machines of a cloud do, so the result is where to begin a load test, and not instead of one.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
)

func main() {
	ctx, release := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	release()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

func newFlags(out io.Writer) *flag.FlagSet {
	fs := flag.NewFlagSet("scale", flag.ContinueOnError)
	fs.SetOutput(out)
	return fs
}

func run(ctx context.Context, args []string, out io.Writer) error {
	fs := newFlags(out)
	var p plan
	p.flags(fs)
	measure := fs.Bool("measure", false,
		"measure the unit costs on this machine, with a PostgreSQL that is started for it, and write them")
	file := fs.String("units", "scale/units.json", "the file of the unit costs")
	n := fs.Int("runs", 200, "with -measure: how many runs are measured")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if fs.NArg() > 0 {
		return fmt.Errorf("there is no argument %q", fs.Arg(0))
	}
	if *measure {
		return measureUnits(ctx, *file, *n)
	}
	u, err := readUnits(*file)
	if err != nil {
		return err
	}
	if err := p.check(u); err != nil {
		return err
	}
	var found outcome
	if busiest(p.rows(u)).share() < saturated { // else queues grow for as long as the simulation takes
		found = simulate(&p, u)
	}
	_, err = io.WriteString(out, report(&p, u, found))
	return err
}

// measureUnits measures everything and writes it.
func measureUnits(ctx context.Context, file string, n int) error {
	commit, err := exec.CommandContext(ctx, "git", "rev-parse", "--short=12", "HEAD").Output()
	if err != nil {
		return fmt.Errorf("git rev-parse: %w", err)
	}
	u := units{Commit: strings.TrimSpace(string(commit)), Date: now(), Machine: machine()}
	dir, err := os.MkdirTemp("", "spool-units-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if u.SQLite, err = measureSQLite(ctx, dir, n); err != nil {
		return fmt.Errorf("SQLite: %w", err)
	}
	if err := measurePostgres(ctx, &u, n); err != nil {
		return fmt.Errorf("PostgreSQL: %w", err)
	}
	text, err := json.MarshalIndent(u, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}
