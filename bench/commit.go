package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
)

// measuredPaths are the measured files, relative to this folder. Other files of the tree may change
// meanwhile.
var measuredPaths = []string{
	".", "../engine", "../server", "../rest", "../backend", "../internal", ":(glob)../*.go",
	":!RESULTS.md", ":!peers", ":!rest", ":!../*_test.go",
}

// peersPaths are the files that bench/peers measures.
var peersPaths = []string{
	"peers", "../engine", "../server", "../rest", "../backend", "../internal", ":(glob)../*.go",
	":!peers/RESULTS.md", ":!../*_test.go",
}

// origin is the line of a result that names the measured commit.
type origin struct {
	commit string
	// rest is the line after the commit, from the date on. No other results have the same text.
	rest string
	// changed are the measured files that changed between the measurement and the commit of the
	// results, or empty.
	changed string
}

var writtenOrigin = regexp.MustCompile(`(?m)^Commit ([0-9a-f]{12}), (\d{4}-\d\d-\d\d \d\d:\d\d UTC, .+?)(?: Changed before it was written here: (.+)\.)?$`)

// noHistory is the message of a test that cannot look at commits.
const noHistory = "this clone is without history, so nobody has looked whether the results are of the commits that they name"

// originOf reads the origin of a text. It returns an error if the results name no commit.
func originOf(text string) (origin, error) {
	m := writtenOrigin.FindStringSubmatch(text)
	if m == nil {
		return origin{}, errors.New("there is no commit of 12 digits that was measured")
	}
	return origin{m[1], m[2], m[3]}, nil
}

// String returns the line.
func (s origin) String() string {
	line := "Commit " + s.commit + ", " + s.rest
	if s.changed != "" {
		line += " Changed before it was written here: " + s.changed + "."
	}
	return line
}

// hasHistory reports whether git has the history that the checks need.
func hasHistory(ctx context.Context) bool {
	_, err := git(ctx, "rev-parse", "--verify", "HEAD~1")
	return err == nil && output(ctx, "git", "rev-parse", "--is-shallow-repository") == "false"
}

// changedSince returns the files in the given paths that changed after the measured commit and until
// the commit that wrote the origin into a file of results. If that is not committed yet, it compares
// with the files as they are.
func changedSince(ctx context.Context, s origin, results string, paths []string) (string, error) {
	wrote, err := git(ctx, "log", "--reverse", "--format=%H", "-S"+s.rest, "--", results)
	if err != nil {
		return "", err
	}
	wrote, _, _ = strings.Cut(wrote, "\n")
	until := "HEAD"
	if wrote != "" {
		until = wrote
	}
	if _, err := git(ctx, "merge-base", "--is-ancestor", s.commit, until); err != nil {
		return "", fmt.Errorf("commit %s is not in the history of these results: %w", s.commit, err)
	}
	diff := []string{"diff", "--name-only", s.commit}
	if wrote != "" {
		diff = append(diff, wrote)
	}
	names, err := git(ctx, append(append(diff, "--"), paths...)...)
	return strings.Join(strings.Fields(names), ", "), err
}

// git returns the output of a git command.
func git(ctx context.Context, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "git", args...).Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", args[0], err)
	}
	return strings.TrimSpace(string(out)), nil
}

// restamp updates the list of changed files in the origin of a result's text, if git knows them.
func restamp(ctx context.Context, text, results string, paths []string) (string, error) {
	s, err := originOf(text)
	if err != nil || !hasHistory(ctx) {
		return text, err
	}
	if s.changed, err = changedSince(ctx, s, results, paths); err != nil {
		return text, err
	}
	return writtenOrigin.ReplaceAllLiteralString(text, s.String()), nil
}

// restamped updates the origin of each section.
func (r results) restamped(ctx context.Context) (results, error) {
	for i, w := range r.sections {
		text, err := restamp(ctx, w.text, "RESULTS.md", w.pathsOf())
		if err != nil {
			return r, fmt.Errorf("%s: %w", w.title, err)
		}
		r.sections[i].text = text
	}
	return r, nil
}

// stampPeers updates the origin in the results of bench/peers.
func stampPeers(ctx context.Context, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	page, err := restamp(ctx, string(text), "peers/RESULTS.md", peersPaths)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return os.WriteFile(file, []byte(page), 0o644)
}
