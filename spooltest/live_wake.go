package spooltest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
)

func topic(id spool.ThreadID) spool.ThreadKey {
	return spool.ThreadKey{Tenant: spool.DefaultTenant, ID: id}
}

// ear collects the wake-ups of a subscription.
type ear struct {
	t     *testing.T
	stop  func()
	kinds chan store.WakeKind
}

func (l *liveTest) listen(ctx context.Context, topic spool.ThreadKey) *ear {
	l.Helper()
	e := &ear{t: l.T, kinds: make(chan store.WakeKind, 10_000)}
	stop, err := l.Subscribe(ctx, topic, func(kind store.WakeKind, _ []byte) { e.kinds <- kind })
	if err != nil {
		l.Fatalf("subscribe to %v: %v", topic, err)
	}
	e.stop = stop
	l.Cleanup(stop)
	return e
}

// want waits for a wake-up of the given kind and fails if another kind comes first.
func (e *ear) want(kind store.WakeKind) {
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

func testWake(l *liveTest) {
	for _, where := range []spool.ThreadKey{topic("t"), store.JobsTopic, store.EventsTopic} {
		e := l.listen(l.Context(), where)
		for _, kind := range []store.WakeKind{
			store.WakeRecord, store.WakeStream, store.WakeStop, store.WakeEvent, store.WakeDeleted, store.WakeOwner,
			store.WakeAsk, store.WakePresent, store.WakeJobs,
		} {
			l.Wake(where, kind, nil)
			e.want(kind)
		}
	}
}

func testWakeNobody(l *liveTest) {
	for range 100 {
		l.Wake(topic("t"), store.WakeRecord, nil)
	}
	e := l.listen(l.Context(), topic("t"))
	l.Wake(topic("t"), store.WakeStop, nil)
	// Earlier wake-ups may arrive late, but they have another kind.
	eventually(l.T, "the wake-up", func() bool {
		select {
		case kind := <-e.kinds:
			return kind == store.WakeStop
		default:
			return false
		}
	})
}

func testWakeEachSubscriber(l *liveTest) {
	one, two := l.listen(l.Context(), topic("t")), l.listen(l.Context(), topic("t"))
	l.Wake(topic("t"), store.WakeStop, nil)
	one.want(store.WakeStop)
	two.want(store.WakeStop)
}

func testWakeOtherTopics(l *liveTest) {
	e := l.listen(l.Context(), topic("t"))
	l.Wake(topic("u"), store.WakeRecord, nil)
	l.Wake(spool.ThreadKey{Tenant: "other", ID: "t"}, store.WakeRecord, nil)
	l.Wake(store.JobsTopic, store.WakeJobs, nil)
	l.Wake(topic("t"), store.WakeStop, nil)
	e.want(store.WakeStop)
	e.wantSilence()

	tickets, events := l.listen(l.Context(), store.JobsTopic), l.listen(l.Context(), store.EventsTopic)
	l.Wake(store.EventsTopic, store.WakeJobs, nil)
	events.want(store.WakeJobs)
	l.Wake(store.JobsTopic, store.WakeEvent, nil) // behind one that it must not get
	tickets.want(store.WakeEvent)
	events.wantSilence()
}

func testWakeStop(l *liveTest) {
	gone, left := l.listen(l.Context(), topic("t")), l.listen(l.Context(), topic("t"))
	gone.stop()
	gone.stop()
	l.Wake(topic("t"), store.WakeRecord, nil)
	left.want(store.WakeRecord)
	gone.wantSilence()
}

func testWakeContextEnds(l *liveTest) {
	ctx, cancel := context.WithCancel(l.Context())
	gone, left := l.listen(ctx, topic("t")), l.listen(l.Context(), topic("t"))
	cancel()
	eventually(l.T, "the subscription to end", func() bool {
		l.Wake(topic("t"), store.WakeRecord, nil)
		left.want(store.WakeRecord)
		select {
		case <-gone.kinds:
			return false
		default:
			return true
		}
	})
	gone.stop()
	l.Wake(topic("t"), store.WakeStop, nil)
	left.want(store.WakeStop)
}

func testWakeContextEnded(l *liveTest) {
	ctx, cancel := context.WithCancel(l.Context())
	cancel()
	stop, err := l.Subscribe(ctx, topic("t"), func(store.WakeKind, []byte) { l.Error("woken without a subscription") })
	if err == nil {
		stop()
	} else {
		l.wantCanceled("Subscribe", err)
	}
	e := l.listen(l.Context(), topic("t"))
	l.Wake(topic("t"), store.WakeRecord, nil)
	e.want(store.WakeRecord)
}

func testWakeSubscribeAgain(l *liveTest) {
	for range 3 {
		e := l.listen(l.Context(), topic("t"))
		l.Wake(topic("t"), store.WakeRecord, nil)
		e.want(store.WakeRecord)
		e.stop()
	}
}

// A subscriber may call the Live.
func testWakeCallFromWithin(l *liveTest) {
	other := l.listen(l.Context(), topic("other"))
	stop, err := l.Subscribe(l.Context(), topic("t"), func(store.WakeKind, []byte) {
		l.Wake(topic("other"), store.WakeStream, nil)
	})
	if err != nil {
		l.Fatal(err)
	}
	defer stop()
	l.Wake(topic("t"), store.WakeRecord, nil)
	other.want(store.WakeStream)
}

// A subscriber may end its own subscription.
func testWakeStopFromWithin(l *liveTest) {
	left := l.listen(l.Context(), topic("t"))
	done := make(chan struct{})
	var once sync.Once
	stopSelf := make(chan func(), 1)
	stop, err := l.Subscribe(l.Context(), topic("t"), func(store.WakeKind, []byte) {
		once.Do(func() {
			(<-stopSelf)()
			close(done)
		})
	})
	if err != nil {
		l.Fatal(err)
	}
	stopSelf <- stop
	l.Wake(topic("t"), store.WakeRecord, nil)
	select {
	case <-done:
	case <-time.After(patience):
		l.Fatal("stop from within did not return")
	}
	left.want(store.WakeRecord)
}

func testWakeManyAtOnce(l *liveTest) {
	var group sync.WaitGroup
	for _, id := range []spool.ThreadID{"a", "b", "c"} {
		group.Go(func() {
			for range 20 {
				if err := l.wokenOnce(topic(id)); err != nil {
					l.Error(err)
				}
			}
		})
		group.Go(func() {
			for range 50 {
				l.Wake(topic(id), store.WakeStream, nil)
			}
		})
	}
	group.Wait()
}

// wokenOnce subscribes, waits for a wake-up, and ends the subscription in both possible ways.
func (l *liveTest) wokenOnce(topic spool.ThreadKey) error {
	ctx, cancel := context.WithCancel(l.Context())
	defer cancel()
	woken := make(chan struct{}, 1)
	stop, err := l.Subscribe(ctx, topic, func(store.WakeKind, []byte) {
		select {
		case woken <- struct{}{}:
		default:
		}
	})
	if err != nil {
		return err
	}
	defer stop()
	l.Wake(topic, store.WakeRecord, nil)
	select {
	case <-woken:
		return nil
	case <-time.After(patience):
		return fmt.Errorf("not woken within %v", patience)
	}
}
