package live

import (
	"context"
	"errors"
	"iter"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/walk"
)

// Follow yields the frames of the thread that the client lacks, and goes on as they come.
func (h *Hubs) Follow(ctx context.Context, key spool.ThreadKey, c Client) iter.Seq2[spool.Frame, error] {
	return func(yield func(spool.Frame, error) bool) {
		f, err := h.follower(ctx, key, c, walk.Mode{})
		if err != nil {
			yield(spool.Frame{}, err)
			return
		}
		f.batches(ctx, 0, func(frames []ringFrame, err error) bool {
			if err != nil {
				return yield(spool.Frame{}, err)
			}
			for i := range frames {
				if !yield(frames[i].Frame, nil) {
					return false
				}
			}
			return true
		})
	}
}

// FollowRecord yields the record entries that the client lacks, and notices, without any run
// stream.
func (h *Hubs) FollowRecord(ctx context.Context, key spool.ThreadKey, c Client) iter.Seq2[spool.Entry, error] {
	return func(yield func(spool.Entry, error) bool) {
		f, err := h.follower(ctx, key, c, walk.Mode{RecordOnly: true})
		if err != nil {
			yield(spool.Entry{}, err)
			return
		}
		defer f.close()
		for {
			frames, err := f.next(ctx, 0)
			for _, frame := range frames {
				if !yield(*frame.Event, nil) {
					return
				}
			}
			switch {
			case errors.Is(err, errOver):
				return
			case err != nil:
				yield(spool.Entry{}, err)
				return
			}
		}
	}
}
