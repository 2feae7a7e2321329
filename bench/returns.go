package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/sqlite"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// returnThread is the thread to which all clients return.
var returnThread = spool.ThreadKey{Tenant: spool.DefaultTenant, ID: "return"}

// returnCursor is a cursor in a stream that has expired, so a client that returns with it gets a
// snapshot. An AG-UI client gets a snapshot if its cursor is before the last entry.
const (
	returnCursor     = "4%20run_return_0000:1%201-5"
	returnCursorAGUI = "1"
)

// measureReturns measures how much other threads are affected when many clients of one large thread
// return at once, and how much memory that uses.
func measureReturns(b *bench) (*section, error) {
	clients, length := size(b, 1000, 20), 2<<20
	s := &section{
		title: "Return of many clients",
		how: fmt.Sprintf("%d clients in another process come back at once to a thread of 2 MB whose stream has expired, so each gets a snapshot, in the native format or in AG-UI. "+
			"Meanwhile a client in a third process starts a run in a new thread, and takes the snapshot of a small one, every 10 ms. \"Idle\" is that client "+
			"alone. Memory is the highest resident memory of the server, beside that when as many clients come back to a thread of 2 KB.", clients),
	}
	formats := []returnFormat{
		{query: "cursor=" + returnCursor, most: 4},
		{name: "AG-UI, ", query: "wireFormat=ag-ui&cursor=" + returnCursorAGUI, most: 3},
	}
	var arms []func() error
	for n := range formats {
		f := &formats[n]
		arms = append(arms,
			func() error { return b.returns(&f.small, f.query, clients, 2<<10) },
			func() error { return b.returns(&f.large, f.query, clients, length) },
		)
	}
	if err := b.interleave(1, arms...); err != nil {
		return nil, err
	}
	for _, f := range formats {
		s.add(f, length)
	}
	return s, nil
}

// returnFormat is a wire format in which clients return to a small and to a large thread.
type returnFormat struct {
	name, query  string
	most         float64 // the goal of its memory, in snapshots
	small, large returned
}

// add adds the rows and the goals of a format.
func (s *section) add(f returnFormat, length int) {
	var later, grown sample
	for i := range f.large.busy.p99 {
		later = append(later, f.large.busy.p99[i]-f.large.idle.p99[i])
		grown = append(grown, (f.large.peak[i]-f.small.peak[i])/float64(length))
	}
	s.rows = append(s.rows,
		row{f.name + "another thread, idle, p50", "ms", f.large.idle.p50},
		row{f.name + "another thread, idle, p99", "ms", f.large.idle.p99},
		row{f.name + "another thread, while they return, p50", "ms", f.large.busy.p50},
		row{f.name + "another thread, while they return, p99", "ms", f.large.busy.p99},
		row{f.name + "until all have their snapshot", "ms", f.large.took},
		row{f.name + "highest resident memory over that for a small thread", "snapshots", grown},
	)
	s.goals = append(s.goals,
		atMost(f.name+"p99 of another thread while clients return, over idle, in ms", later.median(), 100),
		atMost(f.name+"memory while clients return, in snapshots", grown.median(), f.most),
	)
}

// returned is the measurements of clients that return.
type returned struct {
	idle, busy quantiles
	took, peak sample
}

func (b *bench) returns(into *returned, query string, clients, length int) (err error) {
	file := b.newFile("returns")
	if err := fillReturns(b.ctx, file, length); err != nil {
		return err
	}
	c, other, err := b.serve(options{File: file})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.stop()) }()
	crowd, err := b.spawn("returners", options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, crowd.stop()) }()

	pause := size(b, 2*time.Second, 100*time.Millisecond)
	idle, err := c.others(other, pause, func() error { <-time.After(pause); return nil })
	if err != nil {
		return err
	}
	if err := c.ask(http.MethodPost, "/peak", nil); err != nil {
		return err
	}
	var took float64
	busy, err := c.others(other, 2*pause, func() error {
		return crowd.ask(http.MethodPost, fmt.Sprintf("/return?addr=%s&n=%d&bytes=%d&query=%s", c.Public, clients, length,
			url.QueryEscape(query)), &took)
	})
	if err != nil {
		return err
	}
	var peak float64
	if err := c.ask(http.MethodGet, "/peak", &peak); err != nil {
		return err
	}
	into.idle.add(idle)
	into.busy.add(busy)
	into.took = append(into.took, took)
	into.peak = append(into.peak, peak)
	return nil
}

