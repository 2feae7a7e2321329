package spec_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"
)

// words returns the values of the constants of a type, read from a file of the root
// package, so that none can be added without being found here.
func words(t *testing.T, file, typ string) []string {
	t.Helper()

	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, d := range f.Decls {
		decl, ok := d.(*ast.GenDecl)
		if !ok || decl.Tok != token.CONST {
			continue
		}
		for _, s := range decl.Specs {
			spec, ok := s.(*ast.ValueSpec)
			if !ok {
				continue
			}
			name, ok := spec.Type.(*ast.Ident)
			if of, selects := spec.Type.(*ast.SelectorExpr); selects {
				name, ok = of.Sel, true
			}
			if !ok || name.Name != typ {
				continue
			}
			for _, v := range spec.Values {
				text, ok := v.(*ast.BasicLit)
				if !ok {
					t.Fatalf("%s: a constant of type %s is no literal", file, typ)
				}
				word, err := strconv.Unquote(text.Value)
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, word)
			}
		}
	}
	if len(all) == 0 {
		t.Fatalf("%s has no constants of type %s", file, typ)
	}
	return all
}

// Every kind of entry, notice and item is on the page of events, and has an example.
func TestTypesAreComplete(t *testing.T) {
	t.Parallel()

	page, err := os.ReadFile("events.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ file, typ, fixtures string }{
		{"../wire/entry.go", "EntryType", "fixtures/entries.json"},
		{"../wire/item.go", "ItemType", "fixtures/items.json"},
	} {
		b, err := os.ReadFile(c.fixtures)
		if err != nil {
			t.Fatal(err)
		}
		type typed struct {
			Value struct{ Type string }
		}
		var content struct{ Entries, Notices, Items []typed }
		if err := json.Unmarshal(b, &content); err != nil {
			t.Fatal(err)
		}
		seen := make(map[string]bool)
		for _, list := range [][]typed{content.Entries, content.Notices, content.Items} {
			for _, e := range list {
				seen[e.Value.Type] = true
			}
		}
		for _, word := range words(t, c.file, c.typ) {
			if !seen[word] {
				t.Errorf("%s has no %s", c.fixtures, word)
			}
			if !strings.Contains(string(page), "`"+word+"`") {
				t.Errorf("events.md does not say what %s is", word)
			}
		}
	}
}
