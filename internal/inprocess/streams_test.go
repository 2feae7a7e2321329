package inprocess_test

import (
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/inprocess"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

func key(thread spool.ThreadID, id wire.StreamID) store.StreamKey {
	return store.StreamKey{Thread: spool.ThreadKey{Tenant: spool.DefaultTenant, ID: thread}, ID: id}
}

func item(n int64, text string) wire.Item {
	return wire.NewItem(wire.ItemTextContent, wire.Offset{Fence: 1, N: n}, 0, wire.Delta{Delta: text})
}

func end(n int64) wire.Item {
	return wire.NewItem(wire.ItemRunFinished, wire.Offset{Fence: 1, N: n}, 0, nil)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// gone reports whether the stream has been removed.
func gone(t *testing.T, s *inprocess.Live, k store.StreamKey) bool {
	t.Helper()
	_, err := s.Read(t.Context(), k, wire.Offset{}, 0)
	if err != nil && spool.CodeOf(err) != spool.Gone {
		t.Fatal(err)
	}
	return err != nil
}

func TestStreamsGrace(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		s, k := inprocess.NewLive(0), key("t", "r:1")
		must(t, s.Open(t.Context(), k))
		must(t, s.Close(t.Context(), k, end(1), time.Minute))

		<-time.After(time.Minute - 1)
		synctest.Wait()
		if gone(t, s, k) {
			t.Error("the stream is gone within its grace")
		}
		<-time.After(1)
		synctest.Wait()
		if !gone(t, s, k) {
			t.Error("the stream is there after its grace")
		}
		must(t, s.Open(t.Context(), k))
		if gone(t, s, k) {
			t.Error("an id that was forgotten cannot be opened")
		}
	})
}

// A timer of a stream that was deleted must not remove the one that has its id now.
func TestStreamsDeleteStopsTimer(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		s, k := inprocess.NewLive(0), key("t", "r:1")
		must(t, s.Open(t.Context(), k))
		must(t, s.Close(t.Context(), k, end(1), time.Minute))
		must(t, s.Delete(t.Context(), k.Thread))
		must(t, s.Open(t.Context(), k))

		<-time.After(time.Hour)
		synctest.Wait()
		if gone(t, s, k) {
			t.Error("the stream went with the grace of another")
		}
	})
}

func TestStreamsNoGrace(t *testing.T) {
	t.Parallel()

	s, k := inprocess.NewLive(0), key("t", "r:1")
	must(t, s.Open(t.Context(), k))
	must(t, s.Close(t.Context(), k, end(1), 0))
	if !gone(t, s, k) {
		t.Error("the stream is there without a grace")
	}
}

func TestStreamsBudget(t *testing.T) {
	t.Parallel()

	const budget = 100_000
	chunk := strings.Repeat("x", 20_000)

	t.Run("EndedFirst", func(t *testing.T) {
		t.Parallel()

		s := inprocess.NewLive(budget)
		open, late, early := key("a", "r:1"), key("b", "r:1"), key("c", "r:1")
		for _, k := range []store.StreamKey{open, late, early} {
			must(t, s.Open(t.Context(), k))
			must(t, s.Append(t.Context(), k, []wire.Item{item(1, chunk)}))
		}
		must(t, s.Close(t.Context(), early, end(2), time.Hour))
		must(t, s.Close(t.Context(), late, end(2), time.Hour))
		must(t, s.Append(t.Context(), open, []wire.Item{item(2, chunk), item(3, chunk)}))
		if !gone(t, s, early) || gone(t, s, late) || gone(t, s, open) {
			t.Error("another stream than the one that ended first was removed")
		}
		must(t, s.Append(t.Context(), open, []wire.Item{item(4, chunk)}))
		if !gone(t, s, late) || gone(t, s, open) {
			t.Error("another stream than the ended one was removed")
		}
	})

	t.Run("OpenedFirst", func(t *testing.T) {
		t.Parallel()

		s := inprocess.NewLive(budget)
		first, second := key("a", "r:1"), key("b", "r:1")
		must(t, s.Open(t.Context(), first))
		must(t, s.Open(t.Context(), second))
		for n := range int64(3) {
			must(t, s.Append(t.Context(), first, []wire.Item{item(n+1, chunk)}))
		}
		for n := range int64(2) {
			must(t, s.Append(t.Context(), second, []wire.Item{item(n+1, chunk)}))
		}
		if !gone(t, s, first) || gone(t, s, second) {
			t.Error("another stream than the one that was opened first was removed")
		}
		if err := s.Append(t.Context(), first, []wire.Item{item(9, "")}); spool.CodeOf(err) != spool.Gone {
			t.Errorf("its writer got %v, want gone", err)
		}
	})

	t.Run("FreedBytes", func(t *testing.T) {
		t.Parallel()

		s, kept := inprocess.NewLive(budget), key("kept", "r:1")
		must(t, s.Open(t.Context(), kept))
		for range 50 {
			k := key("t", "r:1")
			must(t, s.Open(t.Context(), k))
			must(t, s.Append(t.Context(), k, []wire.Item{item(1, chunk), item(2, chunk)}))
			must(t, s.Close(t.Context(), k, end(3), time.Hour))
			must(t, s.Delete(t.Context(), k.Thread))
		}
		if gone(t, s, kept) {
			t.Error("what was deleted still counts")
		}
	})

	t.Run("EmptyStreamsCount", func(t *testing.T) {
		t.Parallel()

		s, first := inprocess.NewLive(budget), key("t", "r:1")
		must(t, s.Open(t.Context(), first))
		for n := range budget / 100 {
			must(t, s.Open(t.Context(), key("t", wire.NewStreamID("s", n+1))))
		}
		if !gone(t, s, first) {
			t.Error("any number of empty streams fits")
		}
	})
}

