package spooltest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/compare"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// racers is the number of goroutines that race in a test.
const racers = 32

// race runs fn in many goroutines that begin together, and returns their errors.
func race(fn func(i int) error) []error {
	errs := make([]error, racers)
	begin := make(chan struct{})
	var wg sync.WaitGroup
	for i := range racers {
		wg.Go(func() {
			<-begin
			errs[i] = fn(i)
		})
	}
	close(begin)
	wg.Wait()
	return errs
}

// oneWins checks that exactly one call had no error, and that all others had the wanted error.
func (s *storeTest) oneWins(errs []error, want error) {
	s.Helper()
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
		} else {
			s.is("one that lost", err, want)
		}
	}
	s.same("winners", won, 1)
}

func testStoreRaceStart(s *storeTest) {
	key := thread("t")
	errs := race(func(i int) error {
		return s.Store.Update(context.Background(), key, 0, func(tx store.Tx) error {
			return fill(tx, key, spool.RunID(fmt.Sprint("r", i)))
		})
	})
	s.oneWins(errs, store.ErrActiveRun)
	s.same("runs", len(s.all(key, "").Runs), 1)
	s.gapFree(key, 2)
	stats, err := s.Store.Stats(context.Background(), wire.StatsQuery{Queue: true})
	if err != nil || stats.Queue.Ready != 1 {
		s.Errorf("stats: got %d ready and error %v, want 1", stats.Queue.Ready, err)
	}
}

func testStoreRaceRunID(s *storeTest) {
	key := func(i int) spool.ThreadKey { return thread(spool.ThreadID(fmt.Sprint("t", i))) }
	errs := race(func(i int) error {
		return s.Store.Update(context.Background(), key(i), 0, func(tx store.Tx) error { return fill(tx, key(i), "r") })
	})
	s.oneWins(errs, store.ErrRunIDUsed)
	list, err := s.Store.Threads(context.Background(), wire.ThreadQuery{Tenant: spool.DefaultTenant})
	if err != nil || len(list) != 1 {
		s.Errorf("threads: got %d and error %v, want 1", len(list), err)
	}
}

func testStoreRaceSeq(s *storeTest) {
	const threads, rounds = 4, 10
	key := func(i int) spool.ThreadKey { return thread(spool.ThreadID(fmt.Sprint("t", i%threads))) }
	for i := range threads {
		s.write(key(i), func(tx store.Tx) error { return tx.Write(store.Changes{Thread: &wire.Thread{State: wire.Idle}}) })
	}
	failure := errors.New("no")
	var given [threads]sync.Map // the numbers of the successful updates
	errs := race(func(i int) error {
		for round := range rounds {
			failing := (i+round)%5 == 0
			e := wire.NewEntry("A", "", nil)
			err := s.Store.Update(context.Background(), key(i), 0, func(tx store.Tx) error {
				if err := tx.Write(store.Changes{Entries: []*wire.Entry{e, wire.NewEntry("B", "", nil)}}); err != nil {
					return err
				}
				if failing {
					return failure
				}
				return nil
			})
			if failing != errors.Is(err, failure) || !failing && err != nil {
				return fmt.Errorf("update: %w", err)
			}
			if failing {
				continue
			}
			if _, twice := given[i%threads].LoadOrStore(e.Seq, true); twice {
				return fmt.Errorf("seq %d was given before", e.Seq)
			}
		}
		return nil
	})
	if err := errors.Join(errs...); err != nil {
		s.Fatal(err)
	}
	var kept [threads]int64
	for i := range racers {
		for round := range rounds {
			if (i+round)%5 != 0 {
				kept[i%threads] += 2
			}
		}
	}
	for i := range threads {
		s.gapFree(key(i), kept[i])
	}
}

// testStoreRaceReadAndWrite increments a counter that each writer reads first. If the store does not
// lock the thread from a writer's first read on, increments get lost.
func testStoreRaceReadAndWrite(s *storeTest) {
	key := thread("t")
	s.queued(key, "r")
	errs := race(func(int) error {
		return s.Store.Update(context.Background(), key, 0, func(tx store.Tx) error {
			t, err := tx.Thread()
			if err != nil {
				return err
			}
			r, err := store.FindRun(tx, "r")
			if err != nil {
				return err
			}
			runtime.Gosched()
			t.Fence++
			r.Steps++
			return tx.Write(store.Changes{Thread: &t, Runs: []store.RunRow{r}})
		})
	})
	if err := errors.Join(errs...); err != nil {
		s.Fatal(err)
	}
	c := s.all(key, "r")
	s.same("counts", []int64{c.Thread.Fence, int64(c.Runs[0].Steps)}, []int64{racers, racers})
}

func testStoreRaceFence(s *storeTest) {
	key := thread("t")
	s.write(key, func(tx store.Tx) error {
		return tx.Write(store.Changes{Thread: &wire.Thread{State: wire.Running, Fence: 1}})
	})
	errs := race(func(int) error {
		return s.Store.Update(context.Background(), key, 1, func(tx store.Tx) error {
			t, err := tx.Thread()
			t.Fence++
			return errors.Join(err, tx.Write(store.Changes{Thread: &t}))
		})
	})
	s.oneWins(errs, store.ErrFenced)
	s.same("fence", s.all(key, "").Thread.Fence, int64(2))
}

// testStoreViewIsOneState checks that a View sees one state: each transaction adds an entry, a message
// and a usage row, so their numbers must be equal.
func testStoreViewIsOneState(s *storeTest) {
	const last = 150
	key := thread("t")
	s.write(key, func(tx store.Tx) error { return tx.Write(store.Changes{Thread: &wire.Thread{State: wire.Idle}}) })
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for seen := int64(0); seen < last; {
				err := s.Store.View(context.Background(), key, func(v store.View) error {
					before, err := v.Thread()
					runtime.Gosched()
					c, readErr := compare.Read(v, "")
					if err := errors.Join(err, readErr); err != nil {
						return err
					}
					numbers := []int64{
						before.LastSeq, c.Thread.LastSeq, int64(len(c.Entries)), int64(len(c.Messages)), int64(c.Newest.Step),
					}
					for _, n := range numbers {
						if n != numbers[0] {
							return fmt.Errorf("a view has seen several states: %d", numbers)
						}
					}
					if numbers[0] < seen {
						return fmt.Errorf("a view has seen state %d after state %d", numbers[0], seen)
					}
					seen = numbers[0]
					return nil
				})
				if err != nil {
					s.Error(err)
					return
				}
			}
		})
	}
	for i := range last {
		err := s.Store.Update(context.Background(), key, 0, func(tx store.Tx) error {
			return errors.Join(
				tx.Write(store.Changes{
					Messages: []*spool.Message{{ID: spool.MessageID(fmt.Sprint("m", i)), Role: spool.RoleUser}},
					Usage:    []wire.UsageRow{{Step: i + 1, Agent: "a", Model: "m"}},
				}),
				tx.Write(store.Changes{Entries: []*wire.Entry{wire.NewEntry("A", "", nil)}}),
			)
		})
		if err != nil {
			s.Errorf("update: %v", err)
		}
	}
	wg.Wait()
}
