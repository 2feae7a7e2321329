//go:build unix

package main

import (
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestEdits lists every mistake of a small source, and parses each of them.
func TestEdits(t *testing.T) {
	t.Parallel()

	source, err := os.ReadFile("testdata/source.go")
	if err != nil {
		t.Fatal(err)
	}
	found, err := edits("a/source.go", source)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range found {
		got = append(got, fmt.Sprintf("%d %s: %s -> %s", e.Line, e.Operator, e.Old, e.New))
		if _, err := parser.ParseFile(token.NewFileSet(), "", e.apply(source), 0); err != nil {
			t.Errorf("%s: %v", &e, err)
		}
	}
	want := []string{
		"9 defer: defer b.note() -> ",
		"10 negate: b.n < most && most != 7 -> !(b.n < most && most != 7)",
		"10 bound: < -> <=",
		"10 logic: && -> ||",
		"10 equal: != -> ==",
		"10 number: 7 -> 8",
		"11 drop: b.n++ -> ",
		"13 drop: b.n = b.n + 2 -> ",
		"13 number: 2 -> 3",
		"15 negate: err != nil -> !(err != nil)",
		"15 equal: != -> ==",
		"16 boolean: true -> false",
		"16 swallow: err -> nil",
		"18 drop: b.note() -> ",
		"19 bound: >= -> >",
		"23 early:  -> return nil; ",
		"24 negate: b.n == 3 -> !(b.n == 3)",
		"24 equal: == -> !=",
		"24 number: 3 -> 4",
		`25 drop: err = errors.New("three") -> `,
		"27 swallow: err -> nil",
		"31 drop: b.n -= 1 -> ",
		"31 early:  -> return; ",
		"31 number: 1 -> 2",
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("edits:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestMove finds a mistake again in a tree whose function has moved, and one whose function has changed elsewhere.
func TestMove(t *testing.T) {
	t.Parallel()

	const before = "package a\n\nfunc f(n int) int {\n\tif n < 3 {\n\t\treturn 0\n\t}\n\treturn n\n}\n"
	found, err := edits("a/a.go", []byte(before))
	if err != nil {
		t.Fatal(err)
	}
	bound := found[slices.IndexFunc(found, func(e edit) bool { return e.Operator == "bound" })]
	for name, test := range map[string]struct {
		file, source string
		line         int // zero: it has no place
	}{
		"Same":        {"a.go", before, 4},
		"OtherFile":   {"b.go", "package a\n\nvar x int\n\n" + strings.TrimPrefix(before, "package a\n\n"), 6},
		"OtherReturn": {"a.go", strings.Replace(before, "return n", "return n + 1", 1), 4},
		"OtherLine":   {"a.go", strings.Replace(before, "n < 3", "n < 4", 1), 0},
		"TwoLines":    {"a.go", strings.Replace(before, "\treturn n", "\tif n < 3 {\n\t}\n\treturn n", 1), 0},
		"OtherName":   {"a.go", strings.Replace(before, "func f(", "func g(", 1), 0},
		"InATest":     {"a_test.go", before, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			tree := write(t, map[string]string{"a/" + test.file: test.source})
			moved, ok := bound.move(tree)
			switch {
			case ok != (test.line > 0):
				t.Fatalf("found: %v", ok)
			case !ok:
			case moved.Line != test.line || moved.File != "a/"+test.file || test.source[moved.Start:moved.End] != "<":
				t.Errorf("moved to %s: %q", &moved, test.source[moved.Start:moved.End])
			}
		})
	}
}
