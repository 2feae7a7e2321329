package wire

import (
	"crypto/rand"
	"sync/atomic"
	"time"
)

// jobEpoch is the time from which ids of jobs count, so that they fit into the numbers of JavaScript until
// 2060.
var jobEpoch = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)

// lastJobID is the last id of this process.
var lastJobID atomic.Int64

// NewJobID returns an id for a job: the time in microseconds, followed by random bits. Each id is greater
// than the earlier ones of the process. Ids do not count jobs, because a count would tell each tenant how
// many jobs the others have.
func NewJobID() int64 {
	var random [1]byte
	_, _ = rand.Read(random[:])
	r := int64(random[0] & 7)
	for {
		last := lastJobID.Load()
		next := max(time.Since(jobEpoch).Microseconds()<<3+r, last+1+r)
		if lastJobID.CompareAndSwap(last, next) {
			return next
		}
	}
}
