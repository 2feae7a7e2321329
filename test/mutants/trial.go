//go:build unix

package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// errNotCompiled says that a mistake is none, as the compiler finds it.
var errNotCompiled = errors.New("it does not compile")

// trial is one mistake, planted in one tree for the time of its tests.
type trial struct {
	Tree *tree
	Edit edit
	// Race compiles with the race detector. RaceFlags are the flags of that.
	Race      bool
	RaceFlags []string

	dir      string
	binaries map[string]string
}

// outcome is what the tests of a tier said of a mistake.
type outcome struct {
	Tier string `json:"tier"`
	// Result is "killed", "survived", "no test" when no test runs the line, or "no place" in another tree.
	Result string `json:"result"`
	// Test is the one that killed, and How one of "fail", "race", "limit".
	Test string `json:"test,omitempty"`
	How  string `json:"how,omitempty"`
	// Tests is how many cover the line. Seconds has the compiler's as well.
	Tests   int     `json:"tests,omitempty"`
	Seconds float64 `json:"seconds"`
	// Once has tests that failed, and passed when they ran again with the same mistake.
	Once []string `json:"once,omitempty"`
}

// plant writes the overlay and compiles the package. The caller calls remove, also after an error.
func (t *trial) plant(ctx context.Context) (err error) {
	if t.dir, err = os.MkdirTemp("", "mutants-"); err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	t.binaries = make(map[string]string)
	original := t.Tree.path(t.Edit.File)
	source, err := os.ReadFile(original)
	if err != nil {
		return fmt.Errorf("plant: %w", err)
	}
	mutated := filepath.Join(t.dir, filepath.Base(original))
	if err := os.WriteFile(mutated, t.Edit.apply(source), 0o600); err != nil {
		return fmt.Errorf("plant: %w", err)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{original: mutated}})
	if err != nil {
		return fmt.Errorf("plant: %w", err)
	}
	if err := os.WriteFile(t.overlay(), overlay, 0o600); err != nil {
		return fmt.Errorf("plant: %w", err)
	}
	build := process{
		Dir:  t.Tree.path(t.Tree.module(t.Edit.File)),
		Env:  t.environment(nil),
		Args: append(t.build("build"), filepath.Dir(original)),
	}
	if out, err := build.run(ctx); err != nil {
		if ctx.Err() != nil {
			return err
		}
		return fmt.Errorf("%w: %s", errNotCompiled, tail(out))
	}
	return nil
}

func (t *trial) remove() { _ = os.RemoveAll(t.dir) }

// run runs the tests, cheapest first, until one kills.
func (t *trial) run(ctx context.Context, tests []*testCase) (outcome, error) {
	began := time.Now()
	o := outcome{Result: "survived", Tests: len(tests)}
	if len(tests) == 0 {
		o.Result = "no test"
	}
	for _, c := range chunks(tests, filepath.ToSlash(filepath.Dir(t.Edit.File))) {
		killer, how, err := t.chunk(ctx, c)
		if err != nil {
			return o, err
		}
		if killer == "" {
			continue
		}
		if how != "fail" || t.again(ctx, c, killer) {
			o.Result, o.Test, o.How = "killed", c[0].owner.Dir+" "+killer, how
			break
		}
		o.Once = append(o.Once, c[0].owner.Dir+" "+killer)
	}
	o.Seconds = math.Round(10*time.Since(began).Seconds()) / 10
	return o, ctx.Err()
}

// chunk runs tests in one process. killer is empty if they pass.
func (t *trial) chunk(ctx context.Context, tests []*testCase) (killer, how string, err error) {
	p := tests[0].owner
	binary, err := t.compile(ctx, p)
	if err != nil {
		return "", "", err
	}
	var seconds float64
	names := make([]string, 0, len(tests))
	for _, test := range tests {
		seconds += test.Seconds
		names = append(names, test.Name)
	}
	limit := 30 + 5*seconds
	if t.Race {
		limit = 120 + 25*seconds
	}
	run := process{
		Dir:   t.Tree.path(p.Dir),
		Env:   t.environment(p.command),
		Limit: time.Duration(limit * float64(time.Second)),
		Args:  []string{binary, "-test.run=" + expression(names), "-test.failfast"},
	}
	out, err := run.run(ctx)
	switch {
	case ctx.Err() != nil:
		return "", "", ctx.Err()
	case err == nil:
		return "", "", nil
	case errors.Is(err, errLimit) || errors.Is(err, errMemory):
		return names[0], "limit", nil
	case bytes.Contains(out, []byte("WARNING: DATA RACE")):
		return failed(out, names), "race", nil
	}
	return failed(out, names), "fail", nil
}

