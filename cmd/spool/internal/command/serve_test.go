package command

import (
	"bytes"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spoolhq/spool/wire"
)

const slowRun = `{"threadId":"t1","runId":"r1","prompt":"slow 15"}`

// completed checks that the thread's run has come to its end, with one answer.
func completed(t *testing.T, p *process) {
	t.Helper()

	var snapshot wire.Snapshot
	if err := json.Unmarshal([]byte(p.get(t, "/api/agent/history?threadId=t1")), &snapshot); err != nil {
		t.Fatal(err)
	}
	if snapshot.Thread.State != wire.Completed || len(snapshot.Messages) != 2 || len(snapshot.Runs) != 1 {
		t.Errorf("the thread is %s with %d messages and %d runs", snapshot.Thread.State, len(snapshot.Messages),
			len(snapshot.Runs))
	}
}

// gapless checks that every record entry was seen, once and in order, unless a snapshot
// stands for the ones that were not.
func gapless(t *testing.T, frames []wire.Frame) {
	t.Helper()

	var last int64
	for _, f := range frames {
		switch {
		case f.Snapshot != nil:
			last = max(f.Snapshot.LastEventSeq, 0)
		case f.Event != nil && f.Event.Seq > 0:
			if f.Event.Seq != last+1 {
				t.Errorf("entry %d stands after entry %d", f.Event.Seq, last)
			}
			last = f.Event.Seq
		}
	}
}

// After kill -9 in the middle of an answer, a restart continues the run at once, and a
// client that comes back with its last id misses nothing.
func TestKill(t *testing.T) {
	t.Parallel()

	data := t.TempDir()
	first := start(t, data)
	first.post(t, "/api/agent/run", slowRun)
	var w watcher
	if !w.watch(t, first, items(5)) {
		t.Fatal("the stream ended")
	}
	first.signal(t, syscall.SIGKILL)

	second := start(t, data)
	began := time.Now()
	if !w.watch(t, second, hasCompleted) {
		t.Fatal("the stream ended")
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("the run took %s after the restart", took)
	}
	gapless(t, w.frames)
	completed(t, second)
	if code := second.signal(t, syscall.SIGTERM); code != exitOK {
		t.Errorf("exit code %d", code)
	}
}

// SIGTERM hands back the run without spending an attempt, tells the clients when to come
// back and exits with 0.
func TestTerminate(t *testing.T) {
	t.Parallel()

	data := t.TempDir()
	first := start(t, data)
	first.post(t, "/api/agent/run", slowRun)
	var (
		w      watcher
		codes  = make(chan int, 1)
		began  time.Time
		middle = items(5)
	)
	ended := !w.watch(t, first, func(f wire.Frame) bool {
		if began.IsZero() && middle(f) {
			began, w.retry = time.Now(), ""
			go func() { codes <- first.signal(t, syscall.SIGTERM) }()
		}
		return false
	})
	if !ended || w.retry == "" {
		t.Error("the stream ended without a hint when to come back")
	}
	if code := <-codes; code != exitOK {
		t.Errorf("exit code %d", code)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %s to shut down", took)
	}

	second := start(t, data)
	if !w.watch(t, second, hasCompleted) {
		t.Fatal("the stream ended")
	}
	gapless(t, w.frames)
	completed(t, second)
	if history := second.get(t, "/api/agent/history?threadId=t1"); !strings.Contains(history, `"attempts":0`) {
		t.Errorf("an attempt was spent: %s", history)
	}
}

// A second process on one data folder is refused, and the first goes on.
func TestSecondServe(t *testing.T) {
	t.Parallel()

	data := t.TempDir()
	first := start(t, data)
	second := exec.CommandContext(patiently(t), os.Args[0], "serve", "--listen", "127.0.0.1:0", "--data", data)
	second.Env = append(os.Environ(), asCommand+"=1")
	var stderr bytes.Buffer
	second.Stderr = &stderr
	if err := second.Run(); second.ProcessState.ExitCode() != exitFailure {
		t.Errorf("the second process: %v", err)
	}
	if got := stderr.String(); !strings.HasPrefix(got, "spool: open the data folder "+data+": ") ||
		strings.Count(got, "\n") != 1 {
		t.Errorf("the second process says %q", got)
	}
	if got := first.get(t, "/healthz"); got != `{"status":"ok"}` {
		t.Errorf("the first process says %s", got)
	}
}

// A port that is taken is told before a data folder is made.
func TestPortTaken(t *testing.T) {
	t.Parallel()

	taken, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	data := filepath.Join(t.TempDir(), "data")
	got := command(map[string]string{"SPOOL_LISTEN": taken.Addr().String(), "SPOOL_DATA": data}, "serve")
	if got.code != exitFailure || !strings.Contains(got.stderr, "address already in use") {
		t.Errorf("%+v", got)
	}
	if _, err := os.Stat(data); !os.IsNotExist(err) {
		t.Errorf("the data folder was made: %v", err)
	}
}

// The demo's approval can be tried with nothing configured.
func TestDemoApproval(t *testing.T) {
	t.Parallel()

	p := start(t, t.TempDir())
	p.post(t, "/api/agent/run", `{"threadId":"t1","prompt":"use send_email with {\"to\":\"ann@example.com\"}"}`)
	var (
		w    watcher
		park wire.InputRequired
	)
	w.watch(t, p, func(f wire.Frame) bool {
		return f.Event != nil && f.Event.Type == wire.EntryInputRequired && json.Unmarshal(f.Event.Payload, &park) == nil
	})
	if got := p.post(
		t, "/api/agent/respond", `{"threadId":"t1","toolCallId":"`+string(park.ToolCallID)+`","approved":true}`,
	); got != `{"delivered":true}` {
		t.Errorf("respond: %s", got)
	}
	w.watch(t, p, hasCompleted)
	if history := p.get(
		t, "/api/agent/history?threadId=t1",
	); !strings.Contains(history, "No email was sent to ann@example.com") {
		t.Errorf("history: %s", history)
	}
}

// A configuration with tokens wants one everywhere, and the banner shows none.
func TestServeConfigured(t *testing.T) {
	t.Parallel()

	file := filepath.Join(t.TempDir(), "spool.yaml")
	text := `
models:
  show: {provider: demo}
  local: {provider: openai, base_url: "http://127.0.0.1:1/v1", api_key: hidden-key, model: qwen3}
agents:
  helper: {model: show, tools: [send]}
  other: {model: local}
tools:
  send: {type: http, url: "http://127.0.0.1:1/", approval: true, parameters: {type: object}}
auth:
  tokens: [{token: hidden-token-of-all, scopes: [read]}]
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, filepath.Join(t.TempDir(), "deep", "data"), "--config", file, "--log-format", "json")
	for _, want := range []string{
		"models  show (repeats the prompt; not a language model), local (qwen3 at 127.0.0.1:1)\n",
		"agents  helper (the default), other\n", "tools   send (asks first)\n", "auth    bearer tokens\n",
	} {
		if !strings.Contains(p.banner, want) {
			t.Errorf("the banner lacks %q:\n%s", want, p.banner)
		}
	}
	if strings.Contains(p.banner, "hidden") {
		t.Errorf("the banner has a secret:\n%s", p.banner)
	}
	if got := p.get(t, "/api/threads"); got != `{"error":"a bearer token is required","code":"unauthorized"}` {
		t.Errorf("without a token: %s", got)
	}
	if got := p.post(t, "/api/queue/agent-run", "{}"); !strings.Contains(got, "unauthorized") {
		t.Errorf("queue: %s", got)
	}
}
