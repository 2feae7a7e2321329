package aisdk_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/spoolhq/spool/internal/testing/inputs"
)

// longest bounds a client's process.
const longest = 5 * time.Minute

// needClients returns the path of node. Without node or the packages the test is skipped, unless SPOOL_TEST_REQUIRE
// is 1.
func needClients(t *testing.T) string {
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
	if _, err := os.Stat("../node_modules/ai/package.json"); err != nil {
		missing("ai")
	}
	return program
}

// node runs a script of this folder and returns what it prints. SPOOL_AISDK_STORY names the only story that runs.
func node(t *testing.T, script string, args ...string) {
	t.Helper()

	program := needClients(t)
	inputs.Read(t, "test/aisdk")
	ctx, cancel := context.WithTimeoutCause(t.Context(), longest, errors.New("it did not end within "+longest.String()))
	defer cancel()
	var out bytes.Buffer
	if only := os.Getenv("SPOOL_AISDK_STORY"); only != "" {
		args = append(args, only)
	}
	cmd := exec.CommandContext(ctx, program, append([]string{script}, args...)...)
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		t.Errorf("%s %v: %v\n%s", script, args, err, out.String())
	} else if testing.Verbose() {
		t.Log(out.String())
	}
}
