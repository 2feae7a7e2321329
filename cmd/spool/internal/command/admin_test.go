package command

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/model/demo"
	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// operated is a server to operate, without a worker.
type operated struct {
	url     string
	engine  *engine.Engine
	backend store.Backend
}

func newOperated(t *testing.T) *operated {
	t.Helper()
	o := &operated{backend: memory.New(nil)}
	log := slog.New(slog.DiscardHandler)
	var err error
	o.engine, err = engine.New(o.backend, engine.Config{
		Agents: []spool.Agent{{
			Name: "assistant", Model: "demo", Tools: []spool.Tool{askingTool()},
			Spawn: &spool.Spawn{
				Profiles: map[string]spool.Profile{"mailer": {Description: "Sends.", Tools: []spool.Tool{askingTool()}}},
			},
		}},
		Models: map[string]spool.Model{"demo": demo.New(demo.Config{})}, Log: log,
	})
	if err != nil {
		t.Fatal(err)
	}
	auth, err := access.Tokens([]access.Token{
		{Token: "of-ann", Principal: access.Principal{Tenant: "acme", Subject: "ann", Scopes: access.AllScopes()}},
		{Token: "of-olga", Principal: access.Principal{Tenant: "ops", Scopes: access.AllScopes(), Operator: true}},
	})
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.New(o.engine, server.Config{Authenticator: auth, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	listening := httptest.NewServer(s)
	t.Cleanup(func() {
		o.engine.Close()
		listening.Close()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	o.url = listening.URL
	return o
}

// start starts a run, whose job dies when it is to.
func (o *operated) start(t *testing.T, thread spool.ThreadID, run spool.RunID, die bool) int64 {
	t.Helper()
	key := spool.ThreadKey{Tenant: "acme", ID: thread}
	if got, err := o.engine.Run(t.Context(), key, wire.StartRequest{Prompt: "Hello", RunID: run}); err != nil ||
		!got.Accepted {
		t.Fatalf("start: %+v, %v", got, err)
	}
	if !die {
		return 0
	}
	taken, _, err := o.backend.Store.Claim(t.Context(), store.ClaimQuery{Limit: 1, Lease: time.Minute})
	if err != nil || len(taken) != 1 {
		t.Fatalf("claim: %v, %v", taken, err)
	}
	if err := o.engine.HandleDeadJob(t.Context(), taken[0].Job, 3, "given up"); err != nil {
		t.Fatal(err)
	}
	if err := o.backend.Store.Ack(t.Context(), taken[0], store.Ack{Kind: store.AckDead, Cause: "given up"}); err != nil {
		t.Fatal(err)
	}
	return taken[0].JobID
}

func (o *operated) admin(args ...string) result {
	return command(map[string]string{"SPOOL_URL": o.url, "SPOOL_TOKEN": "of-ann"}, append([]string{"admin"}, args...)...)
}

// shows reports an error unless a command succeeds and prints all of what is wanted.
func (o *operated) shows(t *testing.T, args string, want ...string) {
	t.Helper()
	got := o.admin(strings.Fields(args)...)
	if got.code != exitOK || got.stderr != "" {
		t.Errorf("admin %s: %+v", args, got)
	}
	for _, text := range want {
		if !strings.Contains(got.stdout, text) {
			t.Errorf("admin %s lacks %q:\n%s", args, text, got.stdout)
		}
	}
}

// A message that waits to be put into a run is shown with the run.
func TestAdminSteers(t *testing.T) {
	t.Parallel()

	o := newOperated(t)
	o.start(t, "t1", "r1", false)
	key := spool.ThreadKey{Tenant: "acme", ID: "t1"}
	if got, err := o.engine.Run(
		t.Context(), key, wire.StartRequest{Prompt: "Left", RunID: "r2", WhenBusy: spool.BusySteer},
	); err != nil || got.Steers != "r1" {
		t.Fatalf("steer: %+v, %v", got, err)
	}
	o.shows(t, "run r1", "queue", "r2 steer")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- o.engine.Work(ctx, engine.WorkOptions{}) }()
	if got, err := o.engine.Await(t.Context(), key, "r2"); err != nil || got.Delivered == nil {
		t.Errorf("the steer: %+v, %v", got, err)
	}
	if _, err := o.engine.Await(t.Context(), key, "r1"); err != nil {
		t.Error(err)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	o.shows(t, "run r2", "COMPLETED steered", "delivered", "of run r1")
}

func TestAdmin(t *testing.T) {
	t.Parallel()

	o := newOperated(t)
	job := o.start(t, "t1", "r1", true)
	o.start(t, "t2", "r2", false)
	o.shows(t, "overview", "acme", "threads", "2: 1 QUEUED, 1 FAILED", "1 ready, 0 delayed, 0 in flight, 1 dead", "r2")
	o.shows(t, "runs", "r1", "r2", "FAILED", "dropped by the queue after 3 attempts: given up")
	o.shows(t, "runs --state FAILED --limit 1", "r1", "There is more: --before '")
	o.shows(t, "run r1", "r1", "FAILED failed", "given up", "STEP")
	o.shows(t, "run --json r1", `{"run":{"id":"r1",`)
	o.shows(t, "jobs --state stuck --older-than 0s", "r2", "ready", "start")
	o.shows(t, "dead", "r1", "given up")
	o.shows(t, fmt.Sprint("redrive ", job), "t1", "run_")
	o.shows(t, "dead", "JOB")
	if got := o.admin("dead"); strings.Contains(got.stdout, "r1") {
		t.Errorf("it is still dead: %s", got.stdout)
	}
	again := o.admin("redrive", strconv.FormatInt(job, 10))
	if again.code != exitFailure || !strings.Contains(again.stdout, "Dead job not found") {
		t.Errorf("a second redrive: %+v", again)
	}
	o.start(t, "t3", "r3", false)
	for _, id := range []spool.ThreadID{"t1", "t2", "t3"} {
		if got, err := o.engine.Stop(t.Context(), spool.ThreadKey{Tenant: "acme", ID: id}); err != nil || !got.Accepted {
			t.Fatal(got, err)
		}
	}
	o.shows(t, "prune --dry-run --older-than 0s", "t1", "t2", "t3", "threads that would go  3")
	o.shows(t, "prune --older-than 1h", "threads gone  0")
	o.shows(t, "prune --older-than 0s", "threads gone  3")
	o.shows(t, "overview", "threads  0")
	o.shows(t, "audit", "redrive_job", fmt.Sprint("job ", job), "stop", "prune_thread", "ann", "t3")
	o.shows(t, "audit --action stop --thread t2 --limit 1", "t2", "r2", "There is more: --before '")
	o.shows(t, "audit --action delete_thread --by ann --since 2026-01-02T03:04:05Z --until 2026-01-02T03:04:06Z", "SEQ")
}

func TestAdminAllJobs(t *testing.T) {
	t.Parallel()

	o := newOperated(t)
	for i := range 3 {
		o.start(t, spool.ThreadID(fmt.Sprint("t", i)), spool.RunID(fmt.Sprint("r", i)), true)
	}
	o.shows(t, "purge --all --older-than 1h", "dead jobs gone  0")
	o.start(t, "t0", "later", true)
	got := o.admin("redrive", "--all")
	if got.code != exitFailure || strings.Count(got.stdout, "run_") != 3 ||
		!strings.Contains(got.stdout, "Thread has an active run") {
		t.Errorf("redrive all: %+v", got)
	}
	o.shows(t, "purge --all", "dead jobs gone  1")
}

// What is wrong with a command line is told with exit code 2, and nothing is asked of the
// server; what the server refuses with 1.
func TestAdminRefuses(t *testing.T) {
	t.Parallel()

	o := newOperated(t)
	for args, want := range map[string]string{
		"nothing":                         `there is no command admin "nothing"`,
		"run":                             "admin run wants the id of a run",
		"run r1 r2":                       `admin run has no place for "r2"`,
		"revisions rev_1 --agent a":       "either the id of a revision or --agent",
		"runs r1":                         `admin runs has no place for "r1"`,
		"runs --nothing":                  "flag provided but not defined: -nothing",
		"redrive":                         "either the number of a job or --all",
		"redrive 7 --all":                 "either the number of a job or --all",
		"redrive seven":                   `"seven" must be the number of a job`,
		"purge 7 --older-than 1h":         "--older-than: goes with --all",
		"prune":                           "--older-than: is required",
		"jobs --state dead":               "spool admin dead",
		"overview --url ftp://a":          "--url: ",
		"overview --url http://me:pw@a/b": "SPOOL_TOKEN",
	} {
		got := o.admin(strings.Fields(args)...)
		if got.code != exitUsage || !strings.Contains(got.stderr, want) ||
			!strings.Contains(got.stderr, `Run "spool admin --help"`) ||
			got.stdout != "" || strings.Contains(got.stderr, "pw@") {
			t.Errorf("admin %s: %+v\nwant %s", args, got, want)
		}
	}
	for args, want := range map[string]string{
		"overview --token wrong":   "the server refused (401): the bearer token is not valid",
		"overview --tenant other":  "the server refused (403): only an operator may name another tenant",
		"audit --server":           "the server refused (403): only an operator may list what belongs to no tenant",
		"revisions":                "the server refused (403): only an operator may list what belongs to no tenant",
		"run none":                 "the server refused (404): Run not found",
		"runs --state nothing":     "the server refused (400): state must be",
		"purge 7":                  "the server refused (404): Dead job not found",
		"prune --older-than never": "the server refused (400): olderThan must be a duration",
	} {
		got := o.admin(strings.Fields(args)...)
		if got.code != exitFailure || !strings.Contains(got.stderr, want) {
			t.Errorf("admin %s: %+v\nwant %s", args, got, want)
		}
	}
	o.start(t, "t1", "r1", false)
	o.shows(t, "runs --token of-olga --tenant acme", "r1")
}

// A server that is none, or somewhere else, is told as that, and never gets more than asked.
func TestAdminOtherServer(t *testing.T) {
	t.Parallel()

	redirected := make(chan string, 1)
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		redirected <- r.Header.Get("Authorization")
	}))
	t.Cleanup(elsewhere.Close)
	for name, h := range map[string]http.HandlerFunc{
		"page":     func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") },
		"redirect": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere.URL, http.StatusFound) },
		"error":    func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "bad gateway", http.StatusBadGateway) },
	} {
		s := httptest.NewServer(h)
		t.Cleanup(s.Close)
		got := command(map[string]string{"SPOOL_TOKEN": "secret"}, "admin", "overview", "--url", s.URL)
		if got.code != exitFailure || !strings.Contains(got.stderr, "this is no answer of Spool's") ||
			strings.Contains(got.stderr, "secret") {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if len(redirected) > 0 {
		t.Errorf("it followed a redirect with %q", <-redirected)
	}
	got := command(nil, "admin", "overview", "--url", "http://127.0.0.1:1")
	if got.code != exitFailure || !strings.Contains(got.stderr, "no server answers at http://127.0.0.1:1") {
		t.Errorf("nobody: %+v", got)
	}
}

// The health check of a container asks without a token, and its exit code is the answer.
func TestAdminReady(t *testing.T) {
	t.Parallel()

	o := newOperated(t)
	if got := command(nil, "admin", "ready", "--url", o.url); got.code != exitOK || got.stdout != "ok\n" ||
		got.stderr != "" {
		t.Errorf("ready: %+v", got)
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w,
			`{"status":"unavailable","checks":{"shutdown":"the server is shutting down"},"error":"The server is shutting down","code":"unavailable"}`)
	}))
	t.Cleanup(s.Close)
	got := command(map[string]string{"SPOOL_URL": s.URL}, "admin", "ready")
	if got.code != exitFailure || got.stderr != "spool: the server refused (503): The server is shutting down\n" {
		t.Errorf("not ready: %+v", got)
	}
}

