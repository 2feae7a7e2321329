package clients

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
)

const followPage = "../../docs/guides/python-client.md"

// follower writes the program of the page into a folder, and returns its name.
func follower(t *testing.T) string {
	t.Helper()

	page, err := os.ReadFile(followPage)
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("(?s)```python\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(found) != 1 {
		t.Fatalf("%s has %d programs", followPage, len(found))
	}
	file := filepath.Join(t.TempDir(), "follow.py")
	if err := os.WriteFile(file, []byte(found[0][1]), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// agentServer is a process of spool with the demo model.
type agentServer struct {
	binary, data string
	cmd          *exec.Cmd
	// address is where it listens, and changes when it is started again.
	address atomic.Pointer[string]
	// first is how many bytes pass on a connection that does not begin with a stream.
	first atomic.Int64
}

// serveAgent builds spool and starts it.
func serveAgent(t *testing.T) *agentServer {
	t.Helper()

	s := &agentServer{binary: filepath.Join(t.TempDir(), "spool"), data: t.TempDir()}
	run(t, "../..", "env", "CGO_ENABLED=0", "GOWORK=", "go", "build", "-o", s.binary, "./cmd/spool") // as it is released
	s.start(t)
	t.Cleanup(s.kill)
	return s
}

func (s *agentServer) start(t *testing.T) {
	t.Helper()

	s.cmd = exec.CommandContext(context.Background(), s.binary, "serve", "--listen", "127.0.0.1:0", "--data", s.data)
	s.cmd.Env = append(os.Environ(), "SPOOL_TOKEN=")
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if at, ok := strings.CutPrefix(lines.Text(), "spool listens on http://"); ok {
			s.address.Store(&at)
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return
		}
	}
	t.Fatal("the server does not listen")
}

// kill ends the process as a crash does.
func (s *agentServer) kill() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

// lastAnswer returns the text of the last run of the thread.
func (s *agentServer) lastAnswer(t *testing.T) string {
	t.Helper()

	var history struct{ Runs []struct{ ID, State string } }
	s.get(t, "/api/agent/history?threadId=t1", &history)
	if len(history.Runs) == 0 || history.Runs[0].State != "COMPLETED" {
		t.Fatalf("the runs are %+v", history.Runs)
	}
	var outcome struct{ Text string }
	s.get(t, "/api/agent/runs/"+history.Runs[0].ID, &outcome)
	return outcome.Text
}

func (s *agentServer) get(t *testing.T, path string, into any) {
	t.Helper()

	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+*s.address.Load()+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if err := json.NewDecoder(res.Body).Decode(into); err != nil {
		t.Fatal(err)
	}
}

// cutting is an address that passes connections on, and cuts each after so many bytes of its answer. Each further one
// may be a little longer, and some are cut at once. It calls a function before each connection.
func cutting(t *testing.T, s *agentServer, before func()) (address string, cuts *atomic.Int64) {
	t.Helper()

	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	cuts = new(atomic.Int64)
	go func() {
		for n := int64(0); ; n++ {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			before()
			go s.pass(t.Context(), conn, n, cuts)
		}
	}()
	return listener.Addr().String(), cuts
}

// pass passes the n-th connection on.
func (s *agentServer) pass(ctx context.Context, conn net.Conn, n int64, cuts *atomic.Int64) {
	defer conn.Close()
	first := bufio.NewReader(conn)
	path, _ := first.Peek(len("GET /api/agent/stream"))
	most := 1403 + 197*n
	switch streams := string(path) == "GET /api/agent/stream"; {
	case !streams: // the program repeats nothing but its stream, which may come on this connection too
		most = s.first.Load()
	case n%4 == 3:
		cuts.Add(1)
		return
	}
	up, err := (&net.Dialer{}).DialContext(ctx, "tcp", *s.address.Load())
	if err != nil {
		return
	}
	defer up.Close()
	go func() { _, _ = io.Copy(up, first) }()
	if sent, _ := io.CopyN(conn, up, most); sent == most {
		cuts.Add(1)
	}
}

// The program of the page prints each answer as it was saved, over connections that are cut anywhere, and over a server
// that is killed in the middle of an answer.
func TestPythonFollow(t *testing.T) {
	t.Parallel()

	python := pythonOrSkip(t)
	program := follower(t)
	s := serveAgent(t)
	s.first.Store(4000)
	crash := new(atomic.Int64) // at so many connections from now
	proxy, cuts := cutting(t, s, func() {
		if crash.Add(-1) == 0 {
			s.kill()
			s.start(t)
		}
	})
	for _, prompt := range []string{"slow 20", "Grüße\u0085 an\u2028 alle 👋"} {
		got := run(t, t.TempDir(), "timeout", "120", python, program, "http://"+proxy, "t1", prompt)
		if want := s.lastAnswer(t); got != want+"\n" || want == "" {
			t.Errorf("%q: the program prints\n%s\nand the answer is\n%s", prompt, got, want)
		}
	}
	crash.Store(2)
	s.first.Store(9000)
	got := run(t, t.TempDir(), "timeout", "120", python, program, "http://"+proxy, "t1", "slow 60")
	before, after, again := strings.Cut(got, "\n(once more)\n")
	after = after[strings.LastIndex(after, "\n(once more)\n")+1:] // the new server may have lost the segment as it ends
	after = strings.TrimPrefix(after, "(once more)\n")
	if want := s.lastAnswer(t); !again || after != want+"\n" || before == "" || !strings.HasPrefix(want, before) {
		t.Errorf("after a crash, the program prints\n%s\nand the answer is\n%s", got, want)
	}
	if cuts.Load() < 3 {
		t.Errorf("only %d connections were cut", cuts.Load())
	}
	if want := "pip install " + lineWith(
		read(t, "requirements.txt"), "httpx",
	) + "\n"; !strings.Contains(read(t, followPage), want) {
		t.Errorf("%s does not have %q", followPage, want)
	}
}

func lineWith(text, part string) string {
	for line := range strings.Lines(text) {
		if strings.Contains(line, part) {
			return strings.TrimSpace(line)
		}
	}
	return "?"
}

func read(t *testing.T, file string) string {
	t.Helper()

	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
