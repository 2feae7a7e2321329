package main

import (
	"os"
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
		t.Error("the README has other figures than RESULTS.md: cd bench && GOWORK=off go run . -readme")
	}
}

// TestResultsTable holds the table of RESULTS.md to its sections.
func TestResultsTable(t *testing.T) {
	t.Parallel()

	text := readFile(t, "RESULTS.md")
	r := parseResults(text)
	if text != r.markdown() {
		t.Error("RESULTS.md has another table than its sections: cd bench && GOWORK=off go run . -readme")
	}
	if len(r.sections) != len(figures) {
		t.Errorf("RESULTS.md has %d sections of %d", len(r.sections), len(figures))
	}
}

// TestResultsAreOfACommit holds each section of RESULTS.md to the commit whose code was
// measured: what others changed before the results were committed is told.
func TestResultsAreOfACommit(t *testing.T) {
	t.Parallel()

	type figures struct {
		name, file, text string
		paths            []string
	}
	var all []figures
	for _, w := range parseResults(readFile(t, "RESULTS.md")).sections {
		all = append(all, figures{w.title, "RESULTS.md", w.text, w.pathsOf()})
	}
	all = append(all, figures{"bench/peers", "peers/RESULTS.md", readFile(t, "peers/RESULTS.md"), peersPaths})
	history := hasHistory(t.Context())
	for _, f := range all {
		s, err := originOf(f.text)
		if err != nil {
			t.Errorf("%s: %v", f.name, err)
			continue
		}
		if !history {
			continue
		}
		changed, err := changedSince(t.Context(), s, f.file, f.paths)
		if err != nil {
			t.Errorf("%s: %v", f.name, err)
		} else if changed != s.changed {
			t.Errorf("%s was measured at %s, and before it was committed others changed %q, of which the page tells %q: cd bench && GOWORK=off go run . -readme",
				f.name, s.commit, changed, s.changed)
		}
	}
	if !history {
		t.Skip(noHistory)
	}
}

// TestStopGoal holds a stop to 100 ms, or to 5 bare commits of a slow disk, and tells a miss.
func TestStopGoal(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		stop, commit float64
		met          bool
	}{{100, 0.7, true}, {101, 0.7, false}, {101, 20, false}, {101, 21, true}, {106, 21, false}} {
		g := stopGoal(sample{c.stop}, sample{c.commit})
		s := section{goals: []goal{g}}
		if g.met != c.met || !slices.Equal(s.written("").wants(), []string{g.want}) ||
			strings.Contains(g.want, number(5*c.commit)+" ") {
			t.Errorf("%+v: %+v", c, g)
		}
	}
}

// TestOrigin reads stamps, and refuses those of no commit.
func TestOrigin(t *testing.T) {
	t.Parallel()

	const rest = "2026-11-22 13:35 UTC, 3 rounds."
	for line, want := range map[string]origin{
		"Commit bdf5f4dba308, " + rest: {"bdf5f4dba308", rest, ""},
		"Commit bdf5f4dba308, " + rest + " Changed before it was written here: a.go, b.go.": {
			"bdf5f4dba308", rest, "a.go, b.go",
		},
	} {
		if got, err := originOf("    a command\n\n" + line + "\n\nHow.\n"); err != nil || got != want ||
			got.String() != line {
			t.Errorf("%q is %+v, %v", line, got, err)
		}
	}
	for _, line := range []string{
		"", rest, "Commit unknown, " + rest, "Commit bdf5f4dba308, with changes that are not committed, " + rest,
	} {
		if got, err := originOf(line); err == nil {
			t.Errorf("%q is %+v", line, got)
		}
	}
}

// TestChangedSince looks at a history in which others change what was measured.
func TestChangedSince(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"} {
		t.Setenv(name, os.DevNull)
	}
	for _, name := range []string{"AUTHOR", "COMMITTER"} {
		t.Setenv("GIT_"+name+"_NAME", "a")
		t.Setenv("GIT_"+name+"_EMAIL", "a@example.com")
	}
	do := func(args ...string) string {
		t.Helper()
		out, err := git(t.Context(), args...)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	commit := func(file, text string) string {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		do("add", file)
		do("commit", "-q", "-m", file)
		return do("rev-parse", "--short=12", "HEAD")
	}
	do("init", "-q")
	s := origin{commit: commit("a.go", "1"), rest: "2026-11-22 13:35 UTC, 3 rounds."}
	paths := []string{"*.go", ":!*_test.go"}
	commit("a_test.go", "1")
	if got, err := changedSince(t.Context(), s, "RESULTS.md", paths); got != "" || err != nil {
		t.Errorf("not committed: %q, %v", got, err)
	}
	commit("a.go", "2")
	commit("RESULTS.md", s.String())
	commit("b.go", "1")
	commit("RESULTS.md", s.String()+"\n") // the table was written again
	if got, err := changedSince(t.Context(), s, "RESULTS.md", paths); got != "a.go" || err != nil {
		t.Errorf("committed after a change: %q, %v", got, err)
	}
	later := origin{commit: commit("b.go", "2"), rest: s.rest}
	for _, s := range []origin{later, {commit: "bdf5f4dba308", rest: s.rest}} {
		if got, err := changedSince(t.Context(), s, "RESULTS.md", paths); err == nil {
			t.Errorf("%s is no commit of before: %q", s.commit, got)
		}
	}
}

// TestResultsMerge measures one section again: the others stay, in the order of the figures.
func TestResultsMerge(t *testing.T) {
	t.Parallel()

	section := func(title, name, value string) written {
		s := section{
			title: title, name: name, how: "How.", rows: []row{{"what", "ms", sample{1, 2}}},
			goals: []goal{
				{"A goal", "at most 2", value, value == "1"},
				ratioGoal("A ratio", sample{113, 108, 115}, sample{100, 100, 100}, 0.5, true),
			},
		}
		return s.written("Commit abc, today.")
	}
	order := []string{"first", "second"}
	old := results{}.with("| | |\n|---|---|\n| CPU | old |\n",
		[]written{section("Second", "second", "1"), section("First", "first", "1")}, order)
	text := old.markdown()
	if again := parseResults(text).markdown(); again != text {
		t.Errorf("what was read is written as\n%s\nand was\n%s", again, text)
	}
	merged := parseResults(text).with("| | |\n|---|---|\n| CPU | new |\n", []written{section("First", "first", "3")},
		order)
	if len(merged.sections) != 2 || merged.sections[0].title != "First" || merged.sections[1] != old.sections[1] {
		t.Errorf("merged: %+v", merged.sections)
	}
	for _, want := range []string{
		"| CPU | new |", "| [A goal](#first) | at most 2 | 3 | **missed** |", "| [A goal](#second) | at most 2 | 1 | met |",
		"| [A ratio](#first) | at least 0.50 | 1.13 (rounds: 1.08 to 1.15) | met |",
		"\n```sh\ncd bench && GOWORK=off go run . -only second\n```\n",
	} {
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
	if !slices.Equal(merged.sections[0].wants(), []string{"at most 2", "at least 0.50"}) {
		t.Errorf("wanted: %q", merged.sections[0].wants())
	}
}
