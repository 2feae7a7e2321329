package spooltest

import (
	"errors"
	"testing"
	"time"

	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// longGrace is longer than any test.
const longGrace = time.Hour

func closeStream(l *liveTest, key store.StreamKey, end wire.Item) {
	l.Helper()
	if err := l.Close(l.Context(), key, end, longGrace); err != nil {
		l.Fatalf("close %v: %v", key, err)
	}
}

func testStreamCloseEnds(l *liveTest) {
	key := stream("t", "r:1")
	all := append(items(1, 1, 3), endItem(1, 4))
	l.open(key, all[:3]...)
	closeStream(l, key, all[3])

	l.want(key, all, true)
	l.wantPage(l.read(key, all[1].Offset, 1), all[2:3], false)
	l.wantPage(l.read(key, all[1].Offset, 2), all[2:], true)
	page := l.read(key, all[3].Offset, 0)
	l.wantPage(page, nil, true)
	if page.Last != all[3].Offset {
		l.Errorf("page has Last %v, want %v", page.Last, all[3].Offset)
	}
}

func testStreamCloseEmpty(l *liveTest) {
	key := stream("t", "r:1")
	l.open(key)
	closeStream(l, key, endItem(2, 1))
	l.want(key, []wire.Item{endItem(2, 1)}, true)
}

// A process that closes the stream of a dead worker does not know the last item's offset.
func testStreamCloseMovesEnd(l *liveTest) {
	for i, end := range []wire.Item{endItem(2, 5), endItem(2, 1), endItem(1, 9), endItem(0, 0)} {
		key := stream("t", wire.NewStreamID("r", i+1))
		l.open(key, items(2, 1, 5)...)
		closeStream(l, key, end)
		// The offset is in the item's data, too.
		l.want(key, append(items(2, 1, 5), endItem(2, 6)), true)
	}
}

func testStreamCloseTwice(l *liveTest) {
	key := stream("t", "r:1")
	l.open(key, items(1, 1, 1)...)
	closeStream(l, key, endItem(1, 2))
	closeStream(l, key, endItem(1, 3))
	if err := l.Close(l.Context(), key, endItem(1, 4), time.Nanosecond); err != nil {
		l.Errorf("close a closed stream: %v", err)
	}
	l.want(key, append(items(1, 1, 1), endItem(1, 2)), true)
}

func testStreamCloseRefuses(l *liveTest) {
	key := stream("t", "r:1")
	l.open(key)
	closeStream(l, key, endItem(1, 1))
	l.wantError("Append to a closed stream", l.Append(l.Context(), key, items(1, 2, 2)), store.ErrStreamClosed)
	l.want(key, []wire.Item{endItem(1, 1)}, true)
}

func testStreamCloseGrace(l *liveTest) {
	short, long := stream("t", "r:1"), stream("t", "r:2")
	l.open(short, items(1, 1, 1)...)
	l.open(long, items(1, 1, 1)...)
	closeStream(l, long, endItem(1, 2))
	if err := l.Close(l.Context(), short, endItem(1, 2), 20*time.Millisecond); err != nil {
		l.Fatal(err)
	}
	eventually(l.T, "the stream to be gone", func() bool {
		_, err := l.Read(l.Context(), short, wire.Offset{}, 0)
		return errors.Is(err, store.ErrStreamGone)
	})
	l.wantGone("Append", l.Append(l.Context(), short, items(1, 3, 3)))
	l.wantGone("Close", l.Close(l.Context(), short, endItem(1, 3), 0))
	l.want(long, append(items(1, 1, 1), endItem(1, 2)), true)
}

func testStreamDelete(l *liveTest) {
	one, two, other := stream("t", "r:1"), stream("t", "r:2"), stream("u", "r:1")
	for _, key := range []store.StreamKey{one, two, other} {
		l.open(key, items(1, 1, 1)...)
	}
	if err := l.Delete(l.Context(), one.Thread); err != nil {
		l.Fatal(err)
	}
	for _, key := range []store.StreamKey{one, two} {
		_, err := l.Read(l.Context(), key, wire.Offset{}, 0)
		l.wantGone("Read", err)
		l.wantGone("Append", l.Append(l.Context(), key, items(1, 2, 2)))
		l.wantGone("Close", l.Close(l.Context(), key, endItem(1, 2), 0))
	}
	l.want(other, items(1, 1, 1), false)
}

func testStreamDeleteClosed(l *liveTest) {
	key := stream("t", "r:1")
	l.open(key)
	closeStream(l, key, endItem(1, 1))
	if err := l.Delete(l.Context(), key.Thread); err != nil {
		l.Fatal(err)
	}
	_, err := l.Read(l.Context(), key, wire.Offset{}, 0)
	l.wantGone("Read", err)
}

// A stream that is gone stays gone, whatever is tried with it or with others.
func testStreamStaysGone(l *liveTest) {
	deleted, expired, other := stream("t", "r:1"), stream("u", "r:1"), stream("t", "r:2")
	l.open(deleted, items(1, 1, 2)...)
	if err := l.Delete(l.Context(), deleted.Thread); err != nil {
		l.Fatal(err)
	}
	l.open(expired, items(1, 1, 2)...)
	if err := l.Close(l.Context(), expired, endItem(1, 3), time.Nanosecond); err != nil {
		l.Fatal(err)
	}
	eventually(l.T, "the stream to be gone", func() bool {
		_, err := l.Read(l.Context(), expired, wire.Offset{}, 0)
		return errors.Is(err, store.ErrStreamGone)
	})
	l.open(other, items(1, 1, 1)...)
	for range 3 {
		for _, key := range []store.StreamKey{deleted, expired} {
			l.wantGone("Append", l.Append(l.Context(), key, items(1, 4, 4)))
			l.wantGone("Close", l.Close(l.Context(), key, endItem(1, 5), longGrace))
			_, err := l.Read(l.Context(), key, wire.Offset{}, 0)
			l.wantGone("Read", err)
			_, err = l.Read(l.Context(), key, items(1, 1, 1)[0].Offset, 1)
			l.wantGone("Read on", err)
		}
	}
	l.want(other, items(1, 1, 1), false)
}

// eventually repeats a check until it succeeds. It is for events that no call reports.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(patience)
	for !done() {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("waited %v for %s", patience, what)
		}
	}
}

// patience is how long a test waits for something that should happen at once.
const patience = 10 * time.Second
