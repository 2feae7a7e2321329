package command

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/testing/fake/s3"
	"github.com/spoolhq/spool/internal/testing/testwait"
	"github.com/spoolhq/spool/wire"
)

// artifactPlace is a place of artifacts.
type artifactPlace struct {
	section string
	left    func() int // how many files there are
}

// artifactPlaces returns the places by their names.
func artifactPlaces(t *testing.T) map[string]artifactPlace {
	t.Helper()

	service := s3.Open(false)
	t.Cleanup(service.Close)
	folder := t.TempDir()
	return map[string]artifactPlace{
		"directory": {"type: directory, path: " + folder, func() int { return filesIn(t, folder) }},
		"s3": {
			"type: s3, endpoint: \"" + service.URL + "\", bucket: " + service.Bucket + ", region: " + service.Region +
				", access_key: " +
				service.AccessKey + ", secret_key: " + service.SecretKey + ", insecure: true, prefix: spool/",
			func() int { return len(service.Objects()) },
		},
		"database": {"type: database", nil},
	}
}

// TestUploads uploads a file to each place. A process that is killed in the middle of an upload leaves no artifact and
// takes no room, and a signed URL works in the next process, which has the same key, until the thread is deleted.
func TestUploads(t *testing.T) {
	t.Parallel()

	for name, c := range artifactPlaces(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			config := writeConfig(t, "artifacts: {"+c.section+", quota: 300000, max_bytes: 200000}\n"+
				"auth: {tokens: [{token: a-token-of-length, scopes: [read, write, stop]}], stream_token_keys: [0123456789abcdef0123456789abcdef]}\n")
			data := t.TempDir()
			open := func() *process { return start(t, data, "--config", config) }
			p := open()
			ask := func(method, path, body string) (status int, text string) {
				t.Helper()
				r, err := http.NewRequestWithContext(patiently(t), method, p.url+path, strings.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				if !strings.Contains(path, "token=") {
					r.Header.Set("Authorization", "Bearer a-token-of-length")
				}
				res, err := http.DefaultClient.Do(r)
				if err != nil {
					t.Fatal(err)
				}
				defer res.Body.Close()
				all, err := io.ReadAll(res.Body)
				if err != nil {
					t.Fatal(err)
				}
				return res.StatusCode, string(all)
			}
			if status, text := ask(
				http.MethodPost, "/api/agent/run?wait=30s", `{"threadId":"t1","prompt":"hello"}`,
			); status != http.StatusOK {
				t.Fatalf("%d %s", status, text)
			}

			// The first process is killed while a file is on its way.
			from, to := io.Pipe()
			r, err := http.NewRequestWithContext(patiently(t), http.MethodPost, p.url+"/api/agent/artifacts?threadId=t1", from)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Authorization", "Bearer a-token-of-length")
			failed := make(chan error, 1)
			go func() {
				res, err := http.DefaultTransport.RoundTrip(r)
				if err == nil {
					_ = res.Body.Close()
				}
				failed <- err
			}()
			if _, err := io.WriteString(to, strings.Repeat("half\n", 30000)); err != nil {
				t.Fatal(err)
			}
			p.signal(t, syscall.SIGKILL)
			_ = to.CloseWithError(io.ErrUnexpectedEOF) // the transport waits for the body before it gives up
			if err := <-failed; err == nil {
				t.Error("the upload was answered")
			}
			p = open()
			if c.left != nil && c.left() != 0 {
				t.Errorf("%d files are left", c.left())
			}

			text := strings.Repeat("one line of many\n", 10000)
			upload := func(text string) (status int, body string) {
				return ask(http.MethodPost, "/api/agent/artifacts?threadId=t1&name=a.txt", text)
			}
			status, body := upload(text)
			var saved spool.Artifact
			if err := json.Unmarshal([]byte(body), &saved); err != nil || status != http.StatusCreated ||
				saved.Size != int64(len(text)) {
				t.Fatalf("%d %s", status, body)
			}
			if again, same := upload(text); again != http.StatusCreated || same != body {
				t.Errorf("the same file: %d %s", again, same)
			}
			if status, body := upload(strings.ToUpper(text)); status != http.StatusInsufficientStorage ||
				!strings.Contains(body, "storage_full") {
				t.Errorf("beyond the quota: %d %s", status, body)
			}
			if status, body := upload(text + text); status != http.StatusRequestEntityTooLarge ||
				!strings.Contains(body, "too_large") {
				t.Errorf("beyond the bound: %d %s", status, body)
			}
			_, body = ask(http.MethodPost, "/api/agent/artifacts/"+string(saved.ID)+"/url?threadId=t1", "")
			var signed struct{ URL string }
			if err := json.Unmarshal([]byte(body), &signed); err != nil || signed.URL == "" {
				t.Fatal(body)
			}
			p.signal(t, syscall.SIGKILL)
			p = open()
			if status, got := ask(http.MethodGet, signed.URL, ""); status != http.StatusOK || got != text {
				t.Errorf("the URL in the next process: %d, %d bytes", status, len(got))
			}
			if status, _ := ask(http.MethodGet, signed.URL+"A", ""); status != http.StatusForbidden {
				t.Errorf("an altered URL: %d", status)
			}
			if status, body := ask(http.MethodDelete, "/api/threads?threadId=t1", ""); status != http.StatusOK {
				t.Fatalf("%d %s", status, body)
			}
			if status, _ := ask(http.MethodGet, signed.URL, ""); status != http.StatusForbidden {
				t.Errorf("after the deletion: %d", status)
			}
		})
	}
}

