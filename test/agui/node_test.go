package agui_test

import (
	"bytes"
	"os"
	"os/exec"
	"testing"

	"github.com/spoolhq/spool/internal/testing/inputs"
)

// node runs a script of this folder and returns what it prints. Without node or its
// packages the test is skipped, unless SPOOL_TEST_REQUIRE is 1.
func node(t *testing.T, input []byte, script string, args ...string) string {
	t.Helper()

	missing := func(what string) {
		t.Helper()
		if os.Getenv("SPOOL_TEST_REQUIRE") == "1" {
			t.Fatalf("%s is missing and SPOOL_TEST_REQUIRE is 1: run make deps/npm", what)
		}
		t.Skipf("%s is missing: run make deps/npm", what)
	}
	program, err := exec.LookPath("node")
	if err != nil {
		missing("node")
	}
	if _, err := os.Stat("../node_modules/@ag-ui/client/package.json"); err != nil {
		missing("@ag-ui/client")
	}
	inputs.Read(t, "test/agui")
	cmd := exec.CommandContext(patiently(t), program, append([]string{script}, args...)...)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(input), os.Stderr
	out, err := cmd.Output()
	if err != nil && len(out) == 0 {
		t.Fatalf("%s: %v", script, err)
	}
	return string(out)
}
