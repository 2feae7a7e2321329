package live

import (
	"context"
	"iter"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/walk"
	"github.com/spoolhq/spool/wire"
)

// Follow yields the frames after the client's cursor, and goes on with new frames.
func (h *Hubs) Follow(ctx context.Context, key spool.ThreadKey, c Client) iter.Seq2[wire.Frame, error] {
	return follow(ctx, h, key, c, walk.Mode{}, func(f *ringFrame) wire.Frame { return f.Frame })
}

// FollowRecord yields the record entries after the client's cursor, and notices, but no items of run
// streams.
func (h *Hubs) FollowRecord(ctx context.Context, key spool.ThreadKey, c Client) iter.Seq2[wire.Entry, error] {
	return follow(ctx, h, key, c, walk.Mode{RecordOnly: true}, func(f *ringFrame) wire.Entry { return *f.Event })
}

// follow yields convert's result for each frame after the client's cursor.
func follow[T any](
	ctx context.Context, h *Hubs, key spool.ThreadKey, c Client, mode walk.Mode, convert func(f *ringFrame) T,
) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		f, err := h.follower(ctx, key, c, mode)
		if err != nil {
			yield(none, err)
			return
		}
		f.batches(ctx, 0, func(frames []ringFrame, err error) bool {
			if err != nil {
				return yield(none, err)
			}
			for i := range frames {
				if !yield(convert(&frames[i]), nil) {
					return false
				}
			}
			return true
		})
	}
}
