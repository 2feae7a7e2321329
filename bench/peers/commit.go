package main

import (
	"context"
	"os/exec"
	"strings"
)

// commit returns what is measured. Only changes of that count: others may work on the rest of
// the tree.
func commit(ctx context.Context) string {
	name := git(ctx, "rev-parse", "--short=12", "HEAD")
	if git(ctx, "status", "--porcelain", "--untracked-files=no", "--", ".", "../../engine", "../../server", "../../rest", "../../backend",
		"../../internal", ":(glob)../../*.go", ":!RESULTS.md", ":!../../*_test.go") != "" {
		name += ", with changes that are not committed"
	}
	return name
}

// git returns what a command of git says, "unknown" when it fails.
func git(ctx context.Context, args ...string) string {
	out, err := exec.CommandContext(ctx, "git", args...).Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}
