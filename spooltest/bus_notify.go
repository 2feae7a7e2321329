package spooltest

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/spoolhq/spool"
)

// eavesdrop collects the notices of a topic.
func eavesdrop(ctx context.Context, t *testing.T, b spool.Bus, topic spool.ThreadKey) (notices <-chan []byte, stop func()) {
	t.Helper()
	heard := make(chan []byte, 1000)
	stop, err := b.Listen(ctx, topic, func(notice []byte) { heard <- notice })
	if err != nil {
		t.Fatalf("listen to %v: %v", topic, err)
	}
	t.Cleanup(stop)
	return heard, stop
}

// hears waits for a notice and fails if another notice comes first.
func hears(t *testing.T, notices <-chan []byte, want []byte) {
	t.Helper()
	select {
	case got := <-notices:
		if !bytes.Equal(got, want) {
			t.Errorf("heard %.60q, want %.60q", got, want)
		}
	case <-time.After(patience):
		t.Fatalf("did not hear %.60q within %v", want, patience)
	}
}

// testBusNotify sends notices. All listeners of the topic must get them, byte for byte and in order,
// and nobody else: no subscriber to wake-ups, and no listener of another topic.
func testBusNotify(t *testing.T, b spool.Bus) {
	woken := listen(t.Context(), t, b, topic("t"))
	one, _ := eavesdrop(t.Context(), t, b, topic("t"))
	two, _ := eavesdrop(t.Context(), t, b, topic("t"))
	other, _ := eavesdrop(t.Context(), t, b, spool.ThreadKey{Tenant: "other", ID: "t"})
	longest := bytes.Repeat([]byte("'\"\\\n\x00é"), spool.MaxNoticeBytes)[:spool.MaxNoticeBytes]
	for _, notice := range [][]byte{[]byte(`{"n":1}`), longest, []byte(`{"n":2}`)} {
		b.Notify(topic("t"), notice)
		hears(t, one, notice)
		hears(t, two, notice)
	}
	b.Wake(topic("t"), spool.WakeRecord)
	woken.want(spool.WakeRecord)
	b.Notify(spool.ThreadKey{Tenant: "other", ID: "t"}, []byte("last"))
	hears(t, other, []byte("last"))
	if len(one)+len(two) > 0 {
		t.Error("a notice came twice, or to the wrong topic")
	}
}

// testBusNotifyStop ends subscriptions in both possible ways.
func testBusNotifyStop(t *testing.T, b spool.Bus) {
	ctx, cancel := context.WithCancel(t.Context())
	ended, _ := eavesdrop(ctx, t, b, topic("t"))
	stopped, stop := eavesdrop(t.Context(), t, b, topic("t"))
	left, _ := eavesdrop(t.Context(), t, b, topic("t"))
	cancel()
	stop()
	stop()
	eventually(t, "the subscription to end", func() bool {
		b.Notify(topic("t"), []byte("x"))
		hears(t, left, []byte("x"))
		select {
		case <-ended:
			return false
		default:
			return true
		}
	})
	if len(stopped) > 0 {
		t.Error("a notice came after the end of the subscription")
	}
}

// testBusNotifyTooLong sends a notice that is too long. The bus must drop it and go on.
func testBusNotifyTooLong(t *testing.T, b spool.Bus) {
	notices, _ := eavesdrop(t.Context(), t, b, topic("t"))
	b.Notify(topic("t"), make([]byte, spool.MaxNoticeBytes+1))
	b.Notify(topic("t"), []byte("next"))
	hears(t, notices, []byte("next"))
}
