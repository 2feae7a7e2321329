package command

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// With --log-format json each line is JSON, also the warnings of the pricer, which is made before the log.
func TestLogIsJSON(t *testing.T) {
	t.Parallel()

	peer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w,
			"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}\n\n"+
				"data: {\"choices\":[],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":2,\"prompt_tokens_details\":{\"cached_tokens\":5}}}\n\ndata: [DONE]\n\n")
	}))
	defer peer.Close()
	table := filepath.Join(t.TempDir(), "prices.json")
	if err := os.WriteFile(
		table, []byte(`{"version":"1","currency":"USD","models":{"m":{"input":1,"output":2}}}`), 0o600,
	); err != nil {
		t.Fatal(err)
	}
	file := writeConfig(t, "models: {m: {provider: openai, model: x, api_key: key-of-the-test, base_url: "+peer.URL+
		"}}\nagents: {a: {model: m}}\nprices: "+table+"\n")
	p := start(t, t.TempDir(), "--config", file, "--log-format", "json")
	p.post(t, "/api/agent/run", `{"threadId":"t1","runId":"r1","prompt":"hello"}`)
	var w watcher
	w.watch(t, p, hasCompleted)
	if code := p.signal(t, syscall.SIGTERM); code != exitOK {
		t.Errorf("exit code %d", code)
	}
	warned := false
	for line := range strings.Lines(p.stderr.String()) {
		var record struct{ Msg string }
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			t.Errorf("not JSON: %s", line)
		}
		warned = warned || strings.Contains(record.Msg, "has no rate for a cache")
	}
	if !warned {
		t.Error("the pricer did not warn")
	}
}

// namesToken is what a command says when a server refuses its credentials.
const namesToken = "spool: set SPOOL_TOKEN to a token of the server\n"

// A server that refuses the credentials of a command makes it say where they come from.
func TestRefusedTokenIsNamed(t *testing.T) {
	t.Parallel()

	p := startWith(t, []string{"SPOOL_TOKEN=a-secret-token-of-all"}, t.TempDir())
	for _, token := range []string{"", "a-token-of-nobody"} {
		env := map[string]string{"SPOOL_URL": p.url, "SPOOL_TOKEN": token}
		for _, args := range [][]string{
			{"admin", "overview"},
			{"threads"},
			{"tail", "t1"},
			{"inbox", "--json"},
			{"run", "export", "--thread", "t1"},
			{"chat", "hello"},
		} {
			if got := command(env, args...); got.code == exitOK || !strings.HasSuffix(got.stderr, namesToken) {
				t.Errorf("%v with the token %q: %+v", args, token, got)
			}
		}
	}
}
