//go:build unix

package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/spoolhq/spool/internal/testing/testserver"
)

// commandGrace is how long the command may take to end after a signal.
const commandGrace = 15 * time.Second

// command runs args and returns its exit status: as shells do, 128 and the number of the
// signal when one ended it.
//
// It has a process group of its own, so that a signal reaches all of it: the tests, and
// not only the program that runs them. Nothing of the group outlives the call.
func command(ctx context.Context, args, environ []string, h host) int {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = environ
	cmd.Stdout, cmd.Stderr = h.stdout, h.stderr
	if !terminal(h.stdin) {
		cmd.Stdin = h.stdin
	}
	cmd.SysProcAttr = testserver.OwnGroup(syscall.SIGTERM)
	cmd.Cancel = func() error {
		return syscall.Kill(-cmd.Process.Pid, cause(ctx))
	}
	cmd.WaitDelay = commandGrace

	if err := cmd.Start(); err != nil {
		if code, ok := interrupted(ctx); ok {
			return code
		}
		h.sayf("services: %v", err)
		if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
			return exitNotFound
		}
		return exitCannotRun
	}
	_ = cmd.Wait() // the state says more than the error
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)

	code := status(cmd.ProcessState)
	if signaled, ok := interrupted(ctx); ok && code == 0 {
		// It ended well because it was told to end: that is not a pass.
		return signaled
	}
	return code
}

func status(state *os.ProcessState) int {
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return exitSignal + int(ws.Signal())
	}
	return state.ExitCode()
}

// cause returns the signal that ended ctx, SIGTERM when it was something else.
func cause(ctx context.Context) syscall.Signal {
	if i, ok := errors.AsType[interruption](context.Cause(ctx)); ok {
		return i.signal
	}
	return syscall.SIGTERM
}

// interrupted returns the exit status of a run whose context has ended, and whether it has.
func interrupted(ctx context.Context) (int, bool) {
	return exitSignal + int(cause(ctx)), ctx.Err() != nil
}

// terminal reports whether file may be one. In a group of its own, the command would be
// stopped when it reads from there.
func terminal(file *os.File) bool {
	if file == nil {
		return true
	}
	info, err := file.Stat()
	return err != nil || info.Mode()&os.ModeCharDevice != 0
}
