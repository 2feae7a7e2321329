package main

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestQuick runs everything at the smallest size. What it measures is not looked at.
//
//nolint:paralleltest // it sets GOMAXPROCS
func TestQuick(t *testing.T) {
	file := filepath.Join(t.TempDir(), "RESULTS.md")
	var out bytes.Buffer
	if err := run(context.Background(), []string{"-quick", "-out", file}, &out); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	c := newCatalog()
	for _, tc := range cases(c) {
		if !strings.Contains(string(text), "## "+capital(tc.title)+"\n") {
			t.Errorf("the results do not tell of %s", tc.title)
		}
	}
	for _, title := range []string{
		"Permissions that do nothing", "Filters that do nothing", "What guards cost", "Deep pages by cursor",
		"Deep pages by offset",
	} {
		if !strings.Contains(string(text), "## "+title+"\n") {
			t.Errorf("the results do not tell of %s", title)
		}
	}
	for _, e := range entries(c) {
		want := len(cases(c)) + 1
		for _, x := range []*extra{missing(c), wideQuery(), nestedBody()} {
			if slices.ContainsFunc(x.subjects, func(s *subject) bool { return s.name == e.name }) {
				want++
			}
		}
		if got := strings.Count(string(text), "\n| "+e.name+" |"); got != want {
			t.Errorf("the results tell %d times of %s, want %d", got, e.name, want)
		}
	}
}

// TestAllocations counts those of a handler that makes three.
func TestAllocations(t *testing.T) {
	t.Parallel()

	var kept [3]*[64]byte
	s := &subject{exchange: newExchange(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		for i := range kept {
			kept[i] = new([64]byte)
		}
	}), call{method: http.MethodGet, target: "/"})}
	s.allocations(10_000)
	// Other tests allocate meanwhile.
	if s.count < 3 || s.bytes < 3*64 {
		t.Errorf("counted %.1f allocations and %.0f bytes", s.count, s.bytes)
	}
}

func TestSample(t *testing.T) {
	t.Parallel()

	s := sample{5, 1, 4, 2, 3}
	for name, c := range map[string]struct{ got, want float64 }{
		"p10":          {s.quantile(0.1), 1},
		"p40":          {s.quantile(0.4), 2},
		"most":         {s.quantile(1), 5},
		"median":       {s.median(), 3},
		"median of 4":  {sample{4, 1, 2, 3}.median(), 2.5},
		"ratio":        {s.over(sample{10, 4})[1], 0.25},
		"ratios' size": {float64(len(s.over(sample{10, 4}))), 2},
	} {
		if c.got != c.want {
			t.Errorf("%s is %v, not %v", name, c.got, c.want)
		}
	}
}

// TestOutcomes judges made-up results: a goal is judged by the median of the ratios, and
// only when both of its sides are there.
func TestOutcomes(t *testing.T) {
	t.Parallel()

	results := []*result{{name: "get", title: "GET", subjects: []*subject{
		{name: base, times: sample{100, 100, 100}},
		{name: nameRest, times: sample{100.4, 110, 98}},
		{name: nameGin, times: sample{97, 90, 98}},
	}}}
	var got []string
	for _, o := range outcomes(results) {
		got = append(got, o.of+"/"+o.beside+" "+o.verdict())
	}
	want := "rest/net/http met, rest/gin **missed**"
	if strings.Join(got, ", ") != want {
		t.Errorf("judged %q, not %q", got, want)
	}
}
