package main_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// packages are those that the pages name things of, and where they are.
var packages = map[string]string{
	"rest": "rest", "page": "rest/page", "query": "rest/query", "driver": "rest/query/driver",
	"permission": "rest/permission", "auth": "rest/auth", "jwt": "rest/auth/jwt", "oidc": "rest/auth/oidc",
	"throttle": "rest/throttle", "redis": "rest/throttle/redis", "crud": "rest/crud", "crudtest": "rest/crud/crudtest",
	"resttest": "rest/resttest", "bunquery": "rest/bunquery", "gormquery": "rest/gormquery",
}

var (
	qualified = regexp.MustCompile(`\b([a-z]+)\.([A-Z]\w*)`)
	kind      = regexp.MustCompile(`\bKind\w+\s*= "([a-z0-9_]+)"`)
)

// Every name of a package of rest in the pages, such as page.Number, is exported by it.
func TestNames(t *testing.T) {
	t.Parallel()

	exported := map[string]map[string]bool{}
	for name, dir := range packages {
		exported[name] = exportedBy(t, filepath.Join(root, dir))
	}
	found, err := filepath.Glob(filepath.Join(root, pages, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	names := 0
	for _, path := range found {
		for _, m := range qualified.FindAllStringSubmatch(read(t, path), -1) {
			known, ours := exported[m[1]]
			if !ours {
				continue
			}
			names++
			if !known[m[2]] {
				t.Errorf("%s names %s, which there is not", path, m[0])
			}
		}
	}
	if names == 0 {
		t.Error("no name was found")
	}
}

// exportedBy returns the exported names of a package at their outermost.
func exportedBy(t *testing.T, dir string) map[string]bool {
	t.Helper()

	names := map[string]bool{}
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no package in %s: %v", dir, err)
	}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				names[d.Name.Name] = names[d.Name.Name] || d.Recv == nil
			case *ast.GenDecl:
				for _, s := range d.Specs {
					declared(s, names)
				}
			}
		}
	}
	return names
}

func declared(s ast.Spec, names map[string]bool) {
	switch s := s.(type) {
	case *ast.TypeSpec:
		names[s.Name.Name] = true
	case *ast.ValueSpec:
		for _, n := range s.Names {
			names[n.Name] = true
		}
	}
}

// Every kind of fault is listed.
func TestKinds(t *testing.T) {
	t.Parallel()

	listed := strings.Fields(read(t, filepath.Join(root, pages, "answers.md")))
	in := map[string]bool{}
	for _, word := range listed {
		in[word] = true
	}
	kinds := 0
	err := filepath.WalkDir(filepath.Join(root, "rest"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		for _, m := range kind.FindAllStringSubmatch(read(t, path), -1) {
			kinds++
			if !in[m[1]] {
				t.Errorf("answers.md does not list the kind %s of %s", m[1], path)
			}
		}
		return nil
	})
	if err != nil || kinds == 0 {
		t.Fatalf("no kinds were found: %v", err)
	}
}
