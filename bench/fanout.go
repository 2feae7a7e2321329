package main

import (
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"time"
)

// measureFanout measures how many frames per second reach the clients of one thread, compared with a
// broadcaster.
func measureFanout(b *bench) (*section, error) {
	clients, frames := size(b, 1000, 50), size(b, 500, 100)
	s := &section{
		title: "Fan-out",
		how: fmt.Sprintf("One run streams %d deltas as fast as they are taken to %d clients, which are in another process and count bytes; "+
			"frames delivered per second from the first frame of the first client to the last of the last. \"Bare\" is a net/http handler with "+
			"a channel of 64 encoded frames per client, of the same bytes: once with a write and a flush for each frame, and once with a flush only when "+
			"its channel is empty. Spool sends what has gathered in one write as well, so it is held to the second.", frames,
			clients),
	}
	var batched, single, bare, joined sample
	err := b.interleave(1,
		func() error { return b.fanSpool(&batched, 0, clients, frames) },
		func() error { return b.fanBare(&bare, "/", clients, frames) },
		func() error { return b.fanSpool(&single, -1, clients, frames) },
		func() error { return b.fanBare(&joined, "/?join", clients, frames) },
	)
	if err != nil {
		return nil, err
	}
	s.rows = []row{
		{"Spool, flush window 50 ms", "frames/s", batched},
		{"Spool, flush 0", "frames/s", single},
		{"bare, flushed for each frame", "frames/s", bare},
		{"bare, flushed when its channel is empty", "frames/s", joined},
	}
	s.goals = []goal{
		ratioGoal(fmt.Sprintf("Fan-out to %d clients beside the better bare one, flush window", clients), batched, joined,
			0.8, true),
		ratioGoal(fmt.Sprintf("Fan-out to %d clients beside the better bare one, flush 0", clients), single, joined, 0.8,
			true),
	}
	return s, nil
}

func (b *bench) fanSpool(into *sample, flush time.Duration, clients, frames int) (err error) {
	c, thread, err := b.serve(options{File: b.newFile("fanout"), FlushEvery: flush})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.stop()) }()
	return fan(into, c, "/api/agent/stream?threadId="+string(thread), clients, frames, func() error {
		_, err := c.start(thread, fmt.Sprintf("burst %d", frames))
		return err
	})
}

func (b *bench) fanBare(into *sample, path string, clients, frames int) (err error) {
	c, err := b.spawn("broadcaster", options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.stop()) }()
	return fan(into, c, path, clients, frames, func() error {
		return c.ask(http.MethodPost, fmt.Sprintf("/publish?n=%d", frames), nil)
	})
}

// fan connects the clients, has the frames sent, and waits until the clients have them.
func fan(into *sample, c *child, path string, clients, frames int, send func() error) error {
	crowd, err := join(c.Public, path, clients, int64(frames))
	if err != nil {
		return err
	}
	defer crowd.leave() //nolint:errcheck // what matters was read
	if err := send(); err != nil {
		return err
	}
	rate, err := crowd.rate()
	*into = append(*into, rate)
	return err
}

// newFile returns the path of a database that does not exist yet.
func (b *bench) newFile(name string) string {
	return filepath.Join(b.dir, fmt.Sprintf("%s-%d.db", name, time.Now().UnixNano()))
}
