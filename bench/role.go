package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"time"

	"github.com/spoolhq/spool"
)

const (
	roleEnv    = "SPOOL_BENCH_ROLE"
	optionsEnv = "SPOOL_BENCH_OPTIONS"
)

// options say what a server process does.
type options struct {
	// File is its database, unless Postgres is the URL of one.
	File, Postgres string
	// FlushEvery is the engine's.
	FlushEvery time.Duration
	// Lease is how long its worker keeps runs, and Slots how many runs it executes at once. Both default to the
	// engine's.
	Lease time.Duration
	Slots int
	// NoTakeover leaves the connections of its streams to net/http.
	NoTakeover bool
	// Profile is the prefix of the names of its CPU and heap profiles, or empty.
	Profile string
}

// served is what a role serves: the measured handler, and a control handler at another port.
type served struct {
	public  http.Handler
	control *http.ServeMux
	close   func() error
}

var roles = map[string]func(o options) (*served, error){
	"spool":       newNode,
	"broadcaster": newBroadcaster,
	"bare-starts": newBareStarts,
	"returners":   newReturners,
	"receiver":    newReceiver,
}

// addresses is what a server process prints when it listens.
type addresses struct{ Public, Control string }

// serveRole runs a server process. The process ends with its standard input, and so with the process
// that has started it.
func serveRole(role string) (err error) {
	var o options
	if err := json.Unmarshal([]byte(os.Getenv(optionsEnv)), &o); err != nil {
		return err
	}
	if o.Profile != "" {
		f, err := os.Create(o.Profile + "-cpu.pprof")
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
	s.control.HandleFunc("GET /memory", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, readMemory())
		if o.Profile != "" {
			writeHeap(o.Profile + "-heap.pprof")
		}
	})

	servePeak(s.control)
	public, err := listen(s.public)
	if err != nil {
		return err
	}
	defer public.Close()
	control, err := listen(s.control)
	if err != nil {
		return err
	}
	defer control.Close()
	if err := json.NewEncoder(os.Stdout).Encode(addresses{public.Addr, control.Addr}); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// listen serves with the settings of cmd/spool.
func listen(h http.Handler) (*http.Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &http.Server{
		Addr: l.Addr().String(), Handler: h,
		ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
	}
	go func() { _ = s.Serve(l) }()
	return s, nil
}

// reply answers a control request.
func reply(w http.ResponseWriter, v any) {
	if err := json.NewEncoder(w).Encode(v); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

// memory is the memory of a process, in bytes.
type memory struct{ RSS, Heap, Stack float64 }

func readMemory() memory {
	for range 3 { // each round halves stacks that were larger once
		runtime.GC()
	}
	debug.FreeOSMemory() // collects garbage again, and returns free memory to the system
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return memory{RSS: readStatus("VmRSS:"), Heap: float64(m.HeapAlloc), Stack: float64(m.StackInuse)}
}

// writeHeap replaces an earlier profile of the process.
func writeHeap(file string) {
	f, err := os.Create(file)
	if err != nil {
		return
	}
	defer f.Close()
	_ = pprof.Lookup("heap").WriteTo(f, 0)
}

// child is a server process, from the view of the process that has started it.
type child struct {
	addresses

	ctx   context.Context // of the run
	cmd   *exec.Cmd
	stdin io.Closer
}

// serve starts Spool with a worker, and a thread that has had a run.
func (b *bench) serve(o options) (*child, spool.ThreadID, error) {
	c, err := b.spawn("spool", o)
	if err != nil {
		return nil, "", err
	}
	err = c.ask(http.MethodPost, "/work", nil)
	if err != nil {
		return nil, "", errors.Join(err, c.stop())
	}
	thread, err := c.finished()
	if err != nil {
		return nil, "", errors.Join(err, c.stop())
	}
	return c, thread, nil
}

// spawn starts the binary of the servers, in a role.
func (b *bench) spawn(role string, o options) (_ *child, err error) {
	if b.profile != "" {
		o.Profile = filepath.Join(b.profile, fmt.Sprintf("%s-%d", role, time.Now().UnixMilli()))
	}
	encoded, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	binary := b.binary
	if binary == "" {
		if binary, err = os.Executable(); err != nil {
			return nil, err
		}
	}
	cmd := exec.CommandContext(b.ctx, binary)
	cmd.Env = append(os.Environ(), roleEnv+"="+role, optionsEnv+"="+string(encoded))
	cmd.Stderr = os.Stderr
	cmd.WaitDelay = 10 * time.Second
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
	c := &child{ctx: b.ctx, cmd: cmd, stdin: stdin}
	if err := json.NewDecoder(stdout).Decode(&c.addresses); err != nil {
		return nil, errors.Join(fmt.Errorf("start a process as %s: %w", role, err), c.stop())
	}
	return c, nil
}

// stop ends the process and waits for it.
func (c *child) stop() error {
	_ = c.stdin.Close()
	kill := time.AfterFunc(20*time.Second, func() { _ = c.cmd.Process.Kill() })
	defer kill.Stop()
	return c.cmd.Wait()
}

// ask sends a control request, and decodes the answer into out, which may be nil.
func (c *child) ask(method, path string, out any) error {
	return request(c.ctx, method, "http://"+c.Control+path, nil, out)
}

// post sends a request to the measured handler.
func (c *child) post(path string, body, out any) error {
	return request(c.ctx, http.MethodPost, "http://"+c.Public+path, body, out)
}
