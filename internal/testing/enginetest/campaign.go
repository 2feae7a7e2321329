package enginetest

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// campaign is a thread to which much happens: processes come and go while clients follow it and
// reconnect.
type campaign struct {
	*engineTest

	config engine.Config
	// ownStreams is true if each process has its own run streams, which are lost when the process dies.
	ownStreams bool

	draws *draws
	// choose chooses the agent and the model of a start. Nil: the first agent's.
	choose func(r *wire.StartRequest)
	// order gives the port calls their turns, and trace records what happened. If they are nil, calls
	// do not wait and nothing is recorded.
	order *callOrder
	trace *trace
	// received is who is told of events, and leaving who is told until it has left. Nil: nobody.
	received, leaving *eventReceiver

	mu     sync.Mutex
	nodes  []*node
	booted int           // the number of nodes so far
	moved  chan struct{} // closed when the nodes change
}

// node is a process of a campaign. It has an engine that may crash, and an engine without faults from
// which clients read.
type node struct {
	*engine.Engine

	name   string
	reader *engine.Engine
	faulty *spooltest.Faulty
	stop   func()
}

func newCampaign(s *engineTest, c engine.Config, seed uint64, ownStreams bool) *campaign {
	return &campaign{
		engineTest: s, config: c, ownStreams: ownStreams,
		draws: newDraws(seed), moved: make(chan struct{}),
	}
}

// inTurns makes the port calls of the campaign happen one at a time, in an order that the seed decides.
// It must be called first. Traced says whether a trace is kept.
func (c *campaign) inTurns(rest func(), traced bool) {
	if traced {
		c.trace = newTrace()
	}
	c.order = newCallOrder(c.draws.seed, c.trace)
	c.order.rest = rest
	c.backend = c.ordered(c.join(), "campaign").Backend()
}

// ordered returns a wrapper without faults whose calls have the given name.
func (c *campaign) ordered(b store.Backend, as string) *spooltest.Faulty {
	f := spooltest.NewFaulty(b)
	if c.order != nil {
		f.Intercept(c.order.intercept(as))
	}
	return f
}

// n returns a random number below n for a caller. Without a name, the caller is the campaign itself.
func (c *campaign) n(n int, who ...any) int { return c.draws.n(n, who...) }

// boot starts a process without a worker.
func (c *campaign) boot(faults ...spooltest.Fault) *node {
	c.Helper()
	b := c.join()
	if c.ownStreams {
		b.Live = newLive()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.booted++
	name := "node " + strconv.Itoa(c.booted)
	f := c.ordered(b, name)
	f.Plan(faults...)
	config, reads := c.config, b
	if c.order != nil {
		config.Random, reads = c.draws.reader(name), c.ordered(b, name+" for clients").Backend()
	}
	n := &node{name: name, Engine: c.over(f.Backend(), config), reader: c.over(reads, config), faulty: f, stop: func() {}}
	c.nodes = append(c.nodes, n)
	close(c.moved)
	c.moved = make(chan struct{})
	return n
}

// hire gives the node a worker.
func (c *campaign) hire(n *node) { n.stop = c.work(n.Engine) }

// retire ends a node that shuts down or has crashed.
func (c *campaign) retire(n *node) {
	n.stop()
	c.mu.Lock()
	for i, other := range c.nodes {
		if other == n {
			c.nodes = append(c.nodes[:i:i], c.nodes[i+1:]...)
		}
	}
	c.mu.Unlock()
	n.Close()
	n.reader.Close()
}

// node returns one of the nodes. It waits if the campaign has none.
func (c *campaign) node(ctx context.Context, who ...any) *node {
	for ctx.Err() == nil {
		c.mu.Lock()
		moved := c.moved
		if len(c.nodes) > 0 {
			n := c.nodes[c.n(len(c.nodes), who...)]
			c.mu.Unlock()
			return n
		}
		c.mu.Unlock()
		select {
		case <-moved:
		case <-ctx.Done():
		}
	}
	return nil
}

// clients makes clients follow the thread, each over many short connections, until the returned
// function is called.
func (c *campaign) clients(names ...string) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	for i, name := range names {
		client := c.history.Client(&spooltest.Client{Name: name, Thread: chat, FromStart: true})
		group.Go(func() {
			for ctx.Err() == nil {
				n := c.node(ctx, "client", name)
				if n == nil {
					return
				}
				connection, cut := context.WithCancel(callingAs(ctx, "client "+name))
				// Most connections end after a few frames, and some after a while.
				frames := 1 + c.n(40, "client", name)
				timer := time.AfterFunc(time.Duration(1+c.n(20_000, "client", name))*time.Millisecond, cut)
				if i%2 == 0 {
					c.followOnce(connection, n.reader, client, frames)
				} else {
					c.streamOnce(connection, n.reader, client, frames)
				}
				timer.Stop()
				cut()
				select {
				case <-ctx.Done():
				case <-time.After(time.Duration(c.n(200, "client", name)) * time.Millisecond):
				}
			}
		})
	}
	return func() {
		cancel()
		group.Wait()
	}
}