// again says whether a test fails a second time. A failure of a busy machine is none of the mistake.
func (t *trial) again(ctx context.Context, tests []*testCase, name string) bool {
	at := slices.IndexFunc(tests, func(test *testCase) bool { return test.Name == name })
	if at < 0 {
		return true
	}
	killer, _, err := t.chunk(ctx, tests[at:at+1])
	return err == nil && killer != ""
}

var failLine = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)

// failed returns the test that failed, of those that ran. A panic names none, and is the first's.
func failed(output []byte, names []string) string {
	for _, match := range failLine.FindAllSubmatch(output, -1) {
		for _, name := range names {
			if found := string(match[1]); found == name || strings.HasPrefix(found, name+"/") {
				return name
			}
		}
	}
	if len(names) == 1 {
		return names[0]
	}
	return fmt.Sprintf("%s and %d others", names[0], len(names)-1)
}

// compile returns the tests of a package with the mistake in them.
func (t *trial) compile(ctx context.Context, p *packageIndex) (string, error) {
	if binary := t.binaries[p.Path]; binary != "" {
		return binary, nil
	}
	binary := filepath.Join(t.dir, fmt.Sprintf("%d.test", len(t.binaries)))
	build := process{
		Dir:  t.Tree.path(p.command.Dir),
		Env:  t.environment(nil),
		Args: append(t.build("test"), "-c", "-o", binary, p.Path),
	}
	if out, err := build.run(ctx); err != nil {
		return "", fmt.Errorf("compile the tests of %s: %w\n%s", p.Path, err, tail(out))
	}
	t.binaries[p.Path] = binary
	return binary, nil
}

func (t *trial) overlay() string { return filepath.Join(t.dir, "overlay.json") }

func (t *trial) build(verb string) []string {
	args := []string{"go", verb, "-overlay=" + t.overlay()}
	if t.Race {
		args = append(append(args, "-race"), t.RaceFlags...)
	}
	return args
}

// environment lets a test that builds the product build the mistake. The detector needs cgo.
func (t *trial) environment(c *command) []string {
	var env []string
	if t.Race {
		env = append(env, "CGO_ENABLED=1", "GORACE=atexit_sleep_ms=50")
	}
	if c != nil {
		env = append(env, "GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" -overlay="+t.overlay()))
		env = append(env, c.Env...)
	}
	return env
}

// chunks divides tests into processes: those of the mistake's own package first, then the packages that take least.
// In a package the chunks grow, so that a mistake which many tests see costs two seconds.
func chunks(tests []*testCase, own string) [][]*testCase {
	type key struct {
		owner *packageIndex
		top   string
	}
	groups := make(map[key][]*testCase)
	total := make(map[*packageIndex]float64)
	for _, t := range tests {
		top, _, split := strings.Cut(t.Name, "/")
		if !split {
			top = ""
		}
		k := key{t.owner, top}
		groups[k] = append(groups[k], t)
		total[t.owner] += t.Seconds
	}
	var all [][]*testCase
	for _, group := range groups {
		slices.SortFunc(group, func(a, b *testCase) int {
			return cmp.Or(cmp.Compare(a.Seconds, b.Seconds), cmp.Compare(a.Name, b.Name))
		})
		all = append(all, grow(group)...)
	}
	rank := func(p *packageIndex) float64 {
		if p.Dir == own {
			return -1
		}
		return total[p]
	}
	slices.SortFunc(all, func(a, b []*testCase) int {
		return cmp.Or(
			cmp.Compare(rank(a[0].owner), rank(b[0].owner)),
			cmp.Compare(a[0].owner.Dir, b[0].owner.Dir),
			cmp.Compare(a[0].Seconds, b[0].Seconds),
			cmp.Compare(a[0].Name, b[0].Name),
		)
	})
	return all
}

// grow cuts a sorted group where the sum of its seconds comes to 2, 8, 32 and so on.
func grow(group []*testCase) [][]*testCase {
	var all [][]*testCase
	most, sum, from := 2.0, 0.0, 0
	for i, t := range group {
		if i > from && sum+t.Seconds > most {
			all = append(all, group[from:i])
			most, sum, from = 4*most, 0, i
		}
		sum += t.Seconds
	}
	return append(all, group[from:])
}
