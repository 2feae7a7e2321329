package command

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// formerSnippet is what the page about running had for nginx in the past, so that there are
// servers with it. Its requests have the Host of the upstream, and no trace of the proxy.
const formerSnippet = `
location /api/agent/stream {
    proxy_pass http://127.0.0.1:8080;
    proxy_http_version 1.1;
    proxy_buffering off;
    proxy_read_timeout 1h;
}
`

// documentedSnippet is what the page has now.
func documentedSnippet(t *testing.T) string {
	t.Helper()

	page, err := os.ReadFile("../../../../docs/operations/running.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```nginx\n")
	snippet, _, ok := strings.Cut(rest, "```")
	if !ok || !strings.Contains(snippet, "proxy_pass http://127.0.0.1:8080;") {
		t.Fatalf("the page has no snippet for nginx: %q", snippet)
	}
	return snippet
}

// nginx is an nginx in front of a process, with files of its own.
type nginx struct{ url string }

func findNginx(t *testing.T) string {
	t.Helper()

	for _, name := range []string{"nginx", "/usr/sbin/nginx"} {
		if found, err := exec.LookPath(name); err == nil {
			return found
		}
	}
	if os.Getenv("SPOOL_TEST_REQUIRE") == "1" {
		t.Fatal("nginx is missing and SPOOL_TEST_REQUIRE is 1: run test/services/install.sh")
	}
	t.Skip("nginx is not installed: test/services/install.sh says how")
	return ""
}

// proxy starts an nginx with the snippet, in front of p.
func (p *process) proxy(t *testing.T, snippet string) *nginx {
	t.Helper()

	binary := findNginx(t)
	upstream := strings.TrimPrefix(p.url, "http://")
	snippet = strings.ReplaceAll(snippet, "127.0.0.1:8080", upstream)
	for range 5 { // somebody else may take the port first
		if n := tryNginx(t, binary, snippet); n != nil {
			return n
		}
	}
	t.Fatal("nginx did not start")
	return nil
}

// tryNginx returns nil where nginx has ended before it listened.
func tryNginx(t *testing.T, binary, snippet string) *nginx {
	t.Helper()

	free, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	free.Close()
	prefix := t.TempDir()
	config := fmt.Sprintf(`daemon off; master_process off; pid nginx.pid; error_log stderr;
events {}
http {
    access_log off;
    client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
    server { listen %s; server_name agents.example;
%s
    }
}
`, address, snippet)
	file := filepath.Join(prefix, "nginx.conf")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd := exec.CommandContext(context.Background(), binary, "-e", "stderr", "-p", prefix, "-c", file)
	cmd.Stdout, cmd.Stderr = &stderr, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan struct{})
	go func() {
		defer close(exited)
		_ = cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-exited:
		case <-time.After(patience):
			_ = cmd.Process.Kill()
			<-exited
		}
	})
	for began := time.Now(); time.Since(began) < patience; {
		select {
		case <-exited:
			t.Logf("nginx ended: %s", &stderr)
			return nil
		case <-time.After(10 * time.Millisecond):
		}
		if c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address); err == nil {
			c.Close()
			return &nginx{"http://" + address}
		}
	}
	t.Fatal("nginx does not listen")
	return nil
}

// do sends a request as a client of another machine does, which knows the server by its name.
func (n *nginx) do(t *testing.T, method, path, token, body string) (int, string) {
	t.Helper()

	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, n.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Host = "agents.example"
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

const nginxToken = "a-token-for-those-behind-nginx"

// With the documented snippet, a server without tokens sees the proxy and refuses it, and one
// with tokens asks everybody for theirs, streams each frame at once, and takes images.
func TestNginx(t *testing.T) {
	t.Parallel()

	findNginx(t)
	open := start(t, t.TempDir())
	if status, body := open.proxy(t, documentedSnippet(t)).do(
		t, http.MethodGet, "/api/threads", "", "",
	); status != http.StatusForbidden {
		t.Errorf("a server without tokens answers whom the proxy reaches: %d %s", status, body)
	}

	p := startWith(t, []string{"SPOOL_TOKEN=" + nginxToken}, t.TempDir())
	front := p.proxy(t, documentedSnippet(t))
	for token, want := range map[string]int{"": 401, "wrong-but-long-enough": 401, nginxToken: 200} {
		if status, body := front.do(t, http.MethodGet, "/api/threads", token, ""); status != want {
			t.Errorf("with the token %q: %d %s, want %d", token, status, body, want)
		}
	}
	if status, body := front.do(
		t, http.MethodPost, "/api/agent/run", nginxToken, `{"threadId":"t1","prompt":"slow 15"}`,
	); status != http.StatusAccepted {
		t.Fatalf("start: %d %s", status, body)
	}
	frames := front.frames(t, "/api/agent/stream?threadId=t1")
	if !strings.Contains(frames, `"kind":"stream"`) || strings.Contains(frames, `"state":"COMPLETED"`) {
		t.Errorf("the stream does not come live: %s", frames)
	}
	large := `{"threadId":"t2","prompt":"` + strings.Repeat("x", 2<<20) + `"}`
	if status, body := front.do(
		t, http.MethodPost, "/api/agent/run", nginxToken, large,
	); status != http.StatusBadRequest || !strings.Contains(body, "prompt is longer") {
		t.Errorf("a large body: %d %.200s", status, body)
	}
}

// frames returns what a stream sends, until the first item of a run has come.
func (n *nginx) frames(t *testing.T, path string) string {
	t.Helper()

	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, n.url+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+nginxToken)
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var text strings.Builder
	part := make([]byte, 4<<10)
	for !strings.Contains(text.String(), `"kind":"stream"`) {
		count, err := res.Body.Read(part)
		text.Write(part[:count])
		if err != nil {
			t.Fatalf("behind %q: %v", text.String(), err)
		}
	}
	return text.String()
}

// A proxy that is configured to say nothing, as the page once had it, looks like a program of
// this machine: no check of headers can tell. It publishes a server without tokens, which is
// why the page says that a proxy needs them; a server with tokens holds.
func TestNginxFormer(t *testing.T) {
	t.Parallel()

	findNginx(t)
	open := start(t, t.TempDir())
	const path = "/api/agent/stream?threadId=none" // which is not found, once somebody may look
	if status, body := open.proxy(t, formerSnippet).do(t, http.MethodGet, path, "", ""); status != http.StatusNotFound {
		t.Errorf("the former snippet does not publish any more, and the page can say so: %d %s", status, body)
	}
	p := startWith(t, []string{"SPOOL_TOKEN=" + nginxToken}, t.TempDir())
	front := p.proxy(t, formerSnippet)
	for token, want := range map[string]int{"": 401, nginxToken: 404} {
		if status, body := front.do(t, http.MethodGet, path, token, ""); status != want {
			t.Errorf("with the token %q: %d %s, want %d", token, status, body, want)
		}
	}
}
