package command

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spoolhq/spool/client"
	"github.com/spoolhq/spool/cmd/spool/internal/load"
)

// loadOptions are the flags of load.
type loadOptions struct {
	load.Config

	url, token    string
	ladder        string
	rate, maxRate float64
	remote        bool
	json, svg     string
	remove        string
}

// loadFlag is a flag of load.
type loadFlag struct {
	name, arg, help string
	bind            func(fs *flag.FlagSet, name string, o *loadOptions)
}

func durationFlag(name, help string, value time.Duration, at func(o *loadOptions) *time.Duration) loadFlag {
	return loadFlag{
		name, "TIME", help, func(fs *flag.FlagSet, name string, o *loadOptions) { fs.DurationVar(at(o), name, value, "") },
	}
}

func numberFlag(name, help string, value int, at func(o *loadOptions) *int) loadFlag {
	return loadFlag{
		name, "N", help, func(fs *flag.FlagSet, name string, o *loadOptions) { fs.IntVar(at(o), name, value, "") },
	}
}

func shareFlag(name, help string, value float64, at func(o *loadOptions) *float64) loadFlag {
	return loadFlag{
		name, "SHARE", help, func(fs *flag.FlagSet, name string, o *loadOptions) { fs.Float64Var(at(o), name, value, "") },
	}
}

func wordFlag(name, arg, help, value string, at func(o *loadOptions) *string) loadFlag {
	return loadFlag{
		name, arg, help, func(fs *flag.FlagSet, name string, o *loadOptions) { fs.StringVar(at(o), name, value, "") },
	}
}

func switchFlag(name, help string, at func(o *loadOptions) *bool) loadFlag {
	return loadFlag{
		name, "", help, func(fs *flag.FlagSet, name string, o *loadOptions) { fs.BoolVar(at(o), name, false, "") },
	}
}

const (
	defaultLadder   = "5,10,20,50,100"
	defaultInFlight = 2000
)

// loadFlags has the flags of load, in the order of the help.
var loadFlags = []loadFlag{
	wordFlag("ladder", "RATES", "runs per second, one rate after the other; default "+defaultLadder, defaultLadder,
		func(o *loadOptions) *string { return &o.ladder }),
	{
		"rate", "RATE", "only this rate, in place of a ladder",
		func(fs *flag.FlagSet, name string, o *loadOptions) { fs.Float64Var(&o.rate, name, 0, "") },
	},
	durationFlag("step", "how long runs arrive at each rate; default 10s", 10*time.Second,
		func(o *loadOptions) *time.Duration { return &o.Step }),
	durationFlag("warm-up", "how long runs arrive before that, unmeasured; default 3s", 3*time.Second,
		func(o *loadOptions) *time.Duration { return &o.WarmUp }),
	durationFlag("drain", "how long to wait for the end of the runs of a rate; default 10s", 10*time.Second,
		func(o *loadOptions) *time.Duration { return &o.Drain }),
	numberFlag("watchers", "clients that follow each run; default 1", 1, func(o *loadOptions) *int { return &o.Watchers }),
	shareFlag("resumes", "share of watchers that disconnect once and resume; default 0.1", 0.1,
		func(o *loadOptions) *float64 { return &o.Resumes }),
	shareFlag("stops", "share of runs that are stopped after the first token; default 0.1", 0.1,
		func(o *loadOptions) *float64 { return &o.Stops }),
	wordFlag("agent", "NAME", "the agent; default: the server's first", "",
		func(o *loadOptions) *string { return &o.Agent }),
	wordFlag("prompt", "TEXT", "the prompt of each run", "Count from one to ten.",
		func(o *loadOptions) *string { return &o.Prompt }),
	durationFlag("max-p99", "saturated: p99 of start or first token above this; default 5s", 5*time.Second,
		func(o *loadOptions) *time.Duration { return &o.MaxP99 }),
	durationFlag("max-duration", "the load ends after this time; default 90s", 90*time.Second,
		func(o *loadOptions) *time.Duration { return &o.MaxDuration }),
	{
		"max-rate", "RATE", "refuse higher rates; default 1000",
		func(fs *flag.FlagSet, name string, o *loadOptions) { fs.Float64Var(&o.maxRate, name, 1000, "") },
	},
	numberFlag("in-flight", "runs in progress at most; default 2000, fewer with many watchers", 0,
		func(o *loadOptions) *int { return &o.InFlight }),
	switchFlag("keep", "keep the threads of the load on the server", func(o *loadOptions) *bool { return &o.Keep }),
	wordFlag("remove", "ID", "only delete the threads that the load with this id has left", "",
		func(o *loadOptions) *string { return &o.remove }),
	switchFlag("remote", "allow a server on another machine, which you own",
		func(o *loadOptions) *bool { return &o.remote }),
	wordFlag("json", "FILE", "write the report, with HDR histograms", "", func(o *loadOptions) *string { return &o.json }),
	wordFlag("svg", "FILE", "write a chart", "", func(o *loadOptions) *string { return &o.svg }),
	{
		"token", "TOKEN", "a token with the scopes read, write and stop; SPOOL_TOKEN is safer",
		func(fs *flag.FlagSet, name string, o *loadOptions) { fs.StringVar(&o.token, name, o.token, "") },
	},
}

