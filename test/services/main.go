//go:build unix

// Command services gives a command a PostgreSQL and a Redis of its own: it starts them on
// free ports of 127.0.0.1, runs the command with their addresses in the environment, and
// stops them when the command ends, also when it fails or is interrupted.
//
// It is started by run.sh, as "go run" passes on neither signals nor exit statuses.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/spoolhq/spool/internal/testing/testserver"
)

// Exit statuses that are not the command's, the same as those of env and timeout.
const (
	exitOwn       = 125 // the services could not be started, or the arguments are wrong
	exitCannotRun = 126
	exitNotFound  = 127
	exitSignal    = 128 // and the number of the signal
)

const usage = `usage: services -- COMMAND [ARGUMENT...]

Runs the command with SPOOL_TEST_POSTGRES and SPOOL_TEST_REDIS set to servers that are
started for it. One that is set already is used as it is. What cannot be started because
it is not installed is left out, or is an error with SPOOL_TEST_REQUIRE=1.
`

// interruption is why a context ended: this signal came.
type interruption struct{ signal syscall.Signal }

func (i interruption) Error() string { return "interrupted: " + i.signal.String() }

func main() {
	// The kernel ends the servers when the OS thread that started them ends. So this thread must
	// live as long as the process.
	runtime.LockOSThread()

	// The first signal is passed on and those after it change nothing: what it began is
	// bounded in time.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	ctx, cancel := context.WithCancelCause(context.Background())
	go func() {
		if s, ok := (<-signals).(syscall.Signal); ok {
			cancel(interruption{s})
		}
	}()
	os.Exit(run(ctx, os.Args[1:], host{
		environ:  os.Environ(),
		stdin:    os.Stdin,
		stdout:   os.Stdout,
		stderr:   os.Stderr,
		versions: testserver.PostgresVersions,
	}))
}

// host is what a run has around it.
type host struct {
	environ []string
	// stdin is given to the command, unless it is a terminal.
	stdin *os.File
	// stdout is the command's alone; what services says goes to stderr.
	stdout, stderr io.Writer
	// versions is the pattern of the directories that hold a version of PostgreSQL each,
	// as Debian has them. PATH is searched first.
	versions string
}

// getenv returns the last value of a variable, and "" when it is not set.
func (h host) getenv(name string) string {
	for _, entry := range slices.Backward(h.environ) {
		if key, value, _ := strings.Cut(entry, "="); key == name {
			return value
		}
	}
	return ""
}

// path returns the directories of PATH, except those that depend on where we are.
func (h host) path() []string {
	return testserver.Path(h.getenv("PATH"))
}

// sayf writes a line about the services.
func (h host) sayf(format string, args ...any) {
	_, _ = fmt.Fprintf(h.stderr, format+"\n", args...)
}

// run does what the command's arguments say and returns its exit status. When ctx ends
// with an [interruption] as its cause, the command gets the signal.
func run(ctx context.Context, args []string, h host) int {
	if len(args) < 2 || args[0] != "--" {
		_, _ = io.WriteString(h.stderr, usage)
		return exitOwn
	}
	f := fleet{host: h}
	defer f.stop()
	environ, err := f.start(ctx)
	if err != nil {
		if code, ok := interrupted(ctx); ok {
			return code
		}
		h.sayf("services: %v", err)
		return exitOwn
	}
	return command(ctx, args[1:], environ, h)
}
