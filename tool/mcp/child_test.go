package mcp_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spoolhq/spool/tool/mcp"
)

// A child process gets no key of this process, also if none of the variables that it may get exists.
func TestChildEnvironment(t *testing.T) {
	t.Setenv("SPOOL_TEST_KEY", "hunter2-hunter2")
	for _, name := range []string{"PATH", "HOME", "LANG", "TMPDIR"} {
		t.Setenv(name, "") // puts it back
		if err := os.Unsetenv(name); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(t.TempDir(), "env")
	s := must(mcp.New(mcp.Config{Name: "child", Command: []string{"/bin/sh", "-c", "export -p >" + file}}))
	if _, err := s.List(t.Context()); err == nil {
		t.Error("the shell is a server")
	}
	if got := must(os.ReadFile(file)); strings.Contains(string(got), "hunter2") {
		t.Errorf("the child has %s", got)
	}
}