func loadHelp() string {
	var b strings.Builder
	b.WriteString(`Measure how many runs per second a running server carries, and how many clients that watch
them. Runs arrive at a constant rate, whatever the server does, and latencies count from the
time at which a run was due. The rates rise until the server does not keep up. It takes less
than two minutes, and deletes its threads.

Usage:

  spool load [flags] [URL]

The URL is SPOOL_URL or http://127.0.0.1:8080 if it is left out.

Flags:

`)
	for _, f := range loadFlags {
		fmt.Fprintf(&b, "  --%-18s %s\n", strings.TrimSpace(f.name+" "+f.arg), f.help)
	}
	b.WriteString(`
The first interrupt (Ctrl-C) stops the runs and deletes the threads, and the report has what was
measured. A second one, or one during the deletion, ends the deletion.

The exit code is 0 when the load was measured, also if the server was saturated. It is 1 when
the server could not be measured or died, when frames were missing or repeated, when threads
could not be deleted, and after an interrupt. It is 2 when a flag is wrong.
`)
	return b.String()
}

// parseLoad reads the flags and the address of load.
func parseLoad(args []string, h host) (*loadOptions, error) {
	o := &loadOptions{url: "http://127.0.0.1:8080"}
	if set, _ := h.lookup(urlVariable); set != "" {
		o.url = set
	}
	o.token, _ = h.lookup(tokenVariable)
	fs := flag.NewFlagSet("load", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	for _, f := range loadFlags {
		f.bind(fs, f.name, o)
	}
	operands, err := parseMixed(fs, args)
	if errors.Is(err, flag.ErrHelp) {
		_, err = io.WriteString(h.stdout, loadHelp())
		err = cmp.Or(err, errHelp)
	}
	if err != nil {
		return nil, err
	}
	if len(operands) > 1 {
		return nil, usagef("load has no place for %q", operands[1])
	}
	if len(operands) == 1 {
		o.url = operands[0]
	}
	named := make(map[string]bool)
	fs.Visit(func(f *flag.Flag) { named[f.Name] = true })
	return o, o.complete(named)
}

// complete reads the rates, and checks that the load may be put on the server.
func (o *loadOptions) complete(named map[string]bool) error {
	if named["rate"] && named["ladder"] {
		return usagef("--rate and --ladder exclude each other")
	}
	if o.Ladder = []float64{o.rate}; !named["rate"] {
		ladder, err := load.ParseLadder(o.ladder)
		if err != nil {
			return usagef("--ladder: %w", err)
		}
		o.Ladder = ladder
	}
	for _, rate := range o.Ladder {
		if rate > o.maxRate {
			return usagef("%g runs per second are more than --max-rate allows (%g)", rate, o.maxRate)
		}
	}
	u, err := url.Parse(o.url)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return usagef("the address must be an http or https URL, such as http://127.0.0.1:8080")
	case u.User != nil:
		return usagef("the address has a password in it; the token belongs into SPOOL_TOKEN")
	case !o.remote && !onThisMachine(u.Hostname()):
		return usagef("%s is not this machine: --remote allows to load a server that you own", u.Hostname())
	}
	if !named["in-flight"] {
		o.InFlight = max(1, min(defaultInFlight, load.MaxClients/max(1, o.Watchers)))
	}
	if err := o.Check(); err != nil {
		return &usageError{err}
	}
	return o.checkFiles()
}

// checkFiles returns an error if a file of the report has no folder, which would be found after the load, or the name
// of another kind of picture.
func (o *loadOptions) checkFiles() error {
	if kind := filepath.Ext(o.svg); strings.EqualFold(kind, ".png") {
		return usagef("--svg: the chart is drawn as %s.svg, not as %s", strings.TrimSuffix(o.svg, kind), kind)
	}
	for name, file := range map[string]string{"json": o.json, "svg": o.svg} {
		if info, err := os.Stat(filepath.Dir(file)); file != "" && (err != nil || !info.IsDir()) {
			return usagef("--%s: there is no folder %s", name, filepath.Dir(file))
		}
	}
	return nil
}

