package nats

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/internal/testing/testwait"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// cluster is several engines over one store, each with its own connection to NATS. They stand for processes.
type cluster struct {
	*testing.T

	server  *testServer
	store   store.Store
	history *spooltest.History
	config  engine.Config
	live    LiveOptions
	clients sync.WaitGroup
}

// newCluster returns a cluster without engines. If slow is set, its engines look for changes only when they are
// woken, within the time of a test.
func newCluster(t *testing.T, model spool.Model, slow bool) *cluster {
	t.Helper()
	c := &cluster{T: t, server: startServer(t), store: memory.New(nil).Store, history: &spooltest.History{}}
	look := c.history.Tool(spool.Tool{
		ToolSpec: spool.ToolSpec{Name: "look"},
		Call: func(context.Context, spool.ToolCall) (json.RawMessage, error) {
			return json.RawMessage(`"seen"`), nil
		},
	})
	c.config = engine.Config{
		Agents: []spool.Agent{{Name: "assistant", Model: "m", Tools: []spool.Tool{look}}},
		Models: map[string]spool.Model{"m": model}, Log: quiet(),
		Worker: option.Worker{Poll: 100 * time.Millisecond, SweepEvery: 100 * time.Millisecond},
	}
	c.live = LiveOptions{Patience: 100 * time.Millisecond, Log: quiet()}
	if slow {
		c.live.Patience = testwait.Limit
		c.config.Worker = option.Worker{Poll: time.Hour, StopPoll: time.Hour, SweepEvery: time.Hour}
	}
	return c
}

// engine returns one more engine.
func (c *cluster) engine() *engine.Engine {
	c.Helper()
	live := c.server.node(&c.live)
	live.answers = testwait.Limit // on a busy machine an answer takes time, and is not missing
	b := c.history.Record(store.Backend{Store: c.store, Live: live, Shared: true})
	e, err := engine.New(b, c.config)
	if err != nil {
		c.Fatal(err)
	}
	c.Cleanup(e.Close)
	return e
}

// work has an engine work until the test ends.
func (c *cluster) work(e *engine.Engine, o engine.WorkOptions) {
	c.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- e.Work(ctx, o) }()
	c.Cleanup(func() {
		cancel()
		if err := testwait.For(c.T, done, "the worker to end"); err != nil {
			c.Error(err)
		}
	})
}

func threadOf(n int) spool.ThreadKey {
	return spool.ThreadKey{Tenant: spool.Tenant(fmt.Sprintf("tenant.%d", n%3)), ID: spool.ThreadID(fmt.Sprintf("t.%d", n))}
}

func runOf(n int) spool.RunID { return spool.RunID(fmt.Sprintf("r.%d", n)) }

// start starts the run of a thread.
func (c *cluster) start(e *engine.Engine, n int) {
	c.Helper()
	r, err := e.Run(c.Context(), threadOf(n), wire.StartRequest{Prompt: "go", RunID: runOf(n)})
	if err != nil || !r.Accepted {
		c.Fatalf("start: %+v, %v", r, err)
	}
	c.history.Started(threadOf(n), runOf(n))
}

// follow follows a thread from its start to the end of its run. Each frame is also sent to the channel.
func (c *cluster) follow(e *engine.Engine, n int) <-chan wire.Frame {
	client := c.history.Client(&spooltest.Client{Name: fmt.Sprintf("client %d", n), Thread: threadOf(n), FromStart: true})
	frames := make(chan wire.Frame, 10_000)
	ctx := testwait.Context(c.T, fmt.Sprintf("the end of thread %d", n))
	c.clients.Go(func() {
		defer close(frames)
		var done [2]bool
		for f, err := range e.Follow(ctx, client.Thread, wire.FollowOptions{Cursor: &wire.Cursor{}}) {
			if err != nil {
				c.Errorf("client %d: %v", n, context.Cause(ctx))
				return
			}
			client.Saw(f)
			frames <- f
			segment, run := ends(f)
			if done[0], done[1] = done[0] || segment, done[1] || run; done[0] && done[1] {
				return
			}
		}
	})
	return frames
}

