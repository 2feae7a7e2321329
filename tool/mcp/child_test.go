package mcp_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
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

// An answer of a program that is too large, or that cannot be read, is an error of its call. The program goes on.
func TestChildOddAnswers(t *testing.T) {
	t.Parallel()

	all := tools(t, child(t), mcp.Selection{Idempotent: []string{"huge", "odd"}})
	pid, err := call(t, all["pid"], `{"text":""}`)
	if err != nil {
		t.Fatal(err)
	}
	const large = "the tool was executed, but the answer of MCP server shop cannot be read: it is larger than 8388608 bytes"
	if _, err := call(t, all["huge"], `{"text":""}`); spool.CodeOf(err) != spool.Invalid || spool.MessageOf(err) != large {
		t.Errorf("a large answer: %v", err)
	}
	if got, err := call(t, all["odd"], `{"text":""}`); err != nil ||
		!strings.HasSuffix(got, `{"type":"text","text":"a text"}]`) {
		t.Errorf("an odd answer: %s, %v", got, err)
	}
	if again, err := call(t, all["pid"], `{"text":""}`); err != nil || again != pid {
		t.Errorf("the program was %s, and is %s, %v", pid, again, err)
	}
}
