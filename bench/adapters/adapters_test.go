package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

func TestMain(m *testing.M) {
	if os.Getenv(fakeEnv) != "" {
		exit(fake()) // the tests spawn themselves
	}
	os.Exit(m.Run())
}

// TestShort measures every adapter once. What it measures is not looked at.
func TestShort(t *testing.T) {
	t.Parallel()

	var out bytes.Buffer
	if err := run(t.Context(), []string{"-rounds", "1", "-steps", "2"}, &out); err != nil {
		t.Fatal(err)
	}
	for _, a := range adapters {
		if !strings.Contains(out.String(), "| "+a.name+" |") {
			t.Errorf("there is no %s in\n%s", a.name, out.String())
		}
	}
}

// TestWithout replaces each adapter in cmd/spool. Only the sizes need a build.
func TestWithout(t *testing.T) {
	t.Parallel()

	for _, a := range sized {
		if _, err := without("../..", t.TempDir(), a.pkg, a.function); err != nil {
			t.Error(err)
		}
	}
}
