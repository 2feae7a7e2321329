//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// mostMemory ends a test process that has more: a mistake can make a loop allocate for ever.
const mostMemory = 6 << 30

var (
	errLimit  = errors.New("the time limit")
	errMemory = errors.New("the memory limit")
)

// process is a program that ends with all that it started.
type process struct {
	Dir  string
	Env  []string // added to this process's
	Args []string
	// Limit bounds its time. Zero: not at all.
	Limit time.Duration
}

// run returns what the program printed. The error is the context's, [errLimit], [errMemory], or that of the program.
func (p process) run(ctx context.Context) ([]byte, error) {
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if p.Limit > 0 {
		timer := time.AfterFunc(p.Limit, func() { cancel(errLimit) })
		defer timer.Stop()
	}
	cmd := exec.CommandContext(inner, p.Args[0], p.Args[1:]...)
	cmd.Dir = p.Dir
	cmd.Env = append(append(os.Environ(), workspace(p.Dir)), p.Env...)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", p.Args[0], err)
	}
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		watchMemory(inner, cmd.Process.Pid, cancel)
	}()
	err := cmd.Wait()
	cause := context.Cause(inner)
	cancel(nil)
	<-watched
	// What it left behind is of no use to anybody.
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	if err != nil && cause != nil {
		err = cause
	}
	return output.Bytes(), err
}

// workspace returns the variable with which go commands find the modules of a folder. go.work is of the root alone.
func workspace(dir string) string {
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil {
			continue
		}
		if _, err := os.Stat(filepath.Join(dir, "go.work")); err != nil {
			return "GOWORK=off"
		}
		break
	}
	return "GOWORK="
}

// watchMemory cancels when the process has too much. It sees nothing where there is no /proc.
func watchMemory(ctx context.Context, pid int, cancel context.CancelCauseFunc) {
	ticker := time.NewTicker(200 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "statm"))
		if err != nil {
			return
		}
		if fields := strings.Fields(string(data)); len(fields) > 1 {
			pages, _ := strconv.Atoi(fields[1])
			if pages*os.Getpagesize() > mostMemory {
				cancel(errMemory)
				return
			}
		}
	}
}

// tail returns the end of what a program printed.
func tail(output []byte) string {
	const most = 2000
	if len(output) > most {
		output = output[len(output)-most:]
	}
	return strings.TrimSpace(string(output))
}
