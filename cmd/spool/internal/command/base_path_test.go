package command

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// Below a base path is all that the server has, and nothing is beside it.
func TestBasePath(t *testing.T) {
	t.Parallel()

	for name, started := range map[string]func(*testing.T) *process{
		"Flag": func(t *testing.T) *process { t.Helper(); return start(t, t.TempDir(), "--base-path", "/v1/") },
		"Variable": func(t *testing.T) *process {
			t.Helper()
			return startWith(t, []string{"SPOOL_BASE_PATH=/v1"}, t.TempDir())
		},
		"File": func(t *testing.T) *process {
			t.Helper()
			return start(t, t.TempDir(), "--config", writeConfig(t, "server: {base_path: /v1}\n"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p := started(t)
			if !strings.HasSuffix(p.url, "/v1") || !strings.Contains(p.banner, p.url+"/api/agent/stream") {
				t.Errorf("the banner says\n%s", p.banner)
			}
			p.post(t, "/api/agent/run", `{"threadId":"t1","prompt":"Hello"}`)
			var w watcher
			w.watch(t, p, hasCompleted)
			for _, path := range []string{
				"", "/", "/healthz", "/readyz", "/docs", "/docs/", "/openapi.json", "/api/threads",
				"/api/agent/history?threadId=t1",
			} {
				if got := status(t, p.url+path); got != http.StatusOK {
					t.Errorf("%s: %d", path, got)
				}
			}
			if got := status(t, p.url+"/api/agent/ag-ui"); got != http.StatusMethodNotAllowed {
				t.Errorf("ag-ui: %d", got)
			}
			for _, path := range []string{"/", "/healthz", "/docs", "/api/threads"} {
				if got := status(t, strings.TrimSuffix(p.url, "/v1")+path); got != http.StatusNotFound {
					t.Errorf("beside the base path, %s: %d", path, got)
				}
			}
			var doc struct{ Paths map[string]any }
			if err := json.Unmarshal([]byte(p.get(t, "/openapi.json")), &doc); err != nil || len(doc.Paths) == 0 {
				t.Fatal(err)
			}
			for path := range doc.Paths {
				if !strings.HasPrefix(path, "/v1/") {
					t.Errorf("the document has %s", path)
				}
			}
			if got := command(nil, "admin", "runs", "--url", p.url); got.code != exitOK ||
				!strings.Contains(got.stdout, "COMPLETED") {
				t.Errorf("admin: %+v", got)
			}
		})
	}
}

// status returns the status of a GET.
func status(t *testing.T, url string) int {
	t.Helper()

	r, err := http.NewRequestWithContext(patiently(t), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	return answer.StatusCode
}
