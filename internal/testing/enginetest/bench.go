package enginetest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// engineTest is the fixture of one case: a backend, and the history of what happened.
type engineTest struct {
	*testing.T

	options Options
	// opened is the backend that Options.Open returned, and backend is the one that the case itself uses.
	opened, backend store.Backend
	history         *spooltest.History
	versions        *versions
	keysMu          sync.Mutex
	keys            []spool.ThreadKey // the threads that check reads
	workers         []func()          // stop the workers that run
	bound           *time.Timer       // the timer of lasts
	idles           bool              // see idleCases
}

// chat is the thread of cases that need only one.
var chat = spool.ThreadKey{Tenant: "acme", ID: "chat"}

// quiet is how long a case waits before it assumes that nothing more comes. A follower waits less than
// that for a lost item.
const quiet = 5 * time.Second

func newEngineTest(t *testing.T, o Options) *engineTest {
	t.Helper()
	b := o.Open(t, store.SystemClock{})
	if b.Live == nil {
		b.Live = newLive()
	}
	s := &engineTest{
		T: t, options: o, history: &spooltest.History{}, versions: newVersions(t), keys: []spool.ThreadKey{chat},
	}
	s.lasts(longest)
	s.opened = s.history.Record(s.versions.watch(b))
	s.backend = s.opened
	t.Cleanup(s.rest)
	return s
}

// newLive returns run streams and wake-ups within the process.
func newLive() store.Live { return engine.NewLive(0) }

// ownStreams has run streams that no other process has, and the wake-ups of all processes.
type ownStreams struct {
	store.Live

	wakes store.Live
}

func (o ownStreams) Wake(topic spool.ThreadKey, kind store.WakeKind, notice []byte) {
	o.wakes.Wake(topic, kind, notice)
}

func (o ownStreams) Subscribe(
	ctx context.Context, topic spool.ThreadKey, fn func(store.WakeKind, []byte),
) (func(), error) {
	return o.wakes.Subscribe(ctx, topic, fn)
}

// join returns the backend of another process over the same data.
func (s *engineTest) join() store.Backend {
	s.Helper()
	if s.options.Join == nil {
		return s.opened
	}
	b := s.options.Join(s.T, store.SystemClock{})
	if b.Live == nil {
		b.Live = s.opened.Live
	}
	return s.history.Record(s.versions.watch(b))
}

// now returns the time of the store.
func (s *engineTest) now() (now time.Time) {
	s.Helper()
	s.view(func(v store.View) error {
		now = v.Now()
		return nil
	})
	return now
}

// longest bounds a case, in the time of its bubble. A worker or a follower polls once a second, so half
// a day takes some seconds.
const longest = 12 * time.Hour

// lasts bounds how long the case may last from now on. A case that lasts longer is waiting for
// something that never comes. Because of the timer, synctest cannot see that its bubble is blocked. So
// lasts ends the process, as synctest would.
func (s *engineTest) lasts(most time.Duration) {
	if s.bound != nil {
		s.bound.Stop()
	}
	name, since := s.Name(), time.Now()
	s.bound = time.AfterFunc(most, func() {
		debug.SetTraceback("all")
		panic(fmt.Sprintf("%s has lasted for %s of its time, and a goroutine below waits for something that never comes",
			name, time.Since(since)))
	})
	s.Cleanup(func() { s.bound.Stop() })
}

// check adds the store's contents to the history, and checks it.
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
	s.versions.check(s, s.opened.Store)
}

// rest stops all workers.
func (s *engineTest) rest() {
	for _, stop := range s.workers {
		stop()
	}
	s.workers = nil
}

// config returns a configuration with one agent. The history records the calls of its tools.
func (s *engineTest) config(m spool.Model, tools ...spool.Tool) engine.Config {
	for i := range tools {
		tools[i] = s.history.Tool(tools[i])
	}
	return engine.Config{
		Agents: []spool.Agent{{Name: "a", Model: "m", Tools: tools}},
		Models: map[string]spool.Model{"m": m},
		Log:    slog.New(slog.DiscardHandler),

		ParkTTL: 15 * time.Minute, // for days, workers would poll every second
	}
}

// over returns an engine over a backend, without a worker.
func (s *engineTest) over(b store.Backend, c engine.Config) *engine.Engine {
	s.Helper()
	if s.idles {
		c.Worker.Poll = cmp.Or(c.Worker.Poll, idlePoll)
		c.Worker.StopPoll = cmp.Or(c.Worker.StopPoll, idlePoll)
		c.Worker.SweepEvery = cmp.Or(c.Worker.SweepEvery, idlePoll)
	}
	e, err := engine.New(b, c)
	if err != nil {
		s.Fatal(err)
	}
	return e
}

// engine returns the engine of another process, without a worker.
func (s *engineTest) engine(c engine.Config) *engine.Engine {
	s.Helper()
	return s.over(s.join(), c)
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

// start starts a run. The start must be accepted.
func (s *engineTest) start(e *engine.Engine, run spool.RunID, prompt string) {
	s.Helper()
	s.startAs(e, chat, wire.StartRequest{Prompt: prompt, RunID: run})
}

func (s *engineTest) startAs(e *engine.Engine, key spool.ThreadKey, r wire.StartRequest) wire.RunResult {
	s.Helper()
	result, err := e.Run(context.Background(), key, r)
	if err != nil || !result.Accepted {
		s.Fatalf("start: %+v, %v", result, err)
	}
	key.ID = result.ThreadID
	s.keysMu.Lock()
	if !slices.Contains(s.keys, key) {
		s.keys = append(s.keys, key)
	}
	s.keysMu.Unlock()
	s.history.Started(key, result.RunID)
	return result
}

// stop stops the run of the thread. The stop must be accepted.
func (s *engineTest) stop(e *engine.Engine) {
	s.Helper()
	result, err := e.Stop(context.Background(), chat)
	if err != nil || !result.Accepted {
		s.Fatalf("stop: %+v, %v", result, err)
	}
	s.history.Stopped(chat)
}

// answer answers the park of a call. The answer must be delivered.
func (s *engineTest) answer(e *engine.Engine, id spool.ToolCallID, approved bool, payload string) {
	s.Helper()
	r := wire.Response{ToolCallID: id, Approved: approved, Digest: s.shown(id).Digest}
	if payload != "" {
		r.Payload = json.RawMessage(payload)
	}
	result, err := s.respondWith(e, r)
	if err != nil || !result.Delivered {
		s.Fatalf("answer: %+v, %v", result, err)
	}
}

func (s *engineTest) respond(
	e *engine.Engine, id spool.ToolCallID, approved bool, payload string,
) (wire.RespondResult, error) {
	r := wire.Response{ToolCallID: id, Approved: approved}
	if payload != "" {
		r.Payload = json.RawMessage(payload)
	}
	return s.respondWith(e, r)
}

func (s *engineTest) respondWith(e *engine.Engine, r wire.Response) (wire.RespondResult, error) {
	r.By = cmp.Or(r.By, "ann")
	result, err := e.Respond(context.Background(), chat, r)
	s.history.Answered(spooltest.Answered{
		Thread: chat, Call: r.ToolCallID, Delivered: result.Delivered, Unknown: err != nil,
	})
	return result, err
}
