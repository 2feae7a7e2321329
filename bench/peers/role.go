package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	roleEnv    = "SPOOL_PEERS_ROLE"
	optionsEnv = "SPOOL_PEERS_OPTIONS"
)

// options configure a server process.
type options struct {
	// File is the database of Spool.
	File string
	// Model is the base URL of the model.
	Model string
	// Profile is the file for a CPU profile, or empty.
	Profile string
}

// served is what a role offers. Close ends it.
type served struct {
	handler http.Handler
	close   func() error
}

var roles = map[string]func(options) (served, error){
	"model":         newModel,
	"spool":         newSpool,
	"trpc-agent-go": newTRPC,
}

// serveRole runs a server process. The process ends with its standard input, and so with the process
// that has started it.
func serveRole(role string) (err error) {
	var o options
	if err := json.Unmarshal([]byte(os.Getenv(optionsEnv)), &o); err != nil {
		return err
	}
	if o.Profile != "" {
		f, err := os.Create(o.Profile)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	s, err := roles[role](o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /peers/cost", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(readCost())
	})
	mux.Handle("/", s.handler)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(l) }()
	defer server.Close()
	fmt.Println("http://" + l.Addr().String()) //nolint:forbidigo // the process that started this one reads it
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// cost is what a process has used so far.
type cost struct {
	CPU    time.Duration // of user and system
	Memory float64       // resident, in bytes, after free memory was returned to the system
}

func readCost() cost {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return cost{}
	}
	c := cost{CPU: time.Duration(u.Utime.Nano() + u.Stime.Nano())}
	runtime.GC()
	debug.FreeOSMemory()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return c
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kilobytes, _ := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 64)
			c.Memory = kilobytes * 1024
		}
	}
	return c
}

// child is a server process, from the view of the process that has started it.
type child struct {
	url   string
	cmd   *exec.Cmd
	stdin io.Closer
}

func spawn(ctx context.Context, role string, o options) (_ *child, err error) {
	encoded, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self)
	cmd.Env = append(os.Environ(), roleEnv+"="+role, optionsEnv+"="+string(encoded))
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	c := &child{cmd: cmd, stdin: stdin}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", role, err), c.stop())
	}
	c.url = strings.TrimSpace(line)
	return c, nil
}

func (c *child) cost(ctx context.Context) (out cost, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url+"/peers/cost", nil)
	if err != nil {
		return out, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return out, err
	}
	defer resp.Body.Close()
	return out, json.NewDecoder(resp.Body).Decode(&out)
}

// stop ends the process and waits for it.
func (c *child) stop() error { return errors.Join(c.stdin.Close(), c.cmd.Wait()) }
