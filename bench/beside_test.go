package main

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestBesideSection: every second round begins with the code of now, and the goals are about the median of
// the rounds' ratios.
func TestBesideSection(t *testing.T) {
	t.Parallel()

	var order []string
	times := map[string][]float64{"step": {2, 2, 4}, "step now": {2.2, 1, 8}} // ratios 1.1, 0.5 and 2
	s, err := besideSection(&bench{rounds: 3, out: io.Discard}, "0123456789ab", besideFigures, func(
		figure string, _ int, isNow bool,
	) (float64, error) {
		if isNow {
			figure += " now"
		}
		order = append(order, figure)
		if left := times[figure]; len(left) > 0 {
			times[figure] = left[1:]
			return left[0], nil
		}
		return 1, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n := 2 * len(besideFigures); len(order) != 3*n || order[0]+" now" != order[1] || order[n] != order[n+1]+" now" {
		t.Errorf("the order is %q", order)
	}
	s.name = beside
	w := s.written("Commit abc, today.")
	if w.name() != beside || len(w.wants()) != len(besideFigures) {
		t.Errorf("the section is of %q, with the goals %q", w.name(), w.wants())
	}
	for _, want := range []string{
		"\ncd bench && GOWORK=off go run . -only beside -commit 0123456789ab -rounds 3\n",
		"| step at 0123456789ab | s of CPU | 2.00 | 2.00 | 4.00 | 3 |",
		"| step | s of CPU | 2.20 | 1.00 | 8.00 | 3 |",
		"- CPU of step beside the earlier commit: 1.10 (rounds: 0.50 to 2.00), goal at most 1.05: **missed**",
		"- CPU of stop beside the earlier commit: 1.00 (rounds: 1.00 to 1.00), goal at most 1.05: met",
	} {
		if !strings.Contains(w.text, want) {
			t.Errorf("%q is not in\n%s", want, w.text)
		}
	}
}

// TestSameLoad: a figure is left out for a commit that does not have its load.
func TestSameLoad(t *testing.T) {
	t.Parallel()

	var names []string
	for _, f := range sameLoad(t.Context(), "4b825dc642cb6eb9a060e54bf8d69288fbee4904") { // the empty tree is no commit
		names = append(names, f.name)
	}
	if slices.Contains(names, "nested") || !slices.Contains(names, "step") {
		t.Errorf("the figures are %q", names)
	}
}

// TestAdaptersBesideSection: every second round begins with the code of now, and each adapter has a goal.
func TestAdaptersBesideSection(t *testing.T) {
	t.Parallel()

	var order []int
	s, err := adaptersBesideSection(&bench{rounds: 2, out: io.Discard}, "0123456789ab",
		func(arm int) ([]adapterRounds, error) {
			order = append(order, arm)
			return []adapterRounds{
				{Adapter: "openai", Memory: sample{2, 2}},
				{Adapter: "gemini", Memory: sample{float64(4 + arm)}},
			}, nil
		})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(order, []int{0, 1, 1, 0}) {
		t.Errorf("the order is %d", order)
	}
	s.name = adaptersBeside
	w := s.written("Commit abc, today.")
	for _, want := range []string{
		"\ncd bench && GOWORK=off go run . -only adaptersbeside -commit 0123456789ab -rounds 2\n",
		"| gemini at 0123456789ab | ms of CPU a step | 4.00 | 4.00 | 4.00 | 2 |",
		"- CPU of a step over openai beside the earlier commit: 1.00 (rounds: 1.00 to 1.00), goal at most 1.05: met",
		"- CPU of a step over gemini beside the earlier commit: 1.25 (rounds: 1.25 to 1.25), goal at most 1.05: **missed**",
	} {
		if !strings.Contains(w.text, want) {
			t.Errorf("%q is not in\n%s", want, w.text)
		}
	}
}

// TestBesideFigures: each is one that this command measures, and without a commit nothing is.
func TestBesideFigures(t *testing.T) {
	t.Parallel()

	for _, f := range besideFigures {
		if !slices.Contains(names(), f.name) {
			t.Errorf("there is no figure %s", f.name)
		}
	}
	if all, err := choose(""); err != nil || slices.ContainsFunc(all, func(f figure) bool { return f.name == beside }) {
		t.Errorf("%d figures are measured by default, with this one, or %v", len(all), err)
	}
	for _, args := range [][]string{{"-only", beside}, {"-only", beside, "-commit", "none"}, {"-only", adaptersBeside}} {
		err := run(context.Background(), append(args, "-dir", t.TempDir(), "-out", "-"), io.Discard)
		if err == nil || !strings.Contains(err.Error(), "-commit") {
			t.Errorf("%q: %v", args, err)
		}
	}
}

func TestCPUSeconds(t *testing.T) {
	t.Parallel()

	took, err := cpuSeconds(exec.Command("go", "version"))
	if err != nil || took <= 0 {
		t.Errorf("%v s, %v", took, err)
	}
	if _, err = cpuSeconds(exec.Command("go", "nothing")); err == nil || !strings.Contains(fmt.Sprint(err), "go nothing") {
		t.Errorf("a command that fails: %v", err)
	}
}