//nolint:paralleltest // it counts allocations, so it runs alone
func TestStreamsReadSharesItems(t *testing.T) {
	s, k := inprocess.NewLive(0), key("t", "r:1")
	must(t, s.Open(t.Context(), k))
	for n := range int64(1000) {
		must(t, s.Append(t.Context(), k, []wire.Item{item(n+1, "x")}))
	}
	ctx := t.Context()
	allocated := testing.AllocsPerRun(10, func() {
		if page, err := s.Read(ctx, k, wire.Offset{}, 0); err != nil || len(page.Items) != 1000 {
			t.Error("read failed")
		}
	})
	if allocated > 0 {
		t.Errorf("a read allocates %v times", allocated)
	}
}

func BenchmarkStreams(b *testing.B) {
	s, k := inprocess.NewLive(0), key("t", "r:1")
	ctx := b.Context()
	if err := s.Open(ctx, k); err != nil {
		b.Fatal(err)
	}
	batch := make([]wire.Item, 8)
	n := int64(0)
	for b.Loop() {
		for i := range batch {
			n++
			batch[i] = wire.Item{Offset: wire.Offset{Fence: 1, N: n}, Data: []byte(`{}`)}
		}
		if err := s.Append(ctx, k, batch); spool.CodeOf(err) == spool.Gone {
			_ = s.Open(ctx, k)
		}
		_, _ = s.Read(ctx, k, wire.Offset{Fence: 1, N: n - 8}, 0)
	}
}

// TestStreamsPack: a stream that is packed reads as it did, in pages of any size, takes less of
// the budget, and goes when its grace is over.
func TestStreamsPack(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		s, k := inprocess.NewLive(0), key("t", "r:1")
		must(t, s.Open(t.Context(), k))
		for n := range int64(20) {
			must(t, s.Append(t.Context(), k, []wire.Item{item(n+1, strings.Repeat("x", int(n%7)))}))
		}
		must(t, s.Close(t.Context(), k, end(21), time.Hour))
		before, err := s.Read(t.Context(), k, wire.Offset{}, 0)
		must(t, err)
		size := s.Bytes()

		<-time.After(time.Hour / 2)
		synctest.Wait()
		if got := s.Bytes(); got > size/2 {
			t.Errorf("it takes %d bytes of the budget, and took %d", got, size)
		}
		for _, limit := range []int{0, 1, 7, 21, 22} {
			var after wire.Offset
			var got []wire.Item
			for ended := false; !ended; {
				page, err := s.Read(t.Context(), k, after, limit)
				must(t, err)
				got = append(got, page.Items...)
				ended, after = page.Ended, got[len(got)-1].Offset
				if page.Last != before.Last {
					t.Fatalf("the last offset is %v, want %v", page.Last, before.Last)
				}
			}
			if !reflect.DeepEqual(got, before.Items) {
				t.Errorf("in pages of %d: got %v, want %v", limit, got, before.Items)
			}
		}

		<-time.After(time.Hour/2 - 1)
		synctest.Wait()
		if gone(t, s, k) {
			t.Error("the stream is gone within its grace")
		}
		<-time.After(1)
		synctest.Wait()
		if !gone(t, s, k) || s.Bytes() != 0 {
			t.Errorf("the stream is there after its grace, or %d bytes of it", s.Bytes())
		}
	})
}

// A stream for which the budget is too small is there until the next one is opened: a worker
// could not open any otherwise.
func TestOpenKeepsWhatItOpens(t *testing.T) {
	t.Parallel()

	s := inprocess.NewLive(1)
	first := store.StreamKey{Thread: spool.ThreadKey{Tenant: "acme", ID: "t"}, ID: "r:1"}
	second := first
	second.ID = "r:2"
	for _, key := range []store.StreamKey{first, second} {
		if err := s.Open(t.Context(), key); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Read(t.Context(), key, wire.Offset{}, 0); err != nil {
			t.Errorf("%s is gone: %v", key.ID, err)
		}
	}
	if _, err := s.Read(t.Context(), first, wire.Offset{}, 0); spool.CodeOf(err) != spool.Gone {
		t.Errorf("the budget is not kept: %v", err)
	}
}
