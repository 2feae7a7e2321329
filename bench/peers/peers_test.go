package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestMain(m *testing.M) {
	if role := os.Getenv(roleEnv); role != "" {
		exit(serveRole(role)) // the tests spawn themselves
	}
	os.Exit(m.Run())
}

// TestRun does a few runs with both servers: each tells all that a run says. What it measures
// is not looked at.
func TestRun(t *testing.T) {
	t.Parallel()

	file := filepath.Join(t.TempDir(), "RESULTS.md")
	var out bytes.Buffer
	err := run(context.Background(), []string{
		"-rounds", "1", "-runs", "4", "-memory", "10", "-clients", "2", "-out", file,
	}, &out)
	if err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"CPU of the server", "after 10 runs", "goal at most 0.80", "goal at least 1.10", "\nCommit "} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the results do not have %q:\n%s", want, text)
		}
	}
}
