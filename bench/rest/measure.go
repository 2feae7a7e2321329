package main

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"syscall"
	"time"
)

// effort is how much is measured.
type effort struct {
	repeats int           // of everything; a figure is their median
	rounds  int           // of each implementation, in turns, within a repeat
	round   time.Duration // approximate CPU time
	allocs  int           // calls over which allocations are counted
	rows    int           // of the table from which deep pages are read
}

var (
	full  = effort{repeats: 5, rounds: 60, round: 4 * time.Millisecond, allocs: 2000, rows: 100_000}
	quick = effort{repeats: 2, rounds: 5, round: time.Millisecond, allocs: 100, rows: 10_000}
)

// subject is an implementation, or a variant of one, in one case.
type subject struct {
	name string
	*exchange

	calls int     // per round
	times sample  // ns per call, one number a repeat
	bytes float64 // per call
	count float64 // allocations per call
}

// measure measures the subjects. Within a round they take turns, in another order each time, so that
// other load on the machine affects all of them.
func measure(subjects []*subject, e effort) error {
	for _, s := range subjects {
		if err := s.calibrate(e.round); err != nil {
			return err
		}
		s.allocations(e.allocs)
	}
	order := rand.New(rand.NewPCG(1, 2))
	for range e.repeats {
		runtime.GC()
		took := make([]sample, len(subjects))
		for range e.rounds {
			for _, i := range order.Perm(len(subjects)) {
				ns, err := subjects[i].cost(subjects[i].calls)
				if err != nil {
					return err
				}
				took[i] = append(took[i], ns)
			}
		}
		for i, s := range subjects {
			s.times = append(s.times, took[i].quantile(0.1))
		}
	}
	return nil
}

// calibrate finds how many calls take approximately as long as a round. It also warms up.
func (s *subject) calibrate(round time.Duration) error {
	for s.calls = 16; ; s.calls *= 2 {
		ns, err := s.cost(s.calls)
		if err != nil {
			return err
		}
		if total := ns * float64(s.calls); total > float64(round)/4 {
			s.calls = max(1, int(float64(round)/ns))
			return nil
		}
	}
}

// cost returns the CPU time of a call in ns, averaged over n calls.
func (s *subject) cost(n int) (float64, error) {
	began, err := cpuTime()
	if err != nil {
		return 0, err
	}
	s.do(n)
	ended, err := cpuTime()
	return float64(ended-began) / float64(n), err
}

// allocations counts the allocations of a call, averaged over n calls.
func (s *subject) allocations(n int) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	s.do(n)
	runtime.ReadMemStats(&after)
	s.bytes = float64(after.TotalAlloc-before.TotalAlloc) / float64(n)
	s.count = float64(after.Mallocs-before.Mallocs) / float64(n)
}

// cpuTime returns the CPU time that this process has used. Unlike the clock, it does not advance while
// other processes have the processor.
func cpuTime() (time.Duration, error) {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0, fmt.Errorf("read the CPU time: %w", err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()), nil
}
