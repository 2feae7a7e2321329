// Command bench measures Spool and writes the results to RESULTS.md.
//
// It starts the measured servers as processes of its own binary, and is itself their client, so that
// the work of both sides counts. Each figure of Spool is measured in turns with something bare that
// does the same without Spool, because on a shared machine a number means something only next to
// another one of the same minute.
//
// Each figure has its own file: starts, latency, fanout, memory, snapshot, returns, replay, stop, step,
// catalogue, images, nested, adapters, document, ready, webhooks, schedules, and over PostgreSQL pgstarts,
// pgitems, pgpickup, pgbytes, pgstep, pgcluster, pgtakeover. Those need a server: the command starts one with
// its default settings, or uses that of -postgres. Five figures are measured only on request: render, long and sizes,
// which need Node, "npm ci" in clients/typescript and a Chromium, and beside and adaptersbeside, which compare
// the CPU time of others with that of an earlier commit.
//
// With -quick, it prints ten figures beside those of the commit before, and writes nothing.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

// limit bounds a whole run, even if something hangs.
const limit = 30 * time.Minute

// bench is one run of this command.
type bench struct {
	ctx context.Context
	out io.Writer // where progress is printed

	rounds  int
	short   bool
	dir     string // the folder of this run, for its databases
	profile string // the folder of profiles, or empty
	commit  string // the earlier commit of the figure beside
	filled  string // the database of snapshot and replay, once it exists
	binary  string // of the servers; empty: this one

	postgresURL string    // the server of the figures over PostgreSQL, or empty
	parent      string    // the folder in which a server of this run is made, or empty
	server      *pgServer // it, once it is needed
}

// figure is a kind of measurement.
type figure struct {
	name    string
	measure func(b *bench) (*section, error)
}

var figures = []figure{
	{"starts", measureStarts},
	{"latency", measureLatency},
	{"fanout", measureFanout},
	{"memory", measureMemory},
	{"snapshot", measureSnapshot},
	{"returns", measureReturns},
	{"replay", measureReplay},
	{"stop", measureStop},
	{"step", measureStep},
	{"catalogue", measureCatalogue},
	{"images", measureImages},
	{"nested", measureNested},
	{"adapters", measureAdapters},
	{"document", measureDocument},
	{"ready", measureReady},
	{"webhooks", measureWebhooks},
	{"schedules", measureSchedules},
	{"pgstarts", measurePgStarts},
	{"pgitems", measurePgItems},
	{"pgpickup", measurePgPickup},
	{"pgstep", measurePgStep},
	{"pgbytes", measurePgBytes},
	{"pgcluster", measurePgCluster},
	{"pgtakeover", measurePgTakeover},
	{render, measureRender},
	{long, measureLong},
	{sizes, measureSizes},
	{beside, measureBeside},
	{adaptersBeside, measureAdaptersBeside},
}