func TestAdminHelp(t *testing.T) {
	t.Parallel()

	for _, args := range [][]string{{"admin"}, {"admin", "--help"}, {"admin", "help"}} {
		got := command(nil, args...)
		if got.code != exitOK || got.stderr != "" {
			t.Errorf("%v: %+v", args, got)
		}
		for _, c := range adminCommands() {
			if !strings.Contains(got.stdout, "spool admin "+c.name) {
				t.Errorf("the help lacks %s", c.name)
			}
		}
	}
	for _, c := range adminCommands() {
		got := command(nil, "admin", c.name, "--help")
		if got.code != exitOK || got.stderr != "" || !strings.Contains(got.stdout, c.usage()) {
			t.Errorf("%s: %+v", c.name, got)
		}
		for _, f := range append(c.flags, everyFlag...) {
			if !strings.Contains(got.stdout, "--"+f.name) {
				t.Errorf("the help of %s lacks --%s", c.name, f.name)
			}
		}
		for line := range strings.Lines(got.stdout) {
			if len(line) > 100 {
				t.Errorf("a line of the help is too long: %s", line)
			}
		}
	}
}

// What a server sends cannot move the cursor of a terminal.
func TestAdminTerminal(t *testing.T) {
	t.Parallel()

	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"runs":[{"id":"r1","error":"a\u001b[2Jb\nc\u009bd"}],"next":"x\u001b"}`)
	}))
	t.Cleanup(s.Close)
	got := command(nil, "admin", "runs", "--url", s.URL)
	if got.code != exitOK || strings.ContainsAny(got.stdout, "\x1b\u009b") || strings.Count(got.stdout, "\n") != 4 {
		t.Errorf("%q", got.stdout)
	}
}
