package command

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// writeConfig writes a configuration and returns its path.
func writeConfig(t *testing.T, text string) string {
	t.Helper()

	path := filepath.Join(t.TempDir(), "spool.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A configuration with nothing wrong is told with what it comes to, and nothing is made.
func TestCheckConfiguration(t *testing.T) {
	t.Parallel()

	file := writeConfig(t, `
models: {local: {provider: openai, base_url: "http://127.0.0.1:9/v1", api_key: "${KEY}", model: qwen3}}
agents: {helper: {model: local, tools: [send]}}
tools: {send: {type: http, url: "http://127.0.0.1:9/", approval: true}}
auth: {tokens: [{token: "${TOKEN}", scopes: [read]}]}
cors: {origins: ["http://localhost:5173"]}
`)
	data := filepath.Join(t.TempDir(), "data")
	env := map[string]string{"KEY": "sk-secret-key", "TOKEN": "a-secret-token-of-all", "SPOOL_DATA": data}
	const want = `
models    local (qwen3 at 127.0.0.1:9)
agents    helper
tools     send (asks first)
auth      bearer tokens
cors      http://localhost:5173
problems  none
`
	for _, args := range [][]string{
		{"check", file},
		{"check", "--config", file},
		{"check", "--listen", "0.0.0.0:1", "--config=" + file},
	} {
		got := command(env, args...)
		if got.code != exitOK || got.stdout != "config    "+file+want || got.stderr != "" {
			t.Errorf("%v: %+v", args, got)
		}
	}
	if _, err := os.Stat(data); !os.IsNotExist(err) {
		t.Errorf("the data folder was made: %v", err)
	}
}

// All that is wrong is told at once: flags, the environment, the file and variables that it
// names, with exit code 2.
func TestCheckTellsAll(t *testing.T) {
	t.Parallel()

	file := writeConfig(t, `models:
  m: {provider: openai, api_key: "${NO_KEY}", model: x}
agents:
  a: {model: n, provider_options: [stream]}
auth: {tokens: [{token: "${NO_TOKEN}", scopes: [read]}]}
limits: {lease: x}
`)
	data := filepath.Join(t.TempDir(), "data")
	got := command(map[string]string{"SPOOL_DATA": data, "OTEL_TRACES_EXPORTER": "zipkin"}, "check", file, "--log-level",
		"loud")
	want := `spool: --log-level: "loud" must be debug, info, warn or error
spool: FILE:2: models.m.api_key: the environment variable NO_KEY is not set; ${NO_KEY:-} allows that
spool: FILE:4: agents.a.model: there is no model "n"
spool: FILE:4: agents.a.provider_options[0]: is a field that the engine sets
spool: FILE:5: auth.tokens[0].token: the environment variable NO_TOKEN is not set; ${NO_TOKEN:-} allows that
spool: FILE:6: limits.lease: must be a duration such as "500ms", "30s" or "15m"
spool: OTEL_TRACES_EXPORTER: "zipkin" must be otlp, console, none
Run "spool check --help" for usage.
`
	if got.code != exitUsage || got.stdout != "" || strings.ReplaceAll(got.stderr, file, "FILE") != want {
		t.Errorf("code %d, stdout %q, stderr\n%s\nwant\n%s", got.code, got.stdout, got.stderr, want)
	}
	if _, err := os.Stat(data); !os.IsNotExist(err) {
		t.Errorf("the data folder was made: %v", err)
	}
}

// Each flag that is wrong is told, once, and in the words of the command line.
func TestCheckTellsAllFlags(t *testing.T) {
	t.Parallel()

	got := command(map[string]string{"SPOOL_ACCESS_LOG": "loud"}, "check", "--listen", "localhost:99999", "--base-path",
		"v1", "--cors-origin", "app",
		"--cors-origin", "https://app.example/", "--log-level", "quiet", "--metrics-addr", ":http!", "--trace-contents", "x")
	want := `spool: --listen: "localhost:99999" must have the form host:port
spool: --metrics-addr: ":http!" must have the form host:port
spool: --base-path: "v1" must be a path such as "/v1": it has to begin with a slash: /v1
spool: --cors-origin: "app" must have the form "https://host" or "https://host:port"
spool: --cors-origin: "https://app.example/" must have the form "https://host" or "https://host:port"
spool: --log-level: "quiet" must be debug, info, warn or error
spool: --access-log: "loud" must be debug, info, warn or error
spool: --trace-contents: "x" must be true or false
Run "spool check --help" for usage.
`
	if got.code != exitUsage || got.stdout != "" || got.stderr != want {
		t.Errorf("code %d, stdout %q, stderr\n%s\nwant\n%s", got.code, got.stdout, got.stderr, want)
	}
}

// A budget of money needs a price of each model that its runs can reach. The file can have prices of its own.
func TestCheckPrices(t *testing.T) {
	t.Parallel()

	const models = "models: {m: {provider: openai, model: gpt-5}, local: {provider: openai, model: qwen3, base_url: \"http://127.0.0.1:9/v1\"}}\n" +
		"agents: {a: {model: m, fallbacks: [local]}, b: {model: m}}\n"
	const refusal = `spool: Config.Agents: agent "a": costBudgetMicros cannot be kept, because the model "local" has no price: ` +
		"set prices.local, or budget.unpriced to allow\n"
	for name, c := range map[string]struct{ text, refusal string }{
		"unknown":   {"prices: builtin\nbudget: {cost_micros: 1000}", refusal},
		"most":      {"prices: {x: {input: 1, output: 1}}\nbudget: {most: {cost_micros: 1000}}", refusal},
		"own":       {"prices: {local: {input: 0, output: 0}}\nbudget: {cost_micros: 1000}", ""},
		"allowed":   {"prices: builtin\nbudget: {cost_micros: 1000, unpriced: allow}", ""},
		"no budget": {"prices: builtin", ""},
		"no such file": {
			"prices: none.json",
			"spool: FILE:3: prices: the price table cannot be read: open FOLDER/none.json: no such file or directory\n",
		},
	} {
		file := writeConfig(t, models+c.text)
		got := command(nil, "check", file)
		text := strings.ReplaceAll(strings.ReplaceAll(got.stderr, file, "FILE"), filepath.Dir(file), "FOLDER")
		if want := c.refusal; !strings.HasPrefix(text, want) || (want == "") != (got.code == exitOK) {
			t.Errorf("%s: code %d, %s", name, got.code, text)
		}
	}
}

// A key with the end of its line, as files with secrets have it, is found before a provider is asked.
func TestCheckKey(t *testing.T) {
	t.Parallel()

	file := writeConfig(t,
		"models:\n  m:\n    {provider: openai, model: x, api_key: \"${KEY}\"}\nagents: {a: {model: m}}\n")
	got := command(map[string]string{"KEY": "sk-secret\n"}, "check", file)
	if got.code != exitUsage || !strings.Contains(
		got.stderr, ":3: models.m.api_key: must not have spaces or line breaks\n",
	) || strings.Contains(got.stderr, "sk-secret") {
		t.Errorf("%+v", got)
	}
}

// What would keep every run from its first step is found before: a base URL with the path that requests add, and an MCP
// server whose program is not there. A server starts anyway without the program, as without any other MCP server.
func TestCheckUnreachable(t *testing.T) {
	t.Parallel()

	file := writeConfig(t, `models:
  a: {provider: openai, model: x, base_url: "http://127.0.0.1:1/v1/chat/completions"}
  b: {provider: responses, model: x, base_url: "http://127.0.0.1:1/v1/responses/"}
  c: {provider: anthropic, model: x, base_url: "http://127.0.0.1:1/v1/messages"}
  d: {provider: gemini, model: x, base_url: "http://127.0.0.1:1/v1beta/models"}
agents: {a: {model: a}}
`)
	got := command(nil, "check", file)
	const urls = `spool: FILE:2: models.a.base_url: must not end in /chat/completions, which each request adds
spool: FILE:3: models.b.base_url: must not end in /responses, which each request adds
spool: FILE:4: models.c.base_url: must not end in /v1/messages, which each request adds
spool: FILE:5: models.d.base_url: must not end in /v1beta/models, which each request adds
`
	if !strings.HasPrefix(strings.ReplaceAll(got.stderr, file, "FILE"), urls) || got.code != exitUsage {
		t.Errorf("%+v", got)
	}

	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "server"), nil, 0o700); err != nil {
		t.Fatal(err)
	}
	file = writeConfig(t, `models: {m: {provider: demo}}
agents: {a: {model: m, mcp: {gone: {}, there: {}, other: {}, away: {}}}}
mcp:
  gone: {command: [a-program-of-nobody, --x]}
  there: {command: [sh]}
  other: {command: [./server], dir: "`+dir+`"}
  away: {command: [a-program-of-nobody], optional: true}
`)
	got = command(nil, "check", file)
	const program = `spool: FILE:4: mcp.gone: there is no program "a-program-of-nobody" here; optional: true allows that
Run "spool check --help" for usage.
`
	if strings.ReplaceAll(got.stderr, file, "FILE") != program || got.code != exitUsage {
		t.Errorf("%+v", got)
	}
	if got := command(nil, "check", file, "--role", "api", "--database", "postgres://localhost/x"); got.code != exitOK {
		t.Errorf("a process that starts no programs: %+v", got)
	}
}

