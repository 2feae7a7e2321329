package main

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const latencyGap = 5 * time.Millisecond

// measureLatency measures the delay between a model and a client.
func measureLatency(b *bench) (*section, error) {
	deltas := size(b, 300, 40)
	s := &section{
		title: "Added latency",
		how: fmt.Sprintf("A model makes a delta every %s, %d in a round, and writes into it when. A client in another process subtracts that "+
			"from the time at which it has read the frame. \"Bare\" is the broadcaster of the fan-out. With the window, a delta waits for "+
			"those that follow, so half of the window is what to expect.", latencyGap, deltas),
	}
	var direct, window, bare quantiles
	err := b.interleave(1,
		func() error { return b.delaySpool(&direct, -1, deltas) },
		func() error { return b.delayBare(&bare, deltas) },
		func() error { return b.delaySpool(&window, 0, deltas) },
	)
	if err != nil {
		return nil, err
	}
	s.rows = []row{
		{"Spool, flush 0, p50", "ms", direct.p50},
		{"Spool, flush 0, p99", "ms", direct.p99},
		{"Spool, flush window 50 ms, p50", "ms", window.p50},
		{"Spool, flush window 50 ms, p99", "ms", window.p99},
		{"bare, p50", "ms", bare.p50},
		{"bare, p99", "ms", bare.p99},
	}
	s.goals = []goal{
		atMost("Added latency, flush 0, p50 in ms", direct.p50.median(), 3),
		atMost("Added latency, flush window 50 ms, p50 in ms", window.p50.median(), 50),
		atMost("Added latency, flush window 50 ms, p99 in ms (the window and 3 ms)", window.p99.median(), 53),
	}
	return s, nil
}

// quantiles has the quantiles of each round.
type quantiles struct{ p50, p99 sample }

func (q *quantiles) add(s sample) {
	q.p50 = append(q.p50, s.quantile(0.5))
	q.p99 = append(q.p99, s.quantile(0.99))
}

func atMost(what string, got, want float64) goal {
	return goal{what: what, want: "at most " + number(want), got: number(got), met: got <= want}
}

func (b *bench) delaySpool(into *quantiles, flush time.Duration, deltas int) (err error) {
	c, thread, err := b.serve(options{File: b.newFile("latency"), FlushEvery: flush})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.stop()) }()
	return delay(into, c, "/api/agent/stream?threadId="+string(thread), deltas, func() error {
		_, err := c.start(thread, fmt.Sprintf("pace %d %s", deltas, latencyGap))
		return err
	})
}

func (b *bench) delayBare(into *quantiles, deltas int) (err error) {
	c, err := b.spawn("broadcaster", options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.stop()) }()
	return delay(into, c, "/", deltas, func() error {
		return c.ask(http.MethodPost, fmt.Sprintf("/publish?n=%d&gap=%s", deltas, latencyGap), nil)
	})
}

// delay follows a thread, has the deltas sent, and reads the time in each.
func delay(into *quantiles, c *child, path string, deltas int, send func() error) error {
	e, err := c.follow(path)
	if err != nil {
		return err
	}
	defer e.close()
	if err := e.until("STATE_CHANGE"); err != nil {
		return err
	}
	if err := send(); err != nil {
		return err
	}
	var all sample
	for len(all) < deltas {
		data, err := e.data()
		if err != nil {
			return err
		}
		now := time.Now()
		_, rest, found := strings.Cut(data, mark+stamp)
		if !found {
			continue
		}
		digits, _, _ := strings.Cut(rest, " ")
		at, err := strconv.ParseInt(digits, 10, 64)
		if err != nil {
			return err
		}
		all = append(all, milliseconds(now.Sub(time.Unix(0, at))))
	}
	into.add(all)
	return nil
}
