package command

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spoolhq/spool/cmd/spool/internal/config"
	"github.com/spoolhq/spool/rest"
)

// errHelp says that the command printed its help.
var errHelp = errors.New("help was printed")

// options are the flags of serve.
type options struct {
	listen, data, config string
	// artifacts is the folder of artifacts. Empty: none are stored.
	artifacts     string
	level, access slog.Level
	format        string
	// base is the prefix of all paths. Empty: the configuration decides.
	base string
	// origins are further origins whose pages may call the server, besides the configuration's.
	origins []string
	// metrics is the address of the metrics, or empty.
	metrics string
	// scraping says who may read the metrics.
	scraping metricsAccess
	// contents puts texts of people and models on spans.
	contents bool
	// parents says which requests continue the trace in their traceparent header.
	parents traceParents
	// delay is how long the server accepts requests after the signal to end.
	delay time.Duration
	// acceptLoss opens a database that has lost data. It has no variable, because it is for a single
	// start.
	acceptLoss bool

	database database
	// takeover lets event streams take their connections over from net/http.
	takeover bool
	// role says what the process does: roleAll, roleAPI or roleWorker.
	role string
	// timeout bounds the shutdown.
	timeout time.Duration
}

// setting is a flag, its environment variable, and its default.
type setting struct {
	flag, env, value, arg, help string
	// many says that the flag may be repeated. Commas separate values in the variable, and may do so in
	// the flag.
	many bool
}

// settingValue is the value of a setting: from its flag, or else from its variable, or else its default.
type settingValue struct {
	setting

	text  string
	fresh bool // the next flag is the first
}

// String implements [flag.Value].
func (g *settingValue) String() string { return g.text }

// Set implements [flag.Value].
func (g *settingValue) Set(text string) error {
	if g.many && !g.fresh {
		text = g.text + "," + text
	}
	g.text, g.fresh = text, false
	return nil
}

// list returns all values of a setting.
func (g *settingValue) list() []string {
	var out []string
	for text := range strings.SplitSeq(g.text, ",") {
		if text = strings.TrimSpace(text); text != "" {
			out = append(out, text)
		}
	}
	return out
}

var settings = []setting{
	{
		"listen", "SPOOL_LISTEN", "127.0.0.1:8080", "ADDR",
		"address to listen on; if others can reach it, requests need a token", false,
	},
	{"data", "SPOOL_DATA", "./spool-data", "DIR", "folder of the database; spool creates it", false},
	{"artifacts", "SPOOL_ARTIFACTS", "", "DIR", "folder of large files and results; all processes share it", false},
	{
		"database", "SPOOL_DATABASE", "", "URL", "PostgreSQL instead of a file: postgres://user:password@host:5432/name",
		false,
	},
	{
		"database-pool", "SPOOL_DATABASE_POOL", "16", "N", "how many connections to PostgreSQL this process opens at most",
		false,
	},
	{
		"database-timeout", "SPOOL_DATABASE_TIMEOUT", "15s", "TIME",
		"how long PostgreSQL may take to answer until a request fails with 503", false,
	},
	{
		"pooler", "SPOOL_POOLER", "false", "BOOL",
		"true: the URL is of PgBouncer in transaction mode, or of a pooler like it", false,
	},
	{
		"migrate", "SPOOL_MIGRATE", "true", "BOOL", "false: refuse a database whose schema is older (see spool migrate)",
		false,
	},
	{"role", "SPOOL_ROLE", "all", "ROLE", "all; or with --database: api serves requests, worker executes runs", false},
	{"config", "SPOOL_CONFIG", "", "FILE", "configuration in YAML; without one, spool uses the demo model", false},
	{"base-path", "SPOOL_BASE_PATH", "", "PATH", "prefix of all paths, such as /v1", false},
	{
		"cors-origin", "SPOOL_CORS_ORIGIN", "", "ORIGIN", "origin whose web pages may call the server; repeat it for several",
		true,
	},
	{"log-level", "SPOOL_LOG_LEVEL", "info", "LEVEL", "debug, info, warn or error", false},
	{"log-format", "SPOOL_LOG_FORMAT", "text", "FORMAT", "text or json", false},
	{
		"access-log", "SPOOL_ACCESS_LOG", "debug", "LEVEL",
		"level at which each request is logged: debug, info, warn or error", false,
	},
	{
		"metrics-addr", "SPOOL_METRICS_ADDR", "", "ADDR",
		"address of /metrics, which asks for SPOOL_METRICS_TOKEN if that is set", false,
	},
	{
		"metrics-hosts", "SPOOL_METRICS_HOSTS", "", "NAMES", "names under which /metrics without a token may be requested",
		false,
	},
	{
		"trace-contents", "SPOOL_TRACE_CONTENTS", "false", "BOOL",
		"true: spans contain prompts, answers, arguments and results", false,
	},
	{
		"trace-parents", "SPOOL_TRACE_PARENTS", "none", "WHO",
		"peers whose traceparent becomes the parent: none, all or addresses", false,
	},
	{
		"stream-takeover", "SPOOL_STREAM_TAKEOVER", "true", "BOOL",
		"false: event streams stay with net/http, for more than twice the memory", false,
	},
	{
		"shutdown-delay", "SPOOL_SHUTDOWN_DELAY", "0s", "TIME",
		"how long /readyz fails before the server stops accepting requests", false,
	},
	{
		"shutdown-timeout", "SPOOL_SHUTDOWN_TIMEOUT", "10s", "TIME",
		"how long requests, deliveries and the worker may then take to end", false,
	},
}

