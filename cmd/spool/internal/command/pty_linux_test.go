package command

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// screen is a command in a terminal of its own.
type screen struct {
	t      *testing.T
	master *os.File
	cmd    *exec.Cmd
	exited chan struct{}

	mu   sync.Mutex
	text string
	grew chan struct{}
	// read is how much of the text expect has passed.
	read int
}

// inTerminal runs a command line of spool in a terminal, without colours.
func inTerminal(t *testing.T, env []string, args ...string) *screen {
	t.Helper()

	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("there is no terminal: %v", err)
	}
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	s := &screen{t: t, master: master, exited: make(chan struct{}), grew: make(chan struct{}, 1)}
	s.cmd = exec.CommandContext(context.Background(), os.Args[0], args...)
	s.cmd.Env = append(append(os.Environ(), "NO_COLOR=1", "EDITOR=", "VISUAL=", "SPOOL_TOKEN=", asCommand+"=1"), env...)
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = slave, slave, slave
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = slave.Close()
	go func() {
		defer close(s.exited)
		_ = s.cmd.Wait()
	}()
	go s.watch()
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		<-s.exited
		_ = master.Close()
		if t.Failed() {
			t.Logf("the terminal has:\n%s", s.all())
		}
	})
	return s
}

func (s *screen) watch() {
	buffer := make([]byte, 4096)
	for {
		n, err := s.master.Read(buffer)
		if err != nil {
			return
		}
		s.mu.Lock()
		s.text += string(buffer[:n])
		s.mu.Unlock()
		select {
		case s.grew <- struct{}{}:
		default:
		}
	}
}

func (s *screen) all() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.ReplaceAll(s.text, "\r\n", "\n")
}

// typed sends keys.
func (s *screen) typed(keys string) {
	s.t.Helper()

	if _, err := s.master.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

// expect waits until the terminal has a text behind the last one that was expected, and returns what is between.
func (s *screen) expect(want string) (between string) {
	s.t.Helper()

	late := time.After(patience)
	for {
		all := s.all()
		if at := strings.Index(all[s.read:], want); at >= 0 {
			between = all[s.read : s.read+at]
			s.read += at + len(want)
			return between
		}
		select {
		case <-s.grew:
		case <-late:
			s.t.Fatalf("the terminal does not say %q", want)
		}
	}
}

// end waits for the end of the command, and returns its exit code.
func (s *screen) end() int {
	s.t.Helper()

	select {
	case <-s.exited:
	case <-time.After(patience):
		s.t.Fatal("the command does not end")
	}
	return s.cmd.ProcessState.ExitCode()
}
