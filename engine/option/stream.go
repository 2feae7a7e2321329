package option

import (
	"cmp"
	"time"
)

// Stream say how run streams are written, and how clients follow them.
type Stream struct {
	// FlushEvery is how long items of a run stream may wait for more items, so that they are written
	// together. Negative: each item is written at once. Defaults to 50 ms.
	FlushEvery time.Duration
	// FlushItems is the largest number of items that are written together. Defaults to 32.
	FlushItems int
	// Grace is how long a run stream stays readable after its end. Defaults to 10 min.
	Grace time.Duration
	// Keepalive is the time between comments on an idle event stream. Defaults to 15 s.
	Keepalive time.Duration
	// RetryHint is how long browsers are told to wait before they reconnect. Defaults to 1 s.
	RetryHint time.Duration
	// SnapshotMemory bounds the bytes of encoded snapshots that are kept to be shared or are being
	// sent. Beyond the limit, a new snapshot waits until earlier ones are released. Defaults to 128
	// MiB.
	SnapshotMemory int
}

func (o *Stream) fill() error {
	o.FlushEvery = cmp.Or(o.FlushEvery, 50*time.Millisecond)
	return cmp.Or(
		or("Stream.FlushItems", &o.FlushItems, 32),
		or("Stream.Grace", &o.Grace, 10*time.Minute),
		or("Stream.Keepalive", &o.Keepalive, 15*time.Second),
		or("Stream.RetryHint", &o.RetryHint, time.Second),
		or("Stream.SnapshotMemory", &o.SnapshotMemory, 128<<20),
	)
}
