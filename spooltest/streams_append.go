package spooltest

import (
	"context"
	"testing"

	"github.com/spoolhq/spool"
)

func testStreamGone(t *testing.T, s streamsTest) {
	key := stream("t", "r:1")
	wantGone(t, "Append", s.Append(t.Context(), key, items(1, 1, 1)))
	_, err := s.Read(t.Context(), key, spool.Offset{}, 0)
	wantGone(t, "Read", err)
	wantGone(t, "Close", s.Close(t.Context(), key, endItem(1, 1), 0))
	if err := s.Delete(t.Context(), key.Thread); err != nil {
		t.Errorf("Delete of a thread without streams returned %v", err)
	}
}

func testStreamOpenTwice(_ *testing.T, s streamsTest) {
	key := stream("t", "r:1")
	s.open(key, items(1, 1, 2)...)
	s.open(key)
	s.want(key, items(1, 1, 2), false)
}

func testStreamOpenClosed(t *testing.T, s streamsTest) {
	key := stream("t", "r:1")
	s.open(key)
	closeStream(t, s, key, endItem(1, 1))
	wantCode(t, "Open", s.Open(t.Context(), key), spool.Conflict)
}

func testStreamEmpty(t *testing.T, s streamsTest) {
	key := stream("t", "r:1")
	s.open(key)
	s.append(key, nil)
	page := s.read(key, spool.Offset{}, 0)
	s.wantPage(page, nil, false)
	if !page.Last.IsZero() {
		t.Errorf("an empty stream has Last %v, want zero", page.Last)
	}
}

func testStreamAppendRead(t *testing.T, s streamsTest) {
	key := stream("t", "r:1")
	all := items(3, 1, 5)
	s.open(key, all[:2]...)
	s.append(key, all[2:])
	s.want(key, all, false)

	// A later fence may follow any number of an earlier fence, and gaps are allowed.
	more := append(items(4, 1, 1), items(9, 7, 7)...)
	s.append(key, more)
	all = append(all, more...)
	s.want(key, all, false)
	for i, item := range all {
		page := s.read(key, item.Offset, 0)
		s.wantPage(page, all[i+1:], false)
		if want := more[1].Offset; page.Last != want {
			t.Errorf("page has Last %v, want %v", page.Last, want)
		}
	}
}

func testStreamReadLimit(t *testing.T, s streamsTest) {
	key := stream("t", "r:1")
	all := items(1, 1, 5)
	s.open(key, all...)
	page := s.read(key, spool.Offset{}, 2)
	s.wantPage(page, all[:2], false)
	if page.Last != all[4].Offset {
		t.Errorf("page has Last %v, want %v", page.Last, all[4].Offset)
	}
	s.wantPage(s.read(key, all[1].Offset, 2), all[2:4], false)
	s.wantPage(s.read(key, all[3].Offset, 2), all[4:], false)
	s.wantPage(s.read(key, all[4].Offset, 2), nil, false)
}

// An offset without an item still has a position in the order.
func testStreamReadBetween(_ *testing.T, s streamsTest) {
	key := stream("t", "r:1")
	all := append(items(2, 1, 2), items(4, 1, 2)...)
	s.open(key, all...)
	s.wantPage(s.read(key, spool.Offset{Fence: 1, N: 99}, 0), all, false)
	s.wantPage(s.read(key, spool.Offset{Fence: 2, N: 50}, 0), all[2:], false)
	s.wantPage(s.read(key, spool.Offset{Fence: 3, N: 0}, 0), all[2:], false)
	s.wantPage(s.read(key, spool.Offset{Fence: 4, N: 3}, 0), nil, false)
	s.wantPage(s.read(key, spool.Offset{Fence: 5, N: 1}, 0), nil, false)
}

// A reader may change its page.
func testStreamPageIsStable(_ *testing.T, s streamsTest) {
	key := stream("t", "r:1")
	s.open(key, items(1, 1, 2)...)
	page := s.read(key, spool.Offset{}, 0)
	_ = append(page.Items, items(9, 9, 9)...)
	s.append(key, items(1, 3, 4))
	s.wantPage(page, items(1, 1, 2), false)
	s.want(key, items(1, 1, 4), false)
}

func testStreamAppendBackwards(t *testing.T, s streamsTest) {
	key := stream("t", "r:1")
	s.open(key)
	wantCode(t, "Append of the zero offset", s.Append(t.Context(), key, items(0, 0, 0)), spool.Conflict)
	s.append(key, items(2, 3, 3))
	for _, again := range [][]spool.Item{items(2, 3, 3), items(2, 2, 2), items(1, 9, 9)} {
		wantCode(t, "Append of "+again[0].Offset.String()+" after 2-3", s.Append(t.Context(), key, again), spool.Conflict)
	}
	s.want(key, items(2, 3, 3), false)
}

func testStreamAppendAllOrNone(t *testing.T, s streamsTest) {
	key := stream("t", "r:1")
	s.open(key, items(1, 1, 1)...)
	twice := append(items(1, 2, 3), items(1, 3, 4)...)
	wantCode(t, "Append of an offset twice", s.Append(t.Context(), key, twice), spool.Conflict)
	late := items(1, 1, 4)
	wantCode(t, "Append of a batch that begins too early", s.Append(t.Context(), key, late), spool.Conflict)
	s.want(key, items(1, 1, 1), false)
	s.append(key, items(1, 2, 2))
	s.want(key, items(1, 1, 2), false)
}

func testStreamForeignThread(t *testing.T, s streamsTest) {
	key := stream("t", "r:1")
	s.open(key, items(1, 1, 2)...)
	tenant := key
	tenant.Thread.Tenant = "other"
	for _, foreign := range []spool.StreamKey{stream("u", "r:1"), tenant} {
		_, err := s.Read(t.Context(), foreign, spool.Offset{}, 0)
		wantGone(t, "Read", err)
		wantGone(t, "Append", s.Append(t.Context(), foreign, items(1, 3, 3)))
		wantGone(t, "Close", s.Close(t.Context(), foreign, endItem(1, 3), 0))
		if err := s.Delete(t.Context(), foreign.Thread); err != nil {
			t.Errorf("Delete returned %v", err)
		}
	}
	s.want(key, items(1, 1, 2), false)
}

// Streams of one thread are independent, and so are streams with the same id under two threads.
func testStreamIndependent(t *testing.T, s streamsTest) {
	keys := []spool.StreamKey{stream("t", "r:1"), stream("t", "r:2"), stream("u", "r:1")}
	for i, key := range keys {
		s.open(key, items(int64(i+1), 1, 2)...)
	}
	closeStream(t, s, keys[0], endItem(1, 3))
	for i, key := range keys[1:] {
		s.want(key, items(int64(i+2), 1, 2), false)
	}
}

func testStreamContextEnded(t *testing.T, s streamsTest) {
	key := stream("t", "r:1")
	s.open(key)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	wantCode(t, "Append", s.Append(ctx, key, items(1, 1, 1)), spool.Canceled)
	_, err := s.Read(ctx, key, spool.Offset{}, 0)
	wantCode(t, "Read", err, spool.Canceled)
	wantCode(t, "Close", s.Close(ctx, key, endItem(1, 1), 0), spool.Canceled)
	wantCode(t, "Delete", s.Delete(ctx, key.Thread), spool.Canceled)
	s.want(key, nil, false)
	other := stream("t", "r:2")
	wantCode(t, "Open", s.Open(ctx, other), spool.Canceled)
	_, err = s.Read(t.Context(), other, spool.Offset{}, 0)
	wantCode(t, "Read of what was not opened", err, spool.Gone)
}
