package live

import (
	"context"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
)

// askEvery is how often other processes are asked for their clients. The answer to the last question has as much
// time, and a wake-up takes up to 0.3 s each way where processes poll.
const askEvery = time.Second

// Watched reports whether a thread has clients in any process, or gets one within the given time. It returns as
// soon as it knows of one.
func (h *Hubs) Watched(ctx context.Context, key spool.ThreadKey, within time.Duration) (bool, error) {
	present := make(chan struct{}, 1)
	unsubscribe, err := h.Wakes.Subscribe(ctx, key, func(kind store.WakeKind, _ []byte) {
		if kind == store.WakePresent {
			select {
			case present <- struct{}{}:
			default:
			}
		}
	})
	if err != nil {
		return false, err
	}
	defer unsubscribe()
	over := time.NewTimer(within)
	defer over.Stop()
	again := time.NewTicker(min(askEvery, within/4+1))
	defer again.Stop()
	for !h.has(key) {
		h.Wakes.Wake(key, store.WakeAsk, nil)
		select {
		case <-present:
			return true, nil
		case <-again.C:
		case <-over.C:
			return h.has(key), nil
		case <-h.closing:
			return false, errOver
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
	return true, nil
}

// has reports whether the thread has clients in this process.
func (h *Hubs) has(key spool.ThreadKey) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.open[key] != nil
}