// flags are the flags and arguments of a command line.
type flags struct {
	options

	// named has the flags on the command line, and rest its arguments.
	named    map[string]bool
	operands []string
}

// serveFlags returns the flags of serve, with the values of their variables.
func serveFlags(h host) (*flag.FlagSet, map[string]*settingValue) {
	fs, values := flagsOf("serve", settings, h)
	fs.Bool("accept-loss", false, "")
	return fs, values
}

// flagsOf returns the flags of a command that has some of the settings. All others have their defaults, whatever
// their variables are.
func flagsOf(command string, has []setting, h host) (*flag.FlagSet, map[string]*settingValue) {
	fs := flag.NewFlagSet(command, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	values := make(map[string]*settingValue, len(settings))
	for _, s := range settings {
		values[s.flag] = &settingValue{setting: s, text: s.value, fresh: true}
	}
	for _, s := range has {
		if set, _ := h.lookup(s.env); set != "" {
			values[s.flag].text = set
		}
		fs.Var(values[s.flag], s.flag, "")
	}
	return fs, values
}

// parseMixed parses a command line whose flags stand before or behind its arguments, and returns the arguments. What
// follows "--" are arguments. It returns [flag.ErrHelp] or a usageError.
func parseMixed(fs *flag.FlagSet, args []string) (operands []string, err error) {
	var last []string
	if i := slices.Index(args, "--"); i >= 0 {
		args, last = args[:i], args[i+1:]
	}
	for ; ; args = fs.Args()[1:] {
		switch err := fs.Parse(args); {
		case errors.Is(err, flag.ErrHelp):
			return nil, err
		case err != nil:
			return nil, &usageError{err}
		case fs.NArg() == 0:
			return append(operands, last...), nil
		}
		operands = append(operands, fs.Arg(0))
	}
}

// parseFlags reads the flags of serve. A flag overrides its variable, and an empty variable counts as not
// set. If the value of a flag is wrong, parseFlags still reads the others.
func parseFlags(help string, args []string, h host) (flags, error) {
	fs, values := serveFlags(h)
	return parseSome(fs, values, help, args, h)
}

// parseSome does the same for the flags of [flagsOf].
func parseSome(fs *flag.FlagSet, values map[string]*settingValue, help string, args []string, h host) (flags, error) {
	f := flags{named: make(map[string]bool)}
	var err error
	if f.operands, err = parseMixed(fs, args); errors.Is(err, flag.ErrHelp) {
		_, err = io.WriteString(h.stdout, help)
		err = cmp.Or(err, errHelp)
	}
	if err != nil {
		return flags{}, err
	}
	fs.Visit(func(each *flag.Flag) { f.named[each.Name] = true })
	f.options = options{
		listen: values["listen"].text, data: values["data"].text, config: values["config"].text,
		format:    values["log-format"].text,
		artifacts: values["artifacts"].text,
		base:      strings.TrimRight(values["base-path"].text, "/"),
		database:  database{url: values["database"].text}, role: values["role"].text,
		origins: values["cors-origin"].list(), metrics: values["metrics-addr"].text,
	}
	if loss := fs.Lookup("accept-loss"); loss != nil {
		f.acceptLoss = loss.Value.String() == "true"
	}
	f.scraping, err = readMetricsAccess(f.metrics, values["metrics-hosts"].text, h.lookup)
	return f, errors.Join(f.check(), f.read(values), err)
}

// check returns everything that is wrong with the text flags. It clears wrong values that a setup uses,
// so that they are not reported twice.
func (o *options) check() error {
	var wrong []error
	problemf := func(format string, args ...any) { wrong = append(wrong, usagef(format, args...)) }
	if !isAddress(o.listen) {
		problemf("--listen: %q must have the form host:port", o.listen)
	}
	if o.data == "" {
		problemf("--data: is empty")
	}
	wrong = append(wrong, o.database.check(), o.checkRole())
	if o.metrics != "" && !isAddress(o.metrics) {
		problemf("--metrics-addr: %q must have the form host:port", o.metrics)
	}
	if err := rest.CheckBasePath(o.base); err != nil {
		_, reason, _ := strings.Cut(err.Error(), ": ")
		problemf(`--base-path: %q must be a path such as "/v1": %s`, o.base, reason)
		o.base = ""
	}
	o.origins = slices.DeleteFunc(o.origins, func(origin string) bool {
		if config.IsOrigin(origin) || origin == "*" {
			return false
		}
		problemf(`--cors-origin: %q must have the form "https://host" or "https://host:port"`, origin)
		return true
	})
	if o.format != "text" && o.format != "json" {
		problemf("--log-format: %q must be text or json", o.format)
	}
	return errors.Join(wrong...)
}

// isAddress reports whether text has the form host:port with a possible port.
func isAddress(text string) bool {
	_, port, err := net.SplitHostPort(text)
	if err == nil {
		// looked up on this machine, without the network
		_, err = net.DefaultResolver.LookupPort(context.Background(), "tcp", port)
	}
	return err == nil
}

// read parses the flags that are not plain text, and returns everything that is wrong with them.
func (o *options) read(values map[string]*settingValue) error {
	var wrong []error
	problemf := func(format string, args ...any) { wrong = append(wrong, usagef(format, args...)) }
	for _, f := range []struct {
		name string
		into *slog.Level
	}{{"log-level", &o.level}, {"access-log", &o.access}} {
		level := values[f.name].text
		if !slices.Contains([]string{"debug", "info", "warn", "error"}, strings.ToLower(level)) {
			problemf("--%s: %q must be debug, info, warn or error", f.name, level)
		} else if err := f.into.UnmarshalText([]byte(level)); err != nil {
			problemf("--%s: %w", f.name, err)
		}
	}
	var err error
	if o.delay, err = time.ParseDuration(values["shutdown-delay"].text); err != nil || o.delay < 0 {
		problemf(`--shutdown-delay: %q must be a time such as "5s"`, values["shutdown-delay"].text)
	}
	if o.timeout, err = time.ParseDuration(values["shutdown-timeout"].text); err != nil || o.timeout <= 0 {
		problemf(`--shutdown-timeout: %q must be a time such as "30s"`, values["shutdown-timeout"].text)
	}
	if o.database.connections, err = strconv.Atoi(values["database-pool"].text); err != nil ||
		o.database.connections < 4 || o.database.connections > 1000 {
		problemf("--database-pool: %q must be a number from 4 to 1000", values["database-pool"].text)
	}
	if o.database.timeout, err = time.ParseDuration(values["database-timeout"].text); err != nil ||
		o.database.timeout < time.Second {
		problemf(`--database-timeout: %q must be a time such as "15s", of a second or more`, values["database-timeout"].text)
	}
	if o.database.pooler, err = strconv.ParseBool(values["pooler"].text); err != nil {
		problemf("--pooler: %q must be true or false", values["pooler"].text)
	}
	migrate, err := strconv.ParseBool(values["migrate"].text)
	if o.database.keepSchema = !migrate; err != nil {
		problemf("--migrate: %q must be true or false", values["migrate"].text)
	}
	if o.parents, err = readTraceParents(values["trace-parents"].text); err != nil {
		wrong = append(wrong, err)
	}
	if o.contents, err = strconv.ParseBool(values["trace-contents"].text); err != nil {
		problemf("--trace-contents: %q must be true or false", values["trace-contents"].text)
	}
	if o.takeover, err = strconv.ParseBool(values["stream-takeover"].text); err != nil {
		problemf("--stream-takeover: %q must be true or false", values["stream-takeover"].text)
	}
	return errors.Join(wrong...)
}

// file returns the path of the database in the data folder, for messages to people.
func (o *options) file() string { return filepath.Join(o.data, databaseName) }

// loopback reports whether only this machine can reach the address to listen on.
func (o *options) loopback() bool { return loopbackAddress(o.listen) }

// loopbackAddress reports whether only this machine can reach an address of the form host:port.
func loopbackAddress(address string) bool {
	name, _, _ := net.SplitHostPort(address)
	if name == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(name)
	return err == nil && ip.Unmap().IsLoopback()
}

// logger returns the log of the command, which goes to stderr.
func (o *options) logger(w io.Writer) *slog.Logger {
	handler := &slog.HandlerOptions{Level: o.level}
	if o.format == "json" {
		return slog.New(traced{slog.NewJSONHandler(w, handler)})
	}
	return slog.New(traced{slog.NewTextHandler(w, handler)})
}

func migrateHelp() string {
	var b strings.Builder
	b.WriteString(`Bring the schema of a PostgreSQL database up to date, and start nothing. Servers of this
version and of the one before may run meanwhile. Several at once wait for each other.

Usage:

  spool migrate --database URL

The flags are those of serve, each with its environment variable and its default:

`)
	writeSettings(&b, settings)
	return b.String()
}

// writeSettings writes a list of flags with a variable.
func writeSettings(b *strings.Builder, list []setting) {
	for _, s := range list {
		value := s.value
		if value == "" {
			value = "none"
		}
		fmt.Fprintf(b, "  --%-19s %s\n  %-21s %s, default %s\n", s.flag+" "+s.arg, s.help, "", s.env, value)
	}
}

func serveHelp() string {
	var b strings.Builder
	b.WriteString(`Serve the HTTP API and execute runs, over one SQLite file. With --database any number of
processes share a PostgreSQL: each does both, or serves (--role api), or works (--role worker).

Usage:

  spool serve [flags]

Flags, each with its environment variable and its default:

`)
	writeSettings(&b, settings)
	b.WriteString(`  --accept-loss         open a database that lost its log or another part, with what is left
                        for one start; there is no variable

The configuration has more settings: credentials ("auth"), limits of callers ("limits"),
limits of a run ("budget"), prices of models ("prices"), and the addresses that tools may
reach ("egress"). docs/operations/running.md lists them.

Examples:

  spool serve
  OPENAI_API_KEY=... spool serve --config spool.yaml
  SPOOL_TOKEN=... spool serve --listen 0.0.0.0:8080
  SPOOL_DATABASE=postgres://... spool serve --role worker --listen 127.0.0.1:8081

If the configuration has no "auth.tokens", every request needs the token in SPOOL_TOKEN.
Without that variable, a server that other machines can reach generates a token and prints
it. Do not put a proxy in front of a server without tokens: everybody who reaches the proxy
could use it.

After SIGTERM or SIGINT the server hands its runs back, ends event streams and exits with 0.
A second signal ends it at once. The exit code is 1 when serving failed, and 2 when a flag or
the configuration is wrong; in that case nothing was written.
`)
	return b.String()
}
