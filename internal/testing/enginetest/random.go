package enginetest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// testEngineRandom does to a thread everything that can happen, in an order that a seed decides: see
// [callOrder] and [runSeeds].
func testEngineRandom(t *testing.T, o Options) {
	t.Helper()
	seeds := 1000
	if o.Features.Durable {
		seeds = 6
	}
	var all tally
	t.Cleanup(func() { all.report(t) })
	runSeeds(t, seeds, 15*time.Second, func(t *testing.T, seed uint64, rest func()) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			s := newEngineTest(t, o)
			randomCampaign(s, seed, rest)
			all.add(s.history, 0)
		})
	})
}

// wanderer returns a model whose text and calls differ in each step of each run, and that sometimes
// fails.
func (c *campaign) wanderer(seed uint64) *spooltest.Model {
	return spooltest.NewModelFunc(func(_ context.Context, r spool.ModelRequest) spooltest.Turn {
		step := spooltest.StepOf(r)
		turn := ""
		for _, m := range r.Messages {
			if m.Role == spool.RoleUser {
				turn = m.Text()
			}
		}
		wait := time.Duration(c.n(1500, "model", turn, step)) * time.Millisecond
		t := spooltest.Turn{
			Text:  []string{turn, "/", strconv.Itoa(step), " a ", "b ", "c"},
			Usage: spooltest.Tokens(int64(10+step), int64(3+step)),
			Before: func(ctx context.Context) error {
				select {
				case <-time.After(wait):
					return nil
				case <-ctx.Done():
					return ctx.Err()
				}
			},
		}
		if chance(3, seed, turn, step, "thinks") == 0 {
			t.Reasoning = []string{"hm ", turn, strconv.Itoa(step)}
		}
		if c.n(12, "model fails", turn, step) == 0 {
			t.Err = overloaded()
			return t
		}
		if step < 4 && chance(5, seed, turn, step, "calls") > 0 {
			names := []string{"look", "once", "send", "ask", "show", "nope"}
			if c.config.Agents[0].Spawn != nil {
				names = append(names, "helper", "lead")
			}
			for i := range 1 + chance(3, seed, turn, step, "how many") {
				name := names[chance(uint64(len(names)), seed, turn, step, i)]
				id := spool.ToolCallID(fmt.Sprintf("%s.%d.%d", turn, step, i))
				if name == "helper" || name == "lead" {
					t.Calls = append(t.Calls, spawn(id, name, string(id)))
					continue
				}
				call := spooltest.Call{ID: id, Name: name}
				if name == "show" {
					call = show(id)
				}
				t.Calls = append(t.Calls, call)
			}
		}
		return t
	})
}

// tools returns one tool of each kind. Each takes a while.
func (c *campaign) tools() []spool.Tool {
	slow := func(t spool.Tool) spool.Tool {
		call := t.Call
		t.Call = func(ctx context.Context, call2 spool.ToolCall) (json.RawMessage, error) {
			select {
			case <-time.After(time.Duration(c.n(1500, "tool", call2.RunID, call2.ID)) * time.Millisecond):
			case <-ctx.Done():
				return nil, ctx.Err()
			}
			return call(ctx, call2)
		}
		return t
	}
	look := plain("look", `"seen"`)
	look.Idempotent = true
	ask := plain("ask", "")
	ask.Call = func(_ context.Context, call spool.ToolCall) (json.RawMessage, error) {
		if call.Answer == nil {
			return nil, spool.ParkFor("question", nil, time.Minute)
		}
		return json.RawMessage(`"heard"`), nil
	}
	send := approved("send", `"sent"`)
	for _, t := range []*spool.Tool{&send, &ask} {
		t.Expiry = spool.Expiry{
			Then: []spool.ExpiryAction{"", spool.ExpireFail, spool.ExpireExtend}[c.n(3)], Extensions: c.n(3),
			Warn: time.Duration(c.n(3)) * 20 * time.Second,
		}
	}
	return []spool.Tool{slow(look), slow(plain("once", `"done"`)), slow(send), slow(ask)}
}

// leastOperations and leastFaults are how many operations of callers, and faults, every campaign has.
const leastOperations, leastFaults = 20, 2