func main() {
	if role := os.Getenv(roleEnv); role != "" {
		exit(serveRole(role))
	}
	ctx, release := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer release()
	exit(run(ctx, os.Args[1:], os.Stdout))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// run measures what the arguments ask for, and writes the results.
func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(out)
	rounds := flags.Int("rounds", 5, "how often each figure is measured; with -quick, at most")
	only := flags.String("only", "", "measure only these, separated by commas: "+strings.Join(names(), ", "))
	commit := flags.String("commit", "", "the commit beside which -quick, -only beside and -only adaptersbeside measure")
	quickly := flags.Bool("quick", false,
		"print ten figures beside those of -commit (default: the commit before) in less than five minutes, and write nothing")
	short := flags.Bool("short", false, "a smoke run of some seconds, whose numbers mean nothing")
	file := flags.String("out", "RESULTS.md", "where the results are written; - for the terminal alone")
	dir := flags.String("dir", "",
		"where the databases are made; its disk is what is measured (default: the system's temporary folder)")
	address := flags.String("postgres", os.Getenv(postgresEnv),
		"the PostgreSQL of the figures over one; without it, one is started")
	figuresOf := flags.Bool("readme", false,
		"measure nothing: write the table and the commits of RESULTS.md, and the figures of the README, again")
	profile := flags.String("profile", "", "write CPU and heap profiles of the servers to this folder")
	if err := flags.Parse(args); err != nil {
		return err
	}
	chosen, err := choose(*only)
	if err != nil {
		return err
	}
	if *figuresOf {
		return errors.Join(rewrite(ctx, "../README.md", *file), stampPeers(ctx, "peers/RESULTS.md"))
	}
	if !*quickly && slices.ContainsFunc(chosen, overPostgres) && *address == "" {
		if _, err := findPostgres(); err != nil { // before minutes are spent on the others
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	b := &bench{
		ctx: ctx, out: out, rounds: max(1, *rounds), short: *short, profile: *profile, commit: *commit, postgresURL: *address,
		parent: *dir,
	}
	if b.short {
		b.rounds = min(b.rounds, 2)
	}
	if b.dir, err = os.MkdirTemp(*dir, "spool-bench-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	defer b.closePostgres()

	if *quickly {
		return b.quick()
	}
	machine := describeMachine(ctx, b.dir)
	var measured []written
	for _, f := range chosen {
		began := time.Now()
		s, err := f.measure(b)
		if err != nil {
			return fmt.Errorf("measure %s: %w", f.name, err)
		}
		s.name = f.name
		measured = append(measured, s.written(fmt.Sprintf("Commit %s, %s, %d rounds.", machine.commit,
			began.UTC().Format("2006-01-02 15:04 UTC"), b.rounds)))
		fmt.Fprintf(out, "%s (%.0f s)\n%s\n", s.title, time.Since(began).Seconds(), s.brief())
	}
	if *file == "-" {
		_, err = io.WriteString(out, results{}.with(machine.table(), measured, names()).markdown())
		return err
	}
	old, err := os.ReadFile(*file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return os.WriteFile(*file, []byte(parseResults(string(old)).with(machine.table(), measured, names()).markdown()),
		0o644)
}

// rewrite writes a file of results again from the measured numbers, and its figures into a README.
func rewrite(ctx context.Context, file, from string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	r, err := parseResults(string(text)).restamped(ctx)
	if err != nil {
		return err
	}
	page, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	written, err := readme(string(page), r)
	if err != nil {
		return err
	}
	if err := os.WriteFile(from, []byte(r.markdown()), 0o644); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(written), 0o644)
}

// choose returns the figures in a list of names. For an empty list it returns all figures except those
// that are measured only on request.
func choose(list string) ([]figure, error) {
	if list == "" {
		return slices.DeleteFunc(slices.Clone(figures), onRequest), nil
	}
	var chosen []figure
	for name := range strings.SplitSeq(list, ",") {
		at := slices.Index(names(), name)
		if at < 0 {
			return nil, fmt.Errorf("-only: there is no %q, only %s", name, strings.Join(names(), ", "))
		}
		chosen = append(chosen, figures[at])
	}
	return chosen, nil
}

// onRequest reports whether a figure is measured only if it is named.
func onRequest(f figure) bool {
	return slices.Contains([]string{render, long, sizes, beside, adaptersBeside}, f.name)
}

// overPostgres reports whether a figure needs a PostgreSQL.
func overPostgres(f figure) bool { return strings.HasPrefix(f.name, "pg") }

func names() []string {
	return []string{
		"starts", "latency", "fanout", "memory", "snapshot", "returns", "replay", "stop", "step", "catalogue", "images",
		"nested", "adapters", "document", "ready", "webhooks", "schedules",
		"pgstarts", "pgitems", "pgpickup", "pgstep", "pgbytes", "pgcluster", "pgtakeover", render,
		long, sizes, beside, adaptersBeside,
	}
}

// size returns a number for a whole run, or the small one for a smoke run.
func size[T any](b *bench, whole, small T) T {
	if b.short {
		return small
	}
	return whole
}

// interleave calls the arms in turns, a number of times in each round, so that other load on the
// machine affects all of them.
func (b *bench) interleave(turns int, arms ...func() error) error {
	for range b.rounds * turns {
		for _, arm := range arms {
			if err := b.ctx.Err(); err != nil {
				return err
			}
			if err := arm(); err != nil {
				return err
			}
		}
	}
	return nil
}