// ends reports whether a frame is the end of the run's only segment, or tells that the run has ended. A client
// that comes late learns the state first.
func ends(f wire.Frame) (segment, run bool) {
	switch f.Kind {
	case wire.FrameSnapshot:
		over := f.Snapshot.AfterMessageID == nil && f.Snapshot.Thread.State.Terminal()
		return over, over
	case wire.FrameStream:
		return false, false
	}
	var state wire.StateChange
	told := f.Event.Type == wire.NoticeStateChange && json.Unmarshal(f.Event.Payload, &state) == nil
	return f.Event.Type == wire.EntryRunEnded, told && state.State.Terminal()
}

// check checks the history of the threads from 0 to n-1, whose runs must have the state.
func (c *cluster) check(n int, want wire.State) {
	c.Helper()
	c.clients.Wait()
	for i := range n {
		if err := c.history.Read(c.Context(), c.store, threadOf(i)); err != nil {
			c.Fatal(err)
		}
	}
	for _, d := range c.history.Threads {
		if d.Thread.State != want || len(d.Runs) != 1 {
			c.Errorf("thread %s is %s after %d runs", d.Thread.ID, d.Thread.State, len(d.Runs))
		}
	}
	c.history.Settled = true
	spooltest.Check(c.T, c.history)
}

// snapshots returns how many snapshots of whole threads the clients got.
func (c *cluster) snapshots() (n int) {
	for _, client := range c.history.Clients {
		for _, f := range client.Frames {
			if f.Kind == wire.FrameSnapshot && f.Snapshot.AfterMessageID == nil {
				n++
			}
		}
	}
	return n
}

// talk is a model with two steps.
func talk() *spooltest.Model {
	return spooltest.NewReplayModel(
		spooltest.Turn{Text: []string{"I ", "look"}, Calls: []spooltest.Call{{ID: "c1", Name: "look"}}},
		spooltest.Say("I ", "have ", "seen ", "it"),
	)
}

// One process takes prompts and serves clients, and two others execute. Nothing polls, so every job, every
// piece of a stream and every end goes over NATS. Clients see all of it, and no snapshot.
func TestEngines(t *testing.T) {
	t.Parallel()
	c := newCluster(t, talk(), true)
	front := c.engine()
	for range 2 {
		c.work(c.engine(), engine.WorkOptions{})
	}
	const runs = 30
	for n := range runs {
		c.start(front, n)
		c.follow(front, n)
	}
	c.check(runs, wire.Completed)
	if n := c.snapshots(); n != 0 {
		t.Errorf("the clients got %d snapshots", n)
	}
}

// The same with tickets in JetStream: the process that takes prompts executes none.
func TestEnginesTickets(t *testing.T) {
	t.Parallel()
	c := newCluster(t, talk(), true)
	front := c.engine()
	relay := newTickets(t, c.server, TicketOptions{})
	c.work(front, engine.WorkOptions{Deliver: relay.Deliver})
	for range 2 {
		consume(t, newTickets(t, c.server, TicketOptions{}), c.engine(), ConsumeOptions{})
	}
	const runs = 30
	for n := range runs {
		c.start(front, n)
		c.follow(front, n)
	}
	c.check(runs, wire.Completed)
	if n := c.snapshots(); n != 0 {
		t.Errorf("the clients got %d snapshots", n)
	}
	eventually(t, "the queue to be empty", func() bool { return relay.tickets() == 0 })
}

// A stop at one process ends a run at another one at once.
func TestStopElsewhere(t *testing.T) {
	t.Parallel()
	m := spooltest.NewModelFunc(func(context.Context, spool.ModelRequest) spooltest.Turn {
		return spooltest.Turn{Text: []string{"I ", "wait"}, Gate: make(chan struct{})}
	})
	c := newCluster(t, m, true)
	c.config.Stream.FlushEvery = -1
	front := c.engine()
	c.work(c.engine(), engine.WorkOptions{})
	c.start(front, 0)
	frames := c.follow(front, 0)
	for f := range frames {
		if f.Kind == wire.FrameStream && f.Item.Type == wire.ItemTextContent {
			break
		}
	}
	if r, err := front.Stop(t.Context(), threadOf(0)); err != nil || !r.Accepted {
		t.Fatalf("stop: %+v, %v", r, err)
	}
	c.history.Stopped(threadOf(0))
	c.check(1, wire.Cancelled)
}

