package enginetest

import (
	"slices"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// testWaitLatestInterrupt has a start that supersedes the waiting runs. A waiting run that has stopped
// its predecessor counts as if it had the thread, and is not superseded.
func testWaitLatestInterrupt(s waitTest) {
	gate := make(chan struct{})
	m := deaf(gate)
	e := s.working(s.config(m))
	s.start(e, "r1", "one!")
	s.until("the question", func() bool { return m.Asked() == 1 })
	s.busy(e, "r2", spool.BusyInterrupt)
	s.busy(e, "r3", spool.BusyEnqueue)
	if r := s.busy(e, "r4", spool.BusyLatest); r.Position != 2 {
		s.Errorf("result: %+v", r)
	}
	if got := s.queue(e); got != "r2 r4" {
		s.Errorf("the queue is %q", got)
	}
	close(gate)
	s.ended(wire.Completed)
	s.lines("messages", s.scriptBut("assistant re: one!"), "user one!", "user r2", "assistant re: r2", "user r4",
		"assistant re: r4")
	if got := s.states(); got != "r1 CANCELLED, r2 COMPLETED, r3 CANCELLED, r4 COMPLETED" {
		s.Errorf("the runs: %s", got)
	}
}

// testWaitPlaces has so many waiting runs that an unstable sort would show. Each has its own position,
// with those that have stopped another run first, and they get the thread in that order.
func testWaitPlaces(s waitTest) {
	gate := make(chan struct{})
	m := deaf(gate)
	c := s.config(m)
	c.Limits.Waiting = 40
	e := s.working(c)
	s.start(e, "r", "one!")
	s.until("the question", func() bool { return m.Asked() == 1 })
	var stops, rest []string
	for i := range 20 {
		id := string(rune('a' + i))
		if i%2 == 0 {
			s.busy(e, spool.RunID("s"+id), spool.BusyInterrupt)
			stops = append(stops, "s"+id)
		}
		s.busy(e, spool.RunID("e"+id), spool.BusyEnqueue)
		rest = append(rest, "e"+id)
	}
	want := slices.Concat(stops, rest)
	if got := s.queue(e); got != strings.Join(want, " ") {
		s.Errorf("the queue is %q", got)
	}
	s.view(func(v store.View) error {
		line, err := v.Runs(wire.RunQuery{Waiting: true, Whole: true})
		for i := 1; i < len(line); i++ {
			if line[i].QueuePosition <= line[i-1].QueuePosition {
				s.Errorf("run %s has the place %d after run %s with the place %d", line[i].ID, line[i].QueuePosition, line[i-1].ID,
					line[i-1].QueuePosition)
			}
		}
		return err
	})
	close(gate)
	s.ended(wire.Completed)
	var got []string
	for _, line := range s.script() {
		if id, ok := strings.CutPrefix(line, "user "); ok && id != "one!" {
			got = append(got, id)
		}
	}
	s.lines("the turns", got, want...)
}
