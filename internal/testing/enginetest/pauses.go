package enginetest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// testEnginePauses pauses a worker before or behind a request to its store, or between the check of its lease and the
// request of a tool. The pause is shorter or longer than the lease, the run is stopped meanwhile or not, and another
// worker takes it over or not. No check may let a worker call a tool that has lost the run. A request that leaves late,
// because the pause was behind the check, belongs to a call whose outcome the record has as unknown. A thousand seeds,
// which the long tier has, are 10,000 pauses and more.
func testEnginePauses(t *testing.T, o Options) {
	t.Helper()
	seeds := 1000
	if o.Features.Durable {
		seeds = 4
	}
	var all pauseCounts
	t.Cleanup(func() { all.report(t) })
	runSeeds(t, seeds, 10*time.Second, func(t *testing.T, seed uint64, _ func()) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			p := newPauses(t, o, seed, &all)
			p.wrong = p.Errorf
			p.campaign()
			p.check()
			all.add(&all.seeds)
		})
	})
}

// pausesEach is how many pauses a seed has at most: those of runs that end before their pause are left out.
const pausesEach = 16

// pauseCounts counts what the pauses of all seeds did.
type pauseCounts struct {
	mu                                                 sync.Mutex
	seeds, pauses, lapsed, stopped, taken, calls, late int
}

func (c *pauseCounts) add(n *int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	*n++
}

func (c *pauseCounts) report(t *testing.T) {
	t.Helper()
	t.Logf("%d pauses of %d seeds: %d longer than the lease, %d with a stop, %d after which another worker had the run; %d calls of tools, %d late",
		c.pauses, c.seeds, c.lapsed, c.stopped, c.taken, c.calls, c.late)
	if !t.Failed() && c.pauses > 100 &&
		(c.pauses < 10*c.seeds || c.lapsed == 0 || c.stopped == 0 || c.taken == 0 || c.late == 0) {
		t.Error("the pauses prove nothing")
	}
}

// pauses is the campaign of one seed.
type pauses struct {
	*engineTest

	draws  *draws
	counts *pauseCounts
	// wrong is told what must not happen.
	wrong func(format string, args ...any)
	// trusting says that the worker that is paused trusts its lease for longer than the store: see [trusting].
	trusting bool

	under sync.WaitGroup // the calls of tools that are under way

	mu    sync.Mutex
	begun map[spool.ToolCallID]bool // calls whose tools were called
	late  map[spool.ToolCallID]bool // those that must not be repeated, and whose requests left late
	// stopped has the fence of the last worker of the runs whose stop found no lease: it must call nothing any more.
	stopped map[spool.RunID]int64
}

func newPauses(t *testing.T, o Options, seed uint64, counts *pauseCounts) *pauses {
	t.Helper()
	return &pauses{
		engineTest: newEngineTest(t, o), draws: newDraws(seed), counts: counts,
		begun: make(map[spool.ToolCallID]bool), late: make(map[spool.ToolCallID]bool), stopped: make(map[spool.RunID]int64),
	}
}

// pausedLease is the lease of all workers.
const pausedLease = 30 * time.Second

// processKey is the key of the [gap] in the contexts of the process that is paused.
type processKey struct{}

// gap is the store of a process that is paused at one request: before the store gets it, before the process gets the
// answer, or before the request of a tool leaves.
type gap struct {
	stall

	left int // passes until the pause
	hit  chan struct{}
}

// pass pauses the process at its turn, and waits while the process is paused.
func (g *gap) pass() {
	g.mu.Lock()
	g.left--
	if g.left == 0 {
		g.gate = make(chan struct{})
		close(g.hit)
	}
	g.mu.Unlock()
	g.wait()
}

// Update may pause on both ways.
func (g *gap) Update(ctx context.Context, key spool.ThreadKey, fence int64, fn func(store.Tx) error) error {
	g.pass()
	err := g.Store.Update(context.WithoutCancel(ctx), key, fence, fn)
	g.pass()
	return err
}

// View may pause on both ways.
func (g *gap) View(ctx context.Context, key spool.ThreadKey, fn func(store.View) error) error {
	g.pass()
	err := g.Store.View(context.WithoutCancel(ctx), key, fn)
	g.pass()
	return err
}

