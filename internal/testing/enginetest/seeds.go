package enginetest

import (
	"fmt"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
	"time"
)

// runSeeds does the campaigns of some seeds, in four lanes at the same time. The first seed differs from run to run.
// Bound is how long the campaigns may begin in real time; zero stands for no bound.
//
// SPOOL_CAMPAIGN is the number of seeds, and lifts the bound. SPOOL_FIRST is the first of them. SPOOL_SEED selects a
// single seed, which is replayed: it gives the same trace each time. See CONTRIBUTING.md. If SPOOL_TRACE names a
// folder, each trace is written there.
func runSeeds(t *testing.T, seeds int, bound time.Duration, campaign func(t *testing.T, seed uint64, rest func())) {
	t.Helper()
	if n, err := strconv.Atoi(os.Getenv("SPOOL_CAMPAIGN")); err == nil {
		seeds, bound = n, 0
	}
	first := uint64(time.Now().UnixNano()) & 0xffffff
	if n, err := strconv.ParseUint(os.Getenv("SPOOL_FIRST"), 10, 64); err == nil {
		first = n
	}
	if n, err := strconv.ParseUint(os.Getenv("SPOOL_SEED"), 10, 64); err == nil {
		first, seeds = n, 1
	}
	begin := time.Now()
	const lanes = 4
	// The lanes share one count: what a campaign has follows from its seed, and a lane may have all the time of the bound.
	var next atomic.Int64
	for lane := range lanes {
		t.Run(strconv.Itoa(lane), func(t *testing.T) {
			t.Parallel()
			for !t.Failed() {
				i := int(next.Add(1)) - 1
				if i >= seeds || bound > 0 && i >= lanes && time.Since(begin) > bound {
					break
				}
				seed := first + uint64(i)
				t.Run(fmt.Sprintf("SPOOL_SEED=%d", seed), func(t *testing.T) {
					var rest func()
					if seeds == 1 {
						var end func() bool
						rest, end = oneThread()
						defer end()
					}
					campaign(t, seed, rest)
				})
			}
		})
	}
}
