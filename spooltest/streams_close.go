package spooltest

import (
	"testing"
	"time"

	"github.com/spoolhq/spool"
)

// longGrace is longer than any test.
const longGrace = time.Hour

func closeStream(t *testing.T, s streamsTest, key spool.StreamKey, end spool.Item) {
	t.Helper()
	if err := s.Close(t.Context(), key, end, longGrace); err != nil {
		t.Fatalf("close %v: %v", key, err)
	}
}

func testStreamCloseEnds(t *testing.T, s streamsTest) {
	key := stream("t", "r:1")
	all := append(items(1, 1, 3), endItem(1, 4))
	s.open(key, all[:3]...)
	closeStream(t, s, key, all[3])

	s.want(key, all, true)
	s.wantPage(s.read(key, all[1].Offset, 1), all[2:3], false)
	s.wantPage(s.read(key, all[1].Offset, 2), all[2:], true)
	page := s.read(key, all[3].Offset, 0)
	s.wantPage(page, nil, true)
	if page.Last != all[3].Offset {
		t.Errorf("page has Last %v, want %v", page.Last, all[3].Offset)
	}
}

func testStreamCloseEmpty(t *testing.T, s streamsTest) {
	key := stream("t", "r:1")
	s.open(key)
	closeStream(t, s, key, endItem(2, 1))
	s.want(key, []spool.Item{endItem(2, 1)}, true)
}

// A process that closes the stream of a dead worker does not know the last item's offset.
func testStreamCloseMovesEnd(t *testing.T, s streamsTest) {
	for i, end := range []spool.Item{endItem(2, 5), endItem(2, 1), endItem(1, 9), endItem(0, 0)} {
		key := stream("t", spool.NewStreamID("r", i+1))
		s.open(key, items(2, 1, 5)...)
		closeStream(t, s, key, end)
		// The offset is in the item's data, too.
		s.want(key, append(items(2, 1, 5), endItem(2, 6)), true)
	}
}

func testStreamCloseTwice(t *testing.T, s streamsTest) {
	key := stream("t", "r:1")
	s.open(key, items(1, 1, 1)...)
	closeStream(t, s, key, endItem(1, 2))
	closeStream(t, s, key, endItem(1, 3))
	if err := s.Close(t.Context(), key, endItem(1, 4), time.Nanosecond); err != nil {
		t.Errorf("close a closed stream: %v", err)
	}
	s.want(key, append(items(1, 1, 1), endItem(1, 2)), true)
}

func testStreamCloseRefuses(t *testing.T, s streamsTest) {
	key := stream("t", "r:1")
	s.open(key)
	closeStream(t, s, key, endItem(1, 1))
	wantCode(t, "Append to a closed stream", s.Append(t.Context(), key, items(1, 2, 2)), spool.Conflict)
	s.want(key, []spool.Item{endItem(1, 1)}, true)
}

func testStreamCloseGrace(t *testing.T, s streamsTest) {
	short, long := stream("t", "r:1"), stream("t", "r:2")
	s.open(short, items(1, 1, 1)...)
	s.open(long, items(1, 1, 1)...)
	closeStream(t, s, long, endItem(1, 2))
	if err := s.Close(t.Context(), short, endItem(1, 2), 20*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the stream to be gone", func() bool {
		_, err := s.Read(t.Context(), short, spool.Offset{}, 0)
		return spool.CodeOf(err) == spool.Gone
	})
	wantGone(t, "Append", s.Append(t.Context(), short, items(1, 3, 3)))
	wantGone(t, "Close", s.Close(t.Context(), short, endItem(1, 3), 0))
	s.want(long, append(items(1, 1, 1), endItem(1, 2)), true)
}

func testStreamDelete(t *testing.T, s streamsTest) {
	one, two, other := stream("t", "r:1"), stream("t", "r:2"), stream("u", "r:1")
	for _, key := range []spool.StreamKey{one, two, other} {
		s.open(key, items(1, 1, 1)...)
	}
	if err := s.Delete(t.Context(), one.Thread); err != nil {
		t.Fatal(err)
	}
	for _, key := range []spool.StreamKey{one, two} {
		_, err := s.Read(t.Context(), key, spool.Offset{}, 0)
		wantGone(t, "Read", err)
		wantGone(t, "Append", s.Append(t.Context(), key, items(1, 2, 2)))
		wantGone(t, "Close", s.Close(t.Context(), key, endItem(1, 2), 0))
	}
	s.want(other, items(1, 1, 1), false)
}

func testStreamDeleteClosed(t *testing.T, s streamsTest) {
	key := stream("t", "r:1")
	s.open(key)
	closeStream(t, s, key, endItem(1, 1))
	if err := s.Delete(t.Context(), key.Thread); err != nil {
		t.Fatal(err)
	}
	_, err := s.Read(t.Context(), key, spool.Offset{}, 0)
	wantGone(t, "Read", err)
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
