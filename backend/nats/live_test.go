package nats

import (
	"context"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// TestLive checks one process.
func TestLive(t *testing.T) {
	t.Parallel()
	spooltest.TestLive(t, func(t *testing.T) store.Live {
		t.Helper()
		return startServer(t).node(nil)
	})
}

// TestLiveRemote checks the contract between processes: one opens each stream, and another one does all the
// rest. One wakes, and the other one listens.
func TestLiveRemote(t *testing.T) {
	t.Parallel()
	spooltest.TestLive(t, func(t *testing.T) store.Live {
		t.Helper()
		s := startServer(t)
		return apart{here: s.node(nil), there: s.node(nil)}
	})
}

// apart makes two processes one Live.
type apart struct{ here, there *Live }

func (a apart) Open(ctx context.Context, key store.StreamKey) error { return a.there.Open(ctx, key) }

func (a apart) Append(ctx context.Context, key store.StreamKey, items []wire.Item) error {
	return a.here.Append(ctx, key, items)
}

func (a apart) Read(ctx context.Context, key store.StreamKey, after wire.Offset, limit int) (store.StreamPage, error) {
	return a.here.Read(ctx, key, after, limit)
}

func (a apart) Close(ctx context.Context, key store.StreamKey, end wire.Item, grace time.Duration) error {
	return a.here.Close(ctx, key, end, grace)
}

func (a apart) Delete(ctx context.Context, thread spool.ThreadKey) error {
	return a.here.Delete(ctx, thread)
}

func (a apart) Wake(topic spool.ThreadKey, kind store.WakeKind, notice []byte) {
	a.there.Wake(topic, kind, notice)
}

func (a apart) Subscribe(
	ctx context.Context, topic spool.ThreadKey, fn func(kind store.WakeKind, notice []byte),
) (stop func(), err error) {
	return a.here.Subscribe(ctx, topic, fn)
}

// A caller that does not wait for the server does not make others take the server for stalled: readers elsewhere
// would not find the streams that are opened then.
func TestConfirmCanceled(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	here, there := s.node(nil), s.node(nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if here.confirm(ctx) || here.stalled.Load() {
		t.Error("the server counts as stalled")
	}
	for n := range int64(20) {
		key := store.StreamKey{Thread: thread, ID: wire.NewStreamID("r", int(n)+1)}
		here.confirm(ctx)
		open(t, here, key, items(1, 1, 3))
		wantItems(t, there, key, items(1, 1, 3))
	}
}
