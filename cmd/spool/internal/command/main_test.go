package command

import (
	"bytes"
	"context"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spoolhq/spool/internal/testing/pgtest"
)

// asCommand is the variable that has the test binary be the command itself.
const asCommand = "SPOOL_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, nil)).With(loggedAround, true))
		os.Exit(Run())
	}
	os.Exit(pgtest.Run(m))
}

// loggedAround is in what a command logs with the default logger, and so around the configured one.
const loggedAround = "logged_around"

// result is what a command line came to.
type result struct {
	code           int
	stdout, stderr string
}

// command executes a command line. One that serves is told to end once it has said so.
func command(env map[string]string, args ...string) result {
	var stderr bytes.Buffer
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	stdout := untilServes{end: cancel}
	code := run(ctx, args, host{&stdout, &stderr, func(name string) (string, bool) {
		v, ok := env[name]
		return v, ok
	}, func() []string {
		var all []string
		for name, v := range env {
			all = append(all, name+"="+v)
		}
		return all
	}, strings.NewReader("")})
	return result{code, stdout.text.String(), stderr.String()}
}

// untilServes keeps what a command prints, and ends the command after the last line of the
// banner.
type untilServes struct {
	text bytes.Buffer
	end  context.CancelFunc
}

// Write implements [io.Writer].
func (u *untilServes) Write(b []byte) (int, error) {
	n, err := u.text.Write(b)
	if strings.Contains(u.text.String(), lastOfBanner) {
		u.end()
	}
	return n, err
}

func TestHelp(t *testing.T) {
	t.Parallel()

	for _, args := range [][]string{{}, {"help"}, {"--help"}, {"-h"}} {
		if got := command(nil, args...); got.code != 0 || !strings.Contains(got.stdout, "spool serve [flags]") {
			t.Errorf("%v: %+v", args, got)
		}
	}
}

func TestServeHelp(t *testing.T) {
	t.Parallel()

	got := command(map[string]string{"SPOOL_DATA": "elsewhere"}, "serve", "--help")
	if got.code != 0 || got.stderr != "" {
		t.Fatalf("%+v", got)
	}
	for _, s := range settings {
		for _, want := range []string{"--" + s.flag, s.env, s.help} {
			if !strings.Contains(got.stdout, want) {
				t.Errorf("the help lacks %q", want)
			}
		}
	}
	for line := range strings.Lines(got.stdout) {
		if len(line) > 100 {
			t.Errorf("a line of the help is too long: %s", line)
		}
	}
}

