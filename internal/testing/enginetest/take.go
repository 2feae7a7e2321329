package enginetest

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// These are cases of starts that claim their run for a worker of their own process.
var takeTests = map[string]func(s takeTest){
	"AtOnce":      testTakeAtOnce,
	"History":     testTakeHistory,
	"Died":        testTakeDied,
	"Uncertain":   testTakeUncertain,
	"Repeated":    testTakeRepeated,
	"Refused":     testTakeRefused,
	"Locked":      testTakeLocked,
	"Full":        testTakeFull,
	"OthersWait":  testTakeOthersWait,
	"PerTenant":   testTakePerTenant,
	"OtherQueue":  testTakeOtherQueue,
	"OtherWorker": testTakeOtherWorker,
	"Stopped":     testTakeStopped,
	"ShutDown":    testTakeShutDown,
	"Edit":        testTakeEdit,
	"Told":        testTakeTold,
	"ToldOfNone":  testTakeToldOfNone,
}

type takeTest struct{ *engineTest }

// still is longer than a worker waits between two polls. It ends at no instant at which a worker polls: a worker that
// polls is not ready.
const still = 3*time.Second + 7777*time.Microsecond

// taker is an engine whose store notes which runs were claimed by their starts.
type taker struct {
	*engine.Engine

	faulty *spooltest.Faulty
	store  *takenStore
}

// taker returns an engine with a worker that has the revision of its agent, so that it can take runs.
func (s takeTest) taker(c engine.Config, o engine.WorkOptions) *taker {
	s.Helper()
	f := spooltest.NewFaulty(s.join())
	b := f.Backend()
	store := &takenStore{Store: b.Store}
	b.Store = store
	e := s.over(b, c)
	s.workWith(e, o)
	key := spool.ThreadKey{Tenant: "first", ID: "first"}
	s.startAs(e, key, wire.StartRequest{Prompt: "first", RunID: "first"})
	s.endsWithin(key, time.Minute)
	<-time.After(still)
	if store.taken("first") {
		s.Error("the first run was taken, before its revision was stored")
	}
	return &taker{e, f, store}
}

// endsWithin waits until the run of a thread has completed.
func (s takeTest) endsWithin(key spool.ThreadKey, within time.Duration) {
	s.Helper()
	fairTest(s).endsWithin(key, within)
}

// takenStore notes the runs that are added with a claimed job, and those that are claimed together with their ticket.
type takenStore struct {
	store.Store

	mu   sync.Mutex
	runs []spool.RunID
	told []spool.RunID
	// locks has threads whose transactions wait until the channel is closed.
	locks map[spool.ThreadKey]chan struct{}
}

func (t *takenStore) Update(ctx context.Context, key spool.ThreadKey, fence int64, fn func(store.Tx) error) error {
	t.mu.Lock()
	lock := t.locks[key]
	t.mu.Unlock()
	if lock != nil {
		<-lock
	}
	return t.Store.Update(ctx, key, fence, func(tx store.Tx) error { return fn(takenTx{tx, t}) })
}

// lock makes the transactions of a thread wait until unlock is called, once or more.
func (t *takenStore) lock(key spool.ThreadKey) (unlock func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	locked := make(chan struct{})
	t.locks = map[spool.ThreadKey]chan struct{}{key: locked}
	return sync.OnceFunc(func() { close(locked) })
}

type takenTx struct {
	store.Tx

	store *takenStore
}

func (t takenTx) Write(c store.Changes) error {
	t.store.mu.Lock()
	for _, j := range c.Claimed {
		if len(c.NewRuns) > 0 {
			t.store.runs = append(t.store.runs, j.RunID)
		} else {
			t.store.told = append(t.store.told, j.RunID)
		}
	}
	t.store.mu.Unlock()
	return t.Tx.Write(c)
}

// taken reports whether a start has claimed its run.
func (t *takenStore) taken(run spool.RunID) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Contains(t.runs, run)
}

func thread(id string) spool.ThreadKey {
	return spool.ThreadKey{Tenant: spool.DefaultTenant, ID: spool.ThreadID(id)}
}

