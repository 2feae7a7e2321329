package live

import (
	"context"
	"iter"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/walk"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// ReadStream yields the items of one run stream after the given offset, up to the stream's last item.
// Of the client it uses only the subject.
func (h *Hubs) ReadStream(
	ctx context.Context, key spool.ThreadKey, id wire.StreamID, after wire.Offset, c Client,
) iter.Seq2[wire.Item, error] {
	return func(yield func(wire.Item, error) bool) {
		var named record.NamedStream
		err := h.Store.View(ctx, key, func(v store.View) (err error) {
			named, err = record.FindStream(v, wire.Cursor{Stream: id}, h.StreamGrace)
			return err
		})
		if err == nil && named.Past {
			err = store.ErrStreamGone
		}
		if err != nil {
			yield(wire.Item{}, err)
			return
		}
		woken := make(chan struct{}, 1)
		unsubscribe, err := h.Wakes.Subscribe(ctx, key, func(kind store.WakeKind, _ []byte) {
			if kind == store.WakeNotice {
				return
			}
			select {
			case woken <- struct{}{}:
			default:
			}
		})
		if err != nil {
			yield(wire.Item{}, err)
			return
		}
		defer unsubscribe()
		tick := time.NewTicker(h.Poll)
		defer tick.Stop()
		for {
			page, err := h.Streams.Read(ctx, store.StreamKey{Thread: key, ID: id}, after, walk.PageSize)
			if c.Subject != nil { // after the read, because the thread may have got another owner
				if _, hidden := readThread(ctx, h.Store, key); hidden != nil {
					err = hidden // even if the stream has expired: the client must not learn that the thread exists
				}
			}
			if err != nil {
				yield(wire.Item{}, err)
				return
			}
			whole := record.Whole(after, page.Items)
			for _, item := range page.Items[:whole] {
				if !yield(item, nil) {
					return
				}
				after = item.Offset
			}
			switch {
			case whole < len(page.Items), after.Compare(page.Last) > 0: // an item is missing, or the stream has begun anew
				yield(wire.Item{}, store.ErrStreamGone)
				return
			case page.Ended:
				return
			case len(page.Items) > 0:
				continue
			}
			select {
			case <-ctx.Done():
				yield(wire.Item{}, ctx.Err())
				return
			case <-woken:
			case <-tick.C:
			}
		}
	}
}
