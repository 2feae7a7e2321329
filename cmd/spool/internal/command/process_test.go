package command

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/spoolhq/spool/internal/testing/testwait"
	"github.com/spoolhq/spool/wire"
)

// patience bounds every wait for another process.
const patience = testwait.Limit

// patiently returns a context for a request and all that is read of its answer.
func patiently(t *testing.T) context.Context {
	t.Helper()

	return testwait.Context(t, "the rest of an answer")
}

// What serve prints has one of these in its last line: a worker has the second.
const (
	lastOfBanner       = "/api/agent/stream"
	lastOfWorkerBanner = "/readyz"
)

// process is a running command.
type process struct {
	cmd    *exec.Cmd
	url    string
	banner string
	stderr *printed
	exited chan struct{}
}

// printed is what a process has written so far, which a test may read while it writes.
type printed struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write implements [io.Writer].
func (p *printed) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(b)
}

// String implements [fmt.Stringer].
func (p *printed) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

// start runs "spool serve" over a data folder and waits until it listens.
func start(t *testing.T, data string, more ...string) *process {
	t.Helper()
	return startWith(t, nil, data, more...)
}

// startWith is start with variables of the environment.
func startWith(t *testing.T, env []string, data string, more ...string) *process {
	t.Helper()
	return startBinary(t, os.Args[0], env, data, more...)
}

// startBinary is startWith for another binary than the test's own.
func startBinary(t *testing.T, binary string, env []string, data string, more ...string) *process {
	t.Helper()

	p := &process{stderr: &printed{}, exited: make(chan struct{})}
	args := append([]string{"serve", "--listen", "127.0.0.1:0", "--data", data}, more...)
	p.cmd = exec.CommandContext(context.Background(), binary, args...)
	p.cmd.Env = append(append(append(os.Environ(), "SPOOL_TOKEN="), env...), asCommand+"=1")
	p.cmd.Stderr = p.stderr
	stdout, stdoutWriter := io.Pipe()
	p.cmd.Stdout = stdoutWriter
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.exited)
		_ = p.cmd.Wait()
		_ = stdoutWriter.Close()
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.exited
		if strings.Contains(p.stderr.String(), loggedAround) {
			t.Errorf("a package does not use the configured logger")
		}
		if t.Failed() {
			t.Logf("stderr of %d:\n%s", p.cmd.Process.Pid, p.stderr)
		}
	})

	late := time.AfterFunc(patience, func() {
		t.Errorf("the process says no more than:\n%s", p.stderr)
		_ = p.cmd.Process.Kill()
	})
	defer late.Stop()
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		line := lines.Text()
		p.banner += line + "\n"
		if at, ok := strings.CutPrefix(line, "spool listens on "); ok {
			p.url = at
		}
		if strings.Contains(line, lastOfBanner) || strings.Contains(line, lastOfWorkerBanner) {
			break
		}
	}
	go func() { _, _ = io.Copy(io.Discard, stdout) }()
	if p.url == "" {
		<-p.exited
		t.Fatalf("it did not listen: %s", p.stderr)
	}
	return p
}

// signal sends a signal and waits for the exit code. It may be called beside a test.
func (p *process) signal(t *testing.T, s syscall.Signal) int {
	t.Helper()

	if err := p.cmd.Process.Signal(s); err != nil {
		t.Error(err)
	}
	select {
	case <-p.exited:
	case <-time.After(patience):
		t.Errorf("it did not exit: %s", p.stderr)
		_ = p.cmd.Process.Kill()
		<-p.exited
	}
	return p.cmd.ProcessState.ExitCode()
}

func (p *process) post(t *testing.T, path, body string) string {
	t.Helper()

	r, err := http.NewRequestWithContext(patiently(t), http.MethodPost, p.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	return read(t, r)
}

func (p *process) get(t *testing.T, path string) string {
	t.Helper()

	r, err := http.NewRequestWithContext(patiently(t), http.MethodGet, p.url+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	return read(t, r)
}

func read(t *testing.T, r *http.Request) string {
	t.Helper()

	res, err := http.DefaultTransport.RoundTrip(r)
	return strings.TrimSpace(bodyOf(t, res, err))
}

// bodyOf returns the body of an answer.
func bodyOf(t *testing.T, res *http.Response, err error) string {
	t.Helper()

	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// watcher reads the stream of a thread as a browser does: it remembers the last id and
// comes back with it.
type watcher struct {
	last   string
	frames []wire.Frame
	// retry is the last hint when to come back.
	retry string
}

// watch reads the stream of t1 until a frame is wanted no more, or the stream ends, which
// it reports by false.
func (w *watcher) watch(t *testing.T, p *process, enough func(wire.Frame) bool) bool {
	t.Helper()

	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url+"/api/agent/stream?threadId=t1", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if w.last != "" {
		r.Header.Set("Last-Event-ID", w.last)
	}
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 1<<20)
	var id string
	for lines.Scan() {
		field, value, _ := strings.Cut(lines.Text(), ": ")
		switch field {
		case "id":
			id = value
		case "retry":
			w.retry = value
		case "data":
			var f wire.Frame
			if err := json.Unmarshal([]byte(value), &f); err != nil {
				t.Fatalf("frame %s: %v", value, err)
			}
			w.frames = append(w.frames, f)
			if id != "" {
				w.last, id = id, ""
			}
			if enough(f) {
				return true
			}
		}
	}
	if ctx.Err() != nil {
		t.Fatalf("the stream did not bring what was waited for; last id %q, %d frames", w.last, len(w.frames))
	}
	return false
}

// hasCompleted matches the notice that a run has completed.
func hasCompleted(f wire.Frame) bool {
	if f.Event == nil || f.Event.Type != wire.NoticeStateChange {
		return false
	}
	var change wire.StateChange
	return json.Unmarshal(f.Event.Payload, &change) == nil && change.State == wire.Completed
}

// items matches the n-th stream item from here on.
func items(n int) func(wire.Frame) bool {
	return func(f wire.Frame) bool {
		if f.Kind == wire.FrameStream {
			n--
		}
		return n <= 0
	}
}