// testTakeAtOnce has a start whose run is with a worker when the start returns. Clients see what they see of any
// run, and nothing claims it.
func testTakeAtOnce(s takeTest) {
	gate := make(chan struct{})
	e := s.taker(s.config(spooltest.NewModel(spooltest.Say("first"), spooltest.Turn{Text: []string{"hi"}, Gate: gate})),
		engine.WorkOptions{})
	before := len(e.faulty.Log())
	s.start(e.Engine, "r1", "go")
	client := s.watch(e.Engine, &spooltest.Client{Name: "live", FromStart: true}, wire.FollowOptions{})
	<-time.After(time.Second)
	close(gate)
	if !e.store.taken("r1") {
		s.Error("the start has not claimed the run")
	}
	s.ended(wire.Completed)
	<-time.After(quiet)
	client()
	updates, acks := 0, 0
	for _, call := range e.faulty.Log()[before:] {
		switch {
		case call == "Store.Update "+chat.String():
			updates++
		case strings.HasPrefix(call, "Store.Ack"):
			acks++
		}
	}
	if updates != 2 || acks != 0 {
		s.Errorf("%d transactions of the thread and %d acknowledgements, want the start and the end alone", updates, acks)
	}
	s.lines("messages", s.script(), "user go", "assistant hi")
	s.lines("record", s.record(), "RUN_STARTED r1:1", "RUN_ENDED r1:1 finished")
	if q := s.jobs(); q.InFlight+q.Ready+q.Delayed+q.Dead != 0 {
		s.Errorf("jobs are left: %+v", q)
	}
	if r := s.run("r1"); r.Revision == "" || r.StartedAt.IsZero() {
		s.Errorf("the run: %+v", r)
	}
}

// testTakeHistory takes the second run of a thread: the model gets the whole conversation.
func testTakeHistory(s takeTest) {
	m := spooltest.NewModel(spooltest.Say("first"), spooltest.Say("one"), spooltest.Say("two"))
	e := s.taker(s.config(m), engine.WorkOptions{})
	for i, run := range []spool.RunID{"r1", "r2"} {
		s.start(e.Engine, run, "go "+string(run))
		s.until("the end", func() bool { return s.run(run).State == wire.Completed })
		<-time.After(still)
		if !e.store.taken(run) {
			s.Errorf("the start has not claimed run %d", i)
		}
	}
	if got := m.Requests()[2].Messages; len(got) != 3 {
		s.Errorf("the model was asked with %d messages, want 3: %+v", len(got), got)
	}
}

// testTakeDied kills the process that has taken a run. Another one continues it.
func testTakeDied(s takeTest) {
	gate := make(chan struct{})
	m := spooltest.NewModel(spooltest.Say("first"), spooltest.Turn{Text: []string{"half"}, Gate: gate},
		spooltest.Say("whole"))
	c := s.config(m)
	e := s.taker(c, engine.WorkOptions{})
	s.start(e.Engine, "r1", "go")
	s.until("the question", func() bool { return m.Asked() == 2 })
	if !e.store.taken("r1") {
		s.Error("the start has not claimed the run")
	}
	crash(e.faulty)
	killed := time.Now()
	s.working(c)
	s.until("the next worker", func() bool { return m.Asked() == 3 })
	if took := time.Since(killed); took > 40*time.Second {
		s.Errorf("it took %s to move again", took)
	}
	s.ended(wire.Completed)
	s.lines("messages", s.script(), "user go", "assistant whole")
	s.lines("record", s.record(), "RUN_STARTED r1:1", "RUN_ENDED r1:1 lost", "RUN_STARTED r1:2", "RUN_ENDED r1:2 finished")
}

// testTakeUncertain has a start whose commit happens and fails for its caller. Nobody executes the run until its
// lease lapses, and the worker has its slot back.
func testTakeUncertain(s takeTest) {
	m := spooltest.NewModel(spooltest.Say("first"), spooltest.Say("other"), spooltest.Say("whole"))
	e := s.taker(s.config(m), engine.WorkOptions{Concurrency: 1})
	e.faulty.Plan(spooltest.Fault{On: "Store.Update", Call: updates(e.faulty) + 1, Kind: spooltest.FailAfter})
	r := wire.StartRequest{Prompt: "go", RunID: "r1", IdempotencyKey: "k"}
	if _, err := e.Run(context.Background(), chat, r); spool.CodeOf(err) != spool.Unavailable {
		s.Fatalf("the start: %v", err)
	}
	s.startAs(e.Engine, chat, r) // the same start again
	s.startAs(e.Engine, thread("other"), wire.StartRequest{Prompt: "go", RunID: "r2"})
	s.endsWithin(thread("other"), time.Minute)
	s.ended(wire.Completed)
	s.lines("record", s.record(), "RUN_STARTED r1:1", "RUN_ENDED r1:1 lost", "RUN_STARTED r1:2", "RUN_ENDED r1:2 finished")
}

