package slots

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// waitingStore is a store that only knows the waiting tenants.
type waitingStore struct {
	store.Store

	waiting  []wire.WaitingTenant
	subjects []wire.WaitingSubject
	err      error
	asked    int
}

func (s *waitingStore) Stats(_ context.Context, q wire.StatsQuery) (wire.Stats, error) {
	if want := (wire.StatsQuery{Waiting: true, Tenant: q.Tenant, Queues: []string{"", "own"}}); q.Tenant == "" ||
		!cmp.Equal(q, want) {
		return wire.Stats{}, errors.New("more is asked for than the tenants and the subjects of one")
	}
	s.asked++
	return wire.Stats{Waiting: s.waiting, Subjects: s.subjects}, s.err
}

// newSlots returns the slots of a worker of two queues.
func newSlots(o Options) *Slots {
	all := New(o)
	all.Queues = []string{"", "own"}
	return all
}

// waitingOf returns a store with waiting tenants, the longest waiting first. Each is written as its
// letter and the number of its jobs in flight.
func waitingOf(tenants ...string) *waitingStore {
	q := &waitingStore{}
	for _, t := range tenants {
		n, err := strconv.Atoi(t[1:])
		if err != nil {
			panic(err)
		}
		q.waiting = append(q.waiting, wire.WaitingTenant{Tenant: spool.Tenant(t[:1]), InFlight: n})
	}
	return q
}

// TestSlotWanted saves a step and checks whether the segment releases its slot. If it does, its run
// keeps its position among its tenant's jobs.
func TestSlotWanted(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		options Options
		work    map[spool.Tenant]int
		queue   *waitingStore
		of      spool.Tenant
		wanted  bool
	}{
		"a tenant alone":            {work: map[spool.Tenant]int{"a": 16}, queue: waitingOf("a16"), of: "a"},
		"one comes, who has a slot": {work: map[spool.Tenant]int{"a": 16, "b": 1}, queue: waitingOf("a16"), of: "a"},
		"one of two waits":          {work: map[spool.Tenant]int{"a": 16, "b": 1}, queue: waitingOf("a16", "b1"), of: "a"},
		"one of four waits": {
			work: map[spool.Tenant]int{"a": 16, "b": 3}, queue: waitingOf("a16", "b3"), of: "a", wanted: true,
		},
		"more at other workers": {
			work: map[spool.Tenant]int{"a": 16, "b": 3}, queue: waitingOf("a60", "b20"), of: "a", wanted: true,
		},
		"it has its share":    {work: map[spool.Tenant]int{"a": 8, "b": 8}, queue: waitingOf("a8", "b8"), of: "a"},
		"its worker has room": {work: map[spool.Tenant]int{"a": 9, "b": 2}, queue: waitingOf("a9", "b2"), of: "a"},
		"it is not the one":   {work: map[spool.Tenant]int{"a": 16, "b": 3}, queue: waitingOf("a16", "b3"), of: "b"},
		"the last place": {
			work: map[spool.Tenant]int{"a": 16, "b": 1, "c": 1, "d": 1, "e": 1}, queue: waitingOf(), of: "a", wanted: true,
		},
		"two places": {
			work: map[spool.Tenant]int{"a": 16, "b": 1, "c": 1, "d": 1}, queue: waitingOf("a16"), of: "a",
		},
		"the one that waits is full": {
			options: Options{PerTenant: 1}, work: map[spool.Tenant]int{"a": 16, "b": 1}, queue: waitingOf("b1"), of: "a",
		},
		"one slot": {
			options: Options{Concurrency: 1}, work: map[spool.Tenant]int{"a": 1}, queue: waitingOf("b0", "a1"), of: "a",
			wanted: true,
		},
		"one slot, older jobs": {
			options: Options{Concurrency: 1}, work: map[spool.Tenant]int{"a": 1}, queue: waitingOf("a1", "b0"), of: "a",
			wanted: true,
		},
		"one slot, no other tenant": {
			options: Options{Concurrency: 1}, work: map[spool.Tenant]int{"a": 1}, queue: waitingOf("a1"), of: "a",
		},
		"elsewhere at work": {
			options: Options{Concurrency: 1}, work: map[spool.Tenant]int{"a": 1}, queue: waitingOf("b2"), of: "a",
		},
		"the queue is away": {
			options: Options{Concurrency: 1},
			work:    map[spool.Tenant]int{"a": 1},
			queue:   &waitingStore{err: errors.New("away")},
			of:      "a",
		},
		"others have more": {
			options: Options{Concurrency: 2}, work: map[spool.Tenant]int{"a": 1, "b": 3}, queue: waitingOf("c0"), of: "a",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				if test.options.Concurrency == 0 {
					test.options.Concurrency = 16
				}
				all := newSlots(test.options)
				due := time.Now()
				var own *Slot
				for tenant, n := range test.work {
					for range n {
						s := all.Acquire(wire.Job{Tenant: tenant, DueAt: due})
						if tenant == test.of {
							own = s
						}
					}
				}
				free := all.Query(0).Limit
				if _, wanted, _ := own.Wanted(t.Context(), test.queue); wanted || test.queue.asked > 0 {
					t.Error("it is wanted at once")
				}
				<-time.After(minHold)
				at, wanted, err := own.Wanted(t.Context(), test.queue)
				if wanted != test.wanted || !errors.Is(err, test.queue.err) || wanted && !at.Equal(due) {
					t.Fatalf("wanted: %t, %v, %v, want %t", wanted, at, err, test.wanted)
				}
				if wanted {
					own.Keep()
					if at2, again, _ := own.Wanted(t.Context(), test.queue); !again || !at2.Equal(at) {
						t.Error("it is not wanted again after stay")
					}
				}
				own.Release()
				if n := all.Query(0).Limit; n != free+1 {
					t.Errorf("%d places are free, want %d", n, free+1)
				}
				if n := test.work[test.of] - 1; all.active[test.of] != n || all.leaving != 0 {
					t.Errorf("the tenant has %d at work, want %d; %d are leaving", all.active[test.of], n, all.leaving)
				}
			})
		})
	}
}

