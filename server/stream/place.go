package stream

import (
	"sync"
	"time"
)

const (
	// maxBeginning is how many streams send their first frames at once. It keeps the writers of large
	// pieces busy, which are fewer.
	maxBeginning = 8
	// placeLimit is how long a stream may keep its place.
	placeLimit = 100 * time.Millisecond
)

// places let only a few streams begin at once. Without them, a thousand clients that come back to a large
// thread would all wait inside their writes, where the stack of a goroutine is four times as large.
type places chan struct{}

// enter waits for a place. A slow client loses its place after [placeLimit], so that it does not delay others.
func (p places) enter() (leave func()) {
	p <- struct{}{} // each place is left soon
	left := sync.OnceFunc(func() { <-p })
	limit := time.AfterFunc(placeLimit, left)
	return func() {
		limit.Stop()
		left()
	}
}
