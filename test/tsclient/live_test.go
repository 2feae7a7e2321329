package tsclient_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spoolhq/spool/internal/testing/inputs"
)

// clients is the folder of the TypeScript packages.
var clients = filepath.Join("..", "..", "clients", "typescript")

// The client shows what the server has saved, whatever happens to the server.
func TestLive(t *testing.T) {
	t.Parallel()

	vitest(t, "packages/client/src/live.test.ts")
}

// A client whose connections are cut at random bytes shows what is saved, whatever another client does. SPOOL_TEST_CUTS
// is how many seconds that takes, and SPOOL_TEST_SEED is where it begins.
func TestCuts(t *testing.T) {
	t.Parallel()

	vitest(t, "packages/client/src/cuts.test.ts")
}

// The client shows of random threads what the Go client shows, and both what a snapshot does. SPOOL_CAMPAIGN is how
// many seeds that are.
func TestSeeds(t *testing.T) {
	t.Parallel()

	inputs.Read(t)
	tool(t, "vitest")
	views := filepath.Join(t.TempDir(), "views.jsonl")
	campaign := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-timeout=120m", "-run=^TestSeeds$",
		"./client/view")
	campaign.Dir = filepath.Join("..", "..")
	campaign.Env = append(os.Environ(), "SPOOL_VIEWS="+views)
	if out, err := campaign.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	vitest(t, "packages/client/src/reduce/seeds.test.ts", "SPOOL_VIEWS="+views)
}

// vitest runs a test of the client, against the server unless the test has another variable.
func vitest(t *testing.T, file string, variables ...string) {
	t.Helper()

	node := program(t, "node")
	vitest := filepath.Join(tool(t, "vitest"), "vitest.mjs")
	test := exec.CommandContext(t.Context(), node, vitest, "run", file)
	test.Dir = clients
	if len(variables) == 0 {
		variables = []string{"SPOOL_BIN=" + spool(t)}
	}
	test.Env = append(os.Environ(), variables...)
	if out, err := test.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// Eight tabs share one connection, through the end of the tab that has it and of the server.
func TestTabs(t *testing.T) {
	t.Parallel()

	node := program(t, "node")
	tool(t, "playwright-core")
	if os.Getenv("SPOOL_TEST_CHROMIUM") == "" {
		program(t, "/usr/bin/chromium")
	}
	out, err := exec.CommandContext(t.Context(), node, "tabs.mjs", spool(t)).CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != "ok" {
		t.Fatalf("%v\n%s", err, out)
	}
}

// spool builds the server.
func spool(t *testing.T) string {
	t.Helper()

	inputs.Read(t)
	file := filepath.Join(t.TempDir(), "spool")
	build := exec.CommandContext(context.WithoutCancel(t.Context()), "go", "build", "-o", file, "../../cmd/spool")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as it is released
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return file
}

// program returns where a program is.
func program(t *testing.T, name string) string {
	t.Helper()

	file, err := exec.LookPath(name)
	if err != nil {
		missing(t, name)
	}
	return file
}

// tool returns the folder of a package from npm.
func tool(t *testing.T, name string) string {
	t.Helper()

	folder, err := filepath.Abs(filepath.Join(clients, "node_modules", name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(folder); err != nil {
		missing(t, name)
	}
	return folder
}

// missing skips the test, unless SPOOL_TEST_REQUIRE is 1.
func missing(t *testing.T, what string) {
	t.Helper()

	if os.Getenv("SPOOL_TEST_REQUIRE") == "1" {
		t.Fatalf("%s is missing and SPOOL_TEST_REQUIRE is 1: run make deps/npm", what)
	}
	t.Skipf("%s is missing: run make deps/npm", what)
}
