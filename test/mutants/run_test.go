//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// write makes a folder of files.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// toy is a module with one function that the quick tier tests, one that only the long tier tests, one that a test
// runs without looking, and one that no test runs.
var toy = map[string]string{
	"go.mod": "module example.com/toy\n\ngo 1.26.0\n",
	"a/a.go": `package a

func Tested(n int) bool { return n < 3 }

func Late(n int) bool { return n > 5 }

func Unlooked(n int) bool { return n != 8 }

func Unrun(n int) bool { return n == 9 }

func Full() byte { return 255 }
`,
	"a/a_test.go": `package a

import (
	"os"
	"testing"
)

func TestSuite(t *testing.T) {
	t.Run("Tested", func(t *testing.T) {
		t.Parallel()
		if !Tested(2) || Tested(3) || Full() == 0 {
			t.Error("wrong")
		}
	})
	t.Run("Other", func(t *testing.T) {
		t.Parallel()
		Unlooked(1)
	})
}

func TestLate(t *testing.T) {
	if Late(5) || !Late(6) {
		t.Error("wrong")
	}
}

func TestBroken(t *testing.T) {
	Unlooked(1)
	if os.Getenv("TOY") == "" {
		t.Error("fails always")
	}
}
`,
	"plan.json": `{
	"scope": ["a"], "split": "^TestSuite$",
	"tiers": {
		"quick": [{"packages": ["./..."], "skip": "^TestLate$"}],
		"long": [{"packages": ["./..."], "run": "^TestLate$"}, {"packages": ["./..."], "needs": ["TOY_SERVICE"]}]
	}
}`,
}

// trying is a run of the program over the toy.
type trying struct {
	t       *testing.T
	root    string
	results string
}

func newTrying(t *testing.T) *trying {
	t.Helper()
	root := write(t, toy)
	return &trying{t: t, root: root, results: filepath.Join(root, "results.jsonl")}
}

func (r *trying) run(mutants int, stages ...string) (printed string) {
	r.t.Helper()
	var output bytes.Buffer
	args := append([]string{
		"-tree", r.root, "-plan", filepath.Join(r.root, "plan.json"), "-cache", filepath.Join(r.root, "cache"),
		"-results", r.results, "-seed", "3", "-mutants", strconv.Itoa(mutants),
	}, stages...)
	if err := run(r.t.Context(), args, &output, io.Discard); err != nil {
		r.t.Fatal(err)
	}
	return output.String()
}

// byLine returns what the tiers said of the mistakes in each line.
func (r *trying) byLine() map[int][]string {
	r.t.Helper()
	data, err := os.ReadFile(r.results)
	if err != nil {
		r.t.Fatal(err)
	}
	said := make(map[int][]string)
	for line := range bytes.Lines(data) {
		var one result
		if err := json.Unmarshal(line, &one); err != nil {
			r.t.Fatal(err)
		}
		for _, o := range one.Outcomes {
			said[one.Edit.Line] = append(said[one.Edit.Line], strings.TrimSpace(o.Tier+" "+o.Result+" "+o.Test))
		}
	}
	return said
}

func TestRun(t *testing.T) {
	t.Parallel()

	r := newTrying(t)
	report := r.run(10, "quick", "long")
	said := r.byLine()
	for line, want := range map[int]string{
		3:  "quick killed a TestSuite/Tested",
		5:  "quick no test, long killed a TestLate",
		7:  "quick survived, long no test",
		9:  "",
		11: "",
	} {
		if got := strings.Join(said[line], ", "); got != want {
			t.Errorf("line %d: %q, want %q", line, got, want)
		}
	}
	for _, want := range []string{
		"| killed by quick | 1 |", "| missed by quick, killed by long | 1 |", "| survived quick and long | 1 |",
		"| seed | 3 |", "Left out: quick: a TestBroken, as it fails without a mistake",
		"Left out: long: ..., as TOY_SERVICE is not set",
	} {
		if !strings.Contains(report, want) {
			t.Errorf("the report does not say %q:\n%s", want, report)
		}
	}
	if data, err := os.ReadFile(r.results); err != nil || bytes.Count(data, []byte(`"notCompiled":true`)) != 1 {
		t.Errorf("the byte of 256 is no mistake that does not compile: %v", err)
	}
	if source, err := os.ReadFile(filepath.Join(r.root, "a", "a.go")); err != nil || string(source) != toy["a/a.go"] {
		t.Errorf("the tree was changed: %v", err)
	}
}

// TestRunResumes interrupts a run after its first mistake, in the middle of the line of the second.
func TestRunResumes(t *testing.T) {
	t.Parallel()

	r := newTrying(t)
	r.run(1, "quick", "long")
	first, err := os.ReadFile(r.results)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(r.results, append(bytes.Clone(first), `{"name":"a/a.go`...), 0o600); err != nil {
		t.Fatal(err)
	}
	r.run(3, "quick", "long")
	all, err := os.ReadFile(r.results)
	if err != nil {
		t.Fatal(err)
	}
	r.byLine() // every line is whole
	planted := bytes.Count(all, []byte("\n")) - bytes.Count(all, []byte(`"notCompiled":true`))
	if !bytes.HasPrefix(all, first) || planted != 3 {
		t.Errorf("the results are not the first one and two more:\n%s", all)
	}
}

// TestRaces checks that each race still has its place in the product, and that it compiles.
func TestRaces(t *testing.T) {
	t.Parallel()

	all, err := readRaces(racesJSON)
	if err != nil {
		t.Fatal(err)
	}
	product, err := openTree("../..")
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 10 {
		t.Errorf("%d races, want 10", len(all))
	}
	for _, r := range all {
		e, _, err := r.edit(product)
		if err != nil {
			t.Error(err)
			continue
		}
		planted := trial{Tree: product, Edit: e}
		if err := planted.plant(t.Context()); err != nil {
			t.Errorf("race %q: %v", r.Name, err)
		}
		planted.remove()
	}
}

// TestRaceWithoutPlace fails where the text of a race has changed.
func TestRaceWithoutPlace(t *testing.T) {
	t.Parallel()

	tree, err := openTree(write(t, toy))
	if err != nil {
		t.Fatal(err)
	}
	for name, old := range map[string]string{"Gone": "mu.Lock()", "Twice": "bool {"} {
		r := race{Name: name, File: "a/a.go", Old: old}
		if _, _, err := r.edit(tree); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