// onThisMachine reports whether a host is certainly this machine. It looks no name up.
func onThisMachine(name string) bool {
	address, err := netip.ParseAddr(name)
	return name == "localhost" || err == nil && address.Unmap().IsLoopback()
}

// loadServer puts load on a server, and reports what its clients saw.
func loadServer(ctx context.Context, args []string, h host) error {
	o, err := parseLoad(args, h)
	if err != nil {
		return err
	}
	ctx, leave, release := interrupts(ctx)
	defer release()
	server, err := o.client()
	if err != nil {
		return &usageError{err}
	}
	progress := load.NewProgress(h.stderr, isTerminal(h.stderr))
	if o.remove != "" {
		threads, err := load.Remove(ctx, server, o.remove, progress.Show)
		progress.Close()
		return o.removed(threads, err, h.stdout)
	}
	o.Server, o.Leave, o.Progress = server, leave, progress.Show
	o.Session = strings.ToLower(rand.Text()[:8])
	report, err := load.Run(ctx, o.Config)
	progress.Close()
	if report != nil {
		report.Command.Version, report.Command.Server = version(), o.url
	}
	switch {
	case err != nil && report != nil && report.Threads.Left > 0:
		return fmt.Errorf("load %s: %w\nOf %d threads, %s", o.url, err, report.Threads.Made,
			report.Command.Left(report.Threads))
	case err != nil:
		return fmt.Errorf("load %s: %w", o.url, err)
	}
	return o.write(report, h.stdout)
}

// interrupts returns a context that the first signal ends, and a channel that the second one closes. A third signal
// ends the process. The caller must call release.
func interrupts(parent context.Context) (ctx context.Context, leave <-chan struct{}, release func()) {
	ctx, cancel := context.WithCancel(parent)
	second, released, signals := make(chan struct{}), make(chan struct{}), make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		defer signal.Stop(signals)
		for _, end := range []func(){cancel, func() { close(second) }} {
			select {
			case <-signals:
				end()
			case <-released:
				return
			}
		}
	}()
	return ctx, second, func() {
		close(released)
		cancel()
	}
}

// removed reports a removal.
func (o *loadOptions) removed(t load.Threads, err error, out io.Writer) error {
	if err != nil {
		return fmt.Errorf("remove the threads of the load %s: %w", o.remove, err)
	}
	if _, err := fmt.Fprintf(out, "%d threads were found, and %d deleted.\n", t.Made, t.Deleted); err != nil {
		return err
	}
	if t.Left > 0 {
		return fmt.Errorf("%d threads are left", t.Left)
	}
	return nil
}

// write writes the report to all places.
func (o *loadOptions) write(r *load.Report, out io.Writer) error {
	failed := r.WriteText(out)
	if o.json != "" {
		failed = errors.Join(failed, r.WriteJSON(o.json))
	}
	if o.svg != "" {
		failed = errors.Join(failed, r.WriteSVG(o.svg))
	}
	switch {
	case failed != nil:
		return failed
	case r.Faults() > 0:
		return fmt.Errorf("%d frames were missing, repeated or wrong", r.Faults())
	case r.Interrupted():
		return errors.New("the load was interrupted")
	case r.Lost:
		return fmt.Errorf("load %s: %s", o.url, r.Cut)
	case r.Threads.Left > 0 && !o.Keep:
		return fmt.Errorf("%d threads could not be deleted", r.Threads.Left)
	}
	return nil
}

// client returns a client of the server that repeats nothing, and keeps a connection for each run.
func (o *loadOptions) client() (*client.Client, error) {
	clients := o.InFlight * (o.Watchers + 1)
	options := client.Options{
		Retries: -1, Backoff: client.Backoff{Min: 100 * time.Millisecond, Max: 2 * time.Second},
		HTTPClient: &http.Client{
			Transport: &http.Transport{
				Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
				ForceAttemptHTTP2: true, MaxIdleConns: clients, MaxIdleConnsPerHost: clients, IdleConnTimeout: time.Minute,
				TLSHandshakeTimeout: 10 * time.Second,
			},
			// A redirect would send the token to another server.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	if o.token != "" {
		options.Token = client.StaticToken(o.token)
	}
	return client.New(o.url, options)
}

// isTerminal reports whether a bar that moves can be shown.
func isTerminal(out io.Writer) bool {
	file, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
