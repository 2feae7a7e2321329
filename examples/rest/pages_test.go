package main_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const (
	root  = "../.."
	pages = "docs/rest"
)

// A block of Go, or of what an example prints.
var block = regexp.MustCompile("(?s)```(go|text)\\n(.*?)```")

// lines leaves out what a quote may have otherwise: indentation, and that a program's
// output stands in a comment.
func lines(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "//"))
		b.WriteString(line + "\n")
	}
	return b.String()
}

// Every block of Go and of output in the pages about rest is a piece of an example that is
// compiled and run, or of the documentation in the sources.
func TestPages(t *testing.T) {
	t.Parallel()

	var code strings.Builder
	for _, dir := range []string{"examples/rest", "rest"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
			if err == nil && quotable(dir, d) {
				code.WriteString(lines(read(t, path)))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	found, err := filepath.Glob(filepath.Join(root, pages, "*.md"))
	if err != nil || len(found) == 0 {
		t.Fatalf("no pages in %s: %v", pages, err)
	}
	quotes := 0
	for _, path := range found {
		for _, m := range block.FindAllStringSubmatch(read(t, path), -1) {
			quotes++
			if !strings.Contains(code.String(), lines(m[2])) {
				t.Errorf("%s quotes what is nowhere:\n%s", path, m[2])
			}
		}
	}
	if quotes == 0 {
		t.Error("no quote was found")
	}
}

// quotable reports whether a file is an example, or documentation.
func quotable(dir string, d fs.DirEntry) bool {
	name := d.Name()
	if d.IsDir() || filepath.Ext(name) != ".go" {
		return false
	}
	return dir == "examples/rest" || strings.HasPrefix(name, "example_") || name == "doc.go" || name == "raw.go"
}

func read(t *testing.T, path string) string {
	t.Helper()

	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
