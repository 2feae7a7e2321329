package command

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/spoolhq/spool/internal/testing/inputs"
)

// pageProgram looks at a page in a browser.
const pageProgram = "../../../../test/openapi/page.mjs"

// see opens a page of the server in a browser, which does what the arguments say.
func (p *process) see(t *testing.T, path string, args ...string) {
	t.Helper()

	inputs.Read(t, "test/openapi")
	browser := os.Getenv("CHROMIUM")
	if browser == "" {
		browser = "/usr/bin/chromium"
	}
	_, missing := os.Stat(browser)
	if missing == nil {
		_, missing = os.Stat("../../../../test/node_modules")
	}
	if missing != nil && os.Getenv("SPOOL_TEST_REQUIRE") != "1" {
		t.Skipf("there is no browser, or test/node_modules is not there (\"make deps\"): %v", missing)
	}
	args = append([]string{pageProgram, p.url + path, filepath.Join(t.TempDir(), "page.png"), "--timeout", "60"}, args...)
	if out, err := exec.CommandContext(t.Context(), "node", args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", path, err, out)
	}
}

// A person who opens the server in a browser finds the console with the threads. On the docs page a stream
// can be tried out although it has no end: its beginning is shown.
func TestPages(t *testing.T) {
	t.Parallel()

	p := start(t, t.TempDir(), "--base-path", "/v1")
	p.post(t, "/api/agent/run", `{"threadId":"t1","prompt":"Good morning, docs page"}`)
	p.see(t, "/", "--expect", "New thread", "--expect", "Good morning, docs page")
	p.see(t, "/#/operations", "--expect", "repeats the prompt; not a language model")
	const stream = "#operations-Threads-streamThread "
	p.see(t, "/docs", "--click", stream+".opblock-summary-control", "--click", stream+".try-out__btn",
		"--fill", stream+"tr[data-param-name=threadId] input=t1", "--click", stream+".execute",
		"--expect", "Good morning, docs page", "--expect", "This page stops reading here.")
}