// others measures requests of other threads while do runs, and at least for the given time, so that the
// server does the same work in both arms.
func (c *child) others(thread spool.ThreadID, atLeast time.Duration, do func() error) (sample, error) {
	began := time.Now()
	done := make(chan error, 1)
	go func() { done <- do() }()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	var o otherRequests
	var failure error
	for over := false; !over || time.Since(began) < atLeast; {
		select {
		case failure = <-done:
			over = true
			o.stop()
		case <-tick.C:
			o.ask(func() error { _, err := c.start("", "hello"); return err })
			o.ask(func() error {
				return request(c.ctx, http.MethodGet, "http://"+c.Public+"/api/agent/history?threadId="+string(thread), nil, nil)
			})
		}
	}
	o.asking.Wait()
	return o.took, errors.Join(failure, o.failure)
}

// otherRequests are concurrent requests.
type otherRequests struct {
	asking sync.WaitGroup

	mu      sync.Mutex
	stopped bool // requests that begin from now on are not measured
	took    sample
	failure error
}

func (o *otherRequests) stop() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.stopped = true
}

func (o *otherRequests) ask(ask func() error) {
	o.mu.Lock()
	measured := !o.stopped
	o.mu.Unlock()
	o.asking.Go(func() {
		began := time.Now()
		err := ask()
		took := milliseconds(time.Since(began))
		o.mu.Lock()
		defer o.mu.Unlock()
		if measured {
			o.took = append(o.took, took)
		}
		o.failure = errors.Join(o.failure, err)
	})
}

// fillReturns creates a database with a thread of the given number of bytes.
func fillReturns(ctx context.Context, file string, length int) error {
	db, err := sqlite.Open(file, nil)
	if err != nil {
		return err
	}
	defer db.Close()
	return db.Update(ctx, returnThread, 0, func(tx store.Tx) error {
		run := filledRun(returnThread, 0)
		c := store.Changes{
			Thread: &wire.Thread{State: wire.Completed, Model: "script", RunID: run},
			NewRuns: []store.RunRow{
				{
					Run: wire.Run{
						ID: run, Agent: "bench", Model: "script", State: wire.Completed, StopReason: "completed", Segments: 1,
					},
				},
			},
			Entries: segmentEntries(run, 1),
		}
		const each = 2 << 10
		for i := range length / each {
			c.Messages = append(c.Messages, &spool.Message{
				ID: spool.MessageID("msg_" + strconv.Itoa(i)), RunID: run,
				Role: []spool.Role{spool.RoleUser, spool.RoleAssistant}[i%2], Content: spool.TextContent(strings.Repeat("a", each)),
			})
		}
		return tx.Write(c)
	})
}

// newReturners returns the role of a process of clients.
func newReturners(options) (*served, error) {
	control := http.NewServeMux()
	control.HandleFunc("POST /return", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		n, _ := strconv.Atoi(q.Get("n"))
		length, _ := strconv.Atoi(q.Get("bytes"))
		began := time.Now()
		if err := comeBack(q.Get("addr"), q.Get("query"), n, length); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		reply(w, milliseconds(time.Since(began)))
	})
	return &served{public: http.NotFoundHandler(), control: control, close: func() error { return nil }}, nil
}

// comeBack connects clients and returns when each has read length bytes. All clients stay connected
// until then.
func comeBack(addr, query string, clients, length int) error {
	var mu sync.Mutex
	var failure error
	var all, ready sync.WaitGroup
	ready.Add(clients)
	for range clients {
		all.Go(func() {
			if err := comeBackOnce(addr, query, length, &ready); err != nil {
				mu.Lock()
				defer mu.Unlock()
				failure = errors.Join(failure, err)
			}
		})
	}
	all.Wait()
	return failure
}

func comeBackOnce(addr, query string, length int, ready *sync.WaitGroup) error {
	done := sync.OnceFunc(ready.Done)
	defer done()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience))
	_, err = fmt.Fprintf(conn,
		"GET /api/agent/stream?threadId=%s&%s HTTP/1.1\r\nHost: %s\r\nAccept: text/event-stream\r\n\r\n",
		returnThread.ID, query, addr)
	if err != nil {
		return err
	}
	buf := make([]byte, 32<<10)
	for got := 0; got < length; {
		n, err := conn.Read(buf)
		if err != nil {
			return fmt.Errorf("%d bytes of %d came: %w", got, length, err)
		}
		if got == 0 && !strings.HasPrefix(string(buf[:n]), "HTTP/1.1 200") {
			return fmt.Errorf("connect: %.80s", buf[:n])
		}
		got += n
	}
	done()
	ready.Wait()
	return nil
}
