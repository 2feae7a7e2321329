package main

import (
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
)

// What a user types installs the command and gets every module, from a proxy that has the
// working tree as it would be published.
func TestInstall(t *testing.T) {
	t.Parallel()

	version, err := released()
	if err != nil {
		t.Fatal(err)
	}
	proxy := t.TempDir()
	if err := publish(proxy, version); err != nil {
		t.Fatal(err)
	}
	u := newUser(t, proxy)

	u.command(t, readmeCommand(t, "README.md", "go install ")...)
	if got := u.command(t, filepath.Join(u.bin, "spool"), "version"); got != "spool "+version+"\n" {
		t.Errorf("the installed command is %q", got)
	}
	if here, installed := linkedHere(t), linkedIn(t, filepath.Join(u.bin, "spool")); !slices.Equal(here, installed) {
		t.Errorf("go.work gives the command the modules\n%q\nbut go install\n%q", here, installed)
	}

	// The program that the README shows builds with what "go get" finds by itself.
	u.module(t, read(t, "examples/hello/main.go"))
	u.command(t, readmeCommand(t, "README.md", "go get ")...)
	u.command(t, "go", "build", "-o", filepath.Join(u.bin, "program"), ".")
	if got := u.command(t, "go", "list", "-m", ours); got != ours+" "+version+"\n" {
		t.Errorf("the program has %q", got)
	}

	// The program that the page of rest shows answers as the page says, with nothing but that module.
	u.module(t, "package rest\n")
	u.command(t, readmeCommand(t, "rest/README.md", "go get ")...)
	example := filepath.Join(u.dir, "example_test.go")
	if err := os.WriteFile(example, []byte(read(t, "rest/example_routes_test.go")), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := u.command(t, "go", "test", "-v", "."); !strings.Contains(got, "--- PASS: Example ") {
		t.Errorf("the program of the page of rest says\n%s", got)
	}
	if err := os.Remove(example); err != nil {
		t.Fatal(err)
	}

	for _, leaf := range append([]string{"rest"}, leaves...) {
		path, beside := ours+"/"+leaf, ours
		ofRest := strings.HasPrefix(path, ours+"/rest")
		if ofRest {
			beside += "/rest"
		}
		u.module(t, fmt.Sprintf("package main\n\nimport (\n\t_ %q\n\t_ %q\n)\n\nfunc main() {}\n", beside, path))
		u.command(t, "go", "get", path)
		u.command(t, "go", "list", "-deps", ".") // each package is there
		have := strings.Split(u.command(t, "go", "list", "-m", "all"), "\n")
		for _, want := range append(required(t, leaf), path+" "+version) {
			if !slices.Contains(have, want) {
				t.Errorf("a program that has gotten %s lacks %s, which it was tested with", path, want)
			}
		}
		if ofRest && slices.Contains(have, ours+" "+version) {
			t.Errorf("a program that has gotten %s resolves the root module, which it does not need", path)
		}
	}
}

// linkedHere returns the modules of others that the command links in the working tree, each with its version.
func linkedHere(t *testing.T) []string {
	t.Helper()

	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{with .Module}}{{.Path}} {{.Version}}{{end}}",
		"./cmd/spool")
	list.Dir, list.Env = root, append(os.Environ(), "CGO_ENABLED=0", "GOWORK=")
	return ofOthers(strings.Split(output(t, list), "\n"))
}

// linkedIn returns those of a binary.
func linkedIn(t *testing.T, binary string) []string {
	t.Helper()

	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, dep := range info.Deps {
		all = append(all, dep.Path+" "+dep.Version)
	}
	return ofOthers(all)
}

func ofOthers(all []string) []string {
	all = slices.DeleteFunc(all, func(each string) bool { return each == "" || strings.HasPrefix(each, ours) })
	slices.Sort(all)
	return slices.Compact(all)
}

