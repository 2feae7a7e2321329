package main

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/spoolhq/spool"
)

// A database with runs of the demo model is not gone on with by another one without a word: the
// banner, the log and check say what becomes of which runs, and nothing where nothing changes.
func TestResumed(t *testing.T) {
	t.Parallel()

	data := t.TempDir()
	first := start(t, data)
	first.post(t, "/api/agent/run", `{"threadId":"t1","prompt":"use send_email with {\"to\":\"ann@example.com\"}"}`)
	var w watcher
	w.watch(t, first, func(f spool.Frame) bool { return f.Event != nil && f.Event.Type == spool.EntryInputRequired })
	first.post(t, "/api/agent/run", `{"threadId":"t2","prompt":"slow 1000"}`)
	first.signal(t, syscall.SIGKILL)

	const local = `{provider: openai, base_url: "http://127.0.0.1:1/v1", model: qwen3}`
	file := func(models, agent string) string {
		return writeConfig(t, "models: {"+models+"}\nagents: {"+agent+"}\nlimits: {retry_backoff: 1h}\n")
	}
	const inState = "waiting for an answer"
	for name, c := range map[string]struct{ config, want string }{
		"Gone": {
			file("local: "+local, "assistant: {model: local}"),
			"started with the model demo, which is not configured, go on with local (qwen3 at 127.0.0.1:1)\n",
		},
		"SameName": {
			file("demo: "+local, "assistant: {model: demo}"),
			"started with the model demo when that was the demo model, go on with demo (qwen3 at 127.0.0.1:1)\n",
		},
		"NoAgent": {file("demo: {provider: demo}", "helper: {model: demo}"), "of the agent assistant, which is not configured, wait until it is\n"},
		"Same":    {file("demo: {provider: demo}", "assistant: {model: demo}"), ""},
	} {
		got := command(nil, "check", "--config", c.config, "--data", data)
		if got.code != exitOK || (c.want != "") != strings.Contains(got.stdout, "resume    2 runs (") || !strings.Contains(got.stdout, c.want) ||
			c.want != "" && !strings.Contains(got.stdout, "1 "+inState) {
			t.Errorf("%s: %+v", name, got)
		}
	}

	same := start(t, data)
	same.signal(t, syscall.SIGKILL) // what it has printed is there then
	if strings.Contains(same.banner, "does not go on") || strings.Contains(same.stderr.String(), "does not go on") {
		t.Errorf("nothing has changed, and the banner says\n%s", same.banner)
	}
	other := start(t, data, "--config", file("local: "+local, "assistant: {model: local}"))
	other.signal(t, syscall.SIGKILL)
	for _, text := range []string{other.banner, other.stderr.String()} {
		if !strings.Contains(text, "not go on as it began") || !strings.Contains(text, "which is not configured, go on with local (qwen3 at 127.0.0.1:1)") {
			t.Errorf("it is not said:\n%s", text)
		}
	}
	if got := command(nil, "check", "--data", filepath.Join(data, "none")); got.code != exitFailure {
		t.Errorf("%+v", got)
	}
}
