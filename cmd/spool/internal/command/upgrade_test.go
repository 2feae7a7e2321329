package command

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/spoolhq/spool/internal/testing/inputs"
	"github.com/spoolhq/spool/internal/testing/pgtest"
	"github.com/spoolhq/spool/wire"
)

// nextBinary builds the binary of the next version, whose schema has one step more.
func nextBinary(t *testing.T) string {
	t.Helper()

	inputs.Read(t, "backend", "cmd/spool")
	path := filepath.Join(t.TempDir(), "spool-next")
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-buildvcs=false", "-tags", "spool_next_schema",
		"-o", path, "../..")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as it is released
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the next version: %v\n%s", err, out)
	}
	return path
}

// versions is a cluster whose processes are of two versions.
type versions struct {
	*testing.T

	database string
	next     string
}

func (v *versions) env() []string {
	return []string{"SPOOL_DATABASE=" + v.database, "SPOOL_DATABASE_POOL=6"}
}

// old starts a process of this version, and newer one of the next version.
func (v *versions) old(role string) *process {
	v.Helper()
	return startWith(v.T, v.env(), v.TempDir(), "--role", role)
}

func (v *versions) newer(role string) *process {
	v.Helper()
	return startBinary(v.T, v.next, v.env(), v.TempDir(), "--role", role)
}

// sql executes a statement and returns its one number.
func (v *versions) sql(statement string) (n int) {
	v.Helper()
	conn, err := pgx.Connect(v.Context(), v.database)
	if err != nil {
		v.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(v.Context()))
	if err := conn.QueryRow(v.Context(), statement).Scan(&n); err != nil {
		v.Fatal(err)
	}
	return n
}

// runs starts a run at an API node, and waits for its end there.
func (v *versions) runs(api *process, thread string) {
	v.Helper()
	api.post(v.T, "/api/agent/run", `{"threadId":"`+thread+`","prompt":"hello"}`)
	api.becomes(v.T, thread, wire.Completed)
}

// ends tells a process to end, which must hand its runs back.
func (v *versions) ends(p *process) {
	v.Helper()
	if code := p.signal(v.T, syscall.SIGTERM); code != exitOK {
		v.Errorf("exit code %d", code)
	}
}

// TestUpgrade lets the next version go on with what this one has left.
func TestUpgrade(t *testing.T) {
	t.Parallel()

	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("skipped: there is no go command to build the next version with")
	}
	next := nextBinary(t)
	t.Run("Rolling", func(t *testing.T) {
		t.Parallel()
		rollingUpgrade(t, next)
	})
	t.Run("Killed/postgres", func(t *testing.T) {
		t.Parallel()
		database := pgtest.Database(t, nil)
		killedUpgrade(t, next, t.TempDir(), "SPOOL_DATABASE="+database)
		v := &versions{T: t, database: database}
		if have := v.sql("SELECT max(version) FROM spool.schema_step"); have != 103 {
			t.Errorf("the schema is %d, want 103", have)
		}
	})
	t.Run("Killed/sqlite", func(t *testing.T) {
		t.Parallel()
		data := t.TempDir()
		killedUpgrade(t, next, data)
		got := command(nil, "serve", "--listen", "127.0.0.1:0", "--data", data)
		if got.code != exitFailure || !strings.Contains(
			got.stderr, "has schema 102, and this version of the program knows schema 101: use a later version",
		) {
			t.Errorf("the old version: %+v", got)
		}
	})
}

