//go:build !race

// The race detector has goroutines that are ready at one instant run in a random order, and
// campaigns leave their port calls in no order then.

package enginetest

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestReplay does random campaigns again and again: a seed has to give one trace. SPOOL_SEED
// says of which seed, and SPOOL_REPLAYS how often, of which each has to be the same. Without it,
// one replay is done again if it has another trace and the system may have interrupted it: see
// [oneThread].
//
//nolint:paralleltest // a process that does something else interrupts its goroutines
func TestReplay(t *testing.T) {
	seeds := []uint64{
		12807116,
		12933820, // a run's time is up at the instant at which its worker looks for a stop
		139623,   // a client's server closes while a frame is ready for it
		40281,    // one edit drops two branches, the older one in the middle of a run
		43399,    // a run is stopped between a client's look at it and the begin of the hub that the client joins
		uint64(time.Now().UnixNano()) & 0xffffff,
	}
	replays, again := 4, 1
	if n, err := strconv.ParseUint(os.Getenv("SPOOL_SEED"), 10, 64); err == nil {
		seeds = []uint64{n}
	}
	if n, err := strconv.Atoi(os.Getenv("SPOOL_REPLAYS")); err == nil {
		replays, again = n, 0
	}
	for _, seed := range seeds {
		t.Run(fmt.Sprintf("SPOOL_SEED=%d", seed), func(t *testing.T) {
			traces := make(map[string]*trace)
			times := make(map[string]int)
			calm := make(map[string]int) // of times, those that nothing interrupted
			most := ""
			for n := 0; n < replays+again && times[most] < replays; n++ {
				done, interrupted := replay(t, seed)
				hash := done.hash()
				traces[hash] = done
				if times[hash]++; times[hash] > times[most] {
					most = hash
				}
				if !interrupted {
					calm[hash]++
				}
			}
			for hash, other := range traces {
				if hash == most {
					continue
				}
				t.Logf("%d replays have the trace %s, and %d have %s: %s",
					times[most], most, times[hash], hash, traces[most].differs(other))
				if calm[hash] > 0 {
					t.Errorf("nothing has interrupted %d of the %d replays with the trace %s", calm[hash], times[hash], hash)
				}
			}
			if times[most] < replays {
				t.Errorf("%d replays have one trace, want %d", times[most], replays)
			}
			t.Logf("the system may have interrupted %d of %d replays", times[most]-calm[most], times[most])
		})
	}
}

// replay does the campaign of a seed. It reports whether the system may have interrupted it.
func replay(t *testing.T, seed uint64) (done *trace, interrupted bool) {
	t.Helper()
	rest, end := oneThread()
	defer func() { interrupted = end() }()
	synctest.Test(t, func(t *testing.T) {
		done = randomCampaign(newEngineTest(t, inMemory), seed, rest)
	})
	return done, false
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
