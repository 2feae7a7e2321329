package main

import (
	"slices"
	"strings"
	"testing"
)

// TestRenderSection: the goal is about the median of the rounds' ratios.
func TestRenderSection(t *testing.T) {
	t.Parallel()

	s, err := renderSection(func() ([]byte, error) {
		return []byte(`{"hooks":[{"p50":1,"p95":3,"p99":4},{"p50":1,"p95":8,"p99":9},{"p50":1,"p95":3.2,"p99":4}],
			"node":[{"p50":1,"p95":2,"p99":3},{"p50":1,"p95":4,"p99":5},{"p50":1,"p95":2,"p99":3}]}`), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	s.name = render
	w := s.written("Commit abc, today.")
	for _, want := range []string{
		"\ncd bench && GOWORK=off go run . -only render\n", "| hooks, p95 | ms a frame | 3.20 | 3.00 | 8.00 | 3 |",
		"| one text node, p99 | ms a frame | 3.00 | 3.00 | 5.00 | 3 |",
		"- p95 of a frame's work beside one text node: 1.60 (rounds: 1.50 to 2.00), goal at most 1.50: **missed**",
	} {
		if !strings.Contains(w.text, want) {
			t.Errorf("%q is not in\n%s", want, w.text)
		}
	}
	if w.name() != render || !slices.Equal(w.pathsOf(), clientPaths) {
		t.Errorf("the section is of %q, which measures %q", w.name(), w.pathsOf())
	}
	for _, text := range []string{"", `{}`, `{"hooks":[{"p50":1}],"node":[]}`} {
		if _, err := renderSection(func() ([]byte, error) { return []byte(text), nil }); err == nil {
			t.Errorf("%q is a measurement", text)
		}
	}
}

// TestLongSection has an act that is longer than its bound, and refuses rounds without one of the acts.
func TestLongSection(t *testing.T) {
	t.Parallel()

	text := `{"an answer begins":[{"act":8,"plain":80}],"a word comes":[{"act":4,"plain":80}],
		"scrolling to the beginning":[{"act":40,"plain":80}],"10 MB come":[{"act":30,"plain":60},{"act":90,"plain":60},{"act":90,"plain":60}],
		"10 MB are read":[{"act":40,"plain":80}]}`
	s, err := longSection(func() ([]byte, error) { return []byte(text), nil })
	if err != nil {
		t.Fatal(err)
	}
	s.name = long
	w := s.written("Commit abc, today.")
	for _, want := range []string{
		"\ncd bench && GOWORK=off go run . -only long\n", "| 10 MB come | ms | 90.0 | 30.0 | 90.0 | 3 |",
		"- longest task beside 6,000 lines, 10 MB come: 1.50 (rounds: 0.50 to 1.50), goal at most 1.00: **missed**",
	} {
		if !strings.Contains(w.text, want) {
			t.Errorf("%q is not in\n%s", want, w.text)
		}
	}
	for _, text := range []string{"", `{}`, strings.ReplaceAll(text, "a word comes", "words come")} {
		if _, err := longSection(func() ([]byte, error) { return []byte(text), nil }); err == nil {
			t.Errorf("%q is a measurement", text)
		}
	}
}

// TestSizesSection has one bundle that keeps its bound and one that does not.
func TestSizesSection(t *testing.T) {
	t.Parallel()

	s, err := sizesSection(func() ([]byte, error) {
		return []byte(`[{"name":"@spool/client","minifiedKiB":46.2,"gzippedKiB":16.4,"goalKiB":17},{"name":"the console","minifiedKiB":400,"gzippedKiB":244.1,"goalKiB":244}]`), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	s.name = sizes
	w := s.written("Commit abc, today.")
	for _, want := range []string{
		"\ncd bench && GOWORK=off go run . -only sizes\n", "| @spool/client, minified | KiB | 46.2 | 46.2 | 46.2 | 1 |",
		"- @spool/client, gzipped: 16.4 KiB, goal at most 17.0 KiB: met",
		"- the console, gzipped: 244 KiB, goal at most 244 KiB: **missed**",
	} {
		if !strings.Contains(w.text, want) {
			t.Errorf("%q is not in\n%s", want, w.text)
		}
	}
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
