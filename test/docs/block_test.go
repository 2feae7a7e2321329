package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// root is the folder of the repository.
const root = "../.."

// A block is a fenced block of a page.
type block struct {
	page   string // below root
	line   int    // of the fence
	lang   string
	text   string // with a newline at its end
	marker string // the comment above it
	behind int    // how many lines of text are between the block before and this one
}

var (
	opening = regexp.MustCompile("^( *)(`{3,})([^`]*)$")
	comment = regexp.MustCompile(`^\s*<!-- (.*) -->\s*$`)
)

// farBehind is how many lines of text there are at most between a block and its output. A
// heading is more.
const farBehind = 6

// parse returns the blocks of a page in their order.
func parse(page, text string) []block {
	var all []block
	var fence, indent, before string
	inside, behind := false, 0
	for i, line := range strings.Split(text, "\n") {
		m := opening.FindStringSubmatch(line)
		switch {
		case inside && strings.TrimSpace(line) == fence:
			inside, behind = false, 0
		case inside:
			all[len(all)-1].text += strings.TrimPrefix(line, indent) + "\n"
		case m != nil:
			inside, indent, fence = true, m[1], m[2]
			b := block{page: page, line: i + 1, lang: strings.TrimSpace(m[3]), behind: behind}
			if c := comment.FindStringSubmatch(before); c != nil {
				b.marker = c[1]
			}
			all = append(all, b)
		}
		if strings.TrimSpace(line) != "" {
			before = line
			behind++
			if strings.HasPrefix(line, "#") {
				behind += farBehind
			}
		}
	}
	return all
}

var (
	item   = regexp.MustCompile(`^( *)([-*+]|\d+[.)])( +)`)
	margin = regexp.MustCompile(`^[ \t]*`)
)

// indented returns the lines at which code begins that no fence is around: after an empty
// line, and 4 columns or more to the right of where the text of the page, or of the item of a
// list, begins.
func indented(text string) []int {
	var found []int
	var fence string
	inside, behind, column := false, true, 0
	for i, line := range strings.Split(text, "\n") {
		if m := opening.FindStringSubmatch(line); m != nil && !inside {
			inside, fence = true, m[2]
		} else if inside && strings.TrimSpace(line) == fence {
			inside = false
			continue
		}
		if inside {
			continue
		}
		spaces := len(strings.ReplaceAll(margin.FindString(line), "\t", "    "))
		switch {
		case strings.TrimSpace(line) == "":
			behind = true
			continue
		case behind && spaces >= column+4:
			found = append(found, i+1)
		case item.MatchString(line):
			column = len(item.FindString(line))
		case behind && spaces < column:
			column = 0
			if spaces >= 4 {
				found = append(found, i+1)
			}
		}
		behind = false
	}
	return found
}

// pages returns those that are tracked, or new.
func pages(t *testing.T) []string {
	t.Helper()

	found := tracked(t, "*.md")
	if len(found) == 0 {
		t.Fatal("no page was found")
	}
	return found
}

// tracked returns the files of the repository that are tracked or new, below root.
func tracked(t *testing.T, patterns ...string) []string {
	t.Helper()

	args := append([]string{"ls-files", "-z", "--cached", "--others", "--exclude-standard", "--"}, patterns...)
	list := exec.CommandContext(t.Context(), "git", args...)
	list.Dir, list.Stderr = root, t.Output()
	out, err := list.Output()
	if err != nil {
		t.Fatalf("list the files of the repository: %v", err)
	}
	var found []string
	for file := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if _, err := os.Lstat(filepath.Join(root, file)); err == nil { // not removed in the work tree
			found = append(found, file)
		}
	}
	return found
}

func read(t *testing.T, path string) string {
	t.Helper()

	text, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
