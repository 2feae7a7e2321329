package spool

import (
	"context"
	"time"
)

// StreamPage is a part of a run stream.
type StreamPage struct {
	// Items are the items after the requested offset, in order.
	Items []Item
	// Ended is true if the stream has ended and there are no items after those in Items.
	Ended bool
	// Last is the offset of the stream's last item, zero for an empty stream.
	Last Offset
}

// Streams keeps run streams: the short-lived items of one segment each, written by one worker. They are
// disposable: if a stream or an item is lost, its readers get a snapshot.
//
// Streams are safe for concurrent use. A call for a stream that never existed or was removed returns an
// [ErrStreamGone] error. A stream can only be found under its own thread.
type Streams interface {
	// Open creates an empty stream. Opening an open stream does nothing. Opening a closed stream is a
	// [Conflict] error.
	Open(ctx context.Context, key StreamKey) error
	// Append adds items, all or none. Their offsets must grow, and come after the stream's last one.
	// Otherwise, and for a closed stream, it returns a [Conflict] error. The items' Data must not be changed
	// afterwards.
	Append(ctx context.Context, key StreamKey, items []Item) error
	// Read returns up to limit items after the offset, and does not wait. Zero: all. For an offset at or
	// after the stream's last item it returns none, and Last tells the two cases apart.
	Read(ctx context.Context, key StreamKey, after Offset, limit int) (StreamPage, error)
	// Close appends the last item, refuses further ones, and removes the stream after grace. If the offset of
	// end does not come after the last item, end gets the next offset, also in its Data. Closing a closed
	// stream does nothing.
	Close(ctx context.Context, key StreamKey, end Item, grace time.Duration) error
	// Delete removes all streams of a thread, at once.
	Delete(ctx context.Context, thread ThreadKey) error
}