// NATS goes away while a run streams, and comes back after its first or its second step. The run ends in either
// case, and its client gets everything, with a snapshot where it has lost the stream.
func TestEnginesOutage(t *testing.T) {
	t.Parallel()
	for name, back := range map[string]bool{"Back": true, "After": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first, second := make(chan struct{}), make(chan struct{})
			gates := []chan struct{}{first, second}
			m := spooltest.NewModelFunc(func(_ context.Context, r spool.ModelRequest) spooltest.Turn {
				turn := []spooltest.Turn{
					{Text: []string{"I ", "look"}, Calls: []spooltest.Call{{ID: "c1", Name: "look"}}},
					spooltest.Say("I ", "have ", "seen ", "it"),
				}[spooltest.StepOf(r)]
				turn.Gate = gates[spooltest.StepOf(r)]
				return turn
			})
			c := newCluster(t, m, false)
			c.config.Stream.FlushEvery = -1
			front, worker := c.engine(), c.engine()
			c.work(worker, engine.WorkOptions{})
			c.start(front, 0)
			frames := c.follow(front, 0)
			for f := range frames {
				if f.Kind == wire.FrameStream && f.Item.Type == wire.ItemTextContent {
					break
				}
			}
			c.server.stop()
			close(first)
			eventually(t, "the second step", func() bool { return m.Asked() == 2 })
			if back {
				c.server.start()
			}
			close(second)
			if !back {
				eventually(t, "the end of the run", func() bool {
					var thread wire.Thread
					err := c.store.View(t.Context(), threadOf(0), func(v store.View) (err error) {
						thread, err = v.Thread()
						return err
					})
					return err == nil && thread.State == wire.Completed
				})
				c.server.start()
			}
			c.check(1, wire.Completed)
			if n := c.snapshots(); n > 2 { // when the stream is lost, and for a run that ends before NATS is back
				t.Errorf("the client got %d snapshots", n)
			}
			if text := lastText(c.history.Threads[0].Messages); text != "I have seen it" {
				t.Errorf("the run's answer is %q", text)
			}
		})
	}
}

func lastText(all []spool.Message) string { return all[len(all)-1].Content.Text() }

// unreliable passes jobs on to the tickets, and loses, repeats and delays some of them.
type unreliable struct {
	*Tickets

	mu   sync.Mutex
	seen int
	late []store.Delivery
}

func (u *unreliable) Deliver(ctx context.Context, d store.Delivery) (wire.JobResult, error) {
	u.mu.Lock()
	u.seen++
	n := u.seen
	late := slices.Clone(u.late)
	u.late = nil
	if n%5 == 1 {
		u.late = append(u.late, d) // goes out after a later one, or is lost
	}
	u.mu.Unlock()
	for _, before := range late {
		defer u.publishAgain(ctx, before)
	}
	switch n % 5 {
	case 0, 1:
		return wire.JobResult{Accepted: true}, nil // JetStream says that it has the ticket, and loses it
	case 2:
		defer u.publishAgain(ctx, d)
	}
	return u.Tickets.Deliver(ctx, d)
}

// publishAgain publishes a ticket as another job, so that nothing sees that it is the same.
func (u *unreliable) publishAgain(ctx context.Context, d store.Delivery) {
	d.JobID, d.Key = wire.NewJobID(), d.Key+":again"
	_, _ = u.Tickets.Deliver(ctx, d)
}

// Tickets that are lost, repeated and out of order delay runs, and change nothing else.
func TestUnreliableTickets(t *testing.T) {
	t.Parallel()
	c := newCluster(t, talk(), false)
	front := c.engine()
	u := &unreliable{Tickets: newTickets(t, c.server, TicketOptions{})}
	c.work(front, engine.WorkOptions{Deliver: u.Deliver})
	for range 2 {
		consume(t, newTickets(t, c.server, TicketOptions{}), c.engine(), ConsumeOptions{Concurrency: 4})
	}
	const runs = 40
	for n := range runs {
		c.start(front, n)
		c.follow(front, n)
	}
	c.check(runs, wire.Completed)
	for _, d := range c.history.Threads {
		if d.Runs[0].Segments != 1 {
			t.Errorf("thread %s had %d segments", d.Thread.ID, d.Runs[0].Segments)
		}
	}
}
