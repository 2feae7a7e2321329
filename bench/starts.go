package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// startPrompt is the prompt of the started runs.
const startPrompt = "Look up what the weather is like in Lisbon today, and tell me whether I need an umbrella."

// measureStarts measures how many starts per second are accepted, and so are durable, compared with the
// same rows written without Spool.
func measureStarts(b *bench) (*section, error) {
	// The rounds are more and shorter than elsewhere: on a shared disk, an fsync can take ten times as
	// long in one second as in the next.
	took := size(b, time.Second, 200*time.Millisecond)
	turns := size(b, 2, 1)
	s := &section{
		title: "Run starts",
		how: fmt.Sprintf("`POST /api/agent/run` on a new thread each, for %s a round, from concurrent keep-alive clients in another "+
			"process; server, engine and a SQLite file with an fsync per commit, no worker. \"Bare\" is a handler of net/http that decodes the body "+
			"and has one writer run the same statements on the same tables through the same driver, with the same group commit; the same "+
			"clients post to it. Both files are new each round.", took),
	}
	for _, clients := range []int{16, 64} {
		var started, bare sample
		err := b.interleave(turns,
			func() error { return b.round(&started, "spool", clients, took, driveStarts) },
			func() error { return b.round(&bare, "bare-starts", clients, took, driveStarts) },
		)
		if err != nil {
			return nil, err
		}
		s.rows = append(s.rows,
			row{fmt.Sprintf("Spool, %d clients", clients), "starts/s", started},
			row{fmt.Sprintf("bare, %d clients", clients), "starts/s", bare},
		)
		s.goals = append(s.goals, ratioGoal(fmt.Sprintf("Starts beside bare, %d clients", clients), started, bare, 0.5, true))
	}
	return s, nil
}

// round measures one arm on a new file.
func (b *bench) round(into *sample, role string, clients int, took time.Duration,
	drive func(c *child, clients int, took time.Duration) (float64, error),
) (err error) {
	c, err := b.spawn(role, options{File: b.newFile("starts")})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.stop()) }()
	rate, err := drive(c, clients, took)
	*into = append(*into, rate)
	return err
}

// driveStarts makes the load, and then checks that every accepted start left a job.
func driveStarts(c *child, clients int, took time.Duration) (rate float64, err error) {
	body := fmt.Sprintf(`{"prompt":%q}`, startPrompt)
	text := fmt.Appendf(nil,
		"POST /api/agent/run HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		c.Public, len(body), body)
	conns := make([]net.Conn, clients)
	for i := range conns {
		if conns[i], err = net.Dial("tcp", c.Public); err != nil {
			return 0, err
		}
		defer conns[i].Close()
	}
	var accepted atomic.Int64
	var failure atomic.Pointer[error]
	var wg sync.WaitGroup
	began := time.Now()
	for _, conn := range conns {
		wg.Go(func() {
			in := bufio.NewReader(conn)
			for time.Since(began) < took {
				if err := startOnce(conn, in, text); err != nil {
					failure.Store(&err)
					return
				}
				accepted.Add(1)
			}
		})
	}
	wg.Wait()
	rate = float64(accepted.Load()) / time.Since(began).Seconds()
	if failed := failure.Load(); failed != nil {
		return 0, *failed
	}
	var jobs int64
	if err := c.ask(http.MethodGet, "/count", &jobs); err != nil {
		return 0, err
	}
	if jobs != accepted.Load() {
		return 0, fmt.Errorf("%d starts were accepted, and %d have jobs", accepted.Load(), jobs)
	}
	return rate, nil
}

// startOnce sends a start. It is cheaper than a client of net/http, which would take CPU from the
// server.
func startOnce(conn net.Conn, in *bufio.Reader, text []byte) error {
	if _, err := conn.Write(text); err != nil {
		return err
	}
	answer, err := http.ReadResponse(in, nil)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		return err
	}
	if answer.StatusCode != http.StatusAccepted {
		return fmt.Errorf("start: %s", answer.Status)
	}
	return nil
}