func (p *pauses) campaign() {
	m := spooltest.NewModelFunc(func(_ context.Context, r spool.ModelRequest) spooltest.Turn {
		turn, step := lastTurn(r), spooltest.StepOf(r)
		if step == 2 {
			return spooltest.Say("done")
		}
		out := spooltest.Turn{Text: []string{"go"}}
		for i := range 1 + int(chance(3, p.draws.seed, turn, step)) {
			name := []string{"look", "once"}[chance(2, p.draws.seed, turn, step, i)]
			out.Calls = append(out.Calls, spooltest.Call{
				ID: spool.ToolCallID(fmt.Sprintf("%s.%d.%d", turn, step, i)), Name: name,
			})
		}
		return out
	})
	c := p.config(m, p.tool("look", true), p.tool("once", false))
	c.Retry.Deaths, c.Worker.Lease = 1000, pausedLease
	for i := range pausesEach {
		p.once(c, spool.RunID("r"+strconv.Itoa(i)))
	}
}

// lastTurn returns the text of the last user turn.
func lastTurn(r spool.ModelRequest) (turn string) {
	for _, m := range r.Messages {
		if m.Role == spool.RoleUser {
			turn = m.Text()
		}
	}
	return turn
}

// tool returns a tool that takes a while, and checks that its caller has the run.
func (p *pauses) tool(name string, idempotent bool) spool.Tool {
	t := plain(name, "")
	t.Idempotent = idempotent
	t.Call = func(ctx context.Context, call spool.ToolCall) (json.RawMessage, error) {
		p.under.Add(1)
		defer p.under.Done()
		p.checked(ctx, call)
		if g, ok := ctx.Value(processKey{}).(*gap); ok {
			g.pass()
			p.leaves(call, idempotent)
		}
		select {
		case <-time.After(time.Duration(p.draws.n(800, "tool", call.ID)) * time.Millisecond):
			return json.RawMessage(`"ok"`), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return t
}

// look returns the thread, and the store's time.
func (p *pauses) look() (thread wire.Thread, now time.Time) {
	err := p.opened.Store.View(context.Background(), chat, func(v store.View) (err error) {
		now = v.Now()
		thread, err = v.Thread()
		return err
	})
	if err != nil {
		p.wrong("the thread cannot be read: %v", err)
	}
	return thread, now
}

// checked is called right behind the engine's check of the lease. No time passes in between, but other goroutines may
// run: the same worker may have ended a stopped run, after it has ended the call's context.
func (p *pauses) checked(ctx context.Context, call spool.ToolCall) {
	p.counts.add(&p.counts.calls)
	thread, now := p.look()
	has := thread.State == wire.Running && thread.Leased(now)
	ended := thread.State == wire.Cancelled && thread.UpdatedAt.Equal(now) && ctx.Err() != nil
	p.mu.Lock()
	defer p.mu.Unlock()
	p.begun[call.ID] = true
	if thread.Fence != call.Fence || !has && !ended || p.stopped[call.RunID] >= call.Fence {
		p.wrong("a worker with the fence %d calls %s at %s, and the thread is %+v", call.Fence, call.ID, now, thread)
	}
}

// leaves is called when the request of a tool leaves, maybe long after the check.
func (p *pauses) leaves(call spool.ToolCall, idempotent bool) {
	thread, _ := p.look()
	if thread.Fence == call.Fence && thread.State == wire.Running {
		return
	}
	p.counts.add(&p.counts.late)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.late[call.ID] = !idempotent
}

// once does one run with one pause.
func (p *pauses) once(c engine.Config, id spool.RunID) {
	b := p.join()
	late := c
	if p.trusting {
		b.Store, late.Worker.Lease = trusting{b.Store}, 1000*pausedLease
	}
	g := &gap{stall: stall{Store: b.Store}, left: 1 + p.draws.n(40), hit: make(chan struct{})}
	b.Store = g
	first, second := p.over(b, late), p.engine(c)
	defer first.Close()
	defer second.Close()
	p.start(second, id, string(id))
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = first.HandleJob(context.WithValue(context.Background(), processKey{}, g), ticket(id))
	}()
	select {
	case <-g.hit:
		p.pause(g, second, done)
	case <-done: // before its pause
	}
	p.until("the end of the run", func() bool {
		if p.thread().State == wire.WaitingForInput {
			p.decide(second)
		}
		return p.thread().State.Terminal()
	})
	p.under.Wait()
	p.judge(id)
	p.rest()
}

// pause lets the first process stand still. The second one works, and may stop the run.
func (p *pauses) pause(g *gap, second *engine.Engine, done <-chan struct{}) {
	length := time.Duration(p.draws.n(int(3*pausedLease/time.Millisecond))) * time.Millisecond
	p.counts.add(&p.counts.pauses)
	if length > pausedLease {
		p.counts.add(&p.counts.lapsed)
	}
	before := p.thread().Fence
	works := p.draws.n(4) > 0
	if works {
		p.work(second)
	}
	if p.draws.n(2) == 0 {
		part := time.Duration(p.draws.n(int(length/time.Millisecond)+1)) * time.Millisecond
		<-time.After(part)
		length -= part
		p.stop(second)
	}
	<-time.After(length)
	if p.thread().Fence > before {
		p.counts.add(&p.counts.taken)
	}
	g.wake()
	receive(p.engineTest, done, bubbleWait, "the end of the paused worker")
	if !works {
		p.work(second)
	}
}

// stop stops the run.
func (p *pauses) stop(e *engine.Engine) {
	thread, now := p.look()
	if r, err := e.Stop(context.Background(), chat); err != nil || !r.Accepted {
		return
	}
	p.history.Stopped(chat)
	p.counts.add(&p.counts.stopped)
	if p.mu.Lock(); !thread.Leased(now) {
		p.stopped[thread.RunID] = thread.Fence
	}
	p.mu.Unlock()
}

// decide answers the questions about calls whose outcome is unknown.
func (p *pauses) decide(e *engine.Engine) {
	for _, park := range p.parksOf(chat, p.thread().RunID) {
		if park.State != wire.ParkOpen {
			continue
		}
		r := wire.Response{ToolCallID: park.ToolCallID, Approved: p.draws.n(2) == 0, Digest: park.Digest}
		_, _ = p.respondWith(e, r)
	}
}

// judge checks the results of a run.
func (p *pauses) judge(id spool.RunID) {
	asked := make(map[spool.ToolCallID]bool)
	for _, park := range p.parksOf(chat, id) {
		asked[park.ToolCallID] = asked[park.ToolCallID] || park.Reason == wire.ParkOutcomeUnknown
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range p.messagesOf(chat) {
		if m.RunID != id {
			continue
		}
		for _, r := range m.ToolResults() {
			cancelled, unknown := bytes.Contains(r.Result, []byte(`"cancelled":true`)),
				bytes.Contains(r.Result, []byte(`"outcome":"unknown"`))
			switch {
			case cancelled && p.begun[r.ToolCallID] && !unknown:
				p.wrong("call %s had begun, and its result is %s", r.ToolCallID, r.Result)
			case p.late[r.ToolCallID] && !unknown && !asked[r.ToolCallID]:
				p.wrong("the request of call %s left late, and its result is %s", r.ToolCallID, r.Result)
			}
			delete(p.late, r.ToolCallID)
		}
	}
	for call, once := range p.late {
		if once {
			p.wrong("the request of call %s left late, and it has no result", call)
		}
	}
	clear(p.late)
}

// trusting is the store of a worker whose lease ends sooner than the worker believes: as if it compared nothing before
// its calls.
type trusting struct{ store.Store }

// Update implements [store.Store].
func (s trusting) Update(ctx context.Context, key spool.ThreadKey, fence int64, fn func(store.Tx) error) error {
	return s.Store.Update(ctx, key, fence, func(tx store.Tx) error { return fn(trustingTx{tx}) })
}

type trustingTx struct{ store.Tx }

// Write implements [store.Tx].
func (t trustingTx) Write(c store.Changes) error {
	if most := t.Now().Add(pausedLease); c.Thread != nil && c.Thread.LeaseUntil.After(most) {
		thread := *c.Thread
		thread.LeaseUntil = most
		c.Thread = &thread
	}
	return t.Tx.Write(c)
}
