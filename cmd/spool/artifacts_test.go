package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/fake/s3"
	"github.com/spoolhq/spool/internal/testwait"
)

// TestArtifactPlaces stores a large attachment in each place. Another process reads it, a quota refuses more of it, and
// nothing is left when its thread is deleted.
func TestArtifactPlaces(t *testing.T) {
	t.Parallel()

	service := s3.Open(false)
	t.Cleanup(service.Close)
	folder := t.TempDir()
	for name, c := range map[string]struct {
		section string
		left    func() int // how many files there are
	}{
		"directory": {"type: directory, path: " + folder, func() int { return filesIn(t, folder) }},
		"s3": {"type: s3, endpoint: \"" + service.URL + "\", bucket: " + service.Bucket + ", region: " + service.Region + ", access_key: " +
			service.AccessKey + ", secret_key: " + service.SecretKey + ", insecure: true, prefix: spool/", func() int { return len(service.Objects()) }},
		"database": {"type: database", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			config := writeConfig(t, "artifacts: {"+c.section+", quota: 60000}\n")
			data := t.TempDir()
			p := start(t, data, "--config", config)
			text := strings.Repeat("one line of many\n", 3000)
			attach := func(thread, text string) string {
				return p.post(t, "/api/agent/run?wait=30s", `{"threadId":"`+thread+`","prompt":"Look.","attachments":[{"name":"a.txt","url":"data:text/plain;base64,`+
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
			var s spool.Snapshot
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
	config := writeConfig(t, `artifacts: {type: s3, endpoint: "`+service.URL+`", bucket: other, region: `+service.Region+`, access_key: `+
		service.AccessKey+`, secret_key: a-wrong-secret, insecure: true}`)
	cmd := exec.CommandContext(patiently(t), os.Args[0], "serve", "--listen", "127.0.0.1:0", "--data", t.TempDir(), "--config", config)
	cmd.Env = append(os.Environ(), asCommand+"=1")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "artifacts: ") || strings.Contains(string(out), "a-wrong-secret") {
		t.Errorf("got %v: %s", err, out)
	}
	t.Logf("%s", out)
}
