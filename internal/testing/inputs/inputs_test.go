package inputs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A test that only reads a file through another program runs again when the file changes, and when one is added.
func TestRead(t *testing.T) {
	t.Parallel()

	source, err := os.ReadFile("inputs.go")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	// The cache does not trust a file that has just been written.
	past := time.Now().Add(-time.Hour)
	write := func(name, text string) {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		past = past.Add(time.Minute)
		for path := file; path != dir; path = filepath.Dir(path) {
			if err := os.Chtimes(path, past, past); err != nil {
				t.Fatal(err)
			}
		}
	}
	run := func(program string, args ...string) string {
		t.Helper()
		command := exec.CommandContext(t.Context(), program, args...)
		command.Dir = dir
		command.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0", "GOFLAGS=-trimpath -buildvcs=false")
		out, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %q: %v\n%s", program, args, err, out)
		}
		return string(out)
	}
	write("go.mod", "module example.com/inputs\n\ngo 1.26\n")
	write("inputs/inputs.go", string(source))
	write("engine/engine.go", "package engine\n")
	write("docs/docs_test.go", "package docs\n\nimport (\n\t\"testing\"\n\n\t\"example.com/inputs/inputs\"\n)\n\n"+
		"func TestPages(t *testing.T) { inputs.Read(t, \"engine\") }\n")
	run("git", "init", "-q")

	test := func(when string, cached bool) {
		t.Helper()
		if out := run("go", "test", "-vet=off", "./docs"); strings.Contains(out, "(cached)") != cached {
			t.Errorf("%s, cached should be %t: %s", when, cached, out)
		}
	}
	test("the first time", false)
	test("without a change", true)
	write("README.md", "not an input\n")
	test("after a change elsewhere", true)
	write("engine/engine.go", "package engine\n\nconst Changed = true\n")
	test("after a change", false)
	test("without another change", true)
	write("engine/added.go", "package engine\n")
	test("with an added file", false)
}
