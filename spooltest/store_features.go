package spooltest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// testStoreDurable checks that all data is still there after the backend was closed and opened again.
func testStoreDurable(t *testing.T, open Open) {
	t.Helper()
	s := newStoreTest(t, open)
	key := thread("t")
	s.write(key, func(tx store.Tx) error { return fill(tx, key, "r") })
	s.write(key, func(tx store.Tx) error { return tx.Write(store.Changes{Drop: &store.Drop{From: "m2", Seq: 2}}) })
	before := s.all(key, "r")
	if err := s.Store.Close(); err != nil {
		s.Fatalf("close: %v", err)
	}

	again := &storeTest{T: t, Backend: open(t, s.clock), clock: s.clock}
	again.same("contents", again.all(key, "r"), before)
	taken, _, err := again.Store.Claim(context.Background(), store.ClaimQuery{Limit: 10, Lease: time.Minute})
	if err != nil || len(taken) != 1 || taken[0].RunID != "r" {
		again.Errorf("claim: got %v and error %v, want the job", taken, err)
	}
	again.write(key, func(tx store.Tx) error {
		return tx.Write(store.Changes{Entries: []*wire.Entry{wire.NewEntry("A", "", nil)}})
	})
	again.gapFree(key, 3)
}

// testStoreCrossProcess opens the same data twice and writes through both.
func testStoreCrossProcess(t *testing.T, open Open) {
	t.Helper()
	s := newStoreTest(t, open)
	both := []store.Backend{s.Backend, open(t, s.clock)}
	const rounds = 5
	s.queued(thread("seq"), "r-seq")
	errs := race(func(i int) error {
		for range rounds {
			err := both[i%2].Store.Update(context.Background(), thread("seq"), 0, func(tx store.Tx) error {
				return tx.Write(store.Changes{Entries: []*wire.Entry{wire.NewEntry("A", "", nil)}})
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err := errors.Join(errs...); err != nil {
		s.Fatal(err)
	}
	s.gapFree(thread("seq"), racers*rounds)

	key := thread("start")
	errs = race(func(i int) error {
		return both[i%2].Store.Update(context.Background(), key, 0, func(tx store.Tx) error {
			return fill(tx, key, spool.RunID(fmt.Sprint("r", i)))
		})
	})
	s.oneWins(errs, store.ErrActiveRun)

	claims := make([]int, racers)
	errs = race(func(i int) error {
		taken, _, err := both[i%2].Store.Claim(context.Background(), store.ClaimQuery{Limit: 10, Lease: time.Minute})
		claims[i] = len(taken)
		return err
	})
	if err := errors.Join(errs...); err != nil {
		s.Fatal(err)
	}
	total := 0
	for _, n := range claims {
		total += n
	}
	s.same("claims of the one job", total, 1)
}
