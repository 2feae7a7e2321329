package docs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	pageTime   = 4 * time.Minute // for all blocks of a page, beside a build on the other core
	outputTime = 5 * time.Second // for what comes from the background after the end of a block
	mark       = "\x1e"

	// requestsFile has what the page has sent with curl, in the folder of the shell's scripts.
	requestsFile = "requests"
)

// loop reads the names of scripts from descriptor 3 and runs one after another in one shell.
// Jobs have process groups of their own, as in a terminal.
// Pages may have functions of the names of built-in commands.
const loop = `set -m
while builtin read -r -u 3 script; do
	builtin source "$script" 3<&-
	builtin printf '` + mark + `%d` + mark + `' $?
done
`

// A shell runs the blocks of a page.
type shell struct {
	t     *testing.T
	dir   string // where its scripts are
	steps *os.File
	done  chan error
	left  strings.Builder // what the reaper says

	mu      sync.Mutex
	printed strings.Builder
	more    chan struct{}
}

// start starts one in a folder, with bin in front of the PATH.
func start(t *testing.T, network bool, folder, bin string) *shell {
	t.Helper()

	s := &shell{t: t, dir: t.TempDir(), done: make(chan error, 1), more: make(chan struct{}, 1)}
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	main := filepath.Join(s.dir, "loop.sh")
	if err := os.WriteFile(main, []byte(loop), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), pageTime)
	command := exec.CommandContext(ctx, self, "bash", main)
	command.Dir = folder
	command.Env = append(environment(network, folder, bin), "PAGE_REQUESTS="+filepath.Join(s.dir, requestsFile))
	command.Stdout, command.Stderr = s, &s.left
	command.ExtraFiles = []*os.File{read}
	command.SysProcAttr = isolated(network)
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = reaperGrace
	s.steps = write
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	_ = read.Close()
	go func() {
		err := command.Wait()
		if ctx.Err() != nil {
			err = fmt.Errorf("the page takes longer than %v: %w", pageTime, err)
		}
		cancel()
		s.done <- err
	}()
	return s
}

// environment is this process's, without what would make the page's servers differ.
func environment(network bool, folder, bin string) []string {
	var all []string
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		if strings.HasPrefix(name, "SPOOL_") || strings.HasPrefix(name, "OTEL_") || name == "BASH_ENV" || name == "GORACE" {
			continue
		}
		all = append(all, variable)
	}
	reaper := "shared"
	if network {
		reaper = "network"
	}
	return append(all, reaperVariable+"="+reaper, "PATH="+bin+":"+os.Getenv("PATH"), "PWD="+folder, "LC_ALL=C.UTF-8",
		"GOFLAGS=-trimpath -buildvcs=false -vet=off", "CGO_ENABLED=0", "GOPROXY=off", "GOTOOLCHAIN=local")
}

// Write takes what the page prints.
func (s *shell) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.printed.Write(p)
	select {
	case s.more <- struct{}{}:
	default:
	}
	return len(p), nil
}

// output returns what was printed since the last step, the exit status of the step and
// whether it has ended.
func (s *shell) output() (string, int, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, behind, _ := strings.Cut(s.printed.String(), mark)
	number, behind, ended := strings.Cut(behind, mark)
	status, _ := strconv.Atoi(number)
	return before + behind, status, ended
}

var errShell = errors.New("the shell has ended")

// step runs a script, and waits until its output is what was wanted, or will not become so.
// The script has the lines of the page, so that errors of the shell name them.
func (s *shell) step(b block, script string, same func(printed string) string) (string, error) {
	s.mu.Lock()
	s.printed.Reset()
	s.mu.Unlock()

	file := filepath.Join(s.dir, strings.ReplaceAll(b.page, "/", "_"))
	if err := os.WriteFile(file, []byte(strings.Repeat("\n", b.line)+script), 0o600); err != nil {
		s.t.Fatal(err)
	}
	if _, err := s.steps.WriteString(file + "\n"); err != nil {
		return "", errShell
	}
	var late <-chan time.Time
	for {
		printed, status, ended := s.output()
		if ended {
			difference := same(printed)
			if difference == "" {
				return "", nil
			}
			if late == nil {
				late = time.After(outputTime)
			}
			if status != 0 {
				difference += fmt.Sprintf("\n(exit status %d)", status)
			}
			select {
			case <-s.more:
			case <-late:
				return difference, nil
			case err := <-s.done:
				s.done <- err
				return difference, nil
			}
			continue
		}
		select {
		case <-s.more:
		case err := <-s.done:
			s.done <- err
			return fmt.Sprintf("%s:%d: the shell ended inside of this block. It had printed:\n%s", b.page, b.line, printed),
				errShell
		}
	}
}

// status returns the exit status of the step that has ended.
func (s *shell) status() int {
	_, status, _ := s.output()
	return status
}

// end ends the shell. It returns what was left behind.
func (s *shell) end() (string, error) {
	_ = s.steps.Close()
	err := <-s.done
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == leftBehind {
		return s.left.String(), nil
	}
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, s.left.String())
	}
	return "", nil
}