// randomCampaign does one campaign, and returns what happened in it. Rest may be nil: see [oneThread]. A campaign
// without rest has a trace only if SPOOL_TRACE is set.
func randomCampaign(s *engineTest, seed uint64, rest func()) *trace {
	c := newCampaign(s, engine.Config{}, seed, seed%2 == 0)
	s.Cleanup(func() { c.trace.report(s.T, seed) })
	if !raceDetector { // the race detector looks for calls that nothing orders
		c.inTurns(rest, rest != nil || os.Getenv("SPOOL_TRACE") != "")
	}
	if seed/2%2 == 0 {
		c.config = nestedTest{s}.treeConfig(c.wanderer(seed), c.tools()...)
		c.config.Agents[0].Spawn.MaxConcurrent, c.config.Agents[0].Spawn.MaxDepth = 1+c.n(3), 1+c.n(3)
	} else {
		c.config = s.config(c.wanderer(seed), c.tools()...)
	}
	if seed%3 == 0 {
		c.config.OnSettle = func(_ context.Context, s wire.Settlement) error {
			<-time.After(time.Duration(c.n(300, "settle", s.RunID)) * time.Millisecond)
			return nil
		}
	}
	if seed%5 < 2 {
		c.config.Context.Windows = map[string]int{"m": 60 + 40*c.n(4)} // older messages are summarised often
	}
	c.config.Retry.Deaths, c.config.ParkTTL = 1000, 2*time.Minute
	if seed%5 < 2 {
		c.someBudget()
	}
	if seed%4 < 2 {
		c.receive(seed%8 >= 4)
	}
	c.wander()
	return c.trace
}

// wander does the acts of a campaign, and checks what has happened.
func (c *campaign) wander() {
	s := c.engineTest
	n := c.boot()
	c.hire(n)
	c.someStart()
	stop := c.clients("a", "b", "c")
	const operation, fault, other = 0, 1, 2
	acts := []struct {
		name string
		kind int
		do   func()
	}{
		{"start", operation, c.someStart},
		{"start", operation, c.someStart},
		{"start", operation, c.someStart},
		{"answer", operation, c.someAnswer},
		{"answer", operation, c.someAnswer},
		{"answer", operation, c.someAnswer},
		{"restore", operation, c.someRestore},
		{"restore", operation, c.someRestore},
		{"stop", operation, c.someStop},
		{"crash", fault, c.someCrash},
		{"fault", fault, c.someFault},
		{"fault", fault, c.someFault},
		{"boot", other, c.someBoot},
		{"shutdown", other, c.someShutdown},
		{"delivery", fault, c.someDelivery},
		{"loss", fault, c.someLoss},
		{"sweep", other, c.someSweep},
	}
	var done [3]int // by kind
	for i := 0; i < 40 || done[operation] < leastOperations || done[fault] < leastFaults; i++ {
		wait := time.Duration(c.n(3000)) * time.Millisecond
		switch c.n(12) {
		case 0:
			wait = time.Duration(c.n(4)) * time.Minute // a park expires, a lease lapses
		case 1, 2, 3:
			wait = 0
		}
		<-time.After(wait)
		act := acts[c.n(len(acts))]
		c.trace.addf("campaign: %s", act.name)
		act.do()
		done[act.kind]++
		c.bury()
	}
	// All faults end, and everything must come to its end.
	for _, n := range append([]*node(nil), c.nodes...) {
		c.retire(n)
	}
	last := c.boot()
	c.hire(last)
	s.until("the end of the run", func() bool {
		c.answerAll(last.Engine, c.anyAnswer())
		return s.thread().State.Terminal()
	})
	for range 4 {
		c.someRestore()
		<-time.After(time.Second)
	}
	c.settleEvents()
	c.finish(stop)
}

// bury retires the nodes that have crashed.
func (c *campaign) bury() {
	for _, n := range append([]*node(nil), c.nodes...) {
		select {
		case <-n.faulty.Crashed():
			c.retire(n)
		default:
		}
	}
	if len(c.nodes) == 0 {
		c.hire(c.boot())
	}
}

// some returns one of the nodes.
func (c *campaign) some(who ...any) *node { return c.node(context.Background(), who...) }

// anyAnswer returns a random person's answers.
func (c *campaign) anyAnswer(who ...any) func(p store.Park) wire.Response {
	return func(p store.Park) wire.Response {
		if p.Reason == wire.ParkBudget {
			return c.moreBudget(who...)
		}
		r := wire.Response{Approved: c.n(3, who...) > 0, Reason: []string{"", "because"}[c.n(2, who...)]}
		if c.n(2, who...) == 0 {
			r.Payload = json.RawMessage(`{"n":1}`)
		}
		if c.n(2, who...) == 0 {
			r.Digest = p.Digest
		}
		if r.Approved && p.Reason == wire.ParkApproval && c.n(2, who...) == 0 {
			r.Args = json.RawMessage(`{"edited":` + strconv.Itoa(c.n(3, who...)) + `}`)
		}
		return r
	}
}

