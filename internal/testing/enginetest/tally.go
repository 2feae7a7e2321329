package enginetest

import (
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// tally counts what campaigns had, to show that they had it. The zero value is empty.
type tally struct {
	mu     sync.Mutex
	seeds  int
	counts map[string]int
}

// add counts a campaign, with the given number of requests to models.
func (t *tally) add(h *spooltest.History, requests int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.seeds++
	if t.counts == nil {
		t.counts = make(map[string]int)
	}
	t.counts["requests"] += requests
	for _, d := range h.Threads {
		t.thread(d)
		t.steers(d, h.Commits)
	}
}

func (t *tally) thread(d spooltest.ThreadDump) {
	last := ""
	for _, r := range d.Runs {
		t.counts["runs "+string(r.State)]++
		switch {
		case r.Depth > 0:
			t.counts["nested runs"]++
		case r.Segments > 0:
			if last != "" && last != r.Model {
				t.counts["changes of the model between turns"]++
			}
			last = r.Model
		}
	}
	t.counts["branches"] += len(d.Branches)
	t.counts["parks"] += len(d.Parks)
	for _, e := range d.Entries {
		t.counts["entries "+string(e.Type)]++
	}
	t.counts["lost segments"] += len(lostOf(d))
}

// lostOf returns the runs whose segments were lost, once for each segment.
func lostOf(d spooltest.ThreadDump) (runs []spool.RunID) {
	for _, e := range d.Entries {
		var p wire.RunEnded
		if e.Type == wire.EntryRunEnded && json.Unmarshal(e.Payload, &p) == nil && p.Status == wire.SegmentLost {
			runs = append(runs, e.RunID)
		}
	}
	return runs
}

// steers counts the steers by the state of the run that they met, by that run's end, and by their own.
func (t *tally) steers(d spooltest.ThreadDump, commits []spooltest.Commit) {
	byID := make(map[spool.RunID]store.RunRow)
	for _, r := range d.Runs {
		byID[r.ID] = r
	}
	lost := lostOf(d)
	seen := make(map[spool.RunID]bool)
	for _, commit := range commits {
		if commit.Thread != d.Thread.Key() {
			continue
		}
		for _, r := range commit.Runs {
			steer, met := byID[r.ID], byID[commit.RunID]
			if seen[r.ID] || r.Wait == nil || r.Wait.WhenBusy != spool.BusySteer || r.ID == commit.RunID {
				continue
			}
			seen[r.ID] = true
			end := "became a turn"
			switch {
			case steer.StopReason == wire.StopSteered:
				end = "delivered"
			case steer.State == wire.Cancelled && steer.Segments == 0:
				end = "withdrawn"
			}
			t.counts["steers of a run in "+string(commit.State)]++
			t.counts["steers of a run that ended as "+string(met.State)+", "+end]++
			if slices.Contains(lost, met.ID) {
				t.counts["steers of a run that lost a worker, "+end]++
			}
		}
	}
}

// report logs the counts. Twenty campaigns must have had each of the given things.
func (t *tally) report(test *testing.T, must ...string) {
	test.Helper()
	for _, name := range slices.Sorted(maps.Keys(t.counts)) {
		test.Logf("%d %s", t.counts[name], name)
	}
	for _, name := range must {
		if t.seeds >= 20 && t.counts[name] == 0 {
			test.Errorf("%d campaigns had no %s", t.seeds, name)
		}
	}
}
