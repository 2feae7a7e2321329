package command

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/spoolhq/spool/internal/testing/pgtest"
	"github.com/spoolhq/spool/wire"
)

// cluster starts processes over one new database: an API node, and two workers. hire starts one more.
func cluster(t *testing.T) (api *process, workers []*process, hire func() *process) {
	t.Helper()

	database := []string{"SPOOL_DATABASE=" + pgtest.Database(t, nil), "SPOOL_DATABASE_POOL=6"}
	hire = func() *process { return startWith(t, database, t.TempDir(), "--role", "worker") }
	return startWith(t, database, t.TempDir(), "--role", "api"), []*process{hire(), hire()}, hire
}

// stateOf returns the state of a thread.
func (p *process) stateOf(t *testing.T, thread string) wire.State {
	t.Helper()

	var snapshot wire.Snapshot
	if err := json.Unmarshal([]byte(p.get(t, "/api/agent/history?threadId="+thread)), &snapshot); err != nil {
		t.Fatal(err)
	}
	return snapshot.Thread.State
}

// The processes of a cluster each do their part: a client of the API node sees a run to its end, which a worker
// hands over when it is told to end.
func TestRoles(t *testing.T) {
	t.Parallel()

	api, workers, hire := cluster(t)
	if got := api.get(t, "/readyz"); strings.Contains(got, "worker") || !strings.Contains(got, `"store":"ok"`) {
		t.Errorf("the API node is ready with %s", got)
	}
	for _, w := range workers {
		if got := w.get(t, "/readyz"); !strings.Contains(got, `"worker":"ok"`) {
			t.Errorf("a worker is ready with %s", got)
		}
		if got := w.get(t, "/api/threads"); !strings.Contains(got, "it serves only the probes") {
			t.Errorf("a worker answers %s", got)
		}
	}
	api.post(t, "/api/agent/run", `{"threadId":"t1","runId":"r1","prompt":"slow 20"}`)
	var w watcher
	w.watch(t, api, items(4))
	hire()
	for _, w := range workers { // one of them has the run
		if code := w.signal(t, syscall.SIGTERM); code != exitOK {
			t.Errorf("a worker exits with %d", code)
		}
	}
	w.watch(t, api, hasCompleted)
	gapless(t, w.frames)
	completed(t, api)
}

// A start outlives its API node, and a second node serves what the first one accepted.
func TestRolesSecondAPI(t *testing.T) {
	t.Parallel()

	database := []string{"SPOOL_DATABASE=" + pgtest.Database(t, nil), "SPOOL_DATABASE_POOL=6"}
	first := startWith(t, database, t.TempDir(), "--role", "api")
	first.post(t, "/api/agent/run", `{"threadId":"t1","runId":"r1","prompt":"hello"}`)
	first.signal(t, syscall.SIGKILL)
	second := startWith(t, database, t.TempDir(), "--role", "api")
	if got := second.stateOf(t, "t1"); got != wire.Queued {
		t.Errorf("without a worker the thread is %s", got)
	}
	startWith(t, database, t.TempDir(), "--role", "worker")
	var w watcher
	w.watch(t, second, hasCompleted)
	completed(t, second)
}

// A node that serves the API over a database which others may share says so if they could not check its tokens.
func TestTokenKeysOfNodes(t *testing.T) {
	t.Parallel()

	const warning = "set auth.stream_token_keys"
	database := "SPOOL_DATABASE=" + pgtest.Database(t, nil)
	const token = "SPOOL_TOKEN=" + clusterToken
	keys := filepath.Join(t.TempDir(), "spool.yaml")
	const text = "auth: {tokens: [{token: " + clusterToken +
		", scopes: [read]}], stream_token_keys: [0123456789abcdef0123456789abcdef]}\n"
	if err := os.WriteFile(keys, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		env  []string
		args []string
		want bool
	}{
		"Shared":   {[]string{database, token}, nil, true},
		"API":      {[]string{database, token}, []string{"--role", "api"}, true},
		"Worker":   {[]string{database, token}, []string{"--role", "worker"}, false},
		"Keys":     {[]string{database}, []string{"--config", keys}, false},
		"File":     {[]string{token}, nil, false},
		"NoTokens": {[]string{database}, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p := startWith(t, append(test.env, "SPOOL_DATABASE_POOL=4"), t.TempDir(), test.args...)
			p.signal(t, syscall.SIGTERM)
			if got := strings.Contains(p.stderr.String(), warning); got != test.want {
				t.Errorf("it warns: %t, want %t", got, test.want)
			}
		})
	}
}

// A process that cannot do what its role says does not start, and says why. No message has the password.
func TestRoleUsage(t *testing.T) {
	t.Parallel()

	const secret = "s3cret"
	for want, args := range map[string][]string{
		`--role: "boss" must be all, api or worker`:              {"serve", "--role", "boss"},
		"--role api: needs --database":                           {"serve", "--role", "api"},
		`--database: it must be a URL such as "postgres://`:      {"serve", "--database", "mysql://u:" + secret + "@h/d"},
		"--database: it must be a URL such as":                   {"serve", "--database", "postgres://u:" + secret + "@h"},
		`--database-pool: "2" must be a number from 4 to 1000`:   {"serve", "--database-pool", "2"},
		`--database-timeout: "9ms" must be a time such as "15s"`: {"serve", "--database-timeout", "9ms"},
		`--pooler: "maybe" must be true or false`:                {"serve", "--pooler", "maybe"},
		`--migrate: "maybe" must be true or false`:               {"serve", "--migrate", "maybe"},
		`--shutdown-timeout: "0s" must be a time such as "30s"`:  {"serve", "--shutdown-timeout", "0s"},
		"migrate needs --database":                               {"migrate"},
		`migrate takes no argument, but there is "now"`:          {"migrate", "now"},
	} {
		got := command(nil, args...)
		if got.code != exitUsage || !strings.Contains(got.stderr, want) || strings.Contains(got.stderr, secret) {
			t.Errorf("%v: %+v, want %q", args, got, want)
		}
	}
	got := command(nil, "migrate", "--database", "postgres://u:"+secret+"@127.0.0.1:1/d")
	if got.code != exitFailure || !strings.Contains(got.stderr, "migrate postgres://127.0.0.1:1/d") ||
		strings.Contains(got.stderr, secret) {
		t.Errorf("a database that is away: %+v", got)
	}
}
