//go:build !race

// The race detector has goroutines that are ready at one instant run in a random order, and
// campaigns leave their port calls in no order then.

package spooltest

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool"
)

// TestReplay does random campaigns again and again: a seed has to give one trace. SPOOL_SEED
// says of which seed, and SPOOL_REPLAYS how often, of which each has to be the same. Without it,
// one replay may be another one: very rarely, a busy machine interrupts a thread where two
// goroutines are ready.
//
//nolint:paralleltest // a process that does something else interrupts its goroutines
func TestReplay(t *testing.T) {
	seeds := []uint64{
		12807116,
		12933820, // a run's time is up at the instant at which its worker looks for a stop
		139623,   // a client's server closes while a frame is ready for it
		uint64(time.Now().UnixNano()) & 0xffffff,
	}
	replays, others := 4, 1
	if n, err := strconv.ParseUint(os.Getenv("SPOOL_SEED"), 10, 64); err == nil {
		seeds = []uint64{n}
	}
	if n, err := strconv.Atoi(os.Getenv("SPOOL_REPLAYS")); err == nil {
		replays, others = n, 0
	}
	for _, seed := range seeds {
		t.Run(fmt.Sprintf("SPOOL_SEED=%d", seed), func(t *testing.T) {
			traces := make(map[string]*trace)
			times := make(map[string]int)
			most := ""
			for range replays {
				done := replay(t, seed)
				hash := done.hash()
				traces[hash] = done
				if times[hash]++; times[hash] > times[most] {
					most = hash
				}
			}
			for hash, other := range traces {
				if hash != most {
					t.Logf("%d replays of %d have the trace %s, and %d have %s: %s",
						times[most], replays, most, times[hash], hash, traces[most].differs(other))
				}
			}
			if times[most] < replays-others {
				t.Errorf("%d replays of %d have one trace", times[most], replays)
			}
		})
	}
}

// replay does the campaign of a seed.
func replay(t *testing.T, seed uint64) (done *trace) {
	t.Helper()
	rest, end := oneThread()
	defer end()
	synctest.Test(t, func(t *testing.T) {
		done = randomCampaign(newEngineTest(t, NewMemory(spool.SystemClock{})), seed, rest)
	})
	return done
}

// differs says where another trace begins to be another one.
func (t *trace) differs(other *trace) string {
	a, b := t.lines(), other.lines()
	same := 0
	for same < min(len(a), len(b)) && a[same] == b[same] {
		same++
	}
	from := max(0, same-10)
	return fmt.Sprintf("they differ from line %d on\nbefore:\n%s\nfirst:\n%s\nnow:\n%s", same+1,
		strings.Join(a[from:same], "\n"), excerpt(a, same), excerpt(b, same))
}