// someStart starts a run, which may edit a turn, and usually finds the thread busy.
func (c *campaign) someStart() {
	word := fmt.Sprintf("w%d", c.n(1_000_000))
	r := wire.StartRequest{
		Prompt: word, RunID: spool.RunID("run-" + word), StartOptions: wire.StartOptions{MaxSteps: c.n(4)},
	}
	if c.n(3) > 0 { // otherwise the model calls a tool that does not exist
		r.Client = showing().Client
	}
	if c.n(3) == 0 {
		if messages := c.messagesOf(chat); len(messages) > 0 {
			r.EditMessageID = messages[c.n(len(messages))].ID
		}
	}
	r.WhenBusy = []spool.WhenBusy{
		"", spool.BusyReject, spool.BusyEnqueue, spool.BusyEnqueue, spool.BusyLatest, spool.BusyInterrupt, spool.BusyRollback,
		spool.BusySteer, spool.BusySteer, spool.BusySteer,
	}[c.n(10)]
	if c.choose != nil {
		c.choose(&r)
	}
	result, err := c.some().Run(context.Background(), chat, r)
	c.trace.addf("campaign: start %s %s in place of %q: %s, %v", r.RunID, r.WhenBusy, r.EditMessageID, asJSON(result), err)
	if err == nil && result.Accepted {
		c.history.Started(chat, result.RunID)
	}
}

// someRestore restores a branch, and usually finds the thread busy.
func (c *campaign) someRestore() {
	if branches := c.branchesOf(chat); len(branches) > 0 {
		_, _ = c.some().RestoreBranch(context.Background(), chat, branches[c.n(len(branches))].ID)
	}
}

func (c *campaign) someStop() {
	if runs := c.runsOf(chat); len(runs) > 0 && c.n(3) == 0 {
		_, _ = c.some().StopRun(context.Background(), chat, runs[c.n(min(len(runs), 4))].ID)
		return
	}
	if r, err := c.some().Stop(context.Background(), chat); err == nil && r.Accepted {
		c.history.Stopped(chat)
	}
}

// someAnswer answers the open parks, once or twice concurrently.
func (c *campaign) someAnswer() {
	done := make(chan struct{})
	twice := c.n(3) == 0
	go func() {
		defer close(done)
		if twice {
			c.answerAll(c.some("another person").Engine, c.anyAnswer("another person"))
		}
	}()
	c.answerAll(c.some().Engine, c.anyAnswer())
	receive(c, done, bubbleWait, "the other person")
}

func (c *campaign) someCrash() {
	n := c.some()
	crash(n.faulty)
	c.bury()
}

// someFault plans a fault for one of the next calls.
func (c *campaign) someFault() {
	n := c.some()
	kinds := []spooltest.FaultKind{
		spooltest.FailBefore, spooltest.FailAfter, spooltest.CrashBefore, spooltest.CrashAfter, spooltest.Rerun,
		spooltest.Duplicate, spooltest.Delay,
	}
	fault := spooltest.Fault{Call: n.faulty.Calls() + 1 + c.n(30), Kind: kinds[c.n(len(kinds))]}
	deaf := c.n(3) == 0
	n.faulty.Plan(fault)
	n.faulty.DropWakes(deaf)
	c.trace.addf("campaign: call %d of %s is to %s, and it loses wake-ups: %t", fault.Call, n.name, fault.Kind, deaf)
}

// someBoot adds a process, so that several race for the run.
func (c *campaign) someBoot() {
	if len(c.nodes) < 3 {
		c.hire(c.boot())
	}
}

func (c *campaign) someShutdown() {
	c.retire(c.some())
	c.bury()
}

// someDelivery delivers a ticket again, as an external queue may do: for the present run or an earlier
// one.
func (c *campaign) someDelivery() {
	runs := c.runsOf(chat)
	if len(runs) == 0 {
		return
	}
	run := runs[c.n(len(runs))]
	j := wire.Job{
		Tenant: chat.Tenant, ThreadID: chat.ID, RunID: run.ID, Agent: run.Agent,
		Segment: c.n(run.Segments + 2), Kind: wire.JobResume,
	}
	n := c.some()
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(c.n(5000))*time.Millisecond)
	defer cancel()
	if c.n(4) == 0 {
		_ = n.HandleDeadJob(ctx, wire.Job{Tenant: chat.Tenant, ThreadID: chat.ID, RunID: run.ID, Segment: run.Segments}, 3,
			"a test")
		return
	}
	result, err := n.HandleJob(ctx, j)
	c.trace.addf("campaign: deliver segment %d of %s to %s: %s, %v", j.Segment, j.RunID, n.name, asJSON(result), err)
}

// someLoss loses the jobs that are due.
func (c *campaign) someLoss() {
	taken, _, err := c.backend.Store.Claim(context.Background(), store.ClaimQuery{Limit: 1 + c.n(3), Lease: time.Minute})
	if err != nil {
		c.Error(err)
	}
	for _, d := range taken {
		_ = c.backend.Store.Ack(context.Background(), d, store.Ack{Kind: store.AckDone})
	}
}

func (c *campaign) someSweep() {
	n := c.some()
	_, _ = n.Sweep(context.Background())
	_, _ = n.ReclaimIfOrphaned(context.Background(), chat)
}
