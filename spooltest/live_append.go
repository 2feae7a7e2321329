package spooltest

import (
	"context"

	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

func testStreamGone(l *liveTest) {
	key := stream("t", "r:1")
	l.wantGone("Append", l.Append(l.Context(), key, items(1, 1, 1)))
	_, err := l.Read(l.Context(), key, wire.Offset{}, 0)
	l.wantGone("Read", err)
	l.wantGone("Close", l.Close(l.Context(), key, endItem(1, 1), 0))
	if err := l.Delete(l.Context(), key.Thread); err != nil {
		l.Errorf("Delete of a thread without streams returned %v", err)
	}
}

func testStreamOpenTwice(l *liveTest) {
	key := stream("t", "r:1")
	l.open(key, items(1, 1, 2)...)
	l.open(key)
	l.want(key, items(1, 1, 2), false)
}

func testStreamOpenClosed(l *liveTest) {
	key := stream("t", "r:1")
	l.open(key)
	closeStream(l, key, endItem(1, 1))
	l.wantError("Open", l.Open(l.Context(), key), store.ErrStreamClosed)
}

func testStreamEmpty(l *liveTest) {
	key := stream("t", "r:1")
	l.open(key)
	l.append(key, nil)
	page := l.read(key, wire.Offset{}, 0)
	l.wantPage(page, nil, false)
	if !page.Last.IsZero() {
		l.Errorf("an empty stream has Last %v, want zero", page.Last)
	}
}

func testStreamAppendRead(l *liveTest) {
	key := stream("t", "r:1")
	all := items(3, 1, 5)
	l.open(key, all[:2]...)
	l.append(key, all[2:])
	l.want(key, all, false)

	// A later fence may follow any number of an earlier fence, and gaps are allowed.
	more := append(items(4, 1, 1), items(9, 7, 7)...)
	l.append(key, more)
	all = append(all, more...)
	l.want(key, all, false)
	for i, item := range all {
		page := l.read(key, item.Offset, 0)
		l.wantPage(page, all[i+1:], false)
		if want := more[1].Offset; page.Last != want {
			l.Errorf("page has Last %v, want %v", page.Last, want)
		}
	}
}

func testStreamReadLimit(l *liveTest) {
	key := stream("t", "r:1")
	all := items(1, 1, 5)
	l.open(key, all...)
	page := l.read(key, wire.Offset{}, 2)
	l.wantPage(page, all[:2], false)
	if page.Last != all[4].Offset {
		l.Errorf("page has Last %v, want %v", page.Last, all[4].Offset)
	}
	l.wantPage(l.read(key, all[1].Offset, 2), all[2:4], false)
	l.wantPage(l.read(key, all[3].Offset, 2), all[4:], false)
	l.wantPage(l.read(key, all[4].Offset, 2), nil, false)
}

// An offset without an item still has a position in the order.
func testStreamReadBetween(l *liveTest) {
	key := stream("t", "r:1")
	all := append(items(2, 1, 2), items(4, 1, 2)...)
	l.open(key, all...)
	l.wantPage(l.read(key, wire.Offset{Fence: 1, N: 99}, 0), all, false)
	l.wantPage(l.read(key, wire.Offset{Fence: 2, N: 50}, 0), all[2:], false)
	l.wantPage(l.read(key, wire.Offset{Fence: 3, N: 0}, 0), all[2:], false)
	l.wantPage(l.read(key, wire.Offset{Fence: 4, N: 3}, 0), nil, false)
	l.wantPage(l.read(key, wire.Offset{Fence: 5, N: 1}, 0), nil, false)
}

// A reader may change its page.
func testStreamPageIsStable(l *liveTest) {
	key := stream("t", "r:1")
	l.open(key, items(1, 1, 2)...)
	page := l.read(key, wire.Offset{}, 0)
	_ = append(page.Items, items(9, 9, 9)...)
	l.append(key, items(1, 3, 4))
	l.wantPage(page, items(1, 1, 2), false)
	l.want(key, items(1, 1, 4), false)
}

func testStreamAppendBackwards(l *liveTest) {
	key := stream("t", "r:1")
	l.open(key)
	l.wantError("Append of the zero offset", l.Append(l.Context(), key, items(0, 0, 0)), store.ErrOffsetUsed)
	l.append(key, items(2, 3, 3))
	for _, again := range [][]wire.Item{items(2, 3, 3), items(2, 2, 2), items(1, 9, 9)} {
		l.wantError("Append of "+again[0].Offset.String()+" after 2-3", l.Append(l.Context(), key, again),
			store.ErrOffsetUsed)
	}
	l.want(key, items(2, 3, 3), false)
}

func testStreamAppendAllOrNone(l *liveTest) {
	key := stream("t", "r:1")
	l.open(key, items(1, 1, 1)...)
	twice := append(items(1, 2, 3), items(1, 3, 4)...)
	l.wantError("Append of an offset twice", l.Append(l.Context(), key, twice), store.ErrOffsetUsed)
	late := items(1, 1, 4)
	l.wantError("Append of a batch that begins too early", l.Append(l.Context(), key, late), store.ErrOffsetUsed)
	l.want(key, items(1, 1, 1), false)
	l.append(key, items(1, 2, 2))
	l.want(key, items(1, 1, 2), false)
}

func testStreamForeignThread(l *liveTest) {
	key := stream("t", "r:1")
	l.open(key, items(1, 1, 2)...)
	tenant := key
	tenant.Thread.Tenant = "other"
	for _, foreign := range []store.StreamKey{stream("u", "r:1"), tenant} {
		_, err := l.Read(l.Context(), foreign, wire.Offset{}, 0)
		l.wantGone("Read", err)
		l.wantGone("Append", l.Append(l.Context(), foreign, items(1, 3, 3)))
		l.wantGone("Close", l.Close(l.Context(), foreign, endItem(1, 3), 0))
		if err := l.Delete(l.Context(), foreign.Thread); err != nil {
			l.Errorf("Delete returned %v", err)
		}
	}
	l.want(key, items(1, 1, 2), false)
}

// Streams of one thread are independent, and so are streams with the same id under two threads.
func testStreamIndependent(l *liveTest) {
	keys := []store.StreamKey{stream("t", "r:1"), stream("t", "r:2"), stream("u", "r:1")}
	for i, key := range keys {
		l.open(key, items(int64(i+1), 1, 2)...)
	}
	closeStream(l, keys[0], endItem(1, 3))
	for i, key := range keys[1:] {
		l.want(key, items(int64(i+2), 1, 2), false)
	}
}

func testStreamContextEnded(l *liveTest) {
	key := stream("t", "r:1")
	l.open(key)
	ctx, cancel := context.WithCancel(l.Context())
	cancel()
	l.wantCanceled("Append", l.Append(ctx, key, items(1, 1, 1)))
	_, err := l.Read(ctx, key, wire.Offset{}, 0)
	l.wantCanceled("Read", err)
	l.wantCanceled("Close", l.Close(ctx, key, endItem(1, 1), 0))
	l.wantCanceled("Delete", l.Delete(ctx, key.Thread))
	l.want(key, nil, false)
	other := stream("t", "r:2")
	l.wantCanceled("Open", l.Open(ctx, other))
	_, err = l.Read(l.Context(), other, wire.Offset{}, 0)
	l.wantError("Read of what was not opened", err, store.ErrStreamGone)
}