// testTakeRepeated has a start whose transaction runs twice: it reserves one slot, and gives it back.
func testTakeRepeated(s takeTest) {
	e := s.taker(s.config(spooltest.NewModel(spooltest.Say("first"), spooltest.Say("one"), spooltest.Say("two"))),
		engine.WorkOptions{Concurrency: 1})
	e.faulty.Plan(spooltest.Fault{On: "Store.Update", Call: updates(e.faulty) + 1, Kind: spooltest.Rerun})
	for _, run := range []spool.RunID{"r1", "r2"} {
		s.start(e.Engine, run, "go")
		s.until("the end", func() bool { return s.run(run).State == wire.Completed })
		<-time.After(still)
		if !e.store.taken(run) {
			s.Errorf("the start has not claimed %s", run)
		}
	}
	if len(e.store.runs) < 3 {
		s.Errorf("taken: %v, want r1 twice", e.store.runs)
	}
}

// updates counts the calls of Store.Update.
func updates(f *spooltest.Faulty) (n int) {
	for _, call := range f.Log() {
		if len(call) >= 12 && call[:12] == "Store.Update" {
			n++
		}
	}
	return n
}

// testTakeRefused has starts that are refused or wait for the thread: the worker's slot stays free.
func testTakeRefused(s takeTest) {
	gate := make(chan struct{})
	m := spooltest.NewModel(spooltest.Say("first"), spooltest.Turn{Text: []string{"one"}, Gate: gate},
		spooltest.Say("two"))
	e := s.taker(s.config(m), engine.WorkOptions{Concurrency: 2})
	s.start(e.Engine, "r1", "go")
	s.until("the question", func() bool { return m.Asked() == 2 })
	if got, err := e.Run(context.Background(), chat, wire.StartRequest{Prompt: "go", RunID: "r2"}); err != nil ||
		got.Accepted {
		s.Errorf("a start on a busy thread: %+v, %v", got, err)
	}
	if got := s.startAs(
		e.Engine, chat, wire.StartRequest{Prompt: "go", RunID: "r3", WhenBusy: spool.BusyEnqueue},
	); got.Position != 1 {
		s.Errorf("a start that waits: %+v", got)
	}
	if e.store.taken("r2") || e.store.taken("r3") {
		s.Error("a start without the thread has claimed its run")
	}
	close(gate)
	s.until("the end", func() bool { return s.run("r3").State == wire.Completed })
}

// testTakeLocked has a start that waits for the lock of its thread: meanwhile it keeps no slot of the worker.
func testTakeLocked(s takeTest) {
	m := spooltest.NewModel(spooltest.Say("first"), spooltest.Say("one"), spooltest.Say("two"))
	e := s.taker(s.config(m), engine.WorkOptions{Concurrency: 1})
	unlock := e.store.lock(chat)
	defer unlock()
	started := make(chan error, 1)
	go func() {
		_, err := e.Run(context.Background(), chat, wire.StartRequest{Prompt: "go", RunID: "r1"})
		started <- err
	}()
	<-time.After(still)
	s.startAs(e.Engine, thread("other"), wire.StartRequest{Prompt: "go", RunID: "r2"})
	s.endsWithin(thread("other"), time.Minute)
	if !e.store.taken("r2") {
		s.Error("the other start has not claimed its run")
	}
	<-time.After(still)
	unlock()
	if err := receive(s, started, time.Minute, "the start"); err != nil {
		s.Error(err)
	}
	s.ended(wire.Completed)
	if !e.store.taken("r1") {
		s.Error("the start that has waited has not claimed its run")
	}
}

// testTakeFull has a worker without a free slot: the run waits in the queue.
func testTakeFull(s takeTest) {
	gate := make(chan struct{})
	m := spooltest.NewModel(spooltest.Say("first"), spooltest.Turn{Text: []string{"one"}, Gate: gate},
		spooltest.Say("two"))
	e := s.taker(s.config(m), engine.WorkOptions{Concurrency: 1})
	s.start(e.Engine, "r1", "go")
	s.startAs(e.Engine, thread("t2"), wire.StartRequest{Prompt: "go", RunID: "r2"})
	<-time.After(still)
	if q := s.jobs(); !e.store.taken("r1") || e.store.taken("r2") || q.InFlight != 1 || q.Ready != 1 {
		s.Errorf("taken: %v; the queue: %+v", e.store.runs, q)
	}
	close(gate)
	s.endsWithin(thread("t2"), time.Minute)
}

// testTakeOthersWait starts a run when a slot has become free for which others wait: they come first.
func testTakeOthersWait(s takeTest) {
	m := newWalkers()
	c := s.config(m, plain("look", `"seen"`))
	e := s.engine(c)
	s.workWith(e, engine.WorkOptions{Concurrency: 1})
	walks := fairTest(s).startWalks(e, "acme", 4)
	for _, key := range walks {
		s.endsWithin(key, time.Hour)
		late := spool.ThreadKey{Tenant: "acme", ID: "late-" + key.ID}
		s.startAs(e, late, wire.StartRequest{Prompt: "hello", RunID: "late-" + spool.RunID(key.ID)})
	}
	for _, key := range walks {
		s.endsWithin(spool.ThreadKey{Tenant: "acme", ID: "late-" + key.ID}, time.Hour)
	}
	for i, prompt := range m.ended[:len(walks)] {
		if prompt == "hello" {
			s.Errorf("a late start was number %d", i)
		}
	}
}

