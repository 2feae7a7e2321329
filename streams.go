package spool

import (
	"context"
	"time"
)

// StreamPage is a part of a run stream.
type StreamPage struct {
	// Items are the items after the offset that was asked for, in order.
	Items []Item
	// Ended is true when the last of Items, or the item asked for, is the stream's end.
	Ended bool
	// Last is the offset of the stream's last item, zero for an empty stream.
	Last Offset
}

// Streams keeps run streams: the short-lived items of one segment each, written by one
// worker. They are disposable; losing one, or an item of one, costs its readers a snapshot.
//
// Streams are safe for concurrent use. A call for a stream that is not there, never was
// or has been removed returns an [ErrStreamGone] error. A stream is only found under
// its own thread.
type Streams interface {
	// Open makes an empty stream. Opening an open stream does nothing, and a closed one
	// cannot be opened: that is a [Conflict] error.
	Open(ctx context.Context, key StreamKey) error
	// Append adds items, all or none. Their offsets must grow and stand behind the
	// stream's last one, else it is a [Conflict] error, as it is for a closed stream. The
	// items' Data must not be changed afterwards.
	Append(ctx context.Context, key StreamKey, items []Item) error
	// Read returns up to limit items after the offset, and does not wait. Zero: all. An
	// offset behind the stream's last item returns none, with Last to compare.
	Read(ctx context.Context, key StreamKey, after Offset, limit int) (StreamPage, error)
	// Close appends the last item, lets nobody append any more, and removes the stream
	// once grace has passed. An end whose offset is not behind the last item is given the
	// next one, in its Data as well. Closing a closed stream does nothing.
	Close(ctx context.Context, key StreamKey, end Item, grace time.Duration) error
	// Delete removes all streams of a thread, at once.
	Delete(ctx context.Context, thread ThreadKey) error
}
