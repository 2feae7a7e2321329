package chat

import (
	"net/http"
	"sync"

	"github.com/spoolhq/spool"
)

// Reach is the transport of a client. It says when the server cannot be reached, and when it is back, once each. It is
// safe for concurrent use.
type Reach struct {
	// URL is the address of the server.
	URL string
	// Base sends the requests. Defaults to [http.DefaultTransport].
	Base http.RoundTripper

	mu     sync.Mutex
	notify func(text string)
	away   bool
}

// Notify sets the function that gets the texts about changes. The function must not send a request.
func (r *Reach) Notify(notify func(text string)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.notify = notify
}

// While calls do and holds the texts back meanwhile, so that the two do not print at once.
func (r *Reach) While(do func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	do()
}

// Lost says that a follower connects anew, because of err.
func (r *Reach) Lost(err error) {
	r.change(true, "the connection is away, and is tried again: "+spool.MessageOf(err))
}

// RoundTrip implements [http.RoundTripper].
func (r *Reach) RoundTrip(q *http.Request) (*http.Response, error) {
	base := r.Base
	if base == nil {
		base = http.DefaultTransport
	}
	res, err := base.RoundTrip(q)
	switch {
	case q.Context().Err() != nil:
	case err != nil:
		r.change(true, "cannot reach "+Clean(r.URL)+", trying again")
	case res.StatusCode < http.StatusInternalServerError && res.StatusCode != http.StatusTooManyRequests:
		r.change(false, "connected")
	}
	return res, err
}

// change tells a text if the server was not away before, or was.
func (r *Reach) change(away bool, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.away != away && r.notify != nil {
		r.notify(text)
	}
	r.away = away
}
