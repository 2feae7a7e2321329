package stream

import (
	"context"
	"net"
)

// conns are the connections that were taken over, or are this moment.
type conns struct {
	closing bool
	open    map[*takenOver]struct{}
	// left gets a value after a connection has left open.
	left chan struct{}
}

// add adds a stream. A stream that comes during the shutdown ends at once.
func (s *Streams) add(t *takenOver) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conns.open[t] = struct{}{}
	if s.conns.closing {
		t.closing.Store(true)
	}
}

// connect gives a stream its connection, and closes it if [Streams.Close] has cut the stream in between.
func (s *Streams) connect(t *takenOver, conn net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.out = chunked{conn}
	if t.cut {
		_ = conn.Close()
	}
}

func (s *Streams) remove(t *takenOver) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns.open, t)
	select {
	case s.conns.left <- struct{}{}:
	default:
	}
}

// TakenOver returns how many open streams have taken their connection over.
func (s *Streams) TakenOver() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns.open)
}

// Close ends the streams that have taken their connection over, as the engine's end does, and waits for that:
// the shutdown of an [http.Server] does not. If ctx ends first, Close cuts the remaining connections and
// returns how many there were.
func (s *Streams) Close(ctx context.Context) (cut int) {
	s.mu.Lock()
	s.conns.closing = true
	for t := range s.conns.open {
		t.closing.Store(true)
		t.wake()
	}
	s.mu.Unlock()
	for s.TakenOver() > 0 {
		select {
		case <-s.conns.left:
		case <-ctx.Done():
			return s.cutAll()
		}
	}
	return 0
}

func (s *Streams) cutAll() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	for t := range s.conns.open {
		if t.cut = true; t.out.conn != nil {
			_ = t.out.conn.Close()
		}
	}
	return len(s.conns.open)
}
