package archtest_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/internal/testing/archtest"
)

// A trip goes on with what is assigned from the argument, through methods, closures and generic code,
// and comes back. It leaves out tests, other systems, other folders, errors, and what does not get the argument.
func TestTripsFollows(t *testing.T) {
	t.Parallel()

	files := tree(map[string]string{
		"core/start.go": `package core

import (
	"fmt"

	"example.com/m/core/check"
	"example.com/m/other"
)

type Engine struct{ checker *check.Checker }

type Request struct{ Name string }

func (e *Engine) Start(r *Request, unused int) error {
	fmt.Println(r)
	other.Look(r.Name)
	lone(unused)
	name, err := e.checker.Name(r.Name)
	logged(err)
	func() { made(name) }()
	new(box[string]).put(name)
	r.keep()
	return last(r)
}

func last(r *Request) error { return again(r) }
`,
		"core/again.go":       "package core\n\nfunc again(r *Request) error { return last(r) }\n",
		"core/lone.go":        "package core\n\nfunc lone(n int) {}\n\nfunc logged(err error) {}\n",
		"core/made.go":        "package core\n\nfunc made(name string) { each[string](name) }\n",
		"core/box.go":         "package core\n\ntype box[T any] struct{}\n\nfunc (b *box[T]) put(value T) {}\n",
		"core/keep.go":        "package core\n\nfunc (r *Request) keep() {}\n",
		"core/each.go":        "package core\n\nfunc each[T any](all ...T) {}\n",
		"core/a_windows.go":   "package core\n\nfunc made(name string) {}\n",
		"core/made_test.go":   "package core\n\nfunc made(name string) {}\n",
		"core/check/check.go": "package check\n\ntype Checker struct{}\n\nfunc (c *Checker) Name(name string) (string, error) { return name, nil }\n",
		"other/look.go":       "package other\n\nfunc Look(name string) {}\n",
	})
	trips, err := archtest.Trips(files, "example.com/m", "core/...",
		archtest.Entry{Package: "core", Func: "Engine.Start", Parameter: "r"})
	if err != nil {
		t.Fatal(err)
	}
	want := []archtest.Trip{{
		"core/start.go", "core/check/check.go", "core/made.go", "core/each.go", "core/box.go", "core/keep.go",
		"core/start.go", "core/again.go",
	}}
	if diff := cmp.Diff(want, trips); diff != "" {
		t.Errorf("trips (-want +got):\n%s", diff)
	}
	if trips[0].Files() != 7 || trips[0].Returns() != 1 {
		t.Errorf("%d files and %d returns, want 7 and 1", trips[0].Files(), trips[0].Returns())
	}
	for _, e := range []archtest.Entry{
		{Package: "core", Func: "Engine.Stop", Parameter: "r"},
		{Package: "core", Func: "Start", Parameter: "r"},
		{Package: "core", Func: "Engine.Start", Parameter: "s"},
		{Package: "other", Func: "Look", Parameter: "name"},
		{Package: "none"},
	} {
		if trips, err := archtest.Trips(files, "example.com/m", "core/...", e); err == nil {
			t.Errorf("%+v is no function to follow, and its trip is %q", e, trips)
		}
	}
}

func TestSizesCount(t *testing.T) {
	t.Parallel()

	sizes, err := archtest.Sizes(tree(map[string]string{
		"core/a.go":        "package core\n\ntype A struct{}\n\nfunc (A) One() {}\n",
		"core/b.go":        "package core\n\nfunc (a *A) Two() {}\n\ntype B[T any] struct{}\n\nfunc (b *B[T]) Three() {}\n",
		"core/b_test.go":   "package core\n\nfunc (a *A) Test() {}\n",
		"core/deep/a.go":   "package deep\n",
		"other/a.go":       "package other\n",
		"core/leaf/go.mod": "module example.com/m/core/leaf\n",
		"core/leaf/a.go":   "package leaf\n",
	}), "core")
	if err != nil {
		t.Fatal(err)
	}
	want := []archtest.Size{
		{Package: "core", Lines: 12, Files: 2, Methods: map[string]int{"A": 2, "B": 1}},
		{Package: "core/deep", Lines: 1, Files: 1, Methods: map[string]int{}},
	}
	if diff := cmp.Diff(want, sizes); diff != "" {
		t.Errorf("sizes (-want +got):\n%s", diff)
	}
}

func TestUnusedReports(t *testing.T) {
	t.Parallel()

	found, err := archtest.Unused(tree(map[string]string{
		"core/a/a.go":      `package a; import ("example.com/m"; "example.com/m/core/b")`,
		"core/a/a_test.go": `package a; import "example.com/m/core/c"`,
	}), "example.com/m", "core", []archtest.Row{
		{Place: "core/a", Ours: []string{".", "core/b", "core/c"}},
		{Place: "core/b", Ours: []string{"core/c"}},
	})
	check(t, found, err, "core/a: its row allows our core/c, which it does not import")
}
