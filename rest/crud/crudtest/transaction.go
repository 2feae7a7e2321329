package crudtest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/spoolhq/spool/rest/crud"
)

func (s *suite) testCommit() {
	t := s.t
	var a Item
	s.inTx(t, func(ctx context.Context) error {
		a = item("a")
		if err := s.Insert(ctx, &a); err != nil {
			return err
		}
		next := a
		next.Price = 7
		return s.Update(ctx, a.ID, &next, []string{"price"})
	})
	if got := s.get(t, a.ID); got.Price != 7 {
		t.Errorf("the price is %v, want 7", got.Price)
	}
}

var errOwn = errors.New("an error of the test")

func (s *suite) testRollback() {
	t := s.t
	a := s.insert(t, item("a"))
	err := s.Tx(t.Context(), func(ctx context.Context) error {
		b := item("b")
		if err := s.Insert(ctx, &b); err != nil {
			return err
		}
		if err := s.Delete(ctx, a.ID); err != nil {
			return err
		}
		n, err := s.Set(ctx).Count(ctx)
		if err != nil || n != 1 {
			t.Errorf("the transaction sees %d rows (error %v), want its own one", n, err)
		}
		return errOwn
	})
	if !errors.Is(err, errOwn) {
		t.Errorf("error %v, want that of the function", err)
	}
	s.count(t, 1)
	equal(t, a, s.get(t, a.ID))
}

// testNested checks that a transaction inside another one is part of it.
func (s *suite) testNested() {
	t := s.t
	err := s.Tx(t.Context(), func(ctx context.Context) error {
		err := s.Tx(ctx, func(ctx context.Context) error {
			a := item("a")
			return s.Insert(ctx, &a)
		})
		return errors.Join(err, errOwn)
	})
	if !errors.Is(err, errOwn) {
		t.Errorf("error %v, want that of the function", err)
	}
	s.count(t, 0)
}

// testIsolated checks that changes are invisible before the transaction ends.
func (s *suite) testIsolated() {
	t := s.t
	s.inTx(t, func(ctx context.Context) error {
		a := item("a")
		if err := s.Insert(ctx, &a); err != nil {
			return err
		}
		s.count(t, 0) //nolint:contextcheck // reads outside of the transaction
		return nil
	})
	s.count(t, 1)
}

// testLostUpdate has concurrent writers that increment the same number.
func (s *suite) testLostUpdate() {
	t := s.t
	const writers, rounds = 4, 5
	start := item("a")
	start.Price = 0
	a := s.insert(t, start)
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for range rounds {
				err := s.Tx(t.Context(), func(ctx context.Context) error {
					row, err := s.Get(ctx, a.ID)
					if err != nil {
						return err
					}
					row.Price++
					return s.Update(ctx, a.ID, &row, []string{"price"})
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if got := s.get(t, a.ID).Price; got != writers*rounds {
		t.Errorf("the price is %v after %d raises", got, writers*rounds)
	}
}

// testRace has concurrent writers that insert the same row; exactly one succeeds.
func (s *suite) testRace() {
	t := s.t
	const writers = 6
	errs := make([]error, writers)
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			row := item("a")
			row.Price = float64(i)
			errs[i] = s.Insert(t.Context(), &row)
		})
	}
	wg.Wait()
	won := 0
	for i, err := range errs {
		if err == nil {
			won++
			continue
		}
		t.Run(fmt.Sprint("Loser", i), func(t *testing.T) {
			breaks(t, err, crud.Unique, "slug")
		})
	}
	if won != 1 {
		t.Errorf("%d writers have inserted the one row", won)
	}
	s.count(t, 1)
}
