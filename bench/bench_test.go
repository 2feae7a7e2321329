package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spoolhq/spool/internal/testing/pgtest"
)

func TestMain(m *testing.M) {
	if role := os.Getenv(roleEnv); role != "" {
		exit(serveRole(role)) // the tests spawn themselves
	}
	os.Exit(pgtest.Run(m))
}

// TestShort runs everything that needs no PostgreSQL at the smallest size. What it measures is not looked at.
func TestShort(t *testing.T) {
	t.Parallel()
	all, _ := choose("")
	testShort(t, slices.DeleteFunc(all, overPostgres))
}

// TestShortOverPostgres does the same with what needs one.
func TestShortOverPostgres(t *testing.T) {
	t.Parallel()
	all, _ := choose("")
	testShort(t, slices.DeleteFunc(all, func(f figure) bool { return !overPostgres(f) }), "-postgres",
		pgtest.Shared(t).URL())
}

func testShort(t *testing.T, all []figure, flags ...string) {
	t.Helper()
	var names []string
	for _, f := range all {
		names = append(names, f.name)
	}
	file := filepath.Join(t.TempDir(), "RESULTS.md")
	var out bytes.Buffer
	args := append(
		[]string{"-short", "-rounds", "1", "-only", strings.Join(names, ","), "-dir", t.TempDir(), "-out", file}, flags...,
	)
	if err := run(context.Background(), args, &out); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		if !strings.Contains(string(text), "-only "+f.name) {
			t.Errorf("the results do not tell of %s", f.name)
		}
	}
	// The bounds of RESULTS.md are those of today, whatever was met.
	short, committed := parseResults(string(text)), parseResults(readFile(t, "RESULTS.md"))
	// a smoke run has fewer sizes
	bounds := func(w written) []string { return slices.Compact(slices.Sorted(slices.Values(w.wants()))) }
	for _, w := range short.sections {
		at := slices.IndexFunc(committed.sections, func(c written) bool { return c.name() == w.name() })
		if at < 0 || !slices.Equal(bounds(w), bounds(committed.sections[at])) {
			t.Errorf("%s is held to %q, and RESULTS.md has others", w.title, bounds(w))
		}
	}
	if t.Failed() {
		t.Log(string(text))
	}
}

func TestSample(t *testing.T) {
	t.Parallel()

	s := sample{5, 1, 4, 2, 3}
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"median", s.median(), 3},
		{"median of an even number", sample{1, 2, 3, 4}.median(), 2.5},
		{"min", s.min(), 1},
		{"max", s.max(), 5},
		{"p50", s.quantile(0.5), 3},
		{"p99", s.quantile(0.99), 5},
		{"p20", s.quantile(0.2), 1},
		{"ratio", s.over(sample{5, 2}).median(), 0.75},
	} {
		if c.got != c.want {
			t.Errorf("%s is %v, not %v", c.name, c.got, c.want)
		}
	}
}

func TestNumber(t *testing.T) {
	t.Parallel()

	for v, want := range map[float64]string{
		0.123: "0.12", 12.34: "12.3", 123.4: "123", 1234.4: "1,234", 1234567: "1,234,567",
	} {
		if got := number(v); got != want {
			t.Errorf("number(%v) is %q, not %q", v, got, want)
		}
	}
}
