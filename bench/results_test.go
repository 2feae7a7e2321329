package main

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestReadmeHasTheFigures holds the README to RESULTS.md.
func TestReadmeHasTheFigures(t *testing.T) {
	t.Parallel()

	page := readFile(t, "../README.md")
	want, err := readme(page, parseResults(readFile(t, "RESULTS.md")))
	if err != nil {
		t.Fatal(err)
	}
	if page != want {
		t.Error("the README has other figures than RESULTS.md: cd bench && go run . -readme")
	}
}

// TestResultsAreOfACommit holds each section of RESULTS.md to a commit of this history,
// without changes that nobody else can see.
func TestResultsAreOfACommit(t *testing.T) {
	t.Parallel()

	if exec.CommandContext(t.Context(), "git", "rev-parse", "HEAD~1").Run() != nil {
		t.Skip("there is no history to look into")
	}
	r := parseResults(readFile(t, "RESULTS.md"))
	if len(r.sections) != len(figures) {
		t.Errorf("RESULTS.md has %d sections of %d", len(r.sections), len(figures))
	}
	for _, w := range r.sections {
		_, rest, _ := strings.Cut(w.text, "Commit ")
		commit, _, _ := strings.Cut(rest, ",")
		if strings.Contains(rest[:min(len(rest), 80)], "not committed") || exec.CommandContext(t.Context(), "git", "merge-base", "--is-ancestor", commit, "HEAD").Run() != nil {
			t.Errorf("%s is of no commit of this history: %q", w.title, commit)
		}
	}
}

// TestResultsMerge measures one section again: the others stay, in the order of the figures.
func TestResultsMerge(t *testing.T) {
	t.Parallel()

	section := func(title, name, value string) written {
		s := section{title: title, name: name, how: "How.", rows: []row{{"what", "ms", sample{1, 2}}}, goals: []goal{{"A goal", "at most 2", value, value == "1"}}}
		return s.written("Commit abc, today.")
	}
	order := []string{"first", "second"}
	old := results{}.with("| | |\n|---|---|\n| CPU | old |\n", []written{section("Second", "second", "1"), section("First", "first", "1")}, order)
	text := old.markdown()
	if again := parseResults(text).markdown(); again != text {
		t.Errorf("what was read is written as\n%s\nand was\n%s", again, text)
	}
	merged := parseResults(text).with("| | |\n|---|---|\n| CPU | new |\n", []written{section("First", "first", "3")}, order)
	if len(merged.sections) != 2 || merged.sections[0].title != "First" || merged.sections[1] != old.sections[1] {
		t.Errorf("merged: %+v", merged.sections)
	}
	for _, want := range []string{"| CPU | new |", "| [A goal](#first) | at most 2 | 3 | **missed** |", "| [A goal](#second) | at most 2 | 1 | met |"} {
		if !strings.Contains(merged.markdown(), want) {
			t.Errorf("%q is not in\n%s", want, merged.markdown())
		}
	}
	if value, err := merged.median("First", "what"); err != nil || value != "1.50" {
		t.Errorf("the median is %q, %v", value, err)
	}
	if _, err := merged.median("First", "else"); err == nil {
		t.Error("a row that is not there has a median")
	}
	if !slices.Equal(merged.sections[0].wants(), []string{"at most 2"}) {
		t.Errorf("wanted: %q", merged.sections[0].wants())
	}
}
