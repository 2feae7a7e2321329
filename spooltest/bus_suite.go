package spooltest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/spoolhq/spool"
)

// TestBus checks that a bus keeps the contract of [spool.Bus]. In general a bus may lose wake-ups and
// notices, but not without a failure, and these tests cause none. Open is called once per subtest. It
// must return a bus that nothing else uses, and close it by the test's Cleanup.
func TestBus(t *testing.T, open func(t *testing.T) spool.Bus) {
	t.Helper()

	for name, test := range map[string]func(t *testing.T, b spool.Bus){
		"Wake":           testBusWake,
		"Nobody":         testBusNobody,
		"EachSubscriber": testBusEachSubscriber,
		"OtherTopics":    testBusOtherTopics,
		"Stop":           testBusStop,
		"ContextEnds":    testBusContextEnds,
		"ContextEnded":   testBusContextEnded,
		"SubscribeAgain": testBusSubscribeAgain,
		"CallFromWithin": testBusCallFromWithin,
		"ManyAtOnce":     testBusManyAtOnce,
		"StopFromWithin": testBusStopWithin,
		"Notify":         testBusNotify,
		"NotifyStop":     testBusNotifyStop,
		"NotifyTooLong":  testBusNotifyTooLong,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t))
		})
	}
}

func topic(id spool.ThreadID) spool.ThreadKey {
	return spool.ThreadKey{Tenant: spool.DefaultTenant, ID: id}
}

// ear collects the wake-ups of a subscription.
type ear struct {
	t     *testing.T
	stop  func()
	kinds chan spool.WakeKind
}

func listen(ctx context.Context, t *testing.T, b spool.Bus, topic spool.ThreadKey) *ear {
	t.Helper()
	e := &ear{t: t, kinds: make(chan spool.WakeKind, 10_000)}
	stop, err := b.Subscribe(ctx, topic, func(kind spool.WakeKind) { e.kinds <- kind })
	if err != nil {
		t.Fatalf("subscribe to %v: %v", topic, err)
	}
	e.stop = stop
	t.Cleanup(stop)
	return e
}

// want waits for a wake-up of the given kind and fails if another kind comes first.
func (e *ear) want(kind spool.WakeKind) {
	e.t.Helper()
	select {
	case got := <-e.kinds:
		if got != kind {
			e.t.Errorf("woken with %q, want %q", got, kind)
		}
	case <-time.After(patience):
		e.t.Fatalf("not woken with %q within %v", kind, patience)
	}
}

func (e *ear) wantSilence() {
	e.t.Helper()
	select {
	case got := <-e.kinds:
		e.t.Errorf("woken with %q, want nothing", got)
	default:
	}
}

func testBusWake(t *testing.T, b spool.Bus) {
	for _, where := range []spool.ThreadKey{topic("t"), spool.JobsTopic} {
		e := listen(t.Context(), t, b, where)
		for _, kind := range []spool.WakeKind{
			spool.WakeRecord, spool.WakeStream, spool.WakeStop, spool.WakeEvent, spool.WakeDeleted, spool.WakeOwner, spool.WakeJobs,
		} {
			b.Wake(where, kind)
			e.want(kind)
		}
	}
}

func testBusNobody(t *testing.T, b spool.Bus) {
	for range 100 {
		b.Wake(topic("t"), spool.WakeRecord)
	}
	e := listen(t.Context(), t, b, topic("t"))
	b.Wake(topic("t"), spool.WakeStop)
	// Earlier wake-ups may arrive late, but they have another kind.
	eventually(t, "the wake-up", func() bool {
		select {
		case kind := <-e.kinds:
			return kind == spool.WakeStop
		default:
			return false
		}
	})
}

func testBusEachSubscriber(t *testing.T, b spool.Bus) {
	one, two := listen(t.Context(), t, b, topic("t")), listen(t.Context(), t, b, topic("t"))
	b.Wake(topic("t"), spool.WakeStop)
	one.want(spool.WakeStop)
	two.want(spool.WakeStop)
}

