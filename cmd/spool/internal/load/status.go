package load

import (
	"sync"
	"time"
)

// Phase is a part of a load.
type Phase string

// The phases of a load.
const (
	PhaseWarmUp Phase = "warm-up"
	// PhaseRung is a rung while runs arrive, and while they end.
	PhaseRung Phase = "rung"
	// PhaseDone is the end of a rung.
	PhaseDone Phase = "done"
	// PhaseClean is the deletion of the threads.
	PhaseClean Phase = "clean"
)

// Status is how far a load is.
type Status struct {
	Phase Phase
	// Rung is the rung, from 1, of Rungs.
	Rung, Rungs int
	// Rate is the rate of the rung, in runs per second.
	Rate float64
	// Elapsed is the time since the phase began, and Of how long runs arrive.
	Elapsed, Of time.Duration
	// Sent are the runs that were started, Ended those that ended, and Failed those that failed. While threads
	// are deleted, Sent are the threads and Ended those that were deleted.
	Sent, Ended, Failed int
	// Watchers are the clients that follow now.
	Watchers int
	// Done is the result of a rung, in PhaseDone.
	Done *Rung
}

// tick is the time between two reports of the progress.
const tick = 200 * time.Millisecond

func (l *load) report(s Status) {
	if l.c.Progress != nil {
		l.c.Progress(s)
	}
}

// ticker reports the progress of a rung until its result is called.
func (l *load) ticker(m *measure, p plan) (stop func()) {
	done := make(chan struct{})
	var ticking sync.WaitGroup
	ticking.Go(func() {
		ticker := time.NewTicker(tick)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				l.report(m.status(p))
			case <-done:
				return
			}
		}
	})
	return func() {
		close(done)
		ticking.Wait()
	}
}

// status returns how far the rung is.
func (m *measure) status(p plan) Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := p.status
	s.Rate, s.Elapsed, s.Of = p.rate, time.Since(m.began), p.step
	s.Sent, s.Ended, s.Failed, s.Watchers = m.sum.Accepted, m.sum.Ended, m.failures, m.connected
	return s
}
