package enginetest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/internal/compare"
	"github.com/spoolhq/spool/spooltest"
)

// Test checks that an engine over the backend does what package engine promises.
// Each subtest lives in a bubble of testing/synctest and passes [spool.SystemClock] to
// open, so a lease or a retry takes no time; what open starts must end in its Cleanup.
// Every subtest's history is checked as [Check] does.
func Test(t *testing.T, open spooltest.Open, features spooltest.Features) {
	t.Helper()

	for _, subject := range []struct {
		name  string
		tests map[string]func(s *engineTest)
	}{
		{"Start", startTests},
		{"Wait", cases(waitTests)},
		{"Step", stepTests},
		{"Retry", retryTests},
		{"Stop", stopTests},
		{"Usage", cases(usageTests)},
		{"Budget", cases(budgetTests)},
		{"Park", parkTests},
		{"Approve", cases(approveTests)},
		{"Distinct", cases(distinctTests)},
		{"Expire", cases(expireTests)},
		{"Unknown", unknownTests},
		{"Nested", cases(nestedTests)},
		{"Mixed", cases(mixedTests)},
		{"Edit", editTests},
		{"Context", cases(contextTests)},
		{"Force", cases(forceTests)},
		{"Branch", cases(branchTests)},
		{"Job", jobTests},
		{"Fair", cases(fairTests)},
		{"Storage", cases(storageTests)},
		{"TimeLimit", cases(timeLimitTests)},
		{"Lease", leaseTests},
		{"Alone", cases(aloneTests)},
		{"Sweep", cases(sweepTests)},
		{"Access", cases(accessTests)},
		{"Own", cases(ownTests)},
		{"Describe", cases(describeTests)},
		{"Audit", cases(auditTests)},
		{"Redrive", cases(redriveTests)},
		{"Prune", cases(pruneTests)},
		{"Overview", overviewTests},
		{"Await", cases(awaitTests)},
		{"Settle", cases(settleTests)},
		{"Thread", threadTests},
		{"Snapshot", cases(snapshotTests)},
		{"Follow", cases(followTests)},
		{"Turns", cases(turnTests)},
		{"Retract", cases(retractTests)},
		{"SSE", sseTests},
		{"Publish", cases(publishTests)},
		{"HostState", hostStateTests},
		{"ProviderOptions", providerOptionsTests},
		{"ClientTool", clientToolTests},
		{"ClientContext", clientContextTests},
		{"Key", keyTests},
		{"Arguments", cases(argumentTests)},
		{"Empty", cases(emptyTests)},
		{"Bound", cases(boundTests)},
		{"Most", cases(mostTests)},
	} {
		t.Run(subject.name, func(t *testing.T) {
			t.Parallel()
			for name, test := range subject.tests {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					bubble(t, open, test)
				})
			}
		})
	}
	t.Run("Crash", func(t *testing.T) {
		t.Parallel()
		testEngineCrash(t, open, features, crashScript)
	})
	t.Run("CrashCompact", func(t *testing.T) {
		t.Parallel()
		testEngineCrash(t, open, features, compactScript)
	})
	t.Run("CrashExpiry", func(t *testing.T) {
		t.Parallel()
		testEngineCrash(t, open, features, expiryScript)
	})
	t.Run("MixedCrash", func(t *testing.T) {
		t.Parallel()
		testEngineCrash(t, open, features, shortScript)
	})
	t.Run("NestedCrash", func(t *testing.T) {
		t.Parallel()
		testEngineCrash(t, open, features, nestedScript)
	})
	t.Run("NestedLateCrash", func(t *testing.T) {
		t.Parallel()
		testEngineCrash(t, open, features, nestedLateScript)
	})
	t.Run("CrashBudget", func(t *testing.T) {
		t.Parallel()
		testEngineCrash(t, open, features, budgetScript)
	})
	t.Run("WaitCrash", func(t *testing.T) {
		t.Parallel()
		testWaitCrash(t, open, features)
	})
	t.Run("Random", func(t *testing.T) {
		t.Parallel()
		testEngineRandom(t, open, features)
	})
}

