//go:build unix

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/spoolhq/spool/client"
	"github.com/spoolhq/spool/internal/testing/testserver"
)

// cluster is the nodes of a campaign.
type cluster struct {
	o     options
	dir   string
	db    *database
	nodes []*node
	// launch returns the command of a process that is to be started.
	launch func(n *node, process string) (*exec.Cmd, error)
	// held returns the runs that a process executes. Nil: the process is asked.
	held func(process string) []string
}

// node is a place for a process, with a port and a proxy of its own. One process after another is in it.
type node struct {
	*cluster

	index  int
	port   int
	proxy  *proxy
	client *client.Client

	mu      sync.Mutex
	process *process
	started int
	paused  bool
	// busy says that a fault is under way here.
	busy     bool
	journals []string
}

// process is a running node.
type process struct {
	name string
	cmd  *exec.Cmd
	gone chan struct{}
	// status is how it ended. It may be read when gone is closed.
	status error
}

// startCluster starts the nodes. The world is nil if they are this program.
func startCluster(ctx context.Context, o options, dir string, db *database, world *mcpWorld) (*cluster, error) {
	c := &cluster{o: o, dir: dir, db: db, launch: (*node).itself}
	if world != nil {
		c.launch, c.held = world.serve, world.holds
	}
	for i := range o.Nodes {
		p, err := newProxy(ctx, db.url("spool"))
		if err != nil {
			c.close()
			return nil, err
		}
		n := &node{cluster: c, index: i, proxy: p}
		c.nodes = append(c.nodes, n)
		if err := errors.Join(n.reserve(ctx), n.start()); err != nil {
			c.close()
			return nil, err
		}
	}
	for _, n := range c.nodes {
		if err := n.ready(ctx); err != nil {
			c.close()
			return nil, err
		}
	}
	return c, nil
}

// reserve chooses the node's port.
func (n *node) reserve(ctx context.Context) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp4", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer listener.Close()
	address, ok := listener.Addr().(*net.TCPAddr)
	if !ok {
		return fmt.Errorf("unexpected address %s", listener.Addr())
	}
	n.port = address.Port
	n.client, err = client.New(n.address(), client.Options{
		Backoff: client.Backoff{Min: 50 * time.Millisecond, Max: 500 * time.Millisecond}, Retries: 1,
		// A process that is paused keeps its connections, so they are not shared with the next request.
		HTTPClient: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}},
	})
	return err
}

func (n *node) address() string { return fmt.Sprintf("http://127.0.0.1:%d", n.port) }

// start starts a process.
func (n *node) start() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.started++
	name := fmt.Sprintf("n%d.%d", n.index, n.started)
	cmd, err := n.launch(n, name)
	if err != nil {
		return err
	}
	log, err := os.OpenFile(filepath.Join(n.dir, fmt.Sprintf("n%d.log", n.index)), os.O_CREATE|os.O_WRONLY|os.O_APPEND,
		0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	p := &process{name: name, cmd: cmd, gone: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = log, log
	p.cmd.SysProcAttr = testserver.OwnGroup(syscall.SIGKILL)
	testserver.OnLastingThread(func() { err = p.cmd.Start() })
	if err != nil {
		return err
	}
	go func() {
		p.status = p.cmd.Wait()
		close(p.gone)
	}()
	n.process = p
	return nil
}

// itself returns the command of a process that is this program again. The caller must hold mu.
func (n *node) itself(name string) (*exec.Cmd, error) {
	config := nodeConfig{
		Name: name, Port: n.port, Database: n.proxy.url(n.db.url("spool")), Effects: n.db.url("effects"), Lease: n.o.Lease,
		Break: n.o.Break, Journal: filepath.Join(n.dir, name+".journal"),
		Seed: n.o.Seed + uint64(n.index)<<32 + uint64(n.started),
	}
	n.journals = append(n.journals, config.Journal)
	raw, err := json.Marshal(config)
	if err != nil {
		return nil, err
	}
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), nodeVariable+"="+string(raw))
	return cmd, nil
}

// ready waits until the node answers.
func (n *node) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for {
		if n.get(ctx, "/readyz", nil) == nil {
			return nil
		}
		n.mu.Lock()
		gone := n.process.gone
		n.mu.Unlock()
		select {
		case <-gone:
			return fmt.Errorf("node %d has ended", n.index)
		case <-ctx.Done():
			return fmt.Errorf("node %d is not ready: %w", n.index, ctx.Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// get asks the node, and reads JSON into a value unless that is nil.
func (n *node) get(ctx context.Context, path string, into any) error {
	ctx, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, n.address()+path, http.NoBody)
	if err != nil {
		return err
	}
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	switch {
	case response.StatusCode != http.StatusOK:
		return fmt.Errorf("%s answers %s", path, response.Status)
	case into == nil:
		return nil
	default:
		return json.NewDecoder(response.Body).Decode(into)
	}
}

// holds returns the runs that the node executes.
func (n *node) holds(ctx context.Context) (runs []string) {
	if n.held != nil {
		return n.held(n.running())
	}
	_ = n.get(ctx, "/chaos/holds", &runs)
	return runs
}

// running returns the name of the process.
func (n *node) running() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.process.name
}

// signal sends a signal to the process, if there is one.
func (n *node) signal(s syscall.Signal) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.process == nil {
		return false
	}
	select {
	case <-n.process.gone:
		return false
	default:
		n.paused = s == syscall.SIGSTOP || n.paused && s != syscall.SIGCONT && s != syscall.SIGKILL
		return n.process.cmd.Process.Signal(s) == nil
	}
}

// end sends a signal that ends the process, and waits. It reports whether the process ended in time; if it did
// not, it is killed.
func (n *node) end(s syscall.Signal, within time.Duration) bool {
	if !n.signal(s) {
		return true
	}
	n.mu.Lock()
	p := n.process
	n.mu.Unlock()
	select {
	case <-p.gone:
		return true
	case <-time.After(within):
		_ = p.cmd.Process.Kill()
		<-p.gone
		return false
	}
}

// close ends all processes of the cluster.
func (c *cluster) close() {
	for _, n := range c.nodes {
		n.end(syscall.SIGKILL, 5*time.Second)
		n.proxy.close()
	}
}

// journals returns the journals of all processes so far.
func (c *cluster) journals() (names []string) {
	for _, n := range c.nodes {
		n.mu.Lock()
		names = append(names, n.journals...)
		n.mu.Unlock()
	}
	return names
}

// paused reports whether a process is stopped.
func (c *cluster) paused() bool {
	for _, n := range c.nodes {
		n.mu.Lock()
		paused := n.paused
		n.mu.Unlock()
		if paused {
			return true
		}
	}
	return false
}
