//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
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

// program is how a server is run.
type program struct {
	binary string
	// prepare is called once, before the first start. Nil when there is nothing to do.
	prepare func(ctx context.Context) error
	args    func(port int) []string
	// ready reports whether the process accepts connections. It must not be deceived by
	// another server on the same port.
	ready   func(ctx context.Context, pid, port int) bool
	address func(port int) string
	// stop is the signals to end it with, the gentle one first. SIGKILL comes after them.
	stop []syscall.Signal
}

// server is a running program.
type server struct {
	name    string
	port    int
	address string

	process *os.Process
	signals []syscall.Signal
	log     string
	gone    chan struct{} // closed when the process has ended
}

// errEnded is that a server ended before it was ready.
var errEnded = errors.New("it ended by itself")

// launch starts a program and returns when it answers.
func launch(ctx context.Context, p program, in site) (*server, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if p.prepare != nil {
		if err := p.prepare(ctx); err != nil {
			return nil, err
		}
	}
	for attempt := 1; ; attempt++ {
		s, err := try(ctx, p, in)
		// A port that was free a moment ago may be somebody else's now.
		if !errors.Is(err, errEnded) || attempt == attempts {
			return s, err
		}
	}
}

// try starts a program once. After an error nothing is running.
func try(ctx context.Context, p program, in site) (*server, error) {
	port, err := freePort(ctx)
	if err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(in.dir, "log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := confined(exec.Command(p.binary, p.args(port)...), in, p.stop[0])
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s := &server{
		port: port, address: p.address(port), process: cmd.Process,
		signals: p.stop, log: log.Name(), gone: make(chan struct{}),
	}
	go func() {
		defer close(s.gone)
		_ = cmd.Wait()
	}()
	if err := s.await(ctx, p); err != nil {
		s.stop()
		return nil, fmt.Errorf("%w; it said\n%s", err, s.lastWords())
	}
	return s, nil
}

// await returns when the server is ready, or cannot become it.
func (s *server) await(ctx context.Context, p program) error {
	poll := time.NewTicker(pollInterval)
	defer poll.Stop()
	for !p.ready(ctx, s.process.Pid, s.port) {
		select {
		case <-poll.C:
		case <-s.gone:
			return errEnded
		case <-ctx.Done():
			return fmt.Errorf("wait until it answers: %w", context.Cause(ctx))
		}
	}
	return nil
}

// stop ends the server and returns when it is gone.
func (s *server) stop() {
	for _, signal := range s.signals {
		_ = s.process.Signal(signal)
		select {
		case <-s.gone:
			return
		case <-time.After(stopTimeout):
		}
	}
	_ = s.process.Kill()
	<-s.gone
}

// lastWords returns the end of what the server wrote.
func (s *server) lastWords() string {
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

// confined has a command run as the site's account in its directory, with nothing of our
// environment but where programs are. It gets the signal when we are killed.
func confined(cmd *exec.Cmd, in site, orphaned syscall.Signal) *exec.Cmd {
	cmd.Dir = in.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + in.dir, "LC_ALL=C.UTF-8", "TZ=UTC"}
	cmd.SysProcAttr = ownGroup(orphaned)
	cmd.SysProcAttr.Credential = in.account
	return cmd
}

// freePort returns a port of 127.0.0.1 that nobody listens on at the moment.
func freePort(ctx context.Context) (int, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp4", "127.0.0.1:0")
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