// cases returns the cases of one verb, which have the helpers of their own.
func cases[T ~struct{ *engineTest }](tests map[string]func(T)) map[string]func(*engineTest) {
	all := make(map[string]func(*engineTest), len(tests))
	for name, test := range tests {
		all[name] = func(s *engineTest) { test(T(struct{ *engineTest }{s})) }
	}
	return all
}

// bubble runs a test in a bubble of its own, over a fresh backend.
func bubble(t *testing.T, open spooltest.Open, test func(s *engineTest)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := newEngineTest(t, open(t, spool.SystemClock{}))
		test(s)
		s.check()
	})
}

// engineTest is a subtest's backend and what has happened to it.
type engineTest struct {
	*testing.T

	backend spool.Backend
	history *spooltest.History
	keys    []spool.ThreadKey
	workers []func()
	bound   *time.Timer
}

// chat is the thread of tests that have one.
var chat = spool.ThreadKey{Tenant: "acme", ID: "chat"}

// quiet is how long nothing has to come until nothing more is expected. It is longer
// than a follower waits for a lost item.
const quiet = 5 * time.Second

func newEngineTest(t *testing.T, b spool.Backend) *engineTest {
	t.Helper()
	if b.Streams == nil {
		b.Streams = engine.NewStreams(0)
	}
	if b.Bus == nil {
		b.Bus = engine.NewBus()
	}
	s := &engineTest{T: t, history: &spooltest.History{}, keys: []spool.ThreadKey{chat}}
	s.lasts(longest)
	s.backend = s.history.Record(b)
	t.Cleanup(s.rest)
	return s
}

// longest is how long a test lasts at the most, in the time of its bubble: a worker or a
// follower looks once a second, so a day of waiting for what never comes takes some seconds.
const longest = 12 * time.Hour

// lasts bounds how long the test lasts from now on. A test that lasts longer waits for what
// never comes, and timers keep its bubble from being seen as blocked: it ends the process, as
// a bubble that is blocked does.
func (s *engineTest) lasts(most time.Duration) {
	if s.bound != nil {
		s.bound.Stop()
	}
	name, since := s.Name(), time.Now()
	s.bound = time.AfterFunc(most, func() {
		debug.SetTraceback("all")
		panic(fmt.Sprintf("%s has lasted for %s of its time, and a goroutine below waits for what never comes", name, time.Since(since)))
	})
	s.Cleanup(func() { s.bound.Stop() })
}

// check adds what the store has to the history, and checks it.
func (s *engineTest) check() {
	s.Helper()
	s.rest()
	s.tallied()
	s.history.Threads = nil
	for _, key := range s.keys {
		if err := s.history.Read(context.Background(), s.backend.Store, key); err != nil {
			s.Error(err)
		}
	}
	spooltest.Check(s, s.history)
}

// rest stops all workers.
func (s *engineTest) rest() {
	for _, stop := range s.workers {
		stop()
	}
	s.workers = nil
}

// config returns a configuration of one agent, whose tools are remembered.
func (s *engineTest) config(m spool.Model, tools ...spool.Tool) engine.Config {
	for i := range tools {
		tools[i] = s.history.Tool(tools[i])
	}
	return engine.Config{
		Agents: []engine.Agent{{Name: "a", Model: "m", Tools: tools}},
		Models: map[string]spool.Model{"m": m},
		Log:    slog.New(slog.DiscardHandler),
	}
}

// over returns an engine over a backend, without a worker.
func (s *engineTest) over(b spool.Backend, c engine.Config) *engine.Engine {
	s.Helper()
	e, err := engine.New(b, c)
	if err != nil {
		s.Fatal(err)
	}
	return e
}

// engine returns an engine without a worker.
func (s *engineTest) engine(c engine.Config) *engine.Engine {
	s.Helper()
	return s.over(s.backend, c)
}

// working returns an engine with a worker that works until the end of the test.
func (s *engineTest) working(c engine.Config) *engine.Engine {
	s.Helper()
	e := s.engine(c)
	s.work(e)
	return e
}

// work starts a worker. Stop waits for it, and may be called more than once.
func (s *engineTest) work(e *engine.Engine) (stop func()) {
	return s.workWith(e, engine.WorkOptions{})
}

