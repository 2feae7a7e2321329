package archtest

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Module reports the modules of this repository that the go.mod of a folder requires, except ours. It also reports
// replacements, except those of a leaf: "go install" refuses a module with one, and nobody who requires a module has
// its replacements.
func Module(tree fs.FS, module, dir string, leaf bool, ours ...string) ([]Problem, error) {
	file := path.Join(dir, "go.mod")
	text, err := fs.ReadFile(tree, file)
	if err != nil {
		return nil, err
	}
	var found []Problem
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(strings.TrimSpace(line), "//")
		required := strings.TrimPrefix(line, "require ")
		name, _, _ := strings.Cut(required, " ")
		switch {
		case strings.HasPrefix(line, "replace "), strings.Contains(line, "=>"):
			if !leaf {
				found = append(found, Problem{file, "a replacement, which nobody who requires the module has: " + line})
			}
		case (name == module || strings.HasPrefix(name, module+"/")) && !slices.Contains(ours, name):
			found = append(found, Problem{file, "it requires a module of this repository: " + required})
		}
	}
	return found, nil
}

var (
	// A Markdown link whose target is not a URL.
	link = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	// A fenced block. Text in it is not a link.
	fence = regexp.MustCompile("(?ms)^ *```.*?^ *```")
	code  = regexp.MustCompile("`[^`\n]*`")
	// A heading, and the characters that its anchor leaves out, in lower case.
	heading     = regexp.MustCompile(`(?m)^#+ +(.*?) *$`)
	notInAnchor = regexp.MustCompile(`\]\([^)]*\)|[^\p{L}\p{N}_ -]`)
)

// Docs reports pages with links to missing files or headings, and pages under docs that do not begin
// with a title and a paragraph.
func Docs(tree fs.FS) ([]Problem, error) {
	var found []Problem
	pages := pages{tree: tree, anchors: make(map[string]map[string]bool)}
	err := fs.WalkDir(tree, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			name := d.Name()
			if file != "." && (strings.HasPrefix(name, ".") || name == "node_modules" || name == "testdata") {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(file) != ".md" {
			return nil
		}
		text, err := fs.ReadFile(tree, file)
		if err != nil {
			return err
		}
		found = append(found, pages.brokenLinks(file, text)...)
		if strings.HasPrefix(file, "docs/") && !startsWell(text) {
			found = append(found, Problem{file, "a page starts with a title and with what its reader will be able to do"})
		}
		return nil
	})
	return found, err
}

// pages are those of a tree.
type pages struct {
	tree fs.FS
	// anchors has those of the pages that were read, by file.
	anchors map[string]map[string]bool
}

func (p pages) brokenLinks(file string, text []byte) []Problem {
	var found []Problem
	text = code.ReplaceAll(fence.ReplaceAll(text, nil), nil)
	for _, m := range link.FindAllSubmatch(text, -1) {
		target, anchor, _ := strings.Cut(string(m[1]), "#")
		if strings.Contains(target, ":") {
			continue // a URL
		}
		to := file
		if target != "" {
			to = path.Join(path.Dir(file), target)
		}
		if _, err := fs.Stat(p.tree, to); err != nil {
			found = append(found, Problem{file, fmt.Sprintf("a link leads to %s, which is not there", to)})
			continue
		}
		if anchor != "" && path.Ext(to) == ".md" && !p.hasHeading(to, anchor) {
			found = append(found, Problem{file, fmt.Sprintf("a link leads to %s#%s, which has no such heading", to, anchor)})
		}
	}
	return found
}

// hasHeading reports whether a page has a heading to which GitHub gives the anchor.
func (p pages) hasHeading(file, anchor string) bool {
	anchors, known := p.anchors[file]
	if !known {
		anchors = make(map[string]bool)
		text, err := fs.ReadFile(p.tree, file)
		if err != nil {
			return false
		}
		for _, m := range heading.FindAllSubmatch(fence.ReplaceAll(text, nil), -1) {
			words := notInAnchor.ReplaceAllString(strings.ToLower(string(m[1])), "")
			anchors[strings.ReplaceAll(words, " ", "-")] = true
		}
		p.anchors[file] = anchors
	}
	return anchors[anchor]
}

// startsWell reports whether the first line is a title and the next block is a paragraph.
func startsWell(text []byte) bool {
	blocks := bytes.SplitN(bytes.TrimSpace(text), []byte("\n\n"), 3)
	return len(blocks) > 1 && bytes.HasPrefix(blocks[0], []byte("# ")) && !bytes.ContainsAny(blocks[1][:1], "#|`-<")
}
