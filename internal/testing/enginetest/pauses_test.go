package enginetest

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/store"
)

// TestPausesNotice shows that the campaign of pauses notices a worker that makes calls after its lease.
func TestPausesNotice(t *testing.T) {
	t.Parallel()

	o := Options{
		Open: func(_ *testing.T, clock store.Clock) store.Backend { return memory.New(&memory.Options{Clock: clock}) },
	}
	var counts pauseCounts
	for seed := range uint64(40) {
		var mu sync.Mutex
		found := ""
		synctest.Test(t, func(t *testing.T) {
			p := newPauses(t, o, seed, &counts)
			p.trusting, p.wrong = true, func(format string, args ...any) {
				mu.Lock()
				defer mu.Unlock()
				found = fmt.Sprintf(format, args...)
			}
			p.campaign()
			p.rest()
		})
		if strings.HasPrefix(found, "a worker with the fence") {
			t.Logf("seed %d, after %d pauses: %s", seed, counts.pauses, found)
			return
		}
	}
	t.Errorf("%d pauses, and nothing was noticed", counts.pauses)
}
