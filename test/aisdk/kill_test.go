package aisdk_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/spoolhq/spool/internal/testing/inputs"
)

// program is the command, which is built for the first test that serves. All tests share its folder.
var program struct {
	sync.Once

	dir string
	err error
}

// command returns the path of the command.
func command(t *testing.T) string {
	t.Helper()

	inputs.Read(t)
	program.Do(func() {
		build := exec.CommandContext(context.WithoutCancel(t.Context()), "go", "build", "-trimpath", "-o", program.dir,
			"../../cmd/spool")
		build.Env = append(os.Environ(), "CGO_ENABLED=0") // as it is released
		if out, err := build.CombinedOutput(); err != nil {
			program.err = fmt.Errorf("%w\n%s", err, out)
		}
	})
	if program.err != nil {
		t.Fatal(program.err)
	}
	return filepath.Join(program.dir, "spool")
}

// served is a `spool serve` that can be killed and started again at the same address, with the same data.
type served struct {
	t       *testing.T
	dir     string
	address string
	env     []string
	args    []string
	process *exec.Cmd
	log     *os.File
	ends    []string
}

// serve starts a server, which the test's end kills.
func serve(t *testing.T, env []string, args ...string) *served {
	t.Helper()

	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &served{t: t, dir: t.TempDir(), address: free.Addr().String(), env: env, args: args}
	_ = free.Close()
	if s.log, err = os.Create(filepath.Join(s.dir, "log")); err != nil {
		t.Fatal(err)
	}
	s.start()
	t.Cleanup(func() {
		s.kill()
		_ = s.log.Close()
	})
	return s
}

func (s *served) start() {
	s.t.Helper()
	args := append([]string{"serve", "--listen", s.address, "--data", filepath.Join(s.dir, "data")}, s.args...)
	s.process = exec.CommandContext(context.WithoutCancel(s.t.Context()), command(s.t), args...)
	s.process.Env = append(os.Environ(), s.env...)
	s.process.Stdout, s.process.Stderr = s.log, s.log
	if err := s.process.Start(); err != nil {
		s.t.Error(err)
		return
	}
	deadline := time.Now().Add(20 * time.Second)
	for time.Now().Before(deadline) {
		if res, err := http.Get("http://" + s.address + "/readyz"); err == nil {
			_ = res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return
			}
		}
		<-time.After(10 * time.Millisecond)
	}
	s.t.Error("the server does not start")
}

func (s *served) kill() {
	_ = s.process.Process.Kill()
	_ = s.process.Wait()
}

// end lets the server hand over what it does, and end.
func (s *served) end() {
	s.t.Helper()
	if err := s.process.Process.Signal(syscall.SIGTERM); err != nil {
		s.t.Error(err)
	}
	if err := s.process.Wait(); err != nil {
		s.t.Errorf("the end of the server: %v", err)
	}
}

// The component of the guide, rendered by React, shows the saved answer of a server that was killed or told to end in
// mid-answer, and the question of a call after a reload.
func TestComponent(t *testing.T) {
	t.Parallel()

	for _, version := range []string{"6", "7"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			needClients(t)
			s := serve(t, nil)
			control := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				how := r.URL.Query().Get("how")
				s.ends = append(s.ends, how)
				if how == "end" {
					s.end()
				} else {
					s.kill()
				}
				s.start()
				_, _ = io.WriteString(w, "ok")
			}))
			t.Cleanup(control.Close)
			node(t, "hook.mjs", version, "http://"+s.address, control.URL)
			if !slices.Equal(s.ends, []string{"kill", "end"}) && !t.Failed() {
				t.Errorf("the server has ended by %v", s.ends)
			}
		})
	}
}
