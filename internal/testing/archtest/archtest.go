// Package archtest checks the structure of the repository: which package may import which, how long a
// file may be, that every package has a package comment, that the links in docs lead somewhere, and that
// the page about the parts of the engine counts what there is. Its tests run on this repository, and on
// small trees with planted mistakes.
package archtest

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Any in [Row.Outside] allows every package of other modules.
const Any = "*"

// Row says what a set of packages may import. A pattern is a path inside the module, or "." for its
// root. With "/..." after it, it stands for the path and everything below.
type Row struct {
	// Place is the pattern of the packages to which the row applies. If several rows match, the first
	// one counts.
	Place string
	// Ours are patterns of packages of this module.
	Ours []string
	// Outside are import paths of other modules. Each includes all packages below it. The standard
	// library is always allowed.
	Outside []string
	// OutsideInTests are import paths of other modules that only the tests may import.
	OutsideInTests []string
	// TestsToo restricts the tests to Ours too. Otherwise they may import any package of this module.
	TestsToo bool
	// Testing is true for packages that are for tests. Only they may import the package testing, and
	// only they and tests may import them.
	Testing bool
}

// Problem is a violation of a rule.
type Problem struct {
	// File is the slash-separated path of the file in the tree.
	File string
	Text string
}

// String returns "file: text".
func (p Problem) String() string { return p.File + ": " + p.Text }

// source is a parsed Go file of the tree.
type source struct {
	file string
	pkg  string // the path of its package in the module
	test bool
	text []byte
	ast  *ast.File
}

// sources parses the Go files of the module at the root of tree and of those modules, which are folders. It leaves out
// other modules, and files that the go command ignores.
func sources(tree fs.FS, modules []string) ([]source, error) {
	var all []source
	err := fs.WalkDir(tree, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if file != "." && !slices.Contains(modules, file) && outsideModule(tree, file) {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(file) != ".go" {
			return nil
		}
		text, err := fs.ReadFile(tree, file)
		if err != nil {
			return err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, text, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			return err
		}
		all = append(all, source{
			file: file, pkg: path.Dir(file), text: text, ast: parsed,
			test: strings.HasSuffix(file, "_test.go"),
		})
		return nil
	})
	return all, err
}

func outsideModule(tree fs.FS, dir string) bool {
	name := path.Base(dir)
	if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") {
		return true
	}
	if slices.Contains([]string{"testdata", "node_modules", "vendor"}, name) || dir == "clients" {
		return true
	}
	_, err := fs.Stat(tree, path.Join(dir, "go.mod"))
	return err == nil
}

// Imports checks every file of the module and of the modules below it against the rows. Tests may also import the
// packages in testOutside.
func Imports(tree fs.FS, module string, rows []Row, testOutside []string, modules ...string) ([]Problem, error) {
	all, err := sources(tree, modules)
	if err != nil {
		return nil, err
	}
	var found []Problem
	for _, s := range all {
		at := slices.IndexFunc(rows, func(r Row) bool { return within(r.Place, s.pkg) })
		if at < 0 {
			found = append(found, Problem{s.file, fmt.Sprintf("package %s has no row: say what it may import", s.pkg)})
			continue
		}
		row := rows[at]
		if s.test {
			row.Testing = true
			row.Outside = slices.Concat(row.Outside, row.OutsideInTests, testOutside)
			if !row.TestsToo {
				row.Ours = []string{"./..."}
			}
		}
		for _, spec := range s.ast.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return nil, fmt.Errorf("read an import of %s: %w", s.file, err)
			}
			text := row.refuses(module, s.pkg, imported)
			if text == "" && !row.Testing && forTests(rows, module, imported) {
				text = fmt.Sprintf("%s must not import %s, which is for tests", s.pkg, imported)
			}
			if text != "" {
				found = append(found, Problem{s.file, text})
			}
		}
	}
	return found, nil
}

// Inputs reports packages whose tests start programs and do not import the package that tells the test cache what these
// read, except those named.
func Inputs(tree fs.FS, inputs string, except ...string) ([]Problem, error) {
	all, err := sources(tree, nil)
	if err != nil {
		return nil, err
	}
	starts, tells := make(map[string]string), make(map[string]bool)
	for _, s := range all {
		for _, spec := range s.ast.Imports {
			switch {
			case s.test && spec.Path.Value == `"os/exec"`:
				starts[s.pkg] = s.file
			case spec.Path.Value == strconv.Quote(inputs):
				tells[s.pkg] = true
			}
		}
	}
	var found []Problem
	for _, pkg := range slices.Sorted(maps.Keys(starts)) {
		if !tells[pkg] && !slices.Contains(except, pkg) {
			found = append(found, Problem{
				starts[pkg], fmt.Sprintf("the tests of %s start programs: call inputs.Read with what these read", pkg),
			})
		}
	}
	return found, nil
}

