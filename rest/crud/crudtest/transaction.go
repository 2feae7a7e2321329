package crudtest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/spoolhq/spool/rest/crud"
)

func commit(t *testing.T, s *suite) {
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

func rollback(t *testing.T, s *suite) {
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

// nested transactions are part of the one around them.
func nested(t *testing.T, s *suite) {
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

// isolated transactions are not seen before they end.
func isolated(t *testing.T, s *suite) {
	s.inTx(t, func(ctx context.Context) error {
		a := item("a")
		if err := s.Insert(ctx, &a); err != nil {
			return err
		}
		s.count(t, 0)
		return nil
	})
	s.count(t, 1)
}

// lostUpdate has everybody raise the same number.
func lostUpdate(t *testing.T, s *suite) {
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

// race has everybody insert the same row: one does.
func race(t *testing.T, s *suite) {
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