// A variable that nobody reads and whose name is close to one of ours is misspelled: serve and check
// say so. What a cluster tells its containers is not, nor what the configuration names.
func TestMisspelledVariables(t *testing.T) {
	t.Parallel()

	file := writeConfig(t,
		"models: {m: {provider: openai, model: x, api_key: \"${SPOOL_TOKENS}\"}}\nagents: {a: {model: m}}\n")
	env := map[string]string{
		"SPOOL_CORS_ORIGINS": "https://app.example", "SPOOL_LOGLEVEL": "debug", "SPOOL_TOKENS": "sk", "SPOOL_URL": "http://x",
		"SPOOL_LISTEN": "127.0.0.1:0", "SPOOL_SERVICE_HOST": "10.0.0.1", "SPOOL_SERVICE_PORT": "8080",
		"SPOOL_PORT": "tcp://10.0.0.1:8080", "SPOOL_PORT_8080_TCP": "tcp://10.0.0.1:8080",
		"SPOOL_PORT_8080_TCP_ADDR": "10.0.0.1", "SPOOL_VERSION": "1", "SPOOL_HOST": "x", "SPOOL_": "x", "SPOOLER_DATA": "x",
		"SPOOL_data": "x", "SPOOL_TOKEN": "a-secret-token-of-all",
	}
	const unread = `
unread    the variable SPOOL_CORS_ORIGINS; there is SPOOL_CORS_ORIGIN
unread    the variable SPOOL_LOGLEVEL; there is SPOOL_LOG_LEVEL
unread    the variable SPOOL_data; there is SPOOL_DATA
problems  none
`
	if got := command(env, "check", file); got.code != exitOK || !strings.HasSuffix(got.stdout, unread) ||
		strings.Count(got.stdout, "unread") != 3 {
		t.Errorf("%+v", got)
	}
	env["SPOOL_DATA"] = t.TempDir()
	got := command(env, "serve", "--config", file)
	if got.code != exitOK || strings.Count(got.stderr, "unknown environment variable") != 3 ||
		!strings.Contains(got.stderr, "variable=SPOOL_CORS_ORIGINS known=SPOOL_CORS_ORIGIN") {
		t.Errorf("%+v", got)
	}
}

