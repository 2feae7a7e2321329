package command

import (
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/sqlite"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/model/demo"
	"github.com/spoolhq/spool/model/openai"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

// A database with runs of the demo model is not gone on with by another one without a word: the
// banner, the log and check say what becomes of which runs, and nothing where nothing changes.
func TestResumed(t *testing.T) {
	t.Parallel()

	data := t.TempDir()
	first := start(t, data)
	first.post(t, "/api/agent/run", `{"threadId":"t1","prompt":"use send_email with {\"to\":\"ann@example.com\"}"}`)
	var w watcher
	w.watch(t, first, func(f wire.Frame) bool { return f.Event != nil && f.Event.Type == wire.EntryInputRequired })
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
			"started with the model demo, which is not configured, continue with local (qwen3 at 127.0.0.1:1)\n",
		},
		"SameName": {
			file("demo: "+local, "assistant: {model: demo}"),
			"started with the model demo when that was the demo model, continue with demo (qwen3 at 127.0.0.1:1)\n",
		},
		"NoAgent": {
			file("demo: {provider: demo}", "helper: {model: demo}"),
			"of the agent assistant, which is not configured, wait until it is\n",
		},
		"Same": {file("demo: {provider: demo}", "assistant: {model: demo}"), ""},
	} {
		got := command(nil, "check", "--config", c.config, "--data", data)
		if got.code != exitOK || (c.want != "") != strings.Contains(got.stdout, "resume    2 runs (") ||
			!strings.Contains(got.stdout, c.want) ||
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
		if !strings.Contains(text, "not continue as they began") ||
			!strings.Contains(text, "which is not configured, continue with local (qwen3 at 127.0.0.1:1)") {
			t.Errorf("it is not said:\n%s", text)
		}
	}
	if got := command(nil, "check", "--data", filepath.Join(data, "none")); got.code != exitFailure {
		t.Errorf("%+v", got)
	}
}

// A run that nobody can answer is not said to wait for an answer.
func TestResumedWaits(t *testing.T) {
	t.Parallel()

	waits := sqlite.Unfinished{Agent: "gone", State: wire.WaitingForInput, Runs: 1}
	asks, works, more := waits, waits, waits
	asks.Asks = true
	works.Pending, works.Work = 1, "shop__audit"
	both := works
	both.Asks = true
	more.Pending, more.Work = 3, "shop__audit"
	const rest = " of the agent gone, which is not configured, waits until it is"
	for want, u := range map[string]sqlite.Unfinished{
		"waiting for an answer":                     asks,
		"waiting for shop__audit's work":            works,
		"waiting for shop__audit's work and 2 more": more,
		"waiting for a worker":                      waits,
		"queued":                                    {Agent: "gone", State: wire.Queued, Runs: 1},
	} {
		if got := (&setup{}).changedRuns([]sqlite.Unfinished{u}); !slices.Equal(
			got, []string{"1 run (" + want + ")" + rest},
		) {
			t.Errorf("%q, want %s", got, want)
		}
	}
	got := (&setup{}).changedRuns([]sqlite.Unfinished{asks, both, works})
	if want := "3 runs (2 waiting for an answer, 1 waiting for shop__audit's work) of the agent gone, which is not configured, wait until it is"; !slices.Equal(got, []string{want}) {
		t.Errorf("%q, want %s", got, want)
	}
}

// So it is with runs of a model under whose name another one of a provider is configured now. Another
// address of the same one says nothing: a local server may have another port.
func TestResumedOnAnotherModel(t *testing.T) {
	t.Parallel()

	data := t.TempDir()
	file := func(model, port string) string {
		return writeConfig(t, `models: {local: {provider: openai, base_url: "http://127.0.0.1:`+port+`/v1", model: `+model+`}}
agents: {assistant: {model: local}}
limits: {retry_backoff: 1h}
`)
	}
	first := start(t, data, "--config", file("qwen3", "1"))
	first.post(t, "/api/agent/run", `{"threadId":"t1","prompt":"Hello"}`)
	var w watcher
	w.watch(t, first, func(f wire.Frame) bool { return f.Event != nil && f.Event.Type == wire.EntryRunEnded })
	first.signal(t, syscall.SIGKILL)

	const changed = "1 run (queued) started with the model local when that was qwen3, continues with local (gpt-5 at 127.0.0.1:1)\n"
	for _, c := range []struct{ config, want string }{
		{file("qwen3", "1"), ""}, {file("qwen3", "2"), ""}, {file("gpt-5", "1"), changed},
	} {
		got := command(nil, "check", "--config", c.config, "--data", data)
		if got.code != exitOK || (c.want != "") != strings.Contains(got.stdout, "resume ") ||
			!strings.Contains(got.stdout, c.want) {
			t.Errorf("%+v", got)
		}
	}
	other := start(t, data, "--config", file("gpt-5", "1"))
	other.signal(t, syscall.SIGKILL)
	if !strings.Contains(other.banner, changed) ||
		!strings.Contains(other.stderr.String(), "when that was qwen3, continues with local") {
		t.Errorf("it is not said:\n%s%s", other.banner, other.stderr.String())
	}
}

// Only what is asked is compared: a provider answers gpt-5 under the name of a version, and a router
// under another one. Where an older version has not kept what was asked, nothing is said.
func TestModelBefore(t *testing.T) {
	t.Parallel()

	asks, err := openai.New(openai.Config{Model: "gpt-5", APIKey: "a-key"})
	if err != nil {
		t.Fatal(err)
	}
	s := setup{
		engine: engine.Config{
			Models: map[string]spool.Model{"a": asks, "demo": demo.New(demo.Config{}), "other": spooltest.NewModel()},
		},
	}
	for was, want := range map[modelNames]string{
		{"a", "gpt-5-2026-08-07", "gpt-5"}:  "",
		{"a", "gpt-5-2026-08-07", "gpt-4"}:  "gpt-4",
		{"a", "gpt-5-2026-08-07", ""}:       "",
		{"a", "", "gpt-4"}:                  "gpt-4",
		{"a", "", ""}:                       "",
		{"a", "demo", "demo"}:               "the demo model",
		{"a", "demo", ""}:                   "the demo model",
		{"a", "", "demo"}:                   "the demo model",
		{"demo", "demo", "demo"}:            "",
		{"demo", "demo", ""}:                "",
		{"demo", "gpt-5-2026-08-07", ""}:    "gpt-5-2026-08-07",
		{"demo", "gpt-5-2026-08-07", "gpt"}: "gpt",
		{"other", "x-1", "x"}:               "", // one of your own that does not say whose it is
	} {
		if got := s.before(was); got != want {
			t.Errorf("%+v: %q, want %q", was, got, want)
		}
	}
}
