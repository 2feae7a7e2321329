package main

import (
	"slices"
	"strings"
	"testing"
)

// says checks what a section writes, and returns it.
func says(t *testing.T, name string, of func(text []byte) (*section, error), text string, wants ...string) written {
	t.Helper()
	s, err := of([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	s.name = name
	w := s.written("Commit abc, today.")
	for _, want := range append(wants, "\ncd bench && GOWORK=off go run . -only "+name+"\n") {
		if !strings.Contains(w.text, want) {
			t.Errorf("%q is not in\n%s", want, w.text)
		}
	}
	return w
}

// refuses checks that texts are no measurement.
func refuses(t *testing.T, of func(text []byte) (*section, error), texts ...string) {
	t.Helper()
	for _, text := range texts {
		if _, err := of([]byte(text)); err == nil {
			t.Errorf("%q is a measurement", text)
		}
	}
}

// TestRenderSection: the goal is about the median of the rounds' ratios.
func TestRenderSection(t *testing.T) {
	t.Parallel()

	w := says(t, render, renderSection, `{"hooks":[{"p50":1,"p95":3,"p99":4},{"p50":1,"p95":8,"p99":9},{"p50":1,"p95":3.2,"p99":4}],
			"node":[{"p50":1,"p95":2,"p99":3},{"p50":1,"p95":4,"p99":5},{"p50":1,"p95":2,"p99":3}]}`,
		"| hooks, p95 | ms a frame | 3.20 | 3.00 | 8.00 | 3 |", "| one text node, p99 | ms a frame | 3.00 | 3.00 | 5.00 | 3 |",
		"- p95 of a frame's work beside one text node: 1.60 (rounds: 1.50 to 2.00), goal at most 1.50: **missed**")
	if w.name() != render || !slices.Equal(w.pathsOf(), clientPaths) {
		t.Errorf("the section is of %q, which measures %q", w.name(), w.pathsOf())
	}
	refuses(t, renderSection, "", `{}`, `{"hooks":[{"p50":1}],"node":[]}`)
}

// TestLongSection has an act that is longer than its bound, and refuses rounds without one of the acts.
func TestLongSection(t *testing.T) {
	t.Parallel()

	text := `{"an answer begins":[{"act":8,"plain":80}],"a word comes":[{"act":4,"plain":80}],
		"scrolling to the beginning":[{"act":40,"plain":80}],"10 MB come":[{"act":30,"plain":60},{"act":90,"plain":60},{"act":90,"plain":60}],
		"10 MB are read":[{"act":40,"plain":80}]}`
	says(t, long, longSection, text, "| 10 MB come | ms | 90.0 | 30.0 | 90.0 | 3 |",
		"- longest task beside 6,000 lines, 10 MB come: 1.50 (rounds: 0.50 to 1.50), goal at most 1.00: **missed**")
	refuses(t, longSection, "", `{}`, strings.ReplaceAll(text, "a word comes", "words come"))
}

// TestSizesSection has one bundle that keeps its bound and one that does not.
func TestSizesSection(t *testing.T) {
	t.Parallel()

	says(t, sizes, sizesSection, `[{"name":"@spool/client","minifiedKiB":46.2,"gzippedKiB":16.4,"goalKiB":17},{"name":"the console","minifiedKiB":400,"gzippedKiB":244.1,"goalKiB":244}]`,
		"| @spool/client, minified | KiB | 46.2 | 46.2 | 46.2 | 1 |",
		"- @spool/client, gzipped: 16.4 KiB, goal at most 17.0 KiB: met",
		"- the console, gzipped: 244 KiB, goal at most 244 KiB: **missed**")
}

// TestOnRequest: what needs more than Go and PostgreSQL is measured only if it is named.
func TestOnRequest(t *testing.T) {
	t.Parallel()

	all, err := choose("")
	if err != nil || slices.ContainsFunc(all, onRequest) || len(all)+5 != len(figures) {
		t.Errorf("%d figures of %d are measured by default, %v", len(all), len(figures), err)
	}
	named, err := choose(render + "," + sizes)
	if err != nil || len(named) != 2 || named[0].name != render {
		t.Errorf("%+v, %v", named, err)
	}
}