func (s *engineTest) workWith(e *engine.Engine, o engine.WorkOptions) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- e.Work(ctx, o) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := receive(s, done, bubbleWait, "the end of a worker"); err != nil {
			s.Errorf("work: %v", err)
		}
	})
	s.workers = append(s.workers, stop)
	return stop
}

// start starts a run, which must be accepted.
func (s *engineTest) start(e *engine.Engine, run spool.RunID, prompt string) {
	s.Helper()
	s.startAs(e, chat, engine.StartRequest{Prompt: prompt, RunID: run})
}

func (s *engineTest) startAs(e *engine.Engine, key spool.ThreadKey, r engine.StartRequest) engine.RunResult {
	s.Helper()
	result, err := e.Run(context.Background(), key, r)
	if err != nil || !result.Accepted {
		s.Fatalf("start: %+v, %v", result, err)
	}
	key.ID = result.ThreadID
	if !slices.Contains(s.keys, key) {
		s.keys = append(s.keys, key)
	}
	s.history.Started(key, result.RunID)
	return result
}

// stop stops the run of the thread, which must be accepted.
func (s *engineTest) stop(e *engine.Engine) {
	s.Helper()
	result, err := e.Stop(context.Background(), chat)
	if err != nil || !result.Accepted {
		s.Fatalf("stop: %+v, %v", result, err)
	}
	s.history.Stopped(chat)
}

// answer answers the park of a call that is shown, which must be delivered.
func (s *engineTest) answer(e *engine.Engine, id spool.ToolCallID, approved bool, payload string) {
	s.Helper()
	r := engine.Response{ToolCallID: id, Approved: approved, Digest: s.shown(id).Digest}
	if payload != "" {
		r.Payload = json.RawMessage(payload)
	}
	result, err := s.respondWith(e, r)
	if err != nil || !result.Delivered {
		s.Fatalf("answer: %+v, %v", result, err)
	}
}

func (s *engineTest) respond(e *engine.Engine, id spool.ToolCallID, approved bool, payload string) (engine.RespondResult, error) {
	r := engine.Response{ToolCallID: id, Approved: approved}
	if payload != "" {
		r.Payload = json.RawMessage(payload)
	}
	return s.respondWith(e, r)
}

func (s *engineTest) respondWith(e *engine.Engine, r engine.Response) (engine.RespondResult, error) {
	r.By = cmp.Or(r.By, "ann")
	result, err := e.Respond(context.Background(), chat, r)
	s.history.Answered(spooltest.Answered{Thread: chat, Call: r.ToolCallID, Delivered: result.Delivered, Unknown: err != nil})
	return result, err
}

// thread returns the thread's row.
func (s *engineTest) thread() (thread spool.Thread) {
	_ = s.backend.Store.View(context.Background(), chat, func(v spool.View) (err error) {
		thread, err = v.Thread()
		return err
	})
	return thread
}

// run returns a run of the thread.
func (s *engineTest) run(id spool.RunID) (run spool.Run) {
	s.Helper()
	s.view(func(v spool.View) (err error) {
		run, err = v.Run(id)
		return err
	})
	return run
}

func (s *engineTest) view(fn func(v spool.View) error) {
	s.Helper()
	if err := s.backend.Store.View(context.Background(), chat, fn); err != nil {
		s.Fatal(err)
	}
}

// all returns everything that the store has of a thread and one of its runs.
func (s *engineTest) all(key spool.ThreadKey, run spool.RunID) (c contents) {
	s.Helper()
	err := s.backend.Store.View(context.Background(), key, func(v spool.View) (err error) {
		c, err = readAll(v, run)
		return err
	})
	if err != nil {
		s.Fatal(err)
	}
	return c
}

// until waits for a condition, for up to an hour of the bubble.
func (s *engineTest) until(what string, done func() bool) {
	s.Helper()
	end := time.Now().Add(time.Hour)
	for wait := time.Millisecond; !done(); wait = min(2*wait, 250*time.Millisecond) {
		if time.Now().After(end) {
			s.Fatalf("waited an hour for %s: the thread is %+v", what, s.thread())
		}
		<-time.After(wait)
	}
}

