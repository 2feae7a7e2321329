package command

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	fake "github.com/spoolhq/spool/internal/testing/fake/mcp"
	"github.com/spoolhq/spool/internal/testing/pgtest"
)

const auditPrompt = `{"threadId":"t1","runId":"r1","prompt":"use shop__audit with {\"year\":2025}"}`

// openWorks starts an MCP server whose tool works in tasks, and returns a configuration whose agent has it.
func openWorks(t *testing.T, server *fake.Server) (url, config string) {
	t.Helper()

	at := httptest.NewServer(server)
	t.Cleanup(at.Close)
	t.Cleanup(func() {
		if wrong := server.Wrong(); len(wrong) > 0 {
			t.Errorf("the protocol does not allow %q", wrong)
		}
	})
	return at.URL, writeConfig(t, `models: {demo: {provider: demo}}
agents: {clerk: {model: demo, mcp: {shop: {}}}}
mcp: {shop: {url: "`+at.URL+`"}}
limits: {lease: 2s}
`)
}

// theTask returns the server's one task once there is one.
func theTask(t *testing.T, server *fake.Server) *fake.Task {
	t.Helper()

	wait(t, "the task", func() bool { return len(server.Tasks()) > 0 })
	return server.Tasks()[0]
}

// A worker is killed in a look at a task, and the next one while the task's question waits. Other processes over the
// same PostgreSQL go on, and the work is begun once.
func TestMCPTaskOverNodes(t *testing.T) {
	t.Parallel()

	var hold atomic.Bool
	held, release := make(chan struct{}, 100), make(chan struct{})
	server := &fake.Server{Before: func(method string) bool {
		if method == "tasks/get" && hold.Load() {
			held <- struct{}{}
			<-release
		}
		return true
	}}
	_, file := openWorks(t, server)
	t.Cleanup(func() { hold.Store(false) })
	env := []string{"SPOOL_DATABASE=" + pgtest.Database(t, nil), "SPOOL_DATABASE_POOL=6"}
	api := startWith(t, env, t.TempDir(), "--role", "api", "--config", file)
	worker := func() *process { return startWith(t, env, t.TempDir(), "--role", "worker", "--config", file) }
	first := worker()
	api.post(t, "/api/agent/run", auditPrompt)
	task := theTask(t, server)
	wait(t, "a look", func() bool { return task.Looks() > 0 })
	hold.Store(true)
	wait(t, "a look that hangs", func() bool { return len(held) > 0 })
	first.signal(t, syscall.SIGKILL)
	hold.Store(false)
	close(release)

	seen := task.Looks()
	second := worker()
	wait(t, "a look of the next worker", func() bool { return task.Looks() > seen+1 })
	task.Ask("why", "reason", 1)
	a := outcomeOf(t, api)
	if a.State != "WAITING_FOR_INPUT" || len(a.Parks) != 1 || a.Parks[0].Reason != "elicitation" ||
		!strings.Contains(string(a.Parks[0].InputSchema), "reason") {
		t.Fatalf("the run is %+v", a)
	}
	second.signal(t, syscall.SIGKILL)
	worker()
	answer, err := json.Marshal(map[string]any{
		"threadId": "t1", "toolCallId": a.Parks[0].ToolCallID, "approved": true, "digest": a.Parks[0].Digest,
		"payload": map[string]string{"reason": "the law"},
	})
	if err != nil {
		t.Fatal(err)
	}
	api.post(t, "/api/agent/respond", string(answer))
	wait(t, "the answer", func() bool { return len(task.Answers()) == 1 })
	task.Complete(fake.Said("all is well"))
	if a = outcomeOf(t, api); a.State != "COMPLETED" || !strings.Contains(a.Text, "all is well") {
		t.Errorf("the run is %+v", a)
	}
	if got := string(task.Answers()["why"]); server.Started() != 1 || task.Cancels() != 0 ||
		got != `{"action":"accept","content":{"reason":"the law"}}` {
		t.Errorf("%d starts, %d cancellations, the answer %s", server.Started(), task.Cancels(), got)
	}
}

// A run that waits for a task is stopped by a process, and a worker cancels the task after a restart.
func TestMCPTaskStop(t *testing.T) {
	t.Parallel()

	server := &fake.Server{}
	_, file := openWorks(t, server)
	data := t.TempDir()
	p := start(t, data, "--config", file)
	p.post(t, "/api/agent/run", auditPrompt)
	task := theTask(t, server)
	wait(t, "a look", func() bool { return task.Looks() > 0 })
	p.signal(t, syscall.SIGKILL)
	p = start(t, data, "--config", file)
	p.post(t, "/api/agent/control", `{"threadId":"t1"}`)
	wait(t, "the cancellation", func() bool { return task.Cancels() == 1 })
	if a := outcomeOf(t, p); a.State != "CANCELLED" || server.Started() != 1 {
		t.Errorf("the run is %+v after %d starts", a, server.Started())
	}
}

// A person waits for a task at the command line, and answers its question there.
func TestMCPTaskCommand(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		begin func(*fake.Task)
		more  []string
		out   string
		wrong string
	}{
		"Waits": {func(task *fake.Task) {
			task.Works("half\x1b[2J")
			task.Complete(fake.Said("all is well"))
		}, nil, "\"all is well\"\n", "waits   half [2J\n"},
		"Asks": {
			func(task *fake.Task) { task.Ask("why", "reason", 0) }, nil,
			`asks    {"server":"server","tool":"audit","mode":"form","message":"Which reason?"}`, "the task was cancelled\n",
		},
		"Answers": {
			func(task *fake.Task) { task.Ask("why", "reason", 0) },
			[]string{"--answer", `{"reason":"rain"}`},
			"\"as it is rain\"\n", "waits",
		},
		"Fails": {func(task *fake.Task) { task.Fail(-32603, "no paper") }, nil, "", "its task failed: no paper\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			server := &fake.Server{Begin: c.begin}
			server.After = func(method string) bool {
				if method == "tasks/update" {
					server.Tasks()[0].Complete(fake.Said("as it is rain"))
				}
				return true
			}
			url, _ := openWorks(t, server)
			var out, wrong bytes.Buffer
			none := func(string) (string, bool) { return "", false }
			args := append([]string{"mcp", "call", "--url", url, fake.Tool, `{"year":2025}`}, c.more...)
			run(t.Context(), args, host{&out, &wrong, none, func() []string { return nil }, nil})
			if !strings.Contains(out.String(), c.out) || !strings.Contains(wrong.String(), c.wrong) || server.Started() != 1 {
				t.Errorf("printed\n%s%s", out.String(), wrong.String())
			}
			if cancels := server.Tasks()[0].Cancels(); cancels != strings.Count(c.wrong, "was cancelled") {
				t.Errorf("cancelled %d times", cancels)
			}
		})
	}

	t.Run("Interrupted", func(t *testing.T) {
		t.Parallel()

		ctx, interrupt := context.WithCancel(t.Context())
		server := &fake.Server{}
		server.After = func(method string) bool {
			if method == "tasks/get" {
				interrupt()
			}
			return true
		}
		url, _ := openWorks(t, server)
		var out, wrong bytes.Buffer
		none := func(string) (string, bool) { return "", false }
		code := run(ctx, []string{"mcp", "call", "--url", url, fake.Tool, `{"year":2025}`},
			host{&out, &wrong, none, func() []string { return nil }, nil})
		if code != exitFailure || server.Tasks()[0].Cancels() != 1 {
			t.Errorf("code %d, printed\n%s%s", code, out.String(), wrong.String())
		}
	})
}
