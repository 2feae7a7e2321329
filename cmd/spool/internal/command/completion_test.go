package command

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// completionCases are lines, and what a shell offers after each of them.
var completionCases = []struct{ line, want string }{
	{"spool ch", "chat check"},
	{"spool admin re", "ready redrive revisions"},
	{"spool admin run", "run runs"},
	{"spool admin redrive --a", "--all"},
	{"spool admin jobs --st", "--state"},
	{"spool admin run --js", "--json"},
	{"spool chat --th", "--thinking --thread"},
	{"spool inbox ", "answer"},
	{"spool mcp ", "call list login logout"},
	{"spool completion ", "bash fish zsh"},
}

// Each shell completes commands, commands below others, and flags.
func TestCompletion(t *testing.T) {
	t.Parallel()

	for shell, complete := range map[string]func(t *testing.T, program, script string, lines []string) *exec.Cmd{
		"bash": func(_ *testing.T, program, script string, lines []string) *exec.Cmd {
			each := `eval "$SCRIPT"; for line in "$@"; do COMP_WORDS=($line); [[ $line == *" " ]] && COMP_WORDS+=(""); ` +
				`COMP_CWORD=$((${#COMP_WORDS[@]}-1)); COMPREPLY=(); _spool; echo "${COMPREPLY[*]}"; done`
			c := exec.CommandContext(context.Background(), program, append([]string{"-c", each, "bash"}, lines...)...)
			c.Env = append(os.Environ(), "SCRIPT="+script)
			return c
		},
		"fish": func(t *testing.T, program, script string, lines []string) *exec.Cmd {
			t.Helper()

			each := `eval "$SCRIPT"; for line in $argv; complete -C $line | string split -f1 \t | string join " "; end`
			c := exec.CommandContext(context.Background(), program, append([]string{"--no-config", "-c", each}, lines...)...)
			c.Env = append(os.Environ(), "SCRIPT="+script, "HOME="+t.TempDir())
			return c
		},
		"zsh": func(t *testing.T, program, script string, lines []string) *exec.Cmd {
			t.Helper()

			folder := t.TempDir()
			if err := os.WriteFile(filepath.Join(folder, "_spool"), []byte(script), 0o600); err != nil {
				t.Fatal(err)
			}
			args := append([]string{"-f", filepath.Join("testdata", "complete.zsh"), folder}, lines...)
			return exec.CommandContext(context.Background(), program, args...)
		},
	} {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()

			got := command(nil, "completion", shell)
			if got.code != 0 || got.stderr != "" {
				t.Fatalf("%+v", got)
			}
			program := findShell(t, shell)
			var lines []string
			for _, c := range completionCases {
				lines = append(lines, c.line)
			}
			c := complete(t, program, got.stdout, lines)
			var stderr strings.Builder
			c.Stderr = &stderr
			out, err := c.Output()
			if err != nil {
				t.Fatalf("%v: %s", err, stderr.String())
			}
			offered := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
			if len(offered) != len(completionCases) {
				t.Fatalf("%d answers to %d lines: %q %s", len(offered), len(completionCases), out, stderr.String())
			}
			for i, c := range completionCases {
				words := strings.Fields(offered[i])
				slices.Sort(words)
				if got := strings.Join(words, " "); got != c.want {
					t.Errorf("after %q it offers %q, want %q", c.line, got, c.want)
				}
			}
		})
	}
	if got := command(nil, "completion", "tcsh"); got.code != exitUsage {
		t.Errorf("%+v", got)
	}
}

// findShell returns the path of a shell.
func findShell(t *testing.T, name string) string {
	t.Helper()

	program, err := exec.LookPath(name)
	if err == nil {
		return program
	}
	if os.Getenv("SPOOL_TEST_REQUIRE") == "1" {
		t.Fatalf("%s is missing and SPOOL_TEST_REQUIRE is 1: run test/services/install.sh", name)
	}
	t.Skipf("%s is not installed: test/services/install.sh says how", name)
	return ""
}