// TestArtifactPlaces stores a large attachment in each place. Another process reads it, a quota refuses more of it, and
// nothing is left when its thread is deleted.
func TestArtifactPlaces(t *testing.T) {
	t.Parallel()

	for name, c := range artifactPlaces(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			config := writeConfig(t, "artifacts: {"+c.section+", quota: 60000}\n")
			data := t.TempDir()
			p := start(t, data, "--config", config)
			text := strings.Repeat("one line of many\n", 3000)
			attach := func(thread, text string) string {
				return p.post(t, "/api/agent/run?wait=30s",
					`{"threadId":"`+thread+`","prompt":"Look.","attachments":[{"name":"a.txt","url":"data:text/plain;base64,`+
						base64.StdEncoding.EncodeToString([]byte(text))+`"}]}`)
			}
			if got := attach("t1", text); !strings.Contains(got, `"COMPLETED"`) {
				t.Fatal(got)
			}
			if got := attach("t2", strings.ToUpper(text)); !strings.Contains(got, "storage_full") {
				t.Errorf("beyond the quota: %s", got)
			}
			p.signal(t, syscall.SIGKILL)
			p = start(t, data, "--config", config)
			var s wire.Snapshot
			if err := json.Unmarshal([]byte(p.get(t, "/api/agent/history?threadId=t1")), &s); err != nil {
				t.Fatal(err)
			}
			id, stored := spool.ArtifactOf(s.Messages[0].Content[1].File)
			if !stored {
				t.Fatalf("the turn has %+v", s.Messages[0].Content)
			}
			if got := p.get(t, "/api/agent/artifacts/"+string(id)+"?threadId=t1"); got != strings.TrimSpace(text) {
				t.Errorf("%d bytes", len(got))
			}
			r, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, p.url+"/api/threads?threadId=t1", http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			if got := read(t, r); !strings.Contains(got, "true") {
				t.Fatal(got)
			}
			if got := attach("t3", strings.ToUpper(text)); !strings.Contains(got, `"COMPLETED"`) {
				t.Errorf("the quota was not given back: %s", got)
			}
			if c.left != nil {
				ctx := testwait.Context(t, "the first file is gone")
				for c.left() != 1 && ctx.Err() == nil {
					p.get(t, "/healthz")
				}
				if n := c.left(); n != 1 {
					t.Errorf("%d files are left: %v", n, context.Cause(ctx))
				}
			}
		})
	}
}

// filesIn counts the files of a folder.
func filesIn(t *testing.T, folder string) (n int) {
	t.Helper()
	err := filepath.WalkDir(folder, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			n++
		}
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return n
}

// A place that cannot be used is an error of the start, which names what is wrong and not the secret.
func TestArtifactPlaceIsWrong(t *testing.T) {
	t.Parallel()

	service := s3.Open(false)
	t.Cleanup(service.Close)
	config := writeConfig(t, `artifacts: {type: s3, endpoint: "`+service.URL+`", bucket: other, region: `+
		service.Region+`, access_key: `+
		service.AccessKey+`, secret_key: a-wrong-secret, insecure: true}`)
	cmd := exec.CommandContext(patiently(t), os.Args[0], "serve", "--listen", "127.0.0.1:0", "--data", t.TempDir(),
		"--config", config)
	cmd.Env = append(os.Environ(), asCommand+"=1")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "artifacts: ") || strings.Contains(string(out), "a-wrong-secret") {
		t.Errorf("got %v: %s", err, out)
	}
	t.Logf("%s", out)
}
