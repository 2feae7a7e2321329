package docs

import (
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/spoolhq/spool/internal/testing/inputs"
)

// mostNotRun is how many blocks of all pages may say that they are not run.
const mostNotRun = 12

// atOnce is how many pages run at the same time: most of them wait most of the time.
const atOnce = "4"

func TestMain(m *testing.M) {
	if os.Getenv(reaperVariable) != "" {
		os.Exit(reap(os.Args[1:]))
	}
	flag.Parse()
	if parallel := flag.Lookup("test.parallel"); parallel != nil {
		_ = flag.Set("test.parallel", atOnce)
	}
	os.Exit(m.Run())
}

// programs are what blocks use.
var programs = []string{"bash", "curl", "jq", "openssl", "python3", "node", "git", "go"}

// Every block of every page is run, or is checked otherwise, or says why not.
func TestPages(t *testing.T) {
	t.Parallel()

	for _, name := range programs {
		if _, err := exec.LookPath(name); err != nil {
			if os.Getenv("SPOOL_TEST_REQUIRE") == "1" {
				t.Fatalf("the pages need %s: %v", name, err)
			}
			t.Skipf("the pages need %s: %v", name, err)
		}
	}
	network := exec.CommandContext(t.Context(), os.Args[0])
	network.Env = append(os.Environ(), reaperVariable+"=network")
	network.SysProcAttr = isolated(true)
	apart := network.Run() == nil
	if !apart {
		t.Log("no network for each page can be made here: pages run one after another on the machine's")
	}
	var alone sync.Mutex
	bin := binary(t)
	record(t, bin)
	document := readDocument(t, "spec/openapi.json")
	sources := examples(t)
	for _, page := range pages(t) {
		blocks := parse(page, read(t, page))
		if len(blocks) == 0 {
			continue
		}
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			if !apart {
				alone.Lock()
				defer alone.Unlock()
			}
			p := &runner{t: t, blocks: blocks, network: apart, bin: bin, sources: sources, document: document}
			p.all()
		})
	}
}

// What is not run is little, and says why.
func TestNotRun(t *testing.T) {
	t.Parallel()

	found := 0
	for _, page := range pages(t) {
		for _, b := range parse(page, read(t, page)) {
			if reason, ok := strings.CutPrefix(b.marker, "not run: "); ok {
				found++
				t.Logf("%s:%d is not run: %s", page, b.line, reason)
			}
		}
	}
	if found > mostNotRun {
		t.Errorf("%d blocks are not run; %d may be", found, mostNotRun)
	}
}

// A runner goes through the blocks of a page.
type runner struct {
	t       *testing.T
	blocks  []block
	network bool
	bin     string
	sources map[string]string
	// document is that of Spool, and sent how many requests were found that it may have.
	document *document
	sent     int
	shell    *shell
	folder   string
}

var (
	printing  = []string{"sh", "js"}
	outputs   = []string{"text", "json"}
	ofTheTree = regexp.MustCompile(`\./(?:cmd|examples|test|bench)\b|\bgo (?:run|build|test)\b|\bmake \w|-C (?:examples|test|bench)`)
)

func (r *runner) all() {
	defer r.end()
	for i := 0; i < len(r.blocks); i++ {
		b := r.blocks[i]
		if b.marker != "" && r.marked(b) {
			continue
		}
		switch {
		case slices.Contains(printing, b.lang):
			var want *block
			if i+1 < len(r.blocks) && slices.Contains(outputs, r.blocks[i+1].lang) && r.blocks[i+1].behind <= farBehind &&
				!strings.HasPrefix(r.blocks[i+1].marker, "not run") {
				i++
				want = &r.blocks[i]
			}
			if !r.run(b, want) {
				return
			}
		case b.lang == "console":
			if !r.console(b) {
				return
			}
		case b.lang == "go":
			var want *block
			if i+1 < len(r.blocks) && r.blocks[i+1].lang == "text" && r.blocks[i+1].marker == "" {
				i++
				want = &r.blocks[i]
			}
			r.goBlock(b, want)
		case b.lang == "json":
			r.json(b)
		case b.lang == "text":
			r.quote(b)
		case b.lang == "yaml":
			if !r.yaml(b) {
				return
			}
		case b.lang == "":
			r.failf(b, "the block has no language; see test/docs/doc.go for what each of them means")
		default:
			r.failf(b, "nobody knows how to run a block of %q, and it has no comment that says who does: see test/docs/doc.go",
				b.lang)
		}
	}
}

func (r *runner) failf(b block, format string, args ...any) {
	r.t.Helper()
	r.t.Errorf("%s:%d: %s", b.page, b.line, fmt.Sprintf(format, args...))
}

// marked looks at the comment of a block, and reports whether it speaks for it.
func (r *runner) marked(b block) bool {
	if by, ok := strings.CutPrefix(b.marker, "run by "); ok {
		text, err := os.ReadFile(filepath.Join(root, by))
		switch {
		case err != nil:
			r.failf(b, "its comment names a file: %v", err)
		case !strings.Contains(string(text), filepath.Base(b.page)) &&
			!strings.Contains(squeeze(string(text)), squeeze(b.text)):
			r.failf(b, "its comment says that %s runs it, which neither names the page nor has the block in it", by)
		}
		return true
	}
	return strings.HasPrefix(b.marker, "not run: ")
}

