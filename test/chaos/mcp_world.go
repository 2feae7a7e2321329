//go:build unix

package main

import (
	"cmp"
	"context"
	crypto "crypto/rand"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/spooltest"
)

// mcpWorld is what surrounds the nodes of a campaign of the MCP client: an MCP server that misbehaves, and a model
// that calls its tools. Both are in this process, which nobody kills, so they know what really happened. The nodes are
// processes of spool serve.
type mcpWorld struct {
	o      options
	dir    string
	binary string
	server *mcpServer
	model  *mcpModel
	// secret is in each request to the server, and sometimes in what it answers.
	secret string

	mcpAt, modelAt *reopening
}

const (
	// mcpName is the name of the MCP server, and mcpPrefix what the names of its tools begin with.
	mcpName   = "shop"
	mcpPrefix = mcpName + "__"
	// mcpTimeout bounds a call. The server answers within a fraction of it, unless it hangs.
	mcpTimeout = 6 * time.Second
	// processHeader names the process that sends a request.
	processHeader = "X-Process"
)

func openWorld(ctx context.Context, o options, dir string) (w *mcpWorld, err error) {
	w = &mcpWorld{o: o, dir: dir, secret: "secret-" + crypto.Text()}
	if w.binary, err = buildSpool(ctx, dir); err != nil {
		return nil, err
	}
	w.server, w.model = newMCPServer(o, w.secret), &mcpModel{runs: make(map[string][]sight), open: newOpen()}
	if w.mcpAt, err = openAt(ctx, w.server); err == nil {
		w.modelAt, err = openAt(ctx, w.model)
	}
	if err != nil {
		w.close()
	}
	return w, err
}

func (w *mcpWorld) close() {
	w.mcpAt.stop()
	w.modelAt.stop()
}

const mcpConfig = `models:
  script: {provider: openai, model: script, base_url: "http://%[2]s/v1", api_key: key-of-the-model, headers: {%[3]s: "%[4]s"}}
agents: {worker: {model: script, mcp: {shop: {}}}}
mcp:
  shop:
    url: "http://%[1]s/mcp"
    headers: {%[3]s: "%[4]s", X-Key: "%[5]s"}
    approve: [send]
    idempotent: [same]
    timeout: %[6]s
    connect_timeout: 3s
limits: {lease: %[7]s, run_max_attempts: 1000, retry_backoff: 200ms}
`

// serve returns the command of a node. The caller holds the node's mu.
func (w *mcpWorld) serve(n *node, name string) (*exec.Cmd, error) {
	config := filepath.Join(w.dir, name+".yaml")
	text := fmt.Appendf(nil, mcpConfig, w.mcpAt.address, w.modelAt.address, processHeader, name, w.secret, mcpTimeout,
		n.o.Lease)
	if err := os.WriteFile(config, text, 0o600); err != nil {
		return nil, err
	}
	cmd := exec.Command(w.binary, "serve", "--listen", fmt.Sprintf("127.0.0.1:%d", n.port), "--database",
		n.proxy.url(n.db.url("spool")),
		"--config", config, "--data", filepath.Join(w.dir, name), "--shutdown-timeout", shutdownTimeout.String())
	cmd.Env = append(os.Environ(), "SPOOL_TOKEN=", "SPOOL_DATABASE_POOL=12")
	return cmd, nil
}

// holds returns the runs that a process executes: those whose model or tool answers it at the moment.
func (w *mcpWorld) holds(process string) []string {
	return append(w.model.open.runs(process), w.server.calls.runs(process)...)
}

// executions returns the calls of a thread that had their effect. For a task, its begin is the effect.
func (w *mcpWorld) executions(thread spool.ThreadKey) (all []spooltest.Execution) {
	for _, c := range w.server.ledger.of(string(thread.ID) + "-r") {
		call := spool.ToolCall{
			Thread: thread, RunID: spool.RunID(c.run), Step: c.step, ID: spool.ToolCallID(c.call), Key: c.key,
			Name: mcpPrefix + c.tool, Args: c.args,
		}
		for range c.effects {
			all = append(all, spooltest.Execution{Call: call, Idempotent: c.tool == idempotentTool})
		}
	}
	return all
}

// someTools returns the names that a model may call: those of the present list, and some that are not in it.
func (w *mcpWorld) someTools() []string {
	names := []string{"plain", "plain", "plain", "same", "ask", "ask", "send", "work", "work", "survey", "fails", "short"}
	first, last := w.server.tools.extras()
	for i := max(first-1, 0); i <= last+1; i++ { // one is gone, and one will come
		names = append(names, extraTool(i))
	}
	for i, name := range names {
		names[i] = mcpPrefix + name
	}
	return names
}

// reopening is an HTTP server that can go away and come back at the same address.
type reopening struct {
	address string
	handler http.Handler

	mu     sync.Mutex
	server *http.Server
	// away are the times at which it went away and was back again.
	away []span
}

type span struct{ from, to time.Time }