// TestSlotWantedOnce checks that only as many segments release their slots as are wanted, although none
// has left yet.
func TestSlotWantedOnce(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		all := newSlots(Options{Concurrency: 4})
		var many []*Slot
		for range 4 {
			many = append(many, all.Acquire(wire.Job{Tenant: "a"}))
		}
		for _, tenant := range []spool.Tenant{"b", "c"} {
			all.Acquire(wire.Job{Tenant: tenant})
		}
		<-time.After(minHold)
		given := 0
		for _, s := range many {
			if _, wanted, err := s.Wanted(t.Context(), waitingOf("d0")); wanted || err != nil {
				given++
			}
		}
		if given != 2 { // for d, and for the next one
			t.Errorf("%d slots are given back, want 2", given)
		}
		q := all.Query(time.Minute)
		q.Served = nil
		if diff := cmp.Diff(store.ClaimQuery{Lease: time.Minute, Reserved: 2}, q); diff != "" {
			t.Errorf("a claim before they are gone: -want +got\n%s", diff)
		}
	})
}

// TestSlotWantedBySubject saves a step of the subject u, in a tenant whose other subjects wait.
func TestSlotWantedBySubject(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		options Options
		work    map[string]int
		waiting []wire.WaitingSubject
		wanted  bool
	}{
		"a subject alone": {
			work:    map[string]int{"u": 16},
			waiting: []wire.WaitingSubject{{Subject: "u", InFlight: 16}},
		},
		"another finds a slot": {work: map[string]int{"u": 16}, waiting: []wire.WaitingSubject{{Subject: "v"}}},
		"another has all it may": {
			work:    map[string]int{"u": 16, "v": 2},
			waiting: []wire.WaitingSubject{{Subject: "v", InFlight: 2}},
			wanted:  true,
		},
		"both have their share": {
			work:    map[string]int{"u": 8, "v": 8},
			waiting: []wire.WaitingSubject{{Subject: "u", InFlight: 8}, {Subject: "v", InFlight: 8}},
		},
		"another has one less": {
			work:    map[string]int{"u": 9, "v": 8},
			waiting: []wire.WaitingSubject{{Subject: "v", InFlight: 8}},
		},
		"the tenant's bound": {
			options: Options{PerTenant: 3},
			work:    map[string]int{"u": 3},
			waiting: []wire.WaitingSubject{{Subject: "v"}},
			wanted:  true,
		},
		"the tenant's bound of one": {
			options: Options{PerTenant: 1},
			work:    map[string]int{"u": 1},
			waiting: []wire.WaitingSubject{{Subject: "v"}},
			wanted:  true,
		},
		"one slot": {
			options: Options{Concurrency: 1},
			work:    map[string]int{"u": 1},
			waiting: []wire.WaitingSubject{{Subject: "v"}},
			wanted:  true,
		},
		"it is not the one": {
			options: Options{PerTenant: 3},
			work:    map[string]int{"u": 1, "w": 2},
			waiting: []wire.WaitingSubject{{Subject: "v"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				if test.options.Concurrency == 0 {
					test.options.Concurrency = 16
				}
				all := newSlots(test.options)
				var own *Slot
				sum := 0
				for subject, n := range test.work {
					sum += n
					for range n {
						s := all.Acquire(wire.Job{Tenant: "a", Subject: subject})
						if subject == "u" {
							own = s
						}
					}
				}
				<-time.After(minHold)
				queue := &waitingStore{waiting: []wire.WaitingTenant{{Tenant: "a", InFlight: sum}}, subjects: test.waiting}
				if _, wanted, err := own.Wanted(t.Context(), queue); wanted != test.wanted || err != nil {
					t.Errorf("wanted: %t, %v, want %t", wanted, err, test.wanted)
				}
				own.Release()
				if n := all.bySubject["a"]["u"]; n != test.work["u"]-1 || all.leaving != 0 {
					t.Errorf("the subject has %d at work, want %d; %d are leaving", n, test.work["u"]-1, all.leaving)
				}
			})
		})
	}
}

