package live

import (
	"strconv"
	"time"
)

// retryLine is the hint when a client should reconnect.
func retryLine(d time.Duration) []byte {
	return []byte("retry: " + strconv.FormatInt(d.Milliseconds(), 10) + "\n\n")
}

// ComeBack returns the last piece of a stream that the server ends. It tells the client to reconnect
// after a random delay, so that clients do not come back all at once.
func (s *EventStream) ComeBack() []byte {
	if s.retry <= 0 {
		return keepalive
	}
	return retryLine(s.retry + s.f.hubs.Spread(s.retry))
}
