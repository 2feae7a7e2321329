//go:build unix

package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// move returns the same mistake in another tree, whose product may differ a little. It looks for the function in
// the same package: with the same text, or with one line that is the same. ok is false when there is no such place.
func (e *edit) move(tree string) (_ edit, ok bool) {
	dir := filepath.Dir(filepath.FromSlash(e.File))
	entries, err := os.ReadDir(filepath.Join(tree, dir))
	if err != nil {
		return edit{}, false
	}
	names := []string{filepath.Base(e.File)}
	for _, entry := range entries {
		if product(entry.Name()) && entry.Name() != names[0] {
			names = append(names, entry.Name())
		}
	}
	for _, name := range names {
		file := filepath.Join(dir, name)
		source, err := os.ReadFile(filepath.Join(tree, file))
		if err != nil {
			continue
		}
		if at := e.offset(source); at >= 0 {
			moved := *e
			moved.File = filepath.ToSlash(file)
			moved.Start, moved.End = at, at+len(e.Old)
			moved.Line, moved.Column = position(source, at)
			return moved, true
		}
	}
	return edit{}, false
}

// offset returns where the mistake belongs in a source, or -1.
func (e *edit) offset(source []byte) int {
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, "", source, parser.SkipObjectResolution)
	if err != nil {
		return -1
	}
	m := &mutator{source: source, tokens: files.File(f.FileStart)}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Body == nil {
			continue
		}
		there := m.declaration(fn)
		if there.Name != e.Decl.Name {
			continue
		}
		within := e.Start - e.Decl.Start
		if there.Text == e.Decl.Text {
			return there.Start + within
		}
		return e.offsetOfLine(there, within)
	}
	return -1
}

// offsetOfLine finds the place by the text of its line, which must occur once in both functions.
func (e *edit) offsetOfLine(there declaration, within int) int {
	from := strings.LastIndexByte(e.Decl.Text[:within], '\n') + 1
	line := e.Decl.Text[from:]
	if end := strings.IndexByte(line, '\n'); end >= 0 {
		line = line[:end]
	}
	if within+len(e.Old) > from+len(line) || !once(e.Decl.Text, line) || !once(there.Text, line) {
		return -1
	}
	return there.Start + strings.Index(there.Text, line) + within - from
}

func once(text, line string) bool {
	return slices.Contains(strings.Split(text, "\n"), line) && strings.Count(text, line) == 1
}

// product says whether a file is one that is planted in: Go, and no test.
func product(name string) bool {
	return strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go")
}