// Unused reports the packages of this module that the row of a package below folder allows, and that no
// file of the package imports, its tests apart.
func Unused(tree fs.FS, module, folder string, rows []Row) ([]Problem, error) {
	below, err := fs.Sub(tree, folder)
	if err != nil {
		return nil, err
	}
	all, err := sources(below, nil)
	if err != nil {
		return nil, err
	}
	imported := make(map[string][]string)
	for _, s := range all {
		if pkg := path.Join(folder, s.pkg); !s.test {
			for _, spec := range s.ast.Imports {
				imported[pkg] = append(imported[pkg], spec.Path.Value)
			}
		}
	}
	var found []Problem
	for _, row := range rows {
		has, below := imported[row.Place]
		for _, ours := range row.Ours {
			if below && !slices.Contains(has, strconv.Quote(path.Join(module, ours))) {
				found = append(found, Problem{row.Place, fmt.Sprintf("its row allows our %s, which it does not import", ours)})
			}
		}
	}
	return found, nil
}

// forTests reports whether an import is for tests: it is the package testing, or its row says so.
func forTests(rows []Row, module, imported string) bool {
	if within("testing/...", imported) {
		return true
	}
	ours, inside := strings.CutPrefix(imported, module+"/")
	at := slices.IndexFunc(rows, func(r Row) bool { return within(r.Place, ours) })
	return inside && at >= 0 && rows[at].Testing
}

// refuses returns why a package may not have the import, or "" if it may.
func (r Row) refuses(module, pkg, imported string) string {
	ours, inside := "", imported == module
	if inside {
		ours = "."
	} else {
		ours, inside = strings.CutPrefix(imported, module+"/")
	}
	if inside {
		if ours == pkg || slices.ContainsFunc(r.Ours, func(pattern string) bool { return within(pattern, ours) }) {
			return ""
		}
		return fmt.Sprintf("%s must not import our %s", pkg, ours)
	}
	host, _, _ := strings.Cut(imported, "/")
	if !strings.Contains(host, ".") { // the standard library
		return ""
	}
	for _, allowed := range r.Outside {
		if allowed == Any || imported == allowed || strings.HasPrefix(imported, allowed+"/") {
			return ""
		}
	}
	return fmt.Sprintf("%s must not import %s from outside", pkg, imported)
}

// within reports whether the pattern matches the package.
func within(pattern, pkg string) bool {
	tree, all := strings.CutSuffix(pattern, "/...")
	return pkg == tree || all && (tree == "." || strings.HasPrefix(pkg, tree+"/"))
}

// The bounds of a file's length, in lines.
const (
	// LongFile is the length from which a file needs a reason: a comment "// long: why" above its
	// package clause.
	LongFile = 800
	// LongestFile is the largest length, even with a reason.
	LongestFile = 1200
)

// Lengths reports files that are too long, except generated ones.
func Lengths(tree fs.FS, modules ...string) ([]Problem, error) {
	all, err := sources(tree, modules)
	if err != nil {
		return nil, err
	}
	var found []Problem
	for _, s := range all {
		lines := bytes.Count(s.text, []byte("\n"))
		switch {
		case lines <= LongFile, ast.IsGenerated(s.ast):
		case lines > LongestFile:
			found = append(found, Problem{s.file, fmt.Sprintf("%d lines: split it, %d is the most", lines, LongestFile)})
		case !givesReason(s):
			found = append(found, Problem{
				s.file, fmt.Sprintf(`%d lines: split it, or say why with "// long: ..." at its top`, lines),
			})
		}
	}
	return found, nil
}

func givesReason(s source) bool {
	for _, group := range s.ast.Comments {
		for _, c := range group.List {
			reason, ok := strings.CutPrefix(c.Text, "// long: ")
			if ok && c.Pos() < s.ast.Package && strings.TrimSpace(reason) != "" {
				return true
			}
		}
	}
	return false
}

// PackageComments reports packages that have no package comment, or more than one.
func PackageComments(tree fs.FS, modules ...string) ([]Problem, error) {
	all, err := sources(tree, modules)
	if err != nil {
		return nil, err
	}
	var found []Problem
	documented := make(map[string]bool)
	for _, s := range all {
		text := s.ast.Doc.Text()
		if s.test || text == "" {
			continue
		}
		if documented[s.pkg] {
			found = append(found, Problem{s.file, "a second package comment: one file of a package has it"})
		}
		documented[s.pkg] = true
		if want := "Package " + s.ast.Name.Name + " "; s.ast.Name.Name != "main" && !strings.HasPrefix(text, want) {
			found = append(found, Problem{s.file, fmt.Sprintf("the package comment should start with %q", want)})
		}
	}
	for _, s := range all {
		if _, known := documented[s.pkg]; !s.test && !known {
			found = append(found, Problem{s.file, fmt.Sprintf("package %s has no package comment", s.pkg)})
			documented[s.pkg] = false // report it only once
		}
	}
	return found, nil
}
