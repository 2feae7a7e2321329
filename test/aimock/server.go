package aimock

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"testing"
	"time"
)

// startTimeout is how long the server may take to listen.
const startTimeout = 30 * time.Second

var listenExpr = regexp.MustCompile(`listening on (http://\S+)`)

// Server is a running mock. Its fixtures decide what it answers.
type Server struct {
	// URL is where it listens, without a path. OpenAI's interface is below "/v1",
	// OpenRouter's below "/api/v1".
	URL string
}

// Start starts a server with a file of fixtures on a free port, waits until it listens
// and ends it with the test.
func Start(t *testing.T, fixtures string) *Server {
	t.Helper()

	node, script := find(t)
	path, err := filepath.Abs(fixtures)
	if err != nil {
		t.Fatal(err)
	}
	// The process must outlive the test's own context, which ends before its cleanups.
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), node, script, "--port", "0", "--fixtures", path)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("start aimock: %v", err)
	}

	listening, drained := make(chan string, 1), make(chan struct{})
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-drained
		_ = cmd.Wait()
	})
	go func() {
		defer close(drained)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if m := listenExpr.FindStringSubmatch(lines.Text()); m != nil {
				select {
				case listening <- m[1]:
				default:
				}
			}
		}
	}()
	select {
	case url := <-listening:
		return &Server{URL: url}
	case <-drained:
		t.Fatal("aimock ended before it listened")
	case <-time.After(startTimeout):
		t.Fatalf("aimock did not listen within %s", startTimeout)
	}
	return nil
}

// find returns the paths of node and of the server's script, or ends the test.
func find(t *testing.T) (node, script string) {
	t.Helper()

	missing := func(what string) {
		t.Helper()
		if os.Getenv("SPOOL_TEST_REQUIRE") == "1" {
			t.Fatalf("%s is missing and SPOOL_TEST_REQUIRE is 1: run make deps/npm", what)
		}
		t.Skipf("%s is missing: run make deps/npm", what)
	}
	node, err := exec.LookPath("node")
	if err != nil {
		missing("node")
	}
	_, file, _, ok := runtime.Caller(0)
	if !ok || !filepath.IsAbs(file) {
		// A build with -trimpath does not know the folder of this file. Tests run in their package's folder,
		// so the plain name works there.
		file, err = filepath.Abs("server.go")
		if err != nil {
			t.Fatal(err)
		}
	}
	script = filepath.Join(filepath.Dir(file), "..", "node_modules", "@copilotkit", "aimock", "dist", "cli.js")
	if _, err := os.Stat(script); err != nil {
		missing("aimock")
	}
	return node, script
}

// Journal returns the bodies of the requests that the server got, in order.
func (s *Server) Journal(t *testing.T) []json.RawMessage {
	t.Helper()

	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/__aimock/journal", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var entries []struct {
		Body json.RawMessage `json:"body"`
	}
	if err := json.NewDecoder(response.Body).Decode(&entries); err != nil {
		t.Fatalf("decode journal: %v", err)
	}
	bodies := make([]json.RawMessage, len(entries))
	for i, e := range entries {
		bodies[i] = e.Body
	}
	return bodies
}
