package main

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Each package that somebody could import has a row that says what may change in it.
func TestStability(t *testing.T) {
	t.Parallel()

	files, err := tracked()
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, name := range files {
		dir := path.Dir(name)
		if path.Ext(name) != ".go" ||
			regexp.MustCompile(`(^|/)(internal|testdata)(/|$)|^(bench|examples|test|tools)/|^(bench)$`).MatchString(dir) {
			continue
		}
		if dir == "." {
			dir = "spool"
		}
		want = append(want, dir)
	}
	var have []string
	for line := range strings.Lines(read(t, "docs/reference/stability.md")) {
		cells := strings.Split(line, " | ")
		if !strings.HasPrefix(line, "| `") || !regexp.MustCompile(`^(\*\*stable\*\*|open|no Go API)$`).MatchString(cells[1]) {
			continue
		}
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[0], -1) {
			have = append(have, m[1])
		}
	}
	slices.Sort(want)
	slices.Sort(have)
	want = slices.Compact(want)
	for _, name := range want {
		if !slices.Contains(have, name) {
			t.Errorf("docs/reference/stability.md has no row for %s", name)
		}
	}
	for _, name := range have {
		if !slices.Contains(want, name) {
			t.Errorf("docs/reference/stability.md has a row for %s, which is not there", name)
		}
	}
}
