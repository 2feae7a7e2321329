package main

import (
	"maps"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/wire"
)

// broadcaster sends frames to the connected clients and does nothing else: it has no storage and no
// cursors, and a client that is not connected misses frames.
type broadcaster struct {
	hello []byte

	mu      sync.Mutex
	clients map[*listener]struct{}
}

// listener is a client. While its queue is full, the sender waits, so that nothing is lost.
type listener struct {
	queue chan []byte
	gone  <-chan struct{}
}

func newBroadcaster(options) (*served, error) {
	b := &broadcaster{hello: bareHello(), clients: make(map[*listener]struct{})}
	control := http.NewServeMux()
	control.HandleFunc("POST /publish", func(_ http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.FormValue("n"))
		gap, _ := time.ParseDuration(r.FormValue("gap"))
		go b.publish(n, gap)
	})
	return &served{public: b, control: control, close: func() error { return nil }}, nil
}

// ServeHTTP serves an event stream. With "join" it does not flush while more frames are waiting.
func (b *broadcaster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l := &listener{queue: make(chan []byte, 64), gone: r.Context().Done()}
	b.mu.Lock()
	b.clients[l] = struct{}{}
	b.mu.Unlock()
	defer func() {
		b.mu.Lock()
		delete(b.clients, l)
		b.mu.Unlock()
	}()
	maps.Copy(w.Header(), engine.SSEHeaders())
	join := r.URL.Query().Has("join")
	control := http.NewResponseController(w)
	for frame := b.hello; ; {
		if _, err := w.Write(frame); err != nil {
			return
		}
		if !join || len(l.queue) == 0 {
			if err := control.Flush(); err != nil {
				return
			}
		}
		select {
		case frame = <-l.queue:
		case <-l.gone:
			return
		}
	}
}

// publish sends n deltas, with the gap between them. Without a gap, it sends them as fast as the
// clients take them.
func (b *broadcaster) publish(n int, gap time.Duration) {
	var frames [][]byte
	for i := range n {
		frames = append(frames, bareFrame(i+1, time.Now()))
	}
	if gap <= 0 {
		for _, frame := range frames {
			b.send(frame)
		}
		return
	}
	ticker := time.NewTicker(gap)
	defer ticker.Stop()
	for i := range n {
		<-ticker.C
		b.send(bareFrame(i+1, time.Now()))
	}
}

func (b *broadcaster) send(frame []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for l := range b.clients {
		select {
		case l.queue <- frame:
		case <-l.gone:
		}
	}
}

// bareFrame returns the bytes that Spool sends for a delta, made in the same way.
func bareFrame(n int, at time.Time) []byte {
	const run = "run_06f2x7vj3k6m8wq1c4d9h5n0ra"
	item := wire.NewItem(wire.ItemTextContent, wire.Offset{Fence: 2, N: int64(n) + 3}, 3,
		wire.Delta{MessageID: run + ":1:m1", Delta: stamped(at)})
	cursor := &wire.Cursor{Seq: 3, Stream: run + ":1", Offset: item.Offset}
	frame := wire.Frame{Kind: wire.FrameStream, StreamID: run + ":1", Item: &item, Cursor: cursor}
	return engine.FollowFrame(frame, cursor)
}

// bareHello returns approximately the bytes that Spool sends to a client that connects.
func bareHello() []byte {
	return []byte("retry: 1000\n\n" +
		`data: {"kind":"thread","event":{"threadId":"thr_06f2x7vj3k6m8wq1c4d9h5n0ra","seq":0,` +
		`"type":"STATE_CHANGE","payload":{"state":"COMPLETED","runId":"run_06f2x7vj3k6m8wq1c4d9h5n0ra"},` +
		`"createdAt":"2026-01-01T00:00:00.000000Z","runId":"run_06f2x7vj3k6m8wq1c4d9h5n0ra"}}` + "\n\n")
}
