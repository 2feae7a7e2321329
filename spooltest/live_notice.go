package spooltest

import (
	"bytes"
	"context"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
)

// eavesdrop collects the notices of a topic.
func (l *liveTest) eavesdrop(ctx context.Context, topic spool.ThreadKey) (notices <-chan []byte, stop func()) {
	l.Helper()
	heard := make(chan []byte, 1000)
	stop, err := l.Subscribe(ctx, topic, func(kind store.WakeKind, notice []byte) {
		switch {
		case kind == store.WakeNotice:
			heard <- notice
		case len(notice) > 0:
			l.Errorf("woken with %q and a notice of %d bytes", kind, len(notice))
		}
	})
	if err != nil {
		l.Fatalf("subscribe to %v: %v", topic, err)
	}
	l.Cleanup(stop)
	return heard, stop
}

// hears waits for a notice and fails if another notice comes first.
func (l *liveTest) hears(notices <-chan []byte, want []byte) {
	l.Helper()
	select {
	case got := <-notices:
		if !bytes.Equal(got, want) {
			l.Errorf("heard %.60q, want %.60q", got, want)
		}
	case <-time.After(patience):
		l.Fatalf("did not hear %.60q within %v", want, patience)
	}
}

// testNotice sends notices. All subscribers of the topic must get them, byte for byte and in order, and no
// subscriber of another topic.
func testNotice(l *liveTest) {
	woken := l.listen(l.Context(), topic("u"))
	one, _ := l.eavesdrop(l.Context(), topic("t"))
	two, _ := l.eavesdrop(l.Context(), topic("t"))
	other, _ := l.eavesdrop(l.Context(), spool.ThreadKey{Tenant: "other", ID: "t"})
	longest := bytes.Repeat([]byte("'\"\\\n\x00é"), store.MaxNoticeBytes)[:store.MaxNoticeBytes]
	for _, notice := range [][]byte{[]byte(`{"n":1}`), longest, []byte(`{"n":2}`)} {
		l.Wake(topic("t"), store.WakeNotice, notice)
		l.hears(one, notice)
		l.hears(two, notice)
	}
	l.Wake(topic("t"), store.WakeRecord, nil)
	l.Wake(topic("u"), store.WakeNotice, []byte("other"))
	woken.want(store.WakeNotice)
	l.Wake(spool.ThreadKey{Tenant: "other", ID: "t"}, store.WakeNotice, []byte("last"))
	l.hears(other, []byte("last"))
	if len(one)+len(two) > 0 {
		l.Error("a notice came twice, or to the wrong topic")
	}
}

// testNoticeStop ends subscriptions in both possible ways.
func testNoticeStop(l *liveTest) {
	ctx, cancel := context.WithCancel(l.Context())
	ended, _ := l.eavesdrop(ctx, topic("t"))
	stopped, stop := l.eavesdrop(l.Context(), topic("t"))
	left, _ := l.eavesdrop(l.Context(), topic("t"))
	cancel()
	stop()
	stop()
	eventually(l.T, "the subscription to end", func() bool {
		l.Wake(topic("t"), store.WakeNotice, []byte("x"))
		l.hears(left, []byte("x"))
		select {
		case <-ended:
			return false
		default:
			return true
		}
	})
	if len(stopped) > 0 {
		l.Error("a notice came after the end of the subscription")
	}
}

// testNoticeTooLong sends a notice that is too long. It must be dropped, and later ones not.
func testNoticeTooLong(l *liveTest) {
	notices, _ := l.eavesdrop(l.Context(), topic("t"))
	l.Wake(topic("t"), store.WakeNotice, make([]byte, store.MaxNoticeBytes+1))
	l.Wake(topic("t"), store.WakeNotice, []byte("next"))
	l.hears(notices, []byte("next"))
}
