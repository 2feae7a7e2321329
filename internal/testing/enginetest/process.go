package enginetest

import (
	"context"
	"sync"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// process is an engine with a worker that can be killed. After that, nothing that it writes is saved.
type process struct {
	*engine.Engine

	faulty *spooltest.Faulty
	stop   func()
}

// process starts an engine with a worker of its own, which can be killed.
func (s *engineTest) process(c engine.Config) *process {
	s.Helper()
	f := spooltest.NewFaulty(s.join())
	e := s.over(f.Backend(), c)
	return &process{Engine: e, faulty: f, stop: s.work(e)}
}

// kill kills the process.
func (p *process) kill() {
	crash(p.faulty)
	p.stop()
	p.Close()
}

// crash kills the process behind the wrapper by planning a crash for the next call and making that
// call.
func crash(f *spooltest.Faulty) {
	for {
		f.Plan(spooltest.Fault{Call: f.Calls() + 1, Kind: spooltest.CrashBefore})
		_, _ = f.Backend().Store.Stats(context.Background(), wire.StatsQuery{Queue: true})
		select {
		case <-f.Crashed():
			return
		default: // another call came first
		}
	}
}

// stall is a store whose updates of a thread can be delayed, like those of a paused process. The
// updates' contexts are ignored while they wait.
type stall struct {
	store.Store

	mu   sync.Mutex
	gate chan struct{}
}

// newStall returns the backend of a process that can be paused.
func (s *engineTest) newStall() (*stall, store.Backend) {
	b := s.join()
	p := &stall{Store: b.Store}
	b.Store = p
	s.Cleanup(p.wake) // a failing test must not leave the process paused
	return p, b
}

func (s *stall) pause() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gate = make(chan struct{})
}

func (s *stall) wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gate != nil {
		close(s.gate)
		s.gate = nil
	}
}

func (s *stall) wait() {
	s.mu.Lock()
	gate := s.gate
	s.mu.Unlock()
	if gate != nil {
		<-gate
	}
}

// Update waits until the process is not paused.
func (s *stall) Update(ctx context.Context, key spool.ThreadKey, fence int64, fn func(store.Tx) error) error {
	s.wait()
	return s.Store.Update(context.WithoutCancel(ctx), key, fence, fn)
}

// View waits until the process is not paused.
func (s *stall) View(ctx context.Context, key spool.ThreadKey, fn func(store.View) error) error {
	s.wait()
	return s.Store.View(context.WithoutCancel(ctx), key, fn)
}
