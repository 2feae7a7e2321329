package command

import (
	"context"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spoolhq/spool/internal/testing/pgtest"
	"github.com/spoolhq/spool/internal/testing/testwait"
)

// startAway starts a server that does not say yet that it listens, because its database is away.
func startAway(t *testing.T, database string) *process {
	t.Helper()

	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(fourPorts(t)))
	p := &process{url: "http://" + address, stderr: &printed{}, exited: make(chan struct{})}
	p.cmd = exec.CommandContext(context.Background(), os.Args[0], "serve", "--listen", address, "--database", database)
	p.cmd.Env = append(os.Environ(), "SPOOL_TOKEN=", asCommand+"=1")
	p.cmd.Stderr = p.stderr
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.exited)
		_ = p.cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.exited
		if t.Failed() {
			t.Logf("stderr of %d:\n%s", p.cmd.Process.Pid, p.stderr)
		}
	})
	return p
}

// ready asks until the server is ready, or is not, and returns the answer.
func (p *process) ready(t *testing.T, status int) answer {
	t.Helper()

	ctx := testwait.Context(t, "the probe of a process")
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if got, err := p.request(ctx, http.MethodGet, "/readyz", ""); err == nil && got.status == status {
			return got
		}
		select {
		case <-tick.C:
		case <-p.exited:
			t.Fatalf("it has ended: %s", p.stderr)
		case <-ctx.Done():
			t.Fatal(context.Cause(ctx))
		}
	}
}

// A server that starts while PostgreSQL is away waits for it. Until then only the liveness probe is well.
func TestStartWithoutDatabase(t *testing.T) {
	t.Parallel()

	proxy := pgtest.NewProxy(t, pgtest.Database(t, nil))
	proxy.Refuse(true)
	p := startAway(t, proxy.URL())
	if got := p.ready(
		t, http.StatusServiceUnavailable,
	); !strings.Contains(got.body, `"checks":{"store":"The database cannot be reached"}`) {
		t.Errorf("/readyz: %+v", got)
	}
	if got := p.get(t, "/healthz"); got != `{"status":"ok"}` {
		t.Errorf("/healthz: %s", got)
	}
	for _, r := range needDatabase {
		got, err := p.request(patiently(t), r.method, r.path, r.body)
		if err != nil || got.status != http.StatusServiceUnavailable || got.header.Get("Retry-After") == "" ||
			!strings.Contains(got.body, `"code":"unavailable"`) {
			t.Errorf("%s %s: %+v, %v", r.method, r.path, got, err)
		}
	}
	proxy.Refuse(false)
	p.ready(t, http.StatusOK)
	if got := p.post(
		t, "/api/agent/run", `{"threadId":"t1","runId":"r1","prompt":"hello"}`,
	); !strings.Contains(got, `"accepted":true`) {
		t.Errorf("a start: %s", got)
	}
	if code := p.signal(t, syscall.SIGTERM); code != exitOK ||
		strings.Count(p.stderr.String(), "waiting for the database") != 1 {
		t.Errorf("exit code %d", code)
	}
}

// A signal ends the wait for a database that is down, or that hangs.
func TestStopWithoutDatabase(t *testing.T) {
	t.Parallel()

	proxy := pgtest.NewProxy(t, pgtest.Database(t, nil))
	proxy.Refuse(true)
	hangs, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer hangs.Close()
	for _, database := range []string{
		proxy.URL(), "postgres://spool@" + hangs.Addr().String() + "/spool?sslmode=disable",
	} {
		p := startAway(t, database)
		p.ready(t, http.StatusServiceUnavailable)
		began := time.Now()
		if code, took := p.signal(t, syscall.SIGTERM), time.Since(began); code != exitOK || took > 8*time.Second {
			t.Errorf("%s: exit code %d after %s", database, code, took)
		}
	}
}

// What does not mend itself ends a start at once, and the commands that only use the database do not wait for it.
func TestNoWaitForDatabase(t *testing.T) {
	t.Parallel()

	database := pgtest.Database(t, nil)
	missing, _ := parsed(t, database)
	missing.Path += "_missing"
	proxy := pgtest.NewProxy(t, database)
	proxy.Refuse(true)
	for name, args := range map[string][]string{
		"Missing": {"serve", "--listen", "127.0.0.1:0", "--database", missing.String()},
		"Migrate": {"migrate", "--database", proxy.URL()},
		"Export":  {"export", "--database", proxy.URL(), "-"},
	} {
		if got := command(nil, args...); got.code != exitFailure || strings.Contains(got.stderr, "waiting for the database") {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// A database that hangs does not hold a shutdown up, which loses nothing: the exit code is 0.
func TestShutdownHangingDatabase(t *testing.T) {
	t.Parallel()

	server := pgtest.Start(t, pgtest.Options{NoSync: true})
	database := server.Database(t, nil)
	for _, pooler := range []string{"false", "true"} {
		p := start(t, t.TempDir(), "--database", database, "--pooler", pooler, "--shutdown-timeout", "2s")
		p.post(t, "/api/agent/run", `{"threadId":"t1","prompt":"slow 10000","whenBusy":"interrupt"}`)
		var w watcher
		w.watch(t, p, items(4))
		server.Pause(t)
		began := time.Now()
		code := p.signal(t, syscall.SIGTERM)
		took := time.Since(began)
		server.Resume(t)
		if code != exitOK || took > 8*time.Second {
			t.Errorf("pooler %s: exit code %d after %s", pooler, code, took)
		}
	}
}