// TestSlots checks the number of slots, and how many of them are reserved.
func TestSlots(t *testing.T) {
	t.Parallel()

	push := func(context.Context, store.Delivery) (wire.JobResult, error) { return wire.JobResult{}, nil }
	for o, want := range map[*Options]store.ClaimQuery{
		{Concurrency: 1}:                 {Limit: 1},
		{Concurrency: 2}:                 {Limit: 4, Reserved: 2},
		{Concurrency: 4}:                 {Limit: 6, Reserved: 2},
		{Concurrency: 5, PerTenant: 3}:   {Limit: 8, Reserved: 3, PerTenant: 3},
		{Concurrency: 16}:                {Limit: 21, Reserved: 5},
		{Concurrency: 16, Deliver: push}: {Limit: 16, Reserved: 1},
	} {
		q := New(*o).Query(0)
		q.Served = nil
		if diff := cmp.Diff(want, q); diff != "" {
			t.Errorf("%d slots: -want +got\n%s", o.Concurrency, diff)
		}
	}
}

// TestServedOfLately has more tenants than the slots remember: the recent ones are known.
func TestServedOfLately(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		all := New(Options{Concurrency: 1})
		for i := range 5 * maxServed {
			all.Acquire(wire.Job{Tenant: spool.Tenant(strconv.Itoa(i))}).Release()
			<-time.After(time.Millisecond)
		}
		if n := len(all.served); n < maxServed/2 || n > maxServed {
			t.Errorf("%d tenants are known", n)
		}
		last := all.lastServed(spool.Tenant(strconv.Itoa(5*maxServed - 1)))
		if first := all.lastServed("0"); !first.IsZero() || !last.Equal(time.Now().Add(-time.Millisecond)) {
			t.Errorf("the first one was served at %s and the last one at %s, now it is %s", first, last, time.Now())
		}
	})
}
