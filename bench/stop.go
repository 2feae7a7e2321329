package main

import (
	"errors"
	"fmt"
	"net/http"
	"time"
)

// measureStop measures the time from the request to stop a run to the run's last event.
func measureStop(b *bench) (_ *section, err error) {
	runs := size(b, 40, 4)
	s := &section{
		title: "Stop",
		how: fmt.Sprintf("A run streams a delta every 5 ms; a client in another process posts to `/api/agent/control` and reads the run's event "+
			"stream up to its RUN_ENDED entry and the notice that it is cancelled, %d runs a round. Before each of them, the server commits "+
			"one row through the same writer of the same file.", runs),
	}
	c, err := b.spawn("spool", options{File: b.newFile("stop")})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.stop()) }()
	if err := c.ask(http.MethodPost, "/work", nil); err != nil {
		return nil, err
	}
	var stops, commits quantiles
	var allStops, allCommits sample
	err = b.interleave(1, func() error {
		var ofStops, ofCommits sample
		for range runs {
			if err := stopOnce(&ofStops, &ofCommits, c); err != nil {
				return err
			}
		}
		stops.add(ofStops)
		commits.add(ofCommits)
		allStops, allCommits = append(allStops, ofStops...), append(allCommits, ofCommits...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	s.rows = []row{
		{"stop, p50", "ms", stops.p50},
		{"stop, p99", "ms", stops.p99},
		{"bare commit, p50", "ms", commits.p50},
		{"bare commit, p99", "ms", commits.p99},
	}
	s.goals = []goal{stopGoal(allStops, allCommits)}
	return s, nil
}

// stopGoal returns the goal of a stop. The bound includes a bare commit, because on a slow disk a run
// cannot stop faster.
func stopGoal(stops, commits sample) goal {
	stop, commit := stops.quantile(0.99), commits.quantile(0.99)
	return goal{
		what: fmt.Sprintf("Stop, p99 of all %d runs in ms", len(stops)),
		want: "at most 100, or 5 times the p99 of a bare commit where that is more",
		got:  fmt.Sprintf("%s (p99 of a bare commit: %s)", number(stop), number(commit)),
		met:  stop <= max(100, 5*commit),
	}
}

// stopOnce starts a run, waits until it streams, and stops it.
func stopOnce(stops, commits *sample, c *child) error {
	thread, err := c.start("", "endless 5ms")
	if err != nil {
		return err
	}
	e, err := c.follow("/api/agent/stream?threadId=" + string(thread))
	if err != nil {
		return err
	}
	defer e.close()
	for range 5 {
		if err := e.until(mark + stamp); err != nil {
			return err
		}
	}
	var commit float64
	if err := c.ask(http.MethodPost, "/commit", &commit); err != nil {
		return err
	}
	if commit < 0 {
		return errors.New("the bare commit failed")
	}
	*commits = append(*commits, commit)

	began := time.Now()
	ended := make(chan error, 1)
	go func() { ended <- errors.Join(e.until(`"RUN_ENDED"`), e.until(`"STATE_CHANGE"`, `"CANCELLED"`)) }()
	if err := c.post("/api/agent/control", map[string]any{"threadId": thread}, nil); err != nil {
		return err
	}
	err = <-ended
	*stops = append(*stops, milliseconds(time.Since(began)))
	return err
}