// testTakePerTenant has a bound of each tenant, which only the store can keep.
func testTakePerTenant(s takeTest) {
	e := s.taker(s.config(spooltest.NewModel(spooltest.Say("first"), spooltest.Say("hi"))),
		engine.WorkOptions{PerTenant: 3})
	s.start(e.Engine, "r1", "go")
	s.ended(wire.Completed)
	if e.store.taken("r1") {
		s.Error("the start has claimed the run")
	}
}

// testTakeOtherQueue has a worker of another queue in the process of the start.
func testTakeOtherQueue(s takeTest) {
	c := s.config(spooltest.NewModel(spooltest.Say("first"), spooltest.Say("hi")))
	e := s.taker(c, engine.WorkOptions{})
	s.rest()
	s.workWith(e.Engine, engine.WorkOptions{Queues: []string{"other"}})
	<-time.After(still)
	s.start(e.Engine, "r1", "go")
	<-time.After(still)
	if q := s.jobs(); e.store.taken("r1") || q.Ready != 1 {
		s.Errorf("taken: %v; the queue: %+v", e.store.runs, q)
	}
	s.work(e.Engine)
	s.ended(wire.Completed)
}

// testTakeOtherWorker has a start in a process without a worker.
func testTakeOtherWorker(s takeTest) {
	c := s.config(spooltest.NewModel(spooltest.Say("first"), spooltest.Say("hi")))
	e := s.taker(c, engine.WorkOptions{})
	s.start(s.engine(c), "r1", "go")
	s.ended(wire.Completed)
	if e.store.taken("r1") {
		s.Error("the start has claimed the run")
	}
}

// testTakeStopped stops a run that its start has claimed.
func testTakeStopped(s takeTest) {
	gate := make(chan struct{})
	m := spooltest.NewModel(spooltest.Say("first"), spooltest.Turn{Text: []string{"half"}, Gate: gate})
	e := s.taker(s.config(m), engine.WorkOptions{})
	s.start(e.Engine, "r1", "go")
	s.stop(e.Engine)
	s.ended(wire.Cancelled)
	if !e.store.taken("r1") {
		s.Error("the start has not claimed the run")
	}
}

// testTakeShutDown shuts a worker down that has taken a run: it hands the run back.
func testTakeShutDown(s takeTest) {
	gate := make(chan struct{})
	m := spooltest.NewModel(spooltest.Say("first"), spooltest.Turn{Text: []string{"half"}, Gate: gate},
		spooltest.Say("whole"))
	c := s.config(m)
	e := s.taker(c, engine.WorkOptions{})
	s.start(e.Engine, "r1", "go")
	s.until("the question", func() bool { return m.Asked() == 2 })
	s.rest()
	if r := s.run("r1"); r.State != wire.Queued || r.Deaths != 0 {
		s.Errorf("after the shutdown: %+v", r)
	}
	handed := time.Now()
	s.working(c)
	s.ended(wire.Completed)
	if took := time.Since(handed); took > 10*time.Second {
		s.Errorf("it took %s to move again", took)
	}
	s.lines("record", s.record(), "RUN_STARTED r1:1", "RUN_ENDED r1:1 lost", "RUN_STARTED r1:2", "RUN_ENDED r1:2 finished")
}

// testTakeEdit edits a turn: the run waits for a claim, because more than one change has to come first.
func testTakeEdit(s takeTest) {
	m := spooltest.NewModel(spooltest.Say("first"), spooltest.Say("one"), spooltest.Say("two"))
	e := s.taker(s.config(m), engine.WorkOptions{})
	s.start(e.Engine, "r1", "go")
	s.ended(wire.Completed)
	var turn spool.MessageID
	s.view(func(v store.View) error {
		messages, err := v.Messages(store.MessageQuery{Role: spool.RoleUser})
		turn = messages[0].ID
		return err
	})
	s.startAs(e.Engine, chat, wire.StartRequest{Prompt: "go on", RunID: "r2", EditMessageID: turn})
	s.until("the end", func() bool { return s.run("r2").State == wire.Completed })
	if e.store.taken("r2") {
		s.Error("the start has claimed the run")
	}
	s.lines("messages", s.script(), "user go on", "assistant two")
}