// open starts the shell of the page, once.
func (r *runner) open() *shell {
	if r.shell != nil {
		return r.shell
	}
	r.folder = filepath.Join(r.t.TempDir(), "page")
	if err := os.Mkdir(r.folder, 0o700); err != nil {
		r.t.Fatal(err)
	}
	if slices.ContainsFunc(r.blocks, func(b block) bool {
		return (b.lang == "sh" || b.lang == "console") && ofTheTree.MatchString(b.text)
	}) {
		tree(r.t, r.folder)
		if dir := filepath.Dir(r.blocks[0].page); strings.HasPrefix(dir, "examples") {
			r.t.Log("the page's folder is a copy of the repository")
		}
	}
	if modules := filepath.Join(root, "test", "node_modules"); exists(modules) {
		absolute, err := filepath.Abs(modules)
		if err != nil {
			r.t.Fatal(err)
		}
		_ = os.Symlink(absolute, filepath.Join(r.folder, "node_modules"))
	}
	r.shell = start(r.t, r.network, r.folder, r.bin)
	return r.shell
}

// end ends the page, and fails if it has left a process.
func (r *runner) end() {
	if r.shell == nil {
		return
	}
	if r.sent == 0 && slices.ContainsFunc(r.blocks, func(b block) bool {
		return b.lang == "sh" && strings.Contains(b.text, "curl -s localhost:8080/api/")
	}) {
		r.t.Errorf("%s: nobody has seen what the page sends with curl", r.blocks[0].page)
	}
	left, err := r.shell.end()
	if err != nil {
		r.t.Errorf("%s: %v", r.blocks[0].page, err)
	}
	if left != "" {
		r.t.Errorf("%s: the page leaves processes behind, which it has to stop (kill %%1):\n%s", r.blocks[0].page, left)
	}
}

// run runs a block, and reports whether the next one can.
func (r *runner) run(b block, want *block) bool {
	s := r.open()
	script := b.text
	if b.lang == "js" {
		if !r.installed(b) {
			return true
		}
		name := fmt.Sprintf("block-%d.mjs", b.line)
		if err := os.WriteFile(
			filepath.Join(r.folder, name), []byte(strings.Repeat("\n", b.line)+b.text), 0o600,
		); err != nil {
			r.t.Fatal(err)
		}
		script = "node " + name
	}
	return r.step(s, b, script, want)
}

var imported = regexp.MustCompile(`(?m)^import .* from "[^./]|^import "[^./]`)

// installed reports whether there is what a block imports.
func (r *runner) installed(b block) bool {
	if exists(filepath.Join(root, "test", "node_modules")) ||
		!imported.MatchString(strings.ReplaceAll(b.text, `"node:`, `"./`)) {
		return true
	}
	if os.Getenv("SPOOL_TEST_REQUIRE") == "1" {
		r.failf(b, "the block imports packages: install them with make deps/npm")
	}
	r.t.Logf("%s:%d is skipped: make deps/npm installs what it imports", b.page, b.line)
	return false
}

func (r *runner) step(s *shell, b block, script string, want *block) bool {
	r.t.Helper()

	var all string
	difference, err := s.step(b, script, func(printed string) string {
		all = printed
		if want != nil {
			return differ(*want, printed)
		}
		if status := s.status(); status != 0 {
			return fmt.Sprintf("%s:%d: the block fails with exit status %d, and the page shows no output. It printed:\n%s",
				b.page, b.line, status, printed)
		}
		return ""
	})
	if difference != "" {
		r.t.Error(difference)
	}
	if want != nil && want.lang == "json" {
		r.json(*want)
	}
	r.bodies(b, script, all)
	return err == nil
}

// console runs the commands of a block, each with its output.
func (r *runner) console(b block) bool {
	s := r.open()
	for _, c := range commands(b) {
		script := c
		script.text, _, _ = strings.Cut(c.text, "\x00")
		want := c
		_, want.text, _ = strings.Cut(c.text, "\x00")
		if !r.step(s, script, script.text, &want) {
			return false
		}
	}
	return true
}

// commands returns the commands of a console, each with its output after a NUL. A command
// goes on after a line that ends with \ or |, or that is indented under one that did.
func commands(b block) []block {
	var all []block
	goesOn := false
	for i, line := range strings.Split(strings.TrimSuffix(b.text, "\n"), "\n") {
		switch command, begins := strings.CutPrefix(line, "$ "); {
		case begins:
			all = append(all, block{page: b.page, line: b.line + 1 + i, lang: "console", text: command + "\n"})
		case len(all) == 0:
			continue
		case goesOn:
			all[len(all)-1].text += line + "\n"
		default:
			if !strings.Contains(all[len(all)-1].text, "\x00") {
				all[len(all)-1].text += "\x00"
			}
			all[len(all)-1].text += line + "\n"
			continue
		}
		goesOn = strings.HasSuffix(line, `\`) || strings.HasSuffix(line, "|")
	}
	return all
}

// binary builds spool into a folder for the PATH.
func binary(t *testing.T) string {
	t.Helper()

	inputs.Read(t)
	dir := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-buildvcs=false", "-o",
		filepath.Join(dir, "spool"), "./cmd/spool")
	build.Dir, build.Stderr, build.Env = root, t.Output(), append(os.Environ(), "CGO_ENABLED=0")
	if err := build.Run(); err != nil {
		t.Fatalf("build spool: %v", err)
	}
	return dir
}

// tree copies the repository.
func tree(t *testing.T, to string) {
	t.Helper()

	for _, file := range tracked(t) {
		if err := copyFile(filepath.Join(root, file), filepath.Join(to, file)); err != nil {
			t.Fatal(err)
		}
	}
}

func copyFile(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_EXCL, info.Mode().Perm()|fs.FileMode(0o200))
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		_ = out.Close()
		return err
	}
	return out.Close()
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