// cursorOf returns the cursor at which a client continues, first the thread's start.
func cursorOf(client *spooltest.Client) *wire.Cursor {
	if at := client.Cursor(); at != nil {
		return at
	}
	return &wire.Cursor{}
}

func (c *campaign) followOnce(ctx context.Context, e *engine.Engine, client *spooltest.Client, frames int) {
	at := cursorOf(client)
	client.Connected(at, "")
	for f, err := range e.Follow(ctx, client.Thread, wire.FollowOptions{Cursor: at}) {
		if err != nil {
			c.expected(err)
			return
		}
		client.Saw(f)
		if frames--; frames <= 0 {
			return
		}
	}
}

func (c *campaign) streamOnce(ctx context.Context, e *engine.Engine, client *spooltest.Client, frames int) {
	at := cursorOf(client)
	client.Connected(at, "")
	body, err := e.SSE(ctx, client.Thread, wire.SSEOptions{Cursor: at.String()})
	if err != nil {
		c.expected(err)
		return
	}
	defer body.Close()
	var text []byte // the text of a message, because large messages come in pieces
	for chunk, err := range body.Chunks() {
		if err != nil {
			c.expected(err)
			return
		}
		if text = append(text, chunk...); !bytes.HasSuffix(text, []byte("\n\n")) {
			continue
		}
		got, _ := c.parse(bytes.NewReader(text))
		text = nil
		for _, f := range got {
			client.Saw(f)
			if frames--; frames <= 0 { // the connection is cut in the middle
				return
			}
		}
	}
}

// expected reports an error that a client of a healthy store should not get.
func (c *campaign) expected(err error) {
	if !errors.Is(err, context.Canceled) && spool.CodeOf(err) != spool.NotFound {
		c.Errorf("a client got the error %v", err)
	}
}

// finish waits until everything has ended, and checks the result.
func (c *campaign) finish(stopClients func()) {
	c.Helper()
	<-time.After(2 * quiet)
	stopClients()
	for _, n := range append([]*node(nil), c.nodes...) {
		c.retire(n)
	}
	c.history.Settled = true
	c.check()
	c.trace.end(c.history)
	if c.Failed() {
		c.Logf("the record:\n%s", strings.Join(c.record(), "\n"))
		for _, client := range c.history.Clients {
			c.Logf("client %s saw:\n%s", client.Name, transcript(client.Frames))
		}
	}
}

func transcript(frames []wire.Frame) string {
	lines := make([]string, len(frames))
	for i, f := range frames {
		lines[i] = frameLine(f)
	}
	return strings.Join(lines, "\n")
}

// answerAll answers every open park with choose's response.
func (c *campaign) answerAll(e *engine.Engine, choose func(p store.Park) wire.Response) {
	thread := c.thread()
	if thread.State != wire.WaitingForInput {
		return
	}
	for _, p := range c.parksOf(chat, thread.RunID) {
		if p.State == wire.ParkOpen {
			r := choose(p)
			r.ToolCallID = p.ToolCallID
			if p.Occurrence > 1 { // only the right digest counts
				r.Digest = p.Digest
			}
			_, _ = c.respondWith(e, r)
		}
	}
}
