// Command rest compares the controllers of package rest with other ways to serve the same requests, and
// writes the results to RESULTS.md.
//
// It is a separate module, so that nothing else depends on the peers.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"time"
)

func main() {
	ctx, release := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	release()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench/rest:", err)
		os.Exit(1)
	}
}

// settings are the arguments.
type settings struct {
	effort

	args    []string
	only    []string // cases, empty for all
	with    []string // implementations, empty for all
	file    string
	profile string
}

func parse(args []string, out io.Writer) (settings, error) {
	s := settings{effort: full, args: args}
	flags := flag.NewFlagSet("rest", flag.ContinueOnError)
	flags.SetOutput(out)
	short := flags.Bool("quick", false,
		"a check of some seconds, whose numbers mean little; writes to the terminal unless -out is given")
	only := flags.String("only", "",
		"measure only these cases, separated by commas: get, query, guarded, post, invalid, page, list, extras")
	with := flags.String("with", "",
		"measure only the implementations whose names contain one of these, separated by commas")
	file := flags.String("out", "RESULTS.md", "where the results are written; - for the terminal alone")
	profile := flags.String("profile", "",
		"instead of measuring, write a CPU profile of each case and implementation to this folder")
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	s.file, s.profile = *file, *profile
	if *short {
		s.effort = quick
		given := false
		flags.Visit(func(f *flag.Flag) { given = given || f.Name == "out" })
		if !given {
			s.file = "-"
		}
	}
	if *only != "" {
		s.only = strings.Split(*only, ",")
	}
	if *with != "" {
		s.with = strings.Split(*with, ",")
	}
	return s, nil
}

// run checks all bodies, measures the requested cases, and writes the results.
func run(ctx context.Context, args []string, out io.Writer) error {
	s, err := parse(args, out)
	if err != nil {
		return err
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))

	c := newCatalog()
	all := entries(c)
	if err := checkAll(all, c); err != nil {
		return fmt.Errorf("not all implementations do the same, so nothing is measured: %w", err)
	}
	chosen := slices.DeleteFunc(all, func(e *entry) bool { return !s.includes(e.name) })
	if s.profile != "" {
		return profileAll(ctx, s, chosen, c)
	}
	began, where := time.Now(), describe(ctx)
	results, err := s.measureCases(ctx, chosen, c, out)
	if err != nil {
		return err
	}
	extras, err := s.measureExtras(ctx, c)
	if err != nil {
		return err
	}
	about := fmt.Sprintf(preface, strings.TrimSpace("cd bench/rest && GOWORK=off go run . "+strings.Join(s.args, " ")),
		s.rounds, s.round, s.repeats, len(probes(c))+len(cases(c))) + where.table(time.Since(began))
	text := markdown(about, results, extras)
	if _, err := io.WriteString(out, text); err != nil || s.file == "-" {
		return err
	}
	return os.WriteFile(s.file, []byte(text), 0o644)
}

// includes returns whether an implementation is wanted. The base always is.
func (s *settings) includes(name string) bool {
	return name == base || len(s.with) == 0 ||
		slices.ContainsFunc(s.with, func(part string) bool { return strings.Contains(name, part) })
}

// wants returns whether a case is wanted.
func (s *settings) wants(name string) bool { return len(s.only) == 0 || slices.Contains(s.only, name) }

func (s *settings) measureCases(ctx context.Context, chosen []*entry, c *catalog, out io.Writer) ([]*result, error) {
	var results []*result
	for _, tc := range cases(c) {
		if !s.wants(tc.name) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		r := &result{name: tc.name, title: tc.title}
		for _, e := range chosen {
			r.subjects = append(r.subjects, &subject{name: e.name, exchange: newExchange(e.handler, tc.call)})
		}
		r.harness = &subject{name: "harness", exchange: newExchange(http.HandlerFunc(nothing), tc.call)}
		if err := measure(append(slices.Clone(r.subjects), r.harness), s.effort); err != nil {
			return nil, fmt.Errorf("measure %s: %w", tc.name, err)
		}
		for _, sub := range r.subjects {
			fmt.Fprintf(out, "%-12s %-20s %s\n", tc.name, sub.name, spread(r.ratio(sub)))
		}
		results = append(results, r)
	}
	return results, nil
}

// measureExtras measures what not all peers have.
func (s *settings) measureExtras(ctx context.Context, c *catalog) (list []*extra, err error) {
	if !s.wants("extras") {
		return nil, nil
	}
	list, done, err := extras(ctx, c, s.effort)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, done()) }()
	for _, e := range list {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for _, sub := range e.subjects {
			if err := sub.answers(cmp.Or(e.status, http.StatusOK)); err != nil {
				return nil, fmt.Errorf("%s, %s: %w", e.title, sub.name, err)
			}
		}
		if err := measure(e.subjects, s.effort); err != nil {
			return nil, fmt.Errorf("measure %s: %w", e.title, err)
		}
	}
	return list, nil
}