func testBusOtherTopics(t *testing.T, b spool.Bus) {
	e := listen(t.Context(), t, b, topic("t"))
	b.Wake(topic("u"), spool.WakeRecord)
	b.Wake(spool.ThreadKey{Tenant: "other", ID: "t"}, spool.WakeRecord)
	b.Wake(spool.JobsTopic, spool.WakeJobs)
	b.Wake(topic("t"), spool.WakeStop)
	e.want(spool.WakeStop)
	e.wantSilence()
}

func testBusStop(t *testing.T, b spool.Bus) {
	gone, left := listen(t.Context(), t, b, topic("t")), listen(t.Context(), t, b, topic("t"))
	gone.stop()
	gone.stop()
	b.Wake(topic("t"), spool.WakeRecord)
	left.want(spool.WakeRecord)
	gone.wantSilence()
}

func testBusContextEnds(t *testing.T, b spool.Bus) {
	ctx, cancel := context.WithCancel(t.Context())
	gone, left := listen(ctx, t, b, topic("t")), listen(t.Context(), t, b, topic("t"))
	cancel()
	eventually(t, "the subscription to end", func() bool {
		b.Wake(topic("t"), spool.WakeRecord)
		left.want(spool.WakeRecord)
		select {
		case <-gone.kinds:
			return false
		default:
			return true
		}
	})
	gone.stop()
	b.Wake(topic("t"), spool.WakeStop)
	left.want(spool.WakeStop)
}

func testBusContextEnded(t *testing.T, b spool.Bus) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	stop, err := b.Subscribe(ctx, topic("t"), func(spool.WakeKind) { t.Error("woken without a subscription") })
	if err == nil {
		stop()
	} else {
		wantCode(t, "Subscribe", err, spool.Canceled)
	}
	e := listen(t.Context(), t, b, topic("t"))
	b.Wake(topic("t"), spool.WakeRecord)
	e.want(spool.WakeRecord)
}

func testBusSubscribeAgain(t *testing.T, b spool.Bus) {
	for range 3 {
		e := listen(t.Context(), t, b, topic("t"))
		b.Wake(topic("t"), spool.WakeRecord)
		e.want(spool.WakeRecord)
		e.stop()
	}
}

// A subscriber may call the bus.
func testBusCallFromWithin(t *testing.T, b spool.Bus) {
	other := listen(t.Context(), t, b, topic("other"))
	stop, err := b.Subscribe(t.Context(), topic("t"), func(spool.WakeKind) {
		b.Wake(topic("other"), spool.WakeStream)
	})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	b.Wake(topic("t"), spool.WakeRecord)
	other.want(spool.WakeStream)
}

// A subscriber may end its own subscription.
func testBusStopWithin(t *testing.T, b spool.Bus) {
	left := listen(t.Context(), t, b, topic("t"))
	done := make(chan struct{})
	var once sync.Once
	stopSelf := make(chan func(), 1)
	stop, err := b.Subscribe(t.Context(), topic("t"), func(spool.WakeKind) {
		once.Do(func() {
			(<-stopSelf)()
			close(done)
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	stopSelf <- stop
	b.Wake(topic("t"), spool.WakeRecord)
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatal("stop from within did not return")
	}
	left.want(spool.WakeRecord)
}

func testBusManyAtOnce(t *testing.T, b spool.Bus) {
	var group sync.WaitGroup
	for _, id := range []spool.ThreadID{"a", "b", "c"} {
		group.Go(func() {
			for range 20 {
				if err := wokenOnce(t.Context(), b, topic(id)); err != nil {
					t.Error(err)
				}
			}
		})
		group.Go(func() {
			for range 50 {
				b.Wake(topic(id), spool.WakeStream)
			}
		})
	}
	group.Wait()
}

// wokenOnce subscribes, waits for a wake-up, and ends the subscription in both possible ways.
func wokenOnce(ctx context.Context, b spool.Bus, topic spool.ThreadKey) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	woken := make(chan struct{}, 1)
	stop, err := b.Subscribe(ctx, topic, func(spool.WakeKind) {
		select {
		case woken <- struct{}{}:
		default:
		}
	})
	if err != nil {
		return err
	}
	defer stop()
	b.Wake(topic, spool.WakeRecord)
	select {
	case <-woken:
		return nil
	case <-time.After(patience):
		return fmt.Errorf("not woken within %v", patience)
	}
}
