package clients

import (
	"bytes"
	"maps"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/oapi-codegen/runtime" // what the generated client in Go uses
)

// documents are those that clients are generated of, by the name of the client. The one of
// the shop is written by the tests.
var documents = map[string]string{
	"spool": "../../spec/openapi.json", "bookshop": "../../examples/bookshop/openapi.json",
}

// want is what the client in each language prints: a date and a list that is not null, the
// status of a change with an old version, and of one with the right version.
func want(form string) string { return "Emma 1815-12-23 true\n412\n200\n" + form + "\n" }

// document writes the document of the shop.
func document(t *testing.T) string {
	t.Helper()
	text, err := NewShop().OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "shop.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// serve starts the shop, and returns its address.
func serve(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(NewShop())
	t.Cleanup(s.Close)
	return s.URL
}

// run returns what a program prints, which has to end well.
func run(t *testing.T, dir, program string, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), program, args...)
	command.Dir = dir
	var out bytes.Buffer
	command.Stdout, command.Stderr = &out, &out
	if err := command.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out.String())
	}
	return strings.ReplaceAll(out.String(), "\r\n", "\n")
}

// missing says what is not tested. It fails where nothing may be skipped.
func missing(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("SPOOL_TEST_REQUIRE") != "" {
		t.Fatal(why)
	}
	t.Skip(why + ": skipped")
}

// quiet is that a generator has nothing to say of a document.
func quiet(t *testing.T, name, out string) {
	t.Helper()
	if strings.TrimSpace(out) != "" {
		t.Errorf("the generator says of %s:\n%s", name, out)
	}
}

func TestGo(t *testing.T) { //nolint:paralleltest // it writes a folder of this module
	const generated = "testdata/generated"
	t.Cleanup(func() { _ = os.RemoveAll(generated) })
	all := map[string]string{"shop": document(t)}
	maps.Copy(all, documents)
	for name, file := range all {
		dir := filepath.Join(generated, name)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		quiet(t, name, run(t, ".", "go", "tool", "oapi-codegen", "-generate", "types,client", "-package", name,
			"-o", filepath.Join(dir, "client.go"), file))
	}
	run(t, ".", "go", "build", "./"+generated+"/...")
	got := run(t, ".", "go", "run", "./testdata/go", serve(t))
	if got != want("shop.Audio <nil> 1") {
		t.Errorf("the client in Go says\n%s", got)
	}
	page, err := os.ReadFile("../../docs/rest/clients.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), got) {
		t.Errorf("docs/rest/clients.md does not show\n%s", got)
	}
}

// The page names the versions that are tested.
func TestVersions(t *testing.T) {
	t.Parallel()

	page := read(t, "../../docs/rest/clients.md")
	_, version, _ := strings.Cut(read(t, "go.mod"), "github.com/oapi-codegen/oapi-codegen/v2 ")
	version, _, _ = strings.Cut(version, " ")
	for _, want := range []string{
		"cmd/oapi-codegen@" + version + "\n", "pip install " + lineWith(read(t, "requirements.txt"), "openapi") + "\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("docs/rest/clients.md does not have %q", want)
		}
	}
}

func TestTypeScript(t *testing.T) {
	t.Parallel()

	const tools = "../openapi"
	if _, err := os.Stat("../node_modules"); err != nil {
		missing(t, "the packages of npm are not installed (make deps/npm does)")
	}
	if got := run(
		t, ".", "node", filepath.Join(tools, "client.mjs"), document(t), "testdata/client.ts", t.TempDir(), "--run", serve(t),
	); got != want("90 minutes, 1") {
		t.Errorf("the client in TypeScript says\n%s", got)
	}
}

// pythonOrSkip returns the interpreter that has what requirements.txt names.
func pythonOrSkip(t *testing.T) string {
	t.Helper()

	const venv = ".venv"
	python, err := filepath.Abs(filepath.Join(venv, "bin", "python"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(python); err != nil {
		if why, err := os.ReadFile(".venv-skipped"); err == nil {
			t.Skip(strings.TrimSpace(string(why)))
		}
		missing(t, "test/clients/.venv is not there (make deps/python makes it)")
	}
	return python
}

// typed reports the operations of a client in Python that have no type for any answer: the generator makes no sync for
// them.
func typed(t *testing.T, client string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(client, "api", "*", "*.py"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s has no operations: %v", client, err)
	}
	for _, file := range files {
		if text := read(t, file); strings.Contains(text, "\ndef sync_detailed(") && !strings.Contains(text, "\ndef sync(") {
			t.Errorf("%s has no type for an answer", file)
		}
	}
}

func TestPython(t *testing.T) {
	t.Parallel()

	python := pythonOrSkip(t)
	dir := t.TempDir()
	all := map[string]string{"shop": document(t)}
	maps.Copy(all, documents)
	for name, file := range all {
		out := run(t, ".", filepath.Join(filepath.Dir(python), "openapi-python-client"), "generate", "--fail-on-warning",
			"--meta", "none", "--config", "python.yaml",
			"--path", file, "--output-path", filepath.Join(dir, name))
		if strings.Contains(strings.ToLower(out), "warning") {
			t.Errorf("the generator says of %s:\n%s", name, out)
		}
		typed(t, filepath.Join(dir, name))
	}
	run(t, dir, python, "-m", "compileall", "-q", ".")
	client, err := os.ReadFile("testdata/client.py")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "client.py"), client, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := run(t, dir, python, "client.py", serve(t)); got != want("Audio 90 1") {
		t.Errorf("the client in Python says\n%s", got)
	}
}
