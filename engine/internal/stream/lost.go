package stream

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// CloseLost ends the stream of a worker that died. The last item has at least the offset at. If an item
// before at is missing, the stream is not whole: the worker has saved that item, and died before it
// wrote the item to the stream.
func (s Settings) CloseLost(ctx context.Context, key store.StreamKey, end wire.Item, at wire.Offset) {
	s.close(ctx, key, end, s.whole(ctx, key, at))
}

// close ends a stream with its last item. It removes a stream that is not whole; the stream's readers
// then get a snapshot.
func (s Settings) close(ctx context.Context, key store.StreamKey, end wire.Item, whole bool) {
	ctx, cancel := WithTimeout(ctx)
	defer cancel()
	grace := s.Grace
	if !whole {
		grace = 0
	}
	if err := s.Live.Close(ctx, key, end, grace); err != nil && !errors.Is(err, store.ErrStreamGone) {
		s.logger(key).WarnContext(ctx, "end run stream", "stream", string(key.ID), "error", err)
	}
}

// whole reports whether a stream has every item before the offset end.
func (s Settings) whole(ctx context.Context, key store.StreamKey, end wire.Offset) bool {
	if end.N <= 1 {
		return true
	}
	ctx, cancel := WithTimeout(ctx)
	defer cancel()
	page, err := s.Live.Read(ctx, key, record.Farthest, 1)
	if err != nil {
		return errors.Is(err, store.ErrStreamGone)
	}
	return page.Last.Compare(wire.Offset{Fence: end.Fence, N: end.N - 1}) >= 0
}

// Notify sends a live event to every client that follows the thread at this moment, in any process.
func Notify(live store.Live, key spool.ThreadKey, event wire.Entry) {
	if notice, err := json.Marshal(event); err == nil {
		live.Wake(key, store.WakeNotice, notice)
	}
}
