package inprocess_test

import (
	"context"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/inprocess"
	"github.com/spoolhq/spool/store"
)

// Within one process a wake-up has arrived when Wake returns, and none arrives after the
// subscription's end.
func TestWakeIsSynchronous(t *testing.T) {
	t.Parallel()

	b, topic := inprocess.NewLive(0), spool.ThreadKey{Tenant: spool.DefaultTenant, ID: "t"}
	woken := 0
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if _, err := b.Subscribe(ctx, topic, func(store.WakeKind, []byte) { woken++ }); err != nil {
		t.Fatal(err)
	}
	for n := range 3 {
		b.Wake(topic, store.WakeRecord, nil)
		if woken != n+1 {
			t.Fatalf("woken %d times after %d wake-ups", woken, n+1)
		}
	}
	cancel()
	b.Wake(topic, store.WakeRecord, nil)
	if woken != 3 {
		t.Error("woken after the context had ended")
	}
}

func BenchmarkWakeNobody(b *testing.B) {
	live, topic := inprocess.NewLive(0), spool.ThreadKey{Tenant: spool.DefaultTenant, ID: "t"}
	b.ReportAllocs()
	for b.Loop() {
		live.Wake(topic, store.WakeStream, nil)
	}
}
