package tsclient_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The client shows what the server has saved, whatever happens to the server.
func TestLive(t *testing.T) {
	t.Parallel()

	clients := filepath.Join("..", "..", "clients", "typescript")
	missing := func(what string) {
		t.Helper()
		if os.Getenv("SPOOL_TEST_REQUIRE") == "1" {
			t.Fatalf("%s is missing and SPOOL_TEST_REQUIRE is 1: run npm ci --prefix clients/typescript", what)
		}
		t.Skipf("%s is missing: run npm ci --prefix clients/typescript", what)
	}
	node, err := exec.LookPath("node")
	if err != nil {
		missing("node")
	}
	vitest, err := filepath.Abs(filepath.Join(clients, "node_modules", "vitest", "vitest.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(vitest); err != nil {
		missing("vitest")
	}

	program := filepath.Join(t.TempDir(), "spool")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../../cmd/spool")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	test := exec.CommandContext(t.Context(), node, vitest, "run", "packages/client/src/live.test.ts")
	test.Dir = clients
	test.Env = append(os.Environ(), "SPOOL_BIN="+program)
	if out, err := test.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}
