package spooltest

import (
	"context"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

type faultyLive struct{ f *Faulty }

func (l faultyLive) Open(ctx context.Context, key store.StreamKey) error {
	return l.f.call(ctx, "Live.Open", string(key.ID), func(FaultKind) error {
		return l.f.inner.Live.Open(ctx, key)
	})
}

func (l faultyLive) Append(ctx context.Context, key store.StreamKey, items []wire.Item) error {
	return l.f.call(ctx, "Live.Append", string(key.ID), func(FaultKind) error {
		return l.f.inner.Live.Append(ctx, key, items)
	})
}

func (l faultyLive) Read(
	ctx context.Context, key store.StreamKey, after wire.Offset, limit int,
) (store.StreamPage, error) {
	return ask(ctx, l.f, "Live.Read", string(key.ID), func() (store.StreamPage, error) {
		return l.f.inner.Live.Read(ctx, key, after, limit)
	})
}

func (l faultyLive) Close(ctx context.Context, key store.StreamKey, end wire.Item, grace time.Duration) error {
	return l.f.call(ctx, "Live.Close", string(key.ID), func(FaultKind) error {
		return l.f.inner.Live.Close(ctx, key, end, grace)
	})
}

func (l faultyLive) Delete(ctx context.Context, thread spool.ThreadKey) error {
	return l.f.call(ctx, "Live.Delete", thread.String(), func(FaultKind) error {
		return l.f.inner.Live.Delete(ctx, thread)
	})
}

// Wake is not counted, because it cannot fail.
func (l faultyLive) Wake(topic spool.ThreadKey, kind store.WakeKind, notice []byte) {
	if !l.f.silent() {
		l.f.inner.Live.Wake(topic, kind, notice)
	}
}

// Subscribe also loses wake-ups that come from another process.
func (l faultyLive) Subscribe(
	ctx context.Context, topic spool.ThreadKey, fn func(kind store.WakeKind, notice []byte),
) (stop func(), err error) {
	return l.f.inner.Live.Subscribe(ctx, topic, func(kind store.WakeKind, notice []byte) {
		if !l.f.silent() {
			fn(kind, notice)
		}
	})
}