func openAt(ctx context.Context, handler http.Handler) (*reopening, error) {
	s := &reopening{handler: handler, address: "127.0.0.1:0"}
	return s, s.begin(ctx)
}

func (s *reopening) begin(ctx context.Context) error {
	listener, err := listenAgain(ctx, s.address)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.address = listener.Addr().String()
	h := &http.Server{Handler: s.handler, ReadHeaderTimeout: 5 * time.Second}
	s.server = h
	go func() { _ = h.Serve(listener) }()
	return nil
}

// restart cuts all connections and comes back after a while.
func (s *reopening) restart(ctx context.Context, after time.Duration) error {
	began := time.Now()
	s.mu.Lock()
	s.away = append(s.away, span{from: began})
	s.mu.Unlock()
	s.stop()
	sleep(ctx, after)
	err := s.begin(context.WithoutCancel(ctx))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.away[len(s.away)-1].to = time.Now()
	return err
}

// stop ends the server with all its connections.
func (s *reopening) stop() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.server.Close()
}

// wasAway reports whether the server was away between two times.
func (s *reopening) wasAway(from, to time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.away, func(a span) bool {
		return a.from.Before(to) && (a.to.IsZero() || a.to.After(from))
	})
}

// openRequests knows the requests that a server is answering, by process and run.
type openRequests struct {
	mu   sync.Mutex
	open map[string]map[string]int
}

func newOpen() *openRequests { return &openRequests{open: make(map[string]map[string]int)} }

// hold notes a request until the returned function is called.
func (o *openRequests) hold(process, run string) (release func()) {
	add := func(n int) {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.open[process] == nil {
			o.open[process] = make(map[string]int)
		}
		if o.open[process][run] += n; o.open[process][run] == 0 {
			delete(o.open[process], run)
		}
	}
	add(1)
	return func() { add(-1) }
}

// runs returns the runs for which a process waits.
func (o *openRequests) runs(process string) (runs []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for run := range o.open[process] {
		runs = append(runs, run)
	}
	return runs
}

// keepUp starts the processes again that have ended by themselves, because PostgreSQL was away or another program had
// their port. Any other reason is a violation.
func (c *campaign) keepUp(ctx context.Context) {
	for sleep(ctx, 200*time.Millisecond) {
		for _, n := range c.cluster.nodes {
			free := n.seize()
			if free == nil {
				continue
			}
			n.mu.Lock()
			p := n.process
			n.mu.Unlock()
			select {
			case <-p.gone:
				if why := n.lastWords(); !excusesEnd(why) {
					c.violated("process", p.name, fmt.Sprintf("it has ended by itself (%v): %s", p.status, why))
				}
				c.count("processes that ended as PostgreSQL was away or their port taken")
				c.again(n)
			default:
			}
			free()
		}
	}
}

// excusesEnd reports whether the end of a log says that a process could not begin.
func excusesEnd(log string) bool {
	return slices.ContainsFunc([]string{"address already in use", "connect", "Storage is not available", "database"},
		func(what string) bool {
			return strings.Contains(log, what)
		})
}

// lastWords returns the end of the node's log.
func (n *node) lastWords() string {
	text, err := os.ReadFile(filepath.Join(n.dir, fmt.Sprintf("n%d.log", n.index)))
	return cmp.Or(string(text[max(0, len(text)-600):]), fmt.Sprint(err))
}

// killLook kills a process that looks at a task of the MCP server.
func (c *campaign) killLook(ctx context.Context) {
	for end := time.Now().Add(2 * time.Second); time.Now().Before(end) && sleep(ctx, 5*time.Millisecond); {
		n := c.anyNode()
		if len(c.mcp.server.looks.runs(n.running())) == 0 {
			continue
		}
		free := n.seize()
		if free == nil {
			continue
		}
		runs := n.holds(ctx)
		n.signal(syscall.SIGSTOP)
		if len(c.mcp.server.looks.runs(n.running())) > 0 {
			c.count("kills of processes that looked at a task")
			c.slay(ctx, n, c.hit(ctx, runs))
			free()
			return
		}
		n.signal(syscall.SIGCONT)
		free()
	}
}

// changeTools changes the list of the MCP server. The engine stores at most 200 new lists of a source in a day.
func (c *campaign) changeTools(context.Context) {
	if c.mcp.server.tools.change(c.n, c.o.Duration/150) {
		c.count("changes of the tools")
	}
}

// restartServer restarts the MCP server. It keeps its tasks.
func (c *campaign) restartServer(ctx context.Context) {
	c.count("restarts of the MCP server")
	if err := c.mcp.mcpAt.restart(ctx, time.Duration(100+c.n(1200))*time.Millisecond); err != nil {
		c.violated("server", mcpName, "it cannot be started again: "+err.Error())
	}
}

// forgetTask lets the MCP server forget a task that goes on.
func (c *campaign) forgetTask(context.Context) {
	if c.mcp.server.forget(c.n) {
		c.count("tasks forgotten by the MCP server")
	}
}
