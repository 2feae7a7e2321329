package server

import (
	"net/http"
	"sync"
	"time"

	"github.com/spoolhq/spool"
)

const (
	// mostElements is how many values and keys a body may have. Each of them takes memory,
	// however short it is on the wire.
	mostElements = 100_000
	// elementCost is what an element may take when it is decoded, in bytes. It is that of a
	// message of AG-UI, with what a growing list of them leaves behind.
	elementCost = 512

	// smallBody bounds a body that has ids and words alone.
	smallBody = 64 << 10
	// longBody bounds a body that has JSON of the client's own, such as the payload of an
	// answer.
	longBody = 1 << 20
)

// bodyBudget bounds what the bodies of all requests under way take, in bytes. It counts
// what has come and what it is decoded to, and not what a client has announced.
type bodyBudget struct {
	most int64

	mu    sync.Mutex
	taken int64
}

// take takes bytes for a body that is bounded by limit. A quarter of the budget is kept for
// bodies that are not large, so that a run can be stopped while large bodies come.
func (b *bodyBudget) take(n, limit int64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	most := b.most
	if limit > longBody {
		most -= b.most / 4
	}
	if b.taken+n > most {
		return &laterError{
			spool.Errorf(spool.Unavailable, "too many bodies are being read at the same time; try again"), time.Second,
		}
	}
	b.taken += n
	return nil
}

func (b *bodyBudget) give(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.taken -= n
}

// bodyShare is what one request has of the budget.
type bodyShare struct {
	budget *bodyBudget
	taken  int64
}

func (s *bodyShare) take(n, limit int64) error {
	if err := s.budget.take(n, limit); err != nil {
		return err
	}
	s.taken += n
	return nil
}

// release gives everything back. The request has no body any more.
func (s *bodyShare) release() {
	s.budget.give(s.taken)
	s.taken = 0
}

// releaseBody gives back what the body of a request has taken.
func releaseBody(r *http.Request) {
	if b, ok := r.Body.(*unreadBody); ok {
		b.share.release()
	}
}

// checkElements returns an error for a text that takes far more memory when it is decoded
// than it has bytes: one with too many values, or too many of them in each other. It reads
// the text once and keeps nothing. A text that is not JSON is left to the decoder.
func checkElements(text []byte) (elements int64, err error) {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[', c == '{':
			depth++
			elements++
		case c == ']', c == '}':
			depth--
		case c == ',', c == ':':
			elements++
		}
		if depth > spool.MaxJSONDepth {
			return elements, spool.Errorf(spool.Invalid, "the body is nested deeper than %d arrays and objects", spool.MaxJSONDepth)
		}
		if elements > mostElements {
			return elements, spool.Errorf(codeTooLarge, "the body has more than %d values", mostElements)
		}
	}
	return elements, nil
}
