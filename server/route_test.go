package server_test

import (
	"net/http"
	"testing"

	"github.com/spoolhq/spool/server"
)

func TestRoutes(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{BasePath: "/agents/"})
	for name, c := range map[string]struct {
		method, path string
		status       int
		allow, body  string
	}{
		"Unknown": {
			"GET", "/agents/api/nothing", 404, "", `{"error":"no such path: /agents/api/nothing","code":"not_found"}`,
		},
		"NotBased": {"GET", threadsPath, 404, "", `{"error":"no such path: /api/threads","code":"not_found"}`},
		"Slash": {
			"GET", "/agents" + threadsPath + "/", 404, "", `{"error":"no such path: /agents/api/threads/","code":"not_found"}`,
		},
		"Method": {
			"PUT", "/agents" + threadsPath, 405, "DELETE, GET, HEAD, OPTIONS, PATCH",
			`{"error":"PUT is not allowed here","code":"method_not_allowed"}`,
		},
		"GetOfPost": {
			"GET", "/agents" + runPath, 405, "OPTIONS, POST", `{"error":"GET is not allowed here","code":"method_not_allowed"}`,
		},
		"HeadOfPost": {"HEAD", "/agents" + runPath, 405, "OPTIONS, POST", ""},
		"Options":    {"OPTIONS", "/agents" + threadsPath, 204, "DELETE, GET, HEAD, OPTIONS, PATCH", ""},
		"OptionsNone": {
			"OPTIONS", "/agents/nothing", 404, "", `{"error":"no such path: /agents/nothing","code":"not_found"}`,
		},
		"Dots": {
			"GET", "/agents/api/admin/runs/%2e%2e", 404, "",
			`{"error":"no such path: /agents/api/admin/runs/..","code":"not_found"}`,
		},
		"DotsOfDocs": {
			"GET", "/agents/docs/%2e%2e/openapi.json", 404, "",
			`{"error":"no such path: /agents/docs/../openapi.json","code":"not_found"}`,
		},
		"Slashes": {
			"GET", "/agents/docs//evil.example", 404, "",
			`{"error":"no such path: /agents/docs//evil.example","code":"not_found"}`,
		},
		"NoDocs": {
			"GET", "/agents/docs/nothing", 404, "", `{"error":"no such path: /agents/docs/nothing","code":"not_found"}`,
		},
		"Get":    {"GET", "/agents" + threadsPath, 200, "", `{"threads":[]}`},
		"Head":   {"HEAD", "/agents" + threadsPath, 200, "", ""},
		"Health": {"GET", "/agents/healthz", 200, "", `{"status":"ok"}`},
	} {
		got := b.as(t, tokenA, c.method, c.path, "")
		if got.status != c.status || got.body != c.body || got.header.Get("Allow") != c.allow {
			t.Errorf("%s: %d %s, Allow %q", name, got.status, got.body, got.header.Get("Allow"))
		}
		if c.status == http.StatusOK && (got.header.Get("Cache-Control") != "no-store" ||
			got.header.Get("Content-Length") == "") {
			t.Errorf("%s: %v", name, got.header)
		}
	}
}