// becomes waits for a state of the thread.
func (s *engineTest) becomes(state spool.State) {
	s.Helper()
	s.until("state "+string(state), func() bool { return s.thread().State == state })
}

// ended waits for the end of the thread's run.
func (s *engineTest) ended(state spool.State) {
	s.Helper()
	s.until("the end of the run", func() bool { return s.thread().State.Terminal() })
	if got := s.thread(); got.State != state {
		s.Fatalf("the run ended as %s, want %s: %+v", got.State, state, s.run(got.RunID))
	}
}

// script returns the messages of the thread in short.
func (s *engineTest) script() (lines []string) {
	s.Helper()
	s.view(func(v spool.View) error {
		messages, err := v.Messages(spool.MessageQuery{})
		for _, m := range messages {
			lines = append(lines, messageLine(m))
		}
		return err
	})
	return lines
}

func messageLine(m spool.Message) string {
	parts := []string{string(m.Role)}
	for _, p := range m.Content {
		switch p.Type {
		case spool.PartToolCall:
			parts = append(parts, string(p.ToolCallID)+"="+p.ToolName+string(compare.Canonical(p.Args)))
		case spool.PartToolResult:
			parts = append(parts, string(p.ToolCallID)+":"+string(compare.Canonical(p.Result)))
		case spool.PartReasoning:
			parts = append(parts, "("+p.Text+")")
		case spool.PartImage:
			parts = append(parts, "<"+p.Image+">")
		default:
			parts = append(parts, p.Text)
		}
	}
	return strings.Join(parts, " ")
}

// record returns the entries of the thread in short.
func (s *engineTest) record() (lines []string) {
	s.Helper()
	s.view(func(v spool.View) error {
		entries, err := v.Entries(spool.EntryQuery{})
		for _, e := range entries {
			lines = append(lines, entryLine(e))
		}
		return err
	})
	return lines
}

func entryLine(e spool.Entry) string {
	var p struct {
		State, StreamID, Status, ToolCallID, Reason string
		Approved                                    *bool
	}
	_ = json.Unmarshal(e.Payload, &p)
	line := []string{string(e.Type)}
	for _, word := range []string{p.StreamID, p.Status, p.ToolCallID, p.Reason, p.State} {
		if word != "" {
			line = append(line, word)
		}
	}
	if p.Approved != nil {
		line = append(line, map[bool]string{true: "approved", false: "denied"}[*p.Approved])
	}
	return strings.Join(line, " ")
}

// lines reports an error unless got is what was wanted.
func (s *engineTest) lines(what string, got []string, want ...string) {
	s.Helper()
	if slices.Equal(got, want) {
		return
	}
	same := 0
	for same < min(len(got), len(want)) && got[same] == want[same] {
		same++
	}
	from := max(same-2, 0)
	s.Errorf("%s, from line %d of %d:\n got %s\nwant %s", what, from+1, len(want), excerpt(got, from), excerpt(want, from))
}

// excerpt returns a few lines from the given one on.
func excerpt(lines []string, from int) string {
	return strings.Join(lines[min(from, len(lines)):min(from+12, len(lines))], "\n     ")
}

// same reports an error unless got is what was wanted. See [compare.Equal].
func (s *engineTest) same(what string, got, want any) {
	s.Helper()
	if !compare.Equal(got, want) {
		s.Errorf("%s:\n got %s\nwant %s", what, compare.Dump(got), compare.Dump(want))
	}
}

// plain returns a tool that answers with a fixed result.
func plain(name, result string) spool.Tool {
	return spool.Tool{ToolSpec: spool.ToolSpec{Name: name}, Call: func(context.Context, spool.ToolCall) (json.RawMessage, error) {
		return json.RawMessage(result), nil
	}}
}

// approved returns a tool whose calls need an approval.
func approved(name, result string) spool.Tool {
	t := plain(name, result)
	t.Approval = spool.AlwaysApprove
	return t
}

// executed counts the calls of tools that took effect.
func (s *engineTest) executed() int {
	return len(s.history.Calls())
}
