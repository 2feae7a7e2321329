//go:build unix

// Package testserver starts servers for tests, each on a free port of 127.0.0.1 and with its own folder, and
// stops them by their process.
package testserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	// startTimeout is how long a server may take until it answers. It is for machines that
	// are busy with a build.
	startTimeout = 90 * time.Second
	pollInterval = 20 * time.Millisecond
	// stopTimeout is how long each signal is given.
	stopTimeout = 10 * time.Second
	// attempts bounds how often a start that failed is repeated with another port.
	attempts = 3
)

// Program is how a server is run.
type Program struct {
	// Binary is the path of the program.
	Binary string
	// Prepare is called once, before the first start. Nil: there is nothing to do.
	Prepare func(ctx context.Context) error
	// Port is the port that the first attempt takes if it is free. Zero: any free one.
	Port int
	// Args returns the arguments for a port.
	Args func(port int) []string
	// Ready reports whether the process accepts connections. It must not be deceived by
	// another server on the same port.
	Ready func(ctx context.Context, pid, port int) bool
	// Address returns what clients are given.
	Address func(port int) string
	// Stop has the signals that end it, the gentle one first. SIGKILL comes after them.
	Stop []syscall.Signal
}

// Server is a running program.
type Server struct {
	// Port is the port of 127.0.0.1 that it listens on, and Address what clients are given.
	Port    int
	Address string
	// Gone is closed when the process has ended.
	Gone chan struct{}

	program Program
	in      Site
	process *os.Process
	log     string
}

// errEnded is that a server ended before it was ready.
var errEnded = errors.New("it ended by itself")

// Launch starts a program and returns when it answers. The kernel of Linux ends the server when the OS thread
// of this call ends, so the caller's goroutine must be locked to its thread for as long as the server is
// needed.
func Launch(ctx context.Context, p Program, in Site) (*Server, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if p.Prepare != nil {
		if err := p.Prepare(ctx); err != nil {
			return nil, err
		}
	}
	for attempt := 1; ; attempt++ {
		port, err := freePort(ctx, p.Port)
		if err != nil && p.Port != 0 {
			port, err = freePort(ctx, 0)
		}
		if err != nil {
			return nil, err
		}
		p.Port = 0
		s, err := start(ctx, p, in, port)
		// A port that was free a moment ago may be somebody else's now.
		if !errors.Is(err, errEnded) || attempt == attempts {
			return s, err
		}
	}
}

// Again starts the program of a server that has ended, in the same folder and on the same port. The OS thread
// of the call must live on, as with [Launch].
func (s *Server) Again(ctx context.Context) (*Server, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	return start(ctx, s.program, s.in, s.Port)
}

// start starts a program once. After an error nothing is running.
func start(ctx context.Context, p Program, in Site, port int) (*Server, error) {
	log, err := os.OpenFile(filepath.Join(in.Dir, "log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := Confined(exec.Command(p.Binary, p.Args(port)...), in, p.Stop[0]) //nolint:gosec,noctx // the program of a test, which outlives the call
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s := &Server{
		Port: port, Address: p.Address(port), Gone: make(chan struct{}),
		program: p, in: in, process: cmd.Process, log: log.Name(),
	}
	go func() {
		defer close(s.Gone)
		_ = cmd.Wait()
	}()
	if err := s.await(ctx, p); err != nil {
		s.Stop()
		return nil, fmt.Errorf("%w; it said\n%s", err, s.LastWords())
	}
	return s, nil
}

// await returns when the server is ready, or cannot become it.
func (s *Server) await(ctx context.Context, p Program) error {
	poll := time.NewTicker(pollInterval)
	defer poll.Stop()
	for !p.Ready(ctx, s.process.Pid, s.Port) {
		select {
		case <-poll.C:
		case <-s.Gone:
			return errEnded
		case <-ctx.Done():
			return fmt.Errorf("wait until it answers: %w", context.Cause(ctx))
		}
	}
	return nil
}

// Stop ends the server and returns when it is gone.
func (s *Server) Stop() { s.StopWith(s.program.Stop...) }

// StopWith ends the server with these signals, one after another, and at last with SIGKILL. It returns when
// the server is gone.
func (s *Server) StopWith(signals ...syscall.Signal) {
	for _, signal := range signals {
		_ = s.process.Signal(signal)
		select {
		case <-s.Gone:
			return
		case <-time.After(stopTimeout):
		}
	}
	_ = s.process.Kill()
	<-s.Gone
}

// Pid returns the number of the process.
func (s *Server) Pid() int { return s.process.Pid }

// LastWords returns the end of what the server wrote.
func (s *Server) LastWords() string {
	text, err := os.ReadFile(s.log)
	if err != nil {
		return err.Error()
	}
	return lastLines(string(text))
}

func lastLines(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return "  " + strings.Join(lines[max(0, len(lines)-20):], "\n  ")
}

// freePort returns a port of 127.0.0.1 that nobody listens on at the moment: the one that is asked for, or any for 0.
func freePort(ctx context.Context, ask int) (int, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(ask)))
	if err != nil {
		return 0, err
	}
	defer l.Close()
	address, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		return 0, fmt.Errorf("unexpected address %s", l.Addr())
	}
	return address.Port, nil
}