// A folder may be named as a file is.
func TestCheckFolder(t *testing.T) {
	t.Parallel()

	data := t.TempDir()
	p := start(t, data)
	if got := command(nil, "check", data); got.code != exitOK ||
		!strings.HasPrefix(got.stdout, "database  "+filepath.Join(data, databaseName)) {
		t.Errorf("%+v", got)
	}
	p.get(t, "/healthz")
	if got := command(nil, "check", t.TempDir()); got.code != exitFailure ||
		!strings.Contains(got.stderr, "there is no database") {
		t.Errorf("%+v", got)
	}
}

// Without a name, check looks at both.
func TestCheckBoth(t *testing.T) {
	t.Parallel()

	data := t.TempDir()
	p := start(t, data)
	env := map[string]string{"SPOOL_DATA": data}
	got := command(env, "check")
	if got.code != exitOK || !strings.HasPrefix(got.stdout, "config    none, which is the demo\n") ||
		!strings.Contains(got.stdout, "a server has it open") {
		t.Errorf("%+v", got)
	}
	p.get(t, "/healthz")
	env["SPOOL_DATA"] = filepath.Join(data, "missing")
	if got := command(env, "check"); got.code != exitFailure || !strings.Contains(got.stderr, "there is no database") {
		t.Errorf("a database that the environment names: %+v", got)
	}
}

// A database that nobody named need not be there yet.
func TestCheckNowhere(t *testing.T) {
	t.Parallel()

	got := command(nil, "check")
	if got.code != exitOK || !strings.HasSuffix(got.stdout, "problems  none\ndatabase  none yet in ./spool-data\n") {
		t.Errorf("%+v", got)
	}
}

func TestSchemaCommand(t *testing.T) {
	t.Parallel()

	got := command(nil, "schema")
	committed, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "spec", "config.schema.json"))
	if err != nil || got.code != exitOK || got.stdout != string(committed) || !json.Valid([]byte(got.stdout)) {
		t.Errorf("code %d, %v", got.code, err)
	}
	if got := command(nil, "schema", "x"); got.code != exitUsage {
		t.Errorf("%+v", got)
	}
	if got := command(nil, "schema", "--help"); got.code != exitOK ||
		!strings.Contains(got.stdout, "yaml-language-server") {
		t.Errorf("%+v", got)
	}
}

// Each flag of serve has a variable of its name, but for those that are for one start.
func TestEachFlagHasItsVariable(t *testing.T) {
	t.Parallel()

	oneStart := []string{"accept-loss"}
	known := map[string]string{}
	for _, s := range settings {
		known[s.flag] = s.env
	}
	flagSet, _ := serveFlags(host{lookup: func(string) (string, bool) { return "", false }})
	flagSet.VisitAll(func(f *flag.Flag) {
		want := "SPOOL_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		if known[f.Name] != want && !slices.Contains(oneStart, f.Name) {
			t.Errorf("--%s has the variable %q, not %s", f.Name, known[f.Name], want)
		}
	})
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", "operations", "running.md"))
	if err != nil {
		t.Fatal(err)
	}
	for name, env := range known {
		if !strings.Contains(string(page), "| `--"+name+"` | `"+env+"` |") {
			t.Errorf("docs/operations/running.md has no row for --%s and %s", name, env)
		}
	}
}
