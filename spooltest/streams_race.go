package spooltest

import (
	"sync"
	"testing"

	"github.com/spoolhq/spool"
)

// Readers that follow a writer must see every item once and in order, whatever the sizes of batches and
// pages are.
func testStreamReadersAndWriter(t *testing.T, s streamsTest) {
	const total = 300
	key := stream("t", "r:1")
	s.open(key)
	var group sync.WaitGroup
	for reader := range 4 {
		group.Go(func() { followStream(t, s, key, reader, total) })
	}
	group.Go(func() {
		for n := int64(1); n <= total; {
			to := min(n+n%7, total)
			if err := s.Append(t.Context(), key, items(1, n, to)); err != nil {
				t.Errorf("append %d to %d: %v", n, to, err)
				return
			}
			n = to + 1
		}
		if err := s.Close(t.Context(), key, endItem(1, total+1), longGrace); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	group.Wait()
}

func followStream(t *testing.T, s streamsTest, key spool.StreamKey, limit, total int) {
	var after spool.Offset
	for {
		page, err := s.Read(t.Context(), key, after, limit*3)
		if err != nil || t.Failed() {
			t.Errorf("read after %v: %v", after, err)
			return
		}
		for _, item := range page.Items {
			if want := (spool.Offset{Fence: 1, N: after.N + 1}); item.Offset != want {
				t.Errorf("read %v after %v, want %v", item.Offset, after, want)
				return
			}
			after = item.Offset
		}
		if page.Ended {
			if after.N != int64(total+1) {
				t.Errorf("the stream ended at %v, want 1-%d", after, total+1)
			}
			return
		}
	}
}

// Two workers that both believe they own a stream cannot both write the same offset.
func testStreamOneWinner(t *testing.T, s streamsTest) {
	key := stream("t", "r:1")
	s.open(key)
	const rounds, writers = 20, 4
	for n := int64(1); n <= rounds; n++ {
		results := make(chan error, writers)
		for range writers {
			go func() { results <- s.Append(t.Context(), key, items(1, n, n)) }()
		}
		won := 0
		for range writers {
			if err := receive(t, results, realWait, "the result of a writer"); err == nil {
				won++
			} else {
				wantCode(t, "Append that came second", err, spool.Conflict)
			}
		}
		if won != 1 {
			t.Fatalf("%d writers appended 1-%d, want one", won, n)
		}
	}
	s.want(key, items(1, 1, rounds), false)
}

func testStreamDeleteWhileInUse(t *testing.T, s streamsTest) {
	key := stream("t", "r:1")
	s.open(key)
	started := make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		for n := int64(1); ; n++ {
			err := s.Append(t.Context(), key, items(1, n, n))
			if n == 10 {
				close(started)
			}
			if err != nil {
				wantGone(t, "Append", err)
				return
			}
		}
	})
	group.Go(func() {
		for {
			if _, err := s.Read(t.Context(), key, spool.Offset{}, 1); err != nil {
				wantGone(t, "Read", err)
				return
			}
		}
	})
	receive(t, started, realWait, "the first write")
	if err := s.Delete(t.Context(), key.Thread); err != nil {
		t.Error(err)
	}
	group.Wait()
}

// No item follows the end, even if another process closes the stream.
func testStreamCloseWhileAppends(t *testing.T, s streamsTest) {
	key := stream("t", "r:1")
	s.open(key)
	started := make(chan struct{})
	var written int64
	var group sync.WaitGroup
	group.Go(func() {
		for n := int64(1); ; n++ {
			err := s.Append(t.Context(), key, items(1, n, n))
			if n == 10 {
				close(started)
			}
			if err != nil {
				wantCode(t, "Append", err, spool.Conflict)
				return
			}
			written = n
		}
	})
	receive(t, started, realWait, "the first write")
	closeStream(t, s, key, endItem(0, 0))
	group.Wait()
	s.want(key, append(items(1, 1, written), endItem(1, written+1)), true)
}
