package archtest_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spoolhq/spool/internal/testing/inputs"
)

// leafOnly are modules that only a leaf needs, and other programs must not resolve: object
// mappers, clients of Redis, NATS and clouds, OpenID Connect.
var leafOnly = []string{
	"github.com/uptrace/bun", "gorm.io", "entgo.io", "github.com/redis", "github.com/go-redis",
	"github.com/gomodule/redigo", "github.com/nats-io", "github.com/coreos/go-oidc", "github.com/go-jose",
	"github.com/aws", "google.golang.org/api", "github.com/anthropics",
}

// neverLinked are modules that the root module requires for a package that these programs do not import.
var neverLinked = []string{"golang.org/x/oauth2", "github.com/minio", "github.com/modelcontextprotocol"}

// mostOfRest is how many modules a program may resolve that imports rest alone, itself included.
const mostOfRest = 80

// A program in a module of its own that imports one product resolves no module that only a
// leaf needs. With rest alone, it does not resolve the root module.
func TestModuleGraphs(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		required string
		imports  []string
	}{
		"Rest":   {restModule, []string{"rest", "rest/auth/jwt", "rest/crud", "rest/page", "rest/query", "rest/throttle"}},
		"Engine": {module, []string{"engine", "backend/sqlite"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var code strings.Builder
			for _, path := range test.imports {
				fmt.Fprintf(&code, "import _ %q\n", module+"/"+path)
			}
			dir := program(t, test.required, "package main\n\n"+code.String()+"\nfunc main() {}\n")
			linked := list(t, dir, "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", ".")
			if !slices.Contains(linked, test.required) {
				t.Fatalf("the program links %q, without %s", linked, test.required)
			}
			for _, path := range linked {
				for _, prefix := range neverLinked {
					if path == prefix || strings.HasPrefix(path, prefix+"/") {
						t.Errorf("a program that imports %q links %s", test.imports, path)
					}
				}
			}
			all := list(t, dir, "-m", "-f", "{{.Path}}", "all")
			if n := len(all); test.required == restModule && (n > mostOfRest || slices.Contains(all, module)) {
				t.Errorf("a program that imports rest alone resolves %d modules, want at most %d and not %s: %q", n, mostOfRest,
					module, all)
			}
			for _, resolved := range slices.Concat(linked, all) {
				for _, prefix := range leafOnly {
					if resolved == prefix || strings.HasPrefix(resolved, prefix+"/") {
						t.Errorf("a program that imports %q resolves %s", test.imports, resolved)
					}
				}
			}
		})
	}
}

// The compiler says what a mistake with rest is in the words of packages that its user imports.
func TestCompilerErrors(t *testing.T) {
	t.Parallel()

	code, err := os.ReadFile("testdata/mistakes.go.txt")
	if err != nil {
		t.Fatal(err)
	}
	inside, err := filepath.Glob(filepath.Join(root, "rest/internal/*"))
	if err != nil || len(inside) == 0 {
		t.Fatal("rest has no internal packages", err)
	}
	for i, path := range inside {
		inside[i] = filepath.Base(path)
	}
	hidden := regexp.MustCompile(`internal/|\b(` + strings.Join(inside, "|") + `)\.[A-Z]`)

	dir := program(t, restModule, string(code))
	command := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-mod=mod", "-gcflags=-e", "-o",
		filepath.Join(dir, "program"), ".")
	command.Dir = dir
	command.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0")
	out, err := command.CombinedOutput()
	const most = 40
	if n := strings.Count(string(out), "main.go:"); err == nil || n < most {
		t.Fatalf("the compiler found %d mistakes (%v), want %d or more:\n%s", n, err, most, out)
	}
	for line := range strings.Lines(string(out)) {
		if hidden.MatchString(line) {
			t.Errorf("a user cannot know this: %s", line)
		}
	}
}

// program writes a module that requires a module of ours, and returns its folder.
func program(t *testing.T, required, code string) string {
	t.Helper()

	inputs.Read(t, "*.go", "*.mod", "*.sum")
	absolute, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	sum, err := os.ReadFile(filepath.Join(root, strings.TrimPrefix(required, module), "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": fmt.Sprintf("module example.com/program\n\ngo 1.26.0\n\nrequire %s v0.1.0\n\nreplace %s => %s\n\nreplace %s => %s/rest\n",
			required, module, absolute, restModule, absolute),
		"go.sum":  string(sum),
		"main.go": code,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// list returns what the go command lists. The first time on a machine, it downloads the
// go.mod files of the graph.
func list(t *testing.T, dir string, arguments ...string) []string {
	t.Helper()

	command := exec.CommandContext(t.Context(), "go", append([]string{"list", "-mod=mod"}, arguments...)...)
	command.Dir = dir
	command.Env = append(os.Environ(), "GOWORK=off")
	var fault strings.Builder
	command.Stderr = &fault
	out, err := command.Output()
	if err != nil {
		t.Fatalf("go list %q: %v\n%s", arguments, err, fault.String())
	}
	return strings.Fields(string(out))
}
