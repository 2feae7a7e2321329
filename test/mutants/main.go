//go:build unix

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		_, _ = fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	Tree, Plan, Cache, Results string
	Mutants, Minutes, Jobs     int
	Seed                       uint64
	Races, Index               bool
	Only, Packages             string
	Stages                     []string
}

func parseOptions(args []string, errorOutput io.Writer) (*options, error) {
	o := new(options)
	f := flag.NewFlagSet("mutants", flag.ContinueOnError)
	f.SetOutput(errorOutput)
	f.StringVar(&o.Tree, "tree", "../..", "the checkout that gets the mistakes")
	f.StringVar(&o.Plan, "plan", "", "a file like tiers.json (defaults to that)")
	f.StringVar(&o.Cache, "cache", filepath.Join(os.TempDir(), "spool-mutants"), "the folder of the coverage")
	f.StringVar(&o.Results, "results", "", "the file of the results, a line each (defaults to results.jsonl in the cache)")
	f.IntVar(&o.Mutants, "mutants", 60, "how many mistakes")
	f.Uint64Var(&o.Seed, "seed", 1, "which mistakes")
	f.IntVar(&o.Minutes, "minutes", 0, "end after so many minutes; the same command goes on later (defaults to never)")
	f.IntVar(&o.Jobs, "jobs", runtime.NumCPU(), "how many tests run at the same time while coverage is measured")
	f.BoolVar(&o.Races, "races", false, "plant the data races of races.json instead")
	f.BoolVar(&o.Index, "index", false, "only measure coverage")
	f.StringVar(&o.Only, "only", "", "a pattern of the files that get mistakes")
	f.StringVar(&o.Packages, "packages", "", "a pattern of the folders whose tests run, to try something")
	f.Usage = func() {
		_, _ = fmt.Fprintln(errorOutput, "usage: go run . [flags] TIER[=TREE]...")
		f.PrintDefaults()
	}
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	o.Stages = f.Args()
	if len(o.Stages) == 0 {
		o.Stages = []string{"quick"}
	}
	if o.Results == "" {
		o.Results = filepath.Join(o.Cache, "results.jsonl")
	}
	return o, nil
}

// run is the program. A run whose time is over is no error.
func run(ctx context.Context, args []string, output, errorOutput io.Writer) error {
	o, err := parseOptions(args, errorOutput)
	if err != nil {
		return err
	}
	if o.Minutes > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(o.Minutes)*time.Minute)
		defer cancel()
	}
	c := &campaign{Seed: o.Seed, Count: o.Mutants, Log: func(format string, args ...any) {
		_, _ = fmt.Fprintf(errorOutput, format+"\n", args...)
	}}
	if c.Plan, err = readPlan(o.Plan); err != nil {
		return err
	}
	if o.Only != "" {
		if c.Only, err = regexp.Compile(o.Only); err != nil {
			return fmt.Errorf("-only: %w", err)
		}
	}
	if err := os.MkdirAll(o.Cache, 0o750); err != nil {
		return fmt.Errorf("make the cache: %w", err)
	}
	if c.Results, err = openResults(o.Results, o.Seed); err != nil {
		return err
	}
	tiers, leftOut, err := c.open(ctx, o)
	if err == nil && !o.Index {
		if o.Races {
			var all []race
			if all, err = readRaces(racesJSON); err == nil {
				err = c.races(ctx, all)
			}
		} else {
			err = c.run(ctx)
		}
	}
	if o.Index {
		_, _ = fmt.Fprint(output, strings.Join(append(leftOut, ""), "\n"))
	} else {
		report(output, c.Results, tiers, leftOut)
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		c.Log("the time is over; the same command goes on")
		return nil
	}
	return err
}

// open measures the coverage of each tier, and returns their names.
func (c *campaign) open(ctx context.Context, o *options) (tiers, leftOut []string, err error) {
	var packages pattern
	if o.Packages != "" {
		if packages.Regexp, err = regexp.Compile(o.Packages); err != nil {
			return nil, nil, fmt.Errorf("-packages: %w", err)
		}
	}
	for _, stage := range o.Stages {
		name, dir, ok := strings.Cut(stage, "=")
		if !ok {
			dir = o.Tree
		}
		tiers = append(tiers, name)
		t, err := openTree(dir)
		if err != nil {
			return tiers, leftOut, err
		}
		x := &indexer{Plan: c.Plan, Tree: t, Tier: name, Cache: o.Cache, Jobs: o.Jobs, Packages: packages, Log: c.Log}
		all, err := x.run(ctx)
		if err != nil {
			return tiers, leftOut, err
		}
		leftOut = append(leftOut, all.LeftOut...)
		c.Stages = append(c.Stages, all)
	}
	return tiers, leftOut, nil
}
