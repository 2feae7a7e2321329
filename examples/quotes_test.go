// Package examples checks that what the docs quote is code that is compiled.
package examples

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const root = ".."

var goBlock = regexp.MustCompile("(?s)```go\\n(.*?)```")

// squeeze leaves the indentation out, so that a quote may have its own.
func squeeze(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimSpace(line) + "\n")
	}
	return b.String()
}

// Every Go block of the README and the docs is a piece of an example.
func TestQuotes(t *testing.T) {
	t.Parallel()

	var code, pages []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git"):
			return fs.SkipDir
		case d.Name() == "example_test.go", d.Name() == "main.go" && strings.HasPrefix(path, "../examples/"):
			code = append(code, path)
		case path == "../README.md", strings.HasPrefix(path, "../docs/guides/") && filepath.Ext(path) == ".md":
			pages = append(pages, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, path := range code {
		all.WriteString(squeeze(read(t, path)))
	}
	quotes := 0
	for _, path := range pages {
		for _, block := range goBlock.FindAllStringSubmatch(read(t, path), -1) {
			quotes++
			if !strings.Contains(all.String(), squeeze(block[1])) {
				t.Errorf("%s quotes code that no example has:\n%s", path, block[1])
			}
		}
	}
	if quotes == 0 {
		t.Error("no quote was found")
	}
}

func read(t *testing.T, path string) string {
	t.Helper()

	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
