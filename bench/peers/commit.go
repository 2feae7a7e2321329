package main

import (
	"context"
	"os/exec"
	"strings"
)

// commit returns the measured commit. Only changes of the measured files count, because other files of
// the tree may change meanwhile.
func commit(ctx context.Context) string {
	name := git(ctx, "rev-parse", "--short=12", "HEAD")
	if git(ctx, "status", "--porcelain", "--untracked-files=no", "--", ".", "../../engine", "../../server", "../../rest",
		"../../backend",
		"../../internal", ":(glob)../../*.go", ":!RESULTS.md", ":!../../*_test.go") != "" {
		name += ", with changes that are not committed"
	}
	return name
}

// git returns the output of a git command, or "unknown" if it fails.
func git(ctx context.Context, args ...string) string {
	out, err := exec.CommandContext(ctx, "git", args...).Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}