// killedUpgrade kills a server of this version while a run waits for an approval, another one is in the middle of its
// answer, and a third one is queued. A server of the next version opens the database, and all three come to their end.
//
// This version makes the database of the baseline. Once the schema has a second step, it can no longer: then a dump of
// such a database belongs into testdata.
func killedUpgrade(t *testing.T, next, data string, env ...string) {
	t.Helper()

	var calls atomic.Int64
	notes := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		_, _ = w.Write([]byte(`"noted"`))
	}))
	t.Cleanup(notes.Close)
	file := writeConfig(t, `models: {demo: {provider: demo}}
agents: {assistant: {model: demo, tools: [note]}}
tools: {note: {type: http, url: '`+notes.URL+`', approval: true}}
limits: {concurrency: 1, lease: 5s}
`)
	p := startWith(t, env, data, "--config", file)
	p.post(t, "/api/agent/run", `{"threadId":"parked","prompt":"use note with {}"}`)
	p.becomes(t, "parked", wire.WaitingForInput)
	p.post(t, "/api/agent/run", `{"threadId":"t1","runId":"r1","prompt":"slow 40"}`)
	var w watcher
	w.watch(t, p, items(4))
	p.post(t, "/api/agent/run", `{"threadId":"queued","prompt":"hello"}`)
	if state := p.stateOf(t, "queued"); state != wire.Queued {
		t.Errorf("the thread is %s, want %s", state, wire.Queued)
	}
	p.signal(t, syscall.SIGKILL)

	n := startBinary(t, next, env, data, "--config", file)
	n.approve(t, "parked")
	w.watch(t, n, hasCompleted)
	gapless(t, w.frames)
	completed(t, n)
	n.becomes(t, "queued", wire.Completed)
	n.becomes(t, "parked", wire.Completed)
	if got := n.get(t, "/api/agent/history?threadId=parked"); calls.Load() != 1 || !strings.Contains(got, "noted") {
		t.Errorf("%d calls: %s", calls.Load(), got)
	}
	n.signal(t, syscall.SIGTERM)
}

// rollingUpgrade replaces the processes of a cluster by those of the next version, one after the other, and back.
// The first new one migrates the database. No run and no frame is lost, and whichever version has the worker and the
// API finishes what the other one has begun.
func rollingUpgrade(t *testing.T, next string) {
	t.Helper()

	v := &versions{T: t, database: pgtest.Database(t, nil), next: next}
	oldAPI, oldWorker := v.old(roleAPI), v.old(roleWorker)
	known := v.sql("SELECT max(version) FROM spool.schema_step")
	v.runs(oldAPI, "before")
	oldAPI.post(t, "/api/agent/run", `{"threadId":"parked","prompt":"use send_email with {\"to\":\"ann@example.com\"}"}`)
	oldAPI.becomes(t, "parked", wire.WaitingForInput)
	oldAPI.post(t, "/api/agent/run", `{"threadId":"t1","runId":"r1","prompt":"slow 40"}`)
	var w watcher
	w.watch(t, oldAPI, items(4))

	// The old worker is in the middle of r1 while the schema changes.
	newWorker := v.newer(roleWorker)
	if have := v.sql("SELECT max(version) FROM spool.schema_step"); have != known+1 {
		t.Fatalf("the schema is %d, want %d", have, known+1)
	}
	w.watch(t, oldAPI, items(4))
	v.runs(oldAPI, "between")
	v.ends(oldWorker) // the new one goes on with r1
	v.runs(oldAPI, "by-the-new-worker")
	w.watch(t, oldAPI, hasCompleted)
	gapless(t, w.frames)
	completed(t, oldAPI)

	newAPI := v.newer(roleAPI)
	newAPI.approve(t, "parked")
	oldAPI.becomes(t, "parked", wire.Completed)

	// An old process may still start, and finish what a new one has accepted: the upgrade can be taken back.
	oldAgain := v.old(roleWorker)
	v.ends(newWorker)
	v.runs(newAPI, "by-the-old-worker")
	v.ends(oldAPI)
	v.ends(oldAgain)

	// A later step takes away what the old version needs: it is refused, and the next one is not.
	v.sql("INSERT INTO spool.schema_step (version, oldest, name, applied_at) SELECT max(version) + 1, max(version), 'contract', now() FROM spool.schema_step RETURNING version")
	got := command(map[string]string{"SPOOL_DATABASE": v.database}, "serve", "--listen", "127.0.0.1:0")
	if got.code != exitFailure || !strings.Contains(got.stderr, "install a newer version") {
		t.Errorf("the old version: %+v", got)
	}
	v.newer(roleWorker)
	v.runs(newAPI, "after")
}