// What is wrong with flags or the configuration is told with exit code 2, and nothing has
// been made.
func TestServeRefuses(t *testing.T) {
	t.Parallel()

	const demoAgent = "models: {m: {provider: demo}}\nagents: {a: {model: m}}\n"
	for name, c := range map[string]struct {
		args   []string
		env    map[string]string
		config string
		want   string
	}{
		"Command":  {args: []string{"srve"}, want: "spool: there is no command \"srve\"\nRun \"spool help\" for usage."},
		"Flag":     {args: []string{"serve", "--lisen", "x"}, want: "spool: flag provided but not defined: -lisen"},
		"Argument": {args: []string{"serve", "x"}, want: `spool: serve takes no argument, but there is "x"`},
		"Listen": {
			args: []string{"serve", "--listen", "8080"}, want: `spool: --listen: "8080" must have the form host:port`,
		},
		"OwnToken": {
			args: []string{"serve"},
			env:  map[string]string{"SPOOL_TOKEN": "two words"},
			want: "spool: SPOOL_TOKEN: must not have spaces",
		},
		"Level": {
			args: []string{"serve", "--log-level", "loud"},
			want: `spool: --log-level: "loud" must be debug, info, warn or error`,
		},
		"Format": {
			args: []string{"serve"},
			env:  map[string]string{"SPOOL_LOG_FORMAT": "xml"},
			want: `spool: --log-format: "xml" must be text or json`,
		},
		"AccessLog": {
			args: []string{"serve", "--access-log", "off"},
			want: `spool: --access-log: "off" must be debug, info, warn or error`,
		},
		"Metrics": {
			args: []string{"serve", "--metrics-addr", "9464"},
			want: `spool: --metrics-addr: "9464" must have the form host:port`,
		},
		"MetricsHosts": {
			args: []string{"serve", "--metrics-hosts", "a.example:9464"},
			want: `spool: --metrics-hosts: "a.example:9464" must be a name without a port, or several with commas between them`,
		},
		"MetricsToken": {
			args: []string{"serve"},
			env:  map[string]string{"SPOOL_METRICS_TOKEN": "hunter2"},
			want: "spool: SPOOL_METRICS_TOKEN: is shorter than 16 characters",
		},
		"Parents": {
			args: []string{"serve", "--trace-parents", "10.0.0.0/8,mesh"},
			want: `spool: --trace-parents: "10.0.0.0/8,mesh" must be none, all, or addresses and ranges such as "127.0.0.1,10.0.0.0/8"`,
		},
		"Contents": {
			args: []string{"serve", "--trace-contents", "some"}, want: `spool: --trace-contents: "some" must be true or false`,
		},
		"Delay": {
			args: []string{"serve", "--shutdown-delay", "-1s"},
			want: `spool: --shutdown-delay: "-1s" must be a time such as "5s"`,
		},
		"Exporter": {
			args: []string{"serve"},
			env:  map[string]string{"OTEL_TRACES_EXPORTER": "zipkin"},
			want: `spool: OTEL_TRACES_EXPORTER: "zipkin" must be otlp, console, none`,
		},
		"Protocol": {
			args: []string{"serve"},
			env:  map[string]string{"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
			want: `spool: OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" must be http/protobuf`,
		},
		"Data": {args: []string{"serve", "--data", ""}, want: "spool: --data: is empty"},
		"NoConfig": {
			args: []string{"serve", "--config", "/nowhere/spool.yaml"},
			want: "spool: open /nowhere/spool.yaml: no such file or directory",
		},
		"Config": {
			args: []string{"serve"}, config: "modls: {}\nlimits: {lease: x}",
			want: "spool: FILE:1: modls: unknown field; there are models, agents, tools, mcp, auth, server, egress, cors, queue, limits, context, budget, prices, artifacts, sign_in, webhooks, schedules\nspool: FILE:2: limits.lease: must be a duration such as \"500ms\", \"30s\" or \"15m\"",
		},
		"OpenOrigin": {
			args: []string{"serve"}, config: demoAgent + `cors: {origins: ["*"]}`,
			want: `spool: FILE:3: cors.origins[0]: "*" needs auth.tokens, as every web page could use the server`,
		},
		"NoPrices": {
			args: []string{"serve"}, config: demoAgent + "prices: /nowhere/prices.json",
			want: "spool: FILE:3: prices: the price table cannot be read: open /nowhere/prices.json: no such file or directory",
		},
		"NotASchema": {
			args: []string{"serve"}, config: demoAgent + "tools:\n  x: {type: http, url: 'http://h/', parameters: {type: 7}}",
			want: "spool: FILE:4: tools.x.parameters.type: invalid value for \"type\": \"7\"",
		},
		"ShortSecret": {
			args:   []string{"serve"},
			config: "queue:\n  verify:\n    webhook: {secrets: [whsec_aHVudGVyMg==]}\n    secret: {secrets: [hunter2]}",
			want:   "spool: FILE:3: queue.verify.webhook: secrets[0] must have 24 bytes or more\nspool: FILE:4: queue.verify.secret: secrets[0] must be visible ASCII, 16 characters or more",
		},
		"NoKeys": {
			args: []string{"serve"}, config: "queue: {verify: {qstash: {url: 'https://a.example/'}}}",
			want: "spool: FILE:1: queue.verify.qstash: current_key or next_key is required",
		},
		"NoEmail": {
			args: []string{"serve"}, config: "queue: {verify: {google: {audience: a, service_accounts: [tasks]}}}",
			want: "spool: FILE:1: queue.verify.google: service_accounts[0] must be an email address",
		},
		"TokenMissing": {
			args: []string{"serve"}, config: "auth: {tokens: [{token: '${NO_TOKEN}', scopes: [read]}]}",
			want: "spool: FILE:1: auth.tokens[0].token: the environment variable NO_TOKEN is not set; ${NO_TOKEN:-} allows that",
		},
		"EnvironmentOK": {
			args: []string{"serve"}, env: map[string]string{"T": "x y"},
			config: "auth: {tokens: [{token: '${T}', scopes: [read]}]}",
			want:   "spool: FILE:1: auth.tokens[0].token: must not have spaces",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			dir := t.TempDir()
			env := map[string]string{"SPOOL_DATA": filepath.Join(dir, "data")}
			maps.Copy(env, c.env)
			if c.config != "" {
				file := filepath.Join(dir, "spool.yaml")
				if err := os.WriteFile(file, []byte(c.config), 0o600); err != nil {
					t.Fatal(err)
				}
				env["SPOOL_CONFIG"] = file
				c.want = strings.ReplaceAll(c.want, "FILE", file)
			}
			got := command(env, c.args...)
			if got.code != exitUsage || got.stdout != "" || !strings.HasPrefix(got.stderr, c.want) {
				t.Errorf("code %d, stdout %q, stderr\n%s\nwant\n%s", got.code, got.stdout, got.stderr, c.want)
			}
			if _, err := os.Stat(filepath.Join(dir, "data")); !os.IsNotExist(err) {
				t.Errorf("the data folder was made: %v", err)
			}
		})
	}
}

// refused returns what serve says of a configuration that it refuses, with FILE for the
// file's name.
func refused(t *testing.T, text string) string {
	t.Helper()

	dir := t.TempDir()
	file := filepath.Join(dir, "spool.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	got := command(map[string]string{"SPOOL_DATA": filepath.Join(dir, "data"), "SPOOL_CONFIG": file}, "serve")
	if got.code != exitUsage {
		t.Fatalf("%+v", got)
	}
	return strings.ReplaceAll(got.stderr, file, "FILE")
}