// The version is the same in CHANGELOG.md, in the command, and in what the modules of the
// repository require of each other.
func TestOneVersion(t *testing.T) {
	t.Parallel()

	version, err := released()
	if err != nil {
		t.Fatal(err)
	}
	if text := read(
		t, "cmd/spool/internal/command/version.go",
	); !strings.Contains(text, fmt.Sprintf("const release = %q\n", version)) {
		t.Errorf("cmd/spool/internal/command/version.go has another version than CHANGELOG.md, which has %s", version)
	}
	files, err := tracked()
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, name := range files {
		if filepath.Base(name) != "go.mod" {
			continue
		}
		mod, err := modfile.Parse(name, []byte(read(t, name)), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range mod.Require {
			if r.Mod.Path != ours && !strings.HasPrefix(r.Mod.Path, ours+"/") {
				continue
			}
			found++
			if r.Mod.Version != version {
				t.Errorf("%s requires %s, but the version is %s: users get what it names", name, r.Mod, version)
			}
		}
	}
	work, err := modfile.ParseWork("go.work", []byte(read(t, "go.work")), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range work.Replace {
		if r.Old.Version != version {
			t.Errorf("go.work replaces %s, but the version is %s", r.Old, version)
		}
	}
	if found < len(leaves) || len(work.Replace) == 0 {
		t.Errorf("only %d requirements were found", found)
	}
}

const ours = "github.com/spoolhq/spool"

// A user has a machine of its own, as far as Go can tell.
type user struct {
	dir, bin string
	env      []string
}

// newUser returns one whose proxies are one of ours, what this machine has of other modules,
// and the network for the rest. The database of checksums is not asked: it knows no tree.
func newUser(t *testing.T, proxy string) *user {
	t.Helper()

	cache := strings.TrimSpace(output(t, exec.CommandContext(t.Context(), "go", "env", "GOMODCACHE")))
	network := strings.TrimSpace(output(t, exec.CommandContext(t.Context(), "go", "env", "GOPROXY")))
	u := &user{dir: t.TempDir(), bin: t.TempDir()}
	modules := t.TempDir()
	linkModules(t, cache, modules)
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); !strings.HasPrefix(name, "GO") || name == "GOCACHE" ||
			name == "GOPATH" || name == "GOROOT" {
			u.env = append(u.env, variable)
		}
	}
	u.env = append(u.env, "GOBIN="+u.bin, "GOMODCACHE="+modules, "GOFLAGS=-trimpath -modcacherw", "GOSUMDB=off",
		"GOTOOLCHAIN=local", "GOWORK=off",
		"CGO_ENABLED=0", "GOPROXY=file://"+proxy+",file://"+filepath.Join(cache, "cache", "download")+","+network)
	return u
}

// linkModules gives a module cache what another one has, but for modules of ours. Without it,
// each test would unpack 600 MB.
func linkModules(t *testing.T, from, to string) {
	t.Helper()

	for _, dir := range []string{".", "github.com", "cache/download", "cache/download/github.com"} {
		if err := os.MkdirAll(filepath.Join(to, dir), 0o700); err != nil {
			t.Fatal(err)
		}
		found, err := os.ReadDir(filepath.Join(from, dir))
		if err != nil {
			continue // nothing was downloaded yet
		}
		for _, each := range found {
			if name := each.Name(); !slices.Contains([]string{"cache", "github.com", "spoolhq"}, name) {
				if err := os.Symlink(filepath.Join(from, dir, name), filepath.Join(to, dir, name)); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// module begins a module of the user's with a program in it.
func (u *user) module(t *testing.T, program string) {
	t.Helper()

	for name, text := range map[string]string{
		"go.mod": "module example.com/user\n\ngo 1.26.0\n", "go.sum": "", "main.go": program,
	} {
		if err := os.WriteFile(filepath.Join(u.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// command runs a command in the user's folder, and returns what it prints.
func (u *user) command(t *testing.T, line ...string) string {
	t.Helper()

	command := exec.CommandContext(t.Context(), line[0], line[1:]...)
	command.Dir, command.Env = u.dir, u.env
	return output(t, command)
}

// readmeCommand returns the words of the first command of a page that begins like this.
func readmeCommand(t *testing.T, page, begin string) []string {
	t.Helper()

	for line := range strings.Lines(read(t, page)) {
		if command, _, _ := strings.Cut(line, " #"); strings.HasPrefix(line, begin) {
			return strings.Fields(command)
		}
	}
	t.Fatalf("%s has no command that begins with %q", page, begin)
	return nil
}

// required returns the modules that a leaf requires, each with its version.
func required(t *testing.T, leaf string) []string {
	t.Helper()

	mod, err := modfile.Parse(leaf, []byte(read(t, leaf+"/go.mod")), nil)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, r := range mod.Require {
		all = append(all, r.Mod.Path+" "+r.Mod.Version)
	}
	return all
}

func read(t *testing.T, name string) string {
	t.Helper()

	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func output(t *testing.T, command *exec.Cmd) string {
	t.Helper()

	var failed strings.Builder
	command.Stderr = &failed
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", strings.Join(command.Args, " "), err, out, failed.String())
	}
	return string(out)
}
