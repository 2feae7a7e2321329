package spooltest

import (
	"sync"

	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Readers that follow a writer must see every item once and in order, whatever the sizes of batches and
// pages are.
func testStreamReadersAndWriter(l *liveTest) {
	const total = 300
	key := stream("t", "r:1")
	l.open(key)
	var group sync.WaitGroup
	for reader := range 4 {
		group.Go(func() { followStream(l, key, reader, total) })
	}
	group.Go(func() {
		for n := int64(1); n <= total; {
			to := min(n+n%7, total)
			if err := l.Append(l.Context(), key, items(1, n, to)); err != nil {
				l.Errorf("append %d to %d: %v", n, to, err)
				return
			}
			n = to + 1
		}
		if err := l.Close(l.Context(), key, endItem(1, total+1), longGrace); err != nil {
			l.Errorf("close: %v", err)
		}
	})
	group.Wait()
}

func followStream(l *liveTest, key store.StreamKey, limit, total int) {
	var after wire.Offset
	for {
		page, err := l.Read(l.Context(), key, after, limit*3)
		if err != nil || l.Failed() {
			l.Errorf("read after %v: %v", after, err)
			return
		}
		for _, item := range page.Items {
			if want := (wire.Offset{Fence: 1, N: after.N + 1}); item.Offset != want {
				l.Errorf("read %v after %v, want %v", item.Offset, after, want)
				return
			}
			after = item.Offset
		}
		if page.Ended {
			if after.N != int64(total+1) {
				l.Errorf("the stream ended at %v, want 1-%d", after, total+1)
			}
			return
		}
	}
}

// Two workers that both believe they own a stream cannot both write the same offset.
func testStreamOneWinner(l *liveTest) {
	key := stream("t", "r:1")
	l.open(key)
	const rounds, writers = 20, 4
	for n := int64(1); n <= rounds; n++ {
		results := make(chan error, writers)
		for range writers {
			go func() { results <- l.Append(l.Context(), key, items(1, n, n)) }()
		}
		won := 0
		for range writers {
			if err := receive(l.T, results, realWait, "the result of a writer"); err == nil {
				won++
			} else {
				l.wantError("Append that came second", err, store.ErrOffsetUsed)
			}
		}
		if won != 1 {
			l.Fatalf("%d writers appended 1-%d, want one", won, n)
		}
	}
	l.want(key, items(1, 1, rounds), false)
}

func testStreamDeleteWhileInUse(l *liveTest) {
	key := stream("t", "r:1")
	l.open(key)
	started := make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		for n := int64(1); ; n++ {
			err := l.Append(l.Context(), key, items(1, n, n))
			if n == 10 {
				close(started)
			}
			if err != nil {
				l.wantGone("Append", err)
				return
			}
		}
	})
	group.Go(func() {
		for {
			if _, err := l.Read(l.Context(), key, wire.Offset{}, 1); err != nil {
				l.wantGone("Read", err)
				return
			}
		}
	})
	receive(l.T, started, realWait, "the first write")
	if err := l.Delete(l.Context(), key.Thread); err != nil {
		l.Error(err)
	}
	group.Wait()
}

// No item follows the end, even if another process closes the stream.
func testStreamCloseWhileAppends(l *liveTest) {
	key := stream("t", "r:1")
	l.open(key)
	started := make(chan struct{})
	var written int64
	var group sync.WaitGroup
	group.Go(func() {
		for n := int64(1); ; n++ {
			err := l.Append(l.Context(), key, items(1, n, n))
			if n == 10 {
				close(started)
			}
			if err != nil {
				l.wantError("Append", err, store.ErrStreamClosed)
				return
			}
			written = n
		}
	})
	receive(l.T, started, realWait, "the first write")
	closeStream(l, key, endItem(0, 0))
	group.Wait()
	l.want(key, append(items(1, 1, written), endItem(1, written+1)), true)
}
