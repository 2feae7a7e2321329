//go:build unix

package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// longestTest bounds one test while coverage is measured.
const longestTest = 15 * time.Minute

// measure compiles the tests of a package with coverage, and runs each of them in a process of its own.
func (x *indexer) measure(ctx context.Context, c *command, p *packageIndex) error {
	began := time.Now()
	dir, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()

	patterns := make([]string, 0, len(x.folders()))
	for _, folder := range x.folders() {
		patterns = append(patterns, x.Tree.Module+strings.TrimSuffix("/"+folder, "/.")+"/...")
	}
	binary := filepath.Join(dir, "covered.test")
	build := process{Dir: x.Tree.path(c.Dir), Args: []string{
		"go", "test", "-c", "-cover", "-covermode=set", "-coverpkg=" + strings.Join(patterns, ","), "-o", binary, p.Path,
	}}
	if out, err := build.run(ctx); err != nil {
		return fmt.Errorf("compile the tests of %s: %w\n%s", p.Path, err, tail(out))
	}
	names, err := x.names(ctx, c, p, binary)
	if err != nil {
		return err
	}

	var mu sync.Mutex
	var wg sync.WaitGroup
	numbers := make(map[string]int)
	room := make(chan struct{}, max(1, x.Jobs))
	for i, name := range names {
		if !c.selects(name) {
			continue
		}
		room <- struct{}{}
		wg.Go(func() {
			defer func() { <-room }()
			t, ran := x.measureTest(ctx, c, p, binary, filepath.Join(dir, fmt.Sprintf("%d.cover", i)), name)
			mu.Lock()
			defer mu.Unlock()
			for _, b := range ran {
				n, ok := numbers[b]
				if !ok {
					n = len(p.Blocks)
					numbers[b] = n
					p.Blocks = append(p.Blocks, b)
				}
				t.Covers.set(n)
			}
			p.Tests = append(p.Tests, t)
		})
	}
	wg.Wait()
	slices.SortFunc(p.Tests, func(a, b *testCase) int { return strings.Compare(a.Name, b.Name) })
	x.Log("%s: covered %s by %d tests in %.0f s", x.Tier, p.Dir, len(p.Tests), time.Since(began).Seconds())
	return ctx.Err()
}

// measureTest runs one test, and returns the blocks that have run. A test that fails has a second try, as the machine
// may be busy.
func (x *indexer) measureTest(
	ctx context.Context, c *command, p *packageIndex, binary, profile, name string,
) (*testCase, []string) {
	run := process{Dir: x.Tree.path(p.Dir), Env: c.Env, Limit: longestTest, Args: []string{
		binary, "-test.run=" + expression([]string{name}), "-test.coverprofile=" + profile,
	}}
	t := &testCase{Name: name}
	for range 2 {
		began := time.Now()
		out, err := run.run(ctx)
		t.Seconds = time.Since(began).Seconds()
		if err == nil {
			var ran []string
			if ran, err = readProfile(profile, x.Tree.Module); err == nil {
				t.Failed = ""
				return t, ran
			}
		}
		t.Failed = err.Error()
		if ctx.Err() == nil {
			x.Log("%s: %s %s fails without a mistake: %v\n%s", x.Tier, p.Dir, name, err, tail(out))
		}
	}
	return t, nil
}

// names returns all tests of a binary, and the subjects of those that are split.
func (x *indexer) names(ctx context.Context, c *command, p *packageIndex, binary string) ([]string, error) {
	list := process{Dir: x.Tree.path(p.Dir), Env: c.Env, Limit: time.Minute, Args: []string{binary, "-test.list=."}}
	out, err := list.run(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the tests of %s: %w\n%s", p.Path, err, tail(out))
	}
	var names []string
	for name := range strings.FieldsSeq(string(out)) {
		if !testName.MatchString(name) {
			continue
		}
		var subjects []string
		if x.Plan.Split.Regexp != nil && x.Plan.Split.MatchString(name) {
			if subjects, err = x.subjects(ctx, c, p, binary, name); err != nil {
				return nil, err
			}
		}
		if len(subjects) == 0 {
			subjects = []string{name}
		}
		names = append(names, subjects...)
	}
	return names, nil
}

var testName = regexp.MustCompile(`^(Test|Fuzz|Example)\w*$`)

// subjects returns the first-level subtests of a test. They wait for each other with t.Parallel, so all of them are
// announced before the first one begins, and the process is ended then.
func (x *indexer) subjects(ctx context.Context, c *command, p *packageIndex, binary, name string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, longestTest)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, "-test.run="+expression([]string{name}), "-test.v")
	cmd.Dir = x.Tree.path(p.Dir)
	cmd.Env = append(append(os.Environ(), workspace(cmd.Dir)), c.Env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	output, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("list the subjects of %s: %w", name, err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("list the subjects of %s: %w", name, err)
	}
	var found []string
	for lines := bufio.NewScanner(output); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) != 3 || fields[0] != "===" || !strings.HasPrefix(fields[2], name+"/") {
			continue
		}
		if fields[1] == "CONT" {
			break
		}
		if fields[1] == "RUN" && strings.Count(fields[2], "/") == 1 {
			found = append(found, fields[2])
		}
	}
	cancel()
	_ = cmd.Wait()
	return found, nil
}

// expression returns the pattern of -test.run for tests without subjects, or for subjects of one test.
func expression(names []string) string {
	top, quoted := "", make([]string, 0, len(names))
	for _, name := range names {
		before, subject, ok := strings.Cut(name, "/")
		if ok {
			top = "^" + regexp.QuoteMeta(before) + "$/"
			before = subject
		}
		quoted = append(quoted, regexp.QuoteMeta(before))
	}
	return top + "^(" + strings.Join(quoted, "|") + ")$"
}
