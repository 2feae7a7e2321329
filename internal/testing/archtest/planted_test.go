package archtest_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/internal/testing/archtest"
)

// tree is a small module in which the tests plant mistakes.
func tree(files map[string]string) fstest.MapFS {
	t := fstest.MapFS{"go.mod": {Data: []byte("module example.com/m\n")}}
	for name, text := range files {
		t[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return t
}

func check(t *testing.T, problems []archtest.Problem, err error, want ...string) {
	t.Helper()

	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range problems {
		got = append(got, p.String())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

func TestInputsReports(t *testing.T) {
	t.Parallel()

	problems, err := archtest.Inputs(tree(map[string]string{
		"a/a_test.go":   `package a; import "os/exec"`,
		"b/b_test.go":   `package b; import "os/exec"`,
		"b/c_test.go":   `package b; import "example.com/m/inputs"`,
		"c/c_test.go":   `package c; import "os/exec"`,
		"d/d.go":        `package d; import "os/exec"`,
		"inputs/doc.go": `package inputs`,
	}), "example.com/m/inputs", "c")
	check(t, problems, err, "a/a_test.go: the tests of a start programs: call inputs.Read with what these read")
}

func TestImportsReports(t *testing.T) {
	t.Parallel()

	rows := []archtest.Row{
		{Place: "."},
		{Place: "core/inner", Ours: []string{"."}},
		{
			Place:          "core/...",
			Ours:           []string{".", "core/..."},
			Outside:        []string{"example.org/driver"},
			OutsideInTests: []string{"example.org/sdk"},
		},
		{Place: "alone/...", Ours: []string{"alone/..."}, TestsToo: true},
		{Place: "coretest", Ours: []string{".", "core/..."}, Testing: true},
		{Place: "cmd/...", Ours: []string{"./..."}, Outside: []string{archtest.Any}},
	}
	for name, test := range map[string]struct {
		file, text string
		want       []string
	}{
		"Allowed": {
			"core/a.go",
			`package core; import ("fmt"; "example.com/m"; "example.com/m/core/x"; "example.org/driver"; "example.org/driver/sub")`,
			nil,
		},
		"NoRow": {
			"other/a.go", `package other`, []string{"other/a.go: package other has no row: say what it may import"},
		},
		"RootImportsOurs": {"a.go", `package m; import "example.com/m/core"`, []string{"a.go: . must not import our core"}},
		"RootImportsOthers": {
			"a.go", `package m; import "example.org/driver"`,
			[]string{"a.go: . must not import example.org/driver from outside"},
		},
		"Upwards": {
			"core/a.go", `package core; import "example.com/m/cmd/x"`, []string{"core/a.go: core must not import our cmd/x"},
		},
		"NarrowRowFirst": {
			"core/inner/a.go", `package inner; import "example.com/m/core/x"`,
			[]string{"core/inner/a.go: core/inner must not import our core/x"},
		},
		"NotOnTheList": {
			"core/a.go", `package core; import "example.org/drivers"`,
			[]string{"core/a.go: core must not import example.org/drivers from outside"},
		},
		"PrefixOfModule": {
			"core/a.go", `package core; import "example.com/m2/core"`,
			[]string{"core/a.go: core must not import example.com/m2/core from outside"},
		},
		"AliasIsNoWayOut": {
			"core/a.go", `package core; import _ "example.com/m/alone"`, []string{"core/a.go: core must not import our alone"},
		},
		"ConstraintIsNone": {
			"core/a_windows.go", "//go:build ignore\n\npackage core\n\nimport \"example.org/other\"",
			[]string{"core/a_windows.go: core must not import example.org/other from outside"},
		},
		"Program":    {"cmd/x/a.go", `package main; import ("example.com/m/core"; "example.org/whatever")`, nil},
		"TestOfOurs": {"core/inner/a_test.go", `package inner; import "example.com/m/core/x"`, nil},
		"TestOfItsPlace": {
			"core/a_test.go", `package core; import ("example.org/sdk"; "example.org/driver"; "example.org/cmp")`, nil,
		},
		"OnlyInTests": {
			"core/a.go", `package core; import "example.org/sdk"`,
			[]string{"core/a.go: core must not import example.org/sdk from outside"},
		},
		"TestHelper": {"a_test.go", `package m; import "example.org/cmp"`, nil},
		"TestOfOthers": {
			"a_test.go", `package m; import "example.org/assert"`,
			[]string{"a_test.go: . must not import example.org/assert from outside"},
		},
		"TestStaysAlone": {
			"alone/a_test.go", `package alone; import "example.com/m"`, []string{"alone/a_test.go: alone must not import our ."},
		},
		"ForTests": {
			"coretest/a.go", `package coretest; import ("testing"; "testing/fstest"; "example.com/m/core")`, nil,
		},
		"TestUsesOne": {"core/a_test.go", `package core; import ("testing"; "example.com/m/coretest")`, nil},
		"ProgramTests": {
			"core/a.go", `package core; import "testing"`,
			[]string{"core/a.go: core must not import testing, which is for tests"},
		},
		"ProgramUsesOne": {
			"cmd/x/a.go", `package main; import "example.com/m/coretest"`,
			[]string{"cmd/x/a.go: cmd/x must not import example.com/m/coretest, which is for tests"},
		},
		"OtherModule": {"core/testdata/a.go", `package x; import "example.org/other"`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			found, err := archtest.Imports(tree(map[string]string{test.file: test.text}), "example.com/m", rows,
				[]string{"example.org/cmp"})
			check(t, found, err, test.want...)
		})
	}
}

func TestImportsLeavesOutOtherModules(t *testing.T) {
	t.Parallel()

	found, err := archtest.Imports(tree(map[string]string{
		"tools/go.mod":          "module example.com/m/tools\n",
		"tools/a.go":            `package tools; import "example.org/other"`,
		"x/node_modules/y/a.go": `package y; import "example.org/other"`,
		".hidden/a.go":          `package hidden; import "example.org/other"`,
	}), "example.com/m", nil, nil)
	check(t, found, err)
}

func TestImportsOfLeaves(t *testing.T) {
	t.Parallel()

	found, err := archtest.Imports(tree(map[string]string{
		"core/leaf/go.mod": "module example.com/m/core/leaf\n",
		"core/leaf/a.go":   `package leaf; import ("example.com/m/core"; "example.com/m/cmd/x"; "example.org/driver")`,
	}), "example.com/m", []archtest.Row{{Place: "core/leaf", Ours: []string{"core"}}}, nil, "core/leaf")
	check(t, found, err,
		"core/leaf/a.go: core/leaf must not import our cmd/x",
		"core/leaf/a.go: core/leaf must not import example.org/driver from outside")
}

func TestImportsFailsOnBrokenFile(t *testing.T) {
	t.Parallel()

	_, err := archtest.Imports(tree(map[string]string{"a.go": "packag m"}), "example.com/m", nil, nil)
	if err == nil {
		t.Error("a file that does not parse is no error")
	}
}

func TestLengthsReports(t *testing.T) {
	t.Parallel()

	lines := func(head string, n int) string { return head + strings.Repeat("\n", n-strings.Count(head, "\n")) }
	found, err := archtest.Lengths(tree(map[string]string{
		"bound.go":     lines("package m\n", archtest.LongFile),
		"generated.go": lines("// Code generated by a program. DO NOT EDIT.\n\npackage m\n", archtest.LongestFile+1),
		"late.go":      lines("package m\n\n// long: too late\n", archtest.LongFile+1),
		"long.go":      lines("package m\n", archtest.LongFile+1),
		"longest.go":   lines("// long: a table\n\npackage m\n", archtest.LongestFile+1),
		"reason.go":    lines("// long: a table\n\npackage m\n", archtest.LongFile+1),
	}))
	check(t, found, err,
		`late.go: 801 lines: split it, or say why with "// long: ..." at its top`,
		`long.go: 801 lines: split it, or say why with "// long: ..." at its top`,
		`longest.go: 1201 lines: split it, 1200 is the most`,
	)
}

func TestPackageCommentsReports(t *testing.T) {
	t.Parallel()

	found, err := archtest.PackageComments(tree(map[string]string{
		"bare/a.go":      "package bare",
		"bare/b.go":      "package bare",
		"bare/b_test.go": "// Package bare has its comment in the wrong place.\npackage bare",
		"cmd/a.go":       "// The a command does things.\npackage main",
		"good/a.go":      "// Package good is.\npackage good",
		"good/b.go":      "package good",
		"odd/a.go":       "// This package is odd.\npackage odd",
		"two/a.go":       "// Package two is.\npackage two",
		"two/b.go":       "// Package two is, too.\npackage two",
	}))
	check(t, found, err,
		`odd/a.go: the package comment should start with "Package odd "`,
		`two/b.go: a second package comment: one file of a package has it`,
		`bare/a.go: package bare has no package comment`,
	)
}

func TestModuleReports(t *testing.T) {
	t.Parallel()

	files := tree(nil)
	files["go.mod"] = &fstest.MapFile{Data: []byte(`module example.com/m

require (
	example.com/m/below v0.0.0
	example.com/m/tools v0.0.0
	example.com/m2 v1.0.0
)

replace example.com/m2 => ../m2
`)}
	files["leaf/go.mod"] = &fstest.MapFile{
		Data: []byte("module example.com/m/leaf\n\nreplace example.com/m => ..\n\nrequire example.com/m v0.0.0\n"),
	}
	found, err := archtest.Module(files, "example.com/m", ".", false, "example.com/m/below")
	check(t, found, err,
		"go.mod: it requires a module of this repository: example.com/m/tools v0.0.0",
		"go.mod: a replacement, which nobody who requires the module has: replace example.com/m2 => ../m2",
	)
	found, err = archtest.Module(files, "example.com/m", "leaf", true, "example.com/m")
	check(t, found, err)
	found, err = archtest.Module(files, "example.com/m", "leaf", true, "example.com/m/below")
	check(t, found, err, "leaf/go.mod: it requires a module of this repository: example.com/m v0.0.0")
}

func TestDocsReports(t *testing.T) {
	t.Parallel()

	found, err := archtest.Docs(tree(map[string]string{
		"README.md":           "[there](docs/good.md#x) [well](docs/good.md#the-way-down-2) [not](docs/none.md) [url](https://example.org/a.md) `[code](a.md)`\n\n```\n[block](b.md)\n```\n",
		"docs/good.md":        "# Good\n\nYou can [go back](../README.md) and [down](#there).\n\n## The `way` down, [2](x.go)\n",
		"docs/untitled.md":    "You can read.\n\nMore.\n",
		"docs/wordless.md":    "# Wordless\n\n| a | b |\n",
		"docs/x.go":           "",
		"x/node_modules/a.md": "[not](none.md)\n",
	}))
	check(t, found, err,
		"README.md: a link leads to docs/good.md#x, which has no such heading",
		"README.md: a link leads to docs/none.md, which is not there",
		"docs/good.md: a link leads to docs/good.md#there, which has no such heading",
		"docs/untitled.md: a page starts with a title and with what its reader will be able to do",
		"docs/wordless.md: a page starts with a title and with what its reader will be able to do",
	)
}
