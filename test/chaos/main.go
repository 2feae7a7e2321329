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
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	if os.Getenv(nodeVariable) != "" {
		os.Exit(nodeMain())
	}
	o, err := parseOptions(os.Args[1:])
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	if o.Limits.Duration > 0 {
		err := limitsMain(ctx, o.Limits)
		stop()
		if err != nil {
			_, _ = fmt.Fprintln(os.Stderr, "chaos:", err)
			os.Exit(1)
		}
		return
	}
	report, err := runCampaign(ctx, o)
	stop()
	if report != nil {
		_, _ = fmt.Fprint(os.Stdout, report.words())
	}
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "chaos:", err)
		os.Exit(2)
	}
	if o.JSON != "" {
		if err := report.write(o.JSON); err != nil {
			_, _ = fmt.Fprintln(os.Stderr, "chaos:", err)
			os.Exit(2)
		}
	}
	if len(report.Violations) > 0 {
		os.Exit(1)
	}
}

// options say what a campaign does.
type options struct {
	// Nodes is how many processes there are.
	Nodes int
	// Threads is how many threads are in use at the same time.
	Threads int
	// Duration is how long faults happen. The runs then get Settle to end.
	Duration, Settle time.Duration
	// Kills ends the faults after so many kills, and makes kills more frequent. Zero: only Duration ends them.
	Kills int
	// Only has the keys of the faults that happen. Empty: all. See [faults].
	Only []string
	// Every is the mean time between two faults.
	Every time.Duration
	// Lease is that of the nodes' workers.
	Lease time.Duration
	// Seed decides which faults happen and what is asked of the model. The timing of processes is not repeated.
	Seed uint64
	// Break takes out one protection of the nodes: see [breaks]. The campaign then ends at the first violation.
	Break string
	// MCP makes it a campaign of the MCP client: see [mcpWorld].
	MCP bool
	// JSON is the file for the report. Empty: none.
	JSON string
	// Keep leaves the temporary folder with the logs in place.
	Keep bool
	// Limits, with a duration, tests the limit of a provider in place of the campaign.
	Limits limitsOptions
	// Progress gets a line every five seconds.
	Progress io.Writer
}

var defaults = options{
	Nodes: 3, Threads: 10, Duration: 5 * time.Minute, Settle: 2 * time.Minute, Every: 1500 * time.Millisecond,
	Lease: 3 * time.Second, Limits: limitsOptions{Workers: 8, RPM: 60, Progress: os.Stderr}, Progress: os.Stderr,
}

// parseOptions reads the arguments of the command.
func parseOptions(args []string) (options, error) {
	o := defaults
	flags := flag.NewFlagSet("chaos", flag.ContinueOnError)
	flags.IntVar(&o.Nodes, "nodes", o.Nodes, "how many processes there are")
	flags.IntVar(&o.Threads, "threads", o.Threads, "how many threads are in use at the same time")
	flags.DurationVar(&o.Duration, "duration", o.Duration, "how long faults happen")
	flags.IntVar(&o.Kills, "kills", 0, "end the faults after so many kills, at the latest after the duration")
	flags.Func("only", "let only these faults happen, separated by commas: "+strings.Join(faultKeys(), ", "),
		func(text string) error {
			o.Only = strings.Split(text, ",")
			return nil
		})
	flags.DurationVar(&o.Settle, "settle", o.Settle, "how long the runs then have to end")
	flags.DurationVar(&o.Every, "every", o.Every, "the mean time between two faults")
	flags.DurationVar(&o.Lease, "lease", o.Lease, "the lease of the workers")
	flags.Uint64Var(&o.Seed, "seed", 0, "decides the faults and the prompts (default: the time)")
	flags.StringVar(&o.Break, "break", "",
		"take one protection out: "+strings.Join(breaks, ", ")+"; with --mcp: "+strings.Join(mcpBreaks, ", "))
	flags.BoolVar(&o.MCP, "mcp", false,
		"the nodes are spool serve, and their tools those of an MCP server that misbehaves")
	flags.DurationVar(&o.Limits.Duration, "limits", 0,
		"in place of the campaign: so long, eight workers share 60 requests a minute (at least 2m)")
	flags.StringVar(&o.JSON, "json", "", "write the report to this file")
	flags.BoolVar(&o.Keep, "keep", false, "leave the folder with the logs")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if o.Seed == 0 {
		o.Seed = uint64(time.Now().UnixNano())
	}
	switch {
	case flags.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case o.Nodes < 1 || o.Threads < 1 || o.Duration <= 0 || o.Settle <= 0 || o.Every <= 0 || o.Lease < time.Second:
		return o, errors.New("a number or a time is too small")
	case slices.ContainsFunc(o.Only, func(key string) bool { return !slices.Contains(faultKeys(), key) }):
		return o, fmt.Errorf("--only may name %s", strings.Join(faultKeys(), ", "))
	case o.Limits.Duration != 0 && o.Limits.Duration < 2*time.Minute:
		return o, errors.New("--limits needs at least two minutes: the first is not judged")
	case o.Break != "" && !slices.Contains(o.breaks(), o.Break):
		return o, fmt.Errorf("--break must be one of %s", strings.Join(o.breaks(), ", "))
	}
	return o, nil
}

// breaks returns what can be taken out.
func (o options) breaks() []string {
	if o.MCP {
		return mcpBreaks
	}
	return breaks
}

// limitsMain tests the limit of a provider.
func limitsMain(ctx context.Context, o limitsOptions) error {
	report, err := runLimits(ctx, o)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprint(os.Stdout, report)
	return report.err()
}
