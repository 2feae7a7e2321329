package sqlite

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Runs that have not ended are counted, also those that wait for their thread, by what they go on
// with; those that have ended and nested ones are not. Only the indexes of such runs are read.
func TestUnfinished(t *testing.T) {
	t.Parallel()

	path := filepath.Join(t.TempDir(), "spool.db")
	db, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	put := func(tenant, thread, madeOn string, runs ...store.RunRow) {
		t.Helper()
		err := db.Update(t.Context(), spool.ThreadKey{Tenant: spool.Tenant(tenant), ID: spool.ThreadID(thread)}, 0,
			func(tx store.Tx) error {
				if err := tx.Write(store.Changes{Thread: &wire.Thread{State: wire.Idle}}); err != nil {
					return err
				}
				for _, r := range runs {
					r.ID, r.Agent = spool.RunID(thread)+r.ID, "assistant"
					if err := tx.Write(store.Changes{NewRuns: []store.RunRow{r}}); err != nil {
						return err
					}
				}
				if madeOn == "" {
					return nil
				}
				return tx.Write(store.Changes{
					Usage: []wire.UsageRow{
						{
							RunID: spool.RunID(thread) + runs[0].ID, Model: "demo", ModelID: madeOn, Requested: "asked " + madeOn,
							CreatedAt: time.Now(),
						},
					},
				})
			})
		if err != nil {
			t.Fatal(err)
		}
	}
	put("a", "t1", "", store.RunRow{Run: wire.Run{ID: "1", Model: "demo", State: wire.Completed}},
		store.RunRow{Run: wire.Run{ID: "2", Model: "demo", State: wire.Queued}})
	put("a", "t2", "x-1", store.RunRow{Run: wire.Run{ID: "1", Model: "demo", State: wire.Running}},
		store.RunRow{Run: wire.Run{ID: "2", Model: "demo", State: wire.Running, Depth: 1}})
	put("b", "t3", "x-1", store.RunRow{Run: wire.Run{ID: "1", Model: "demo", State: wire.Running}},
		store.RunRow{Run: wire.Run{ID: "2", Model: "other", State: wire.Queued, QueuePosition: 1}})
	put("b", "t4", "", store.RunRow{Run: wire.Run{ID: "1", Model: "other", State: wire.Failed}})

	waits := func(thread string, parks ...store.Park) {
		t.Helper()
		put("b", thread, "", store.RunRow{Run: wire.Run{ID: "1", Model: "waits", State: wire.WaitingForInput}})
		err := db.Update(t.Context(), spool.ThreadKey{Tenant: "b", ID: spool.ThreadID(thread)}, 0, func(tx store.Tx) error {
			for i, p := range parks {
				p.RunID, p.ToolCallID = spool.RunID(thread+"1"), spool.ToolCallID(strconv.Itoa(i))
				if err := tx.Write(store.Changes{Parks: []store.Park{p}}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	answered := store.Park{ToolName: "send", State: wire.ParkAnswered}
	works := store.Park{ToolName: "audit", State: wire.ParkPending}
	waits("t5", answered, works)
	waits("t6", answered)
	waits("t7", works, store.Park{ToolName: "send", State: wire.ParkOpen})
	waits("t8", works, store.Park{ToolName: "zip", State: wire.ParkPending},
		store.Park{ToolName: "a", State: wire.ParkDone})
	waits("t9", works)

	want := []Unfinished{
		{Agent: "assistant", Model: "demo", State: wire.Queued, Runs: 1},
		{Agent: "assistant", Model: "demo", State: wire.Running, MadeOn: "x-1", Requested: "asked x-1", Runs: 2},
		{Agent: "assistant", Model: "other", State: wire.Queued, Runs: 1},
		{Agent: "assistant", Model: "waits", State: wire.WaitingForInput, Runs: 1},
		{Agent: "assistant", Model: "waits", State: wire.WaitingForInput, Asks: true, Pending: 1, Work: "audit", Runs: 1},
		{Agent: "assistant", Model: "waits", State: wire.WaitingForInput, Pending: 1, Work: "audit", Runs: 2},
		{Agent: "assistant", Model: "waits", State: wire.WaitingForInput, Pending: 2, Work: "audit", Runs: 1},
	}
	got, err := db.Unfinished(t.Context())
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	report, err := Check(t.Context(), path)
	if diff := cmp.Diff(want, report.Unfinished); err != nil || diff != "" {
		t.Errorf("Check: %v (-want +got)\n%s", err, diff)
	}

	seen := 0
	for _, c := range db.pool.idle {
		for _, p := range explain(t, c) {
			if !strings.Contains(p.query, "CASE WHEN usage.model") {
				continue
			}
			seen++
			if !strings.Contains(p.steps, "USING INDEX run_active") && !strings.Contains(p.steps, "USING INDEX run_waiting") ||
				!strings.Contains(p.steps, "SEARCH usage USING PRIMARY KEY (tenant=? AND thread_id=?)") ||
				strings.Contains(p.steps, "TEMP B-TREE") ||
				strings.Contains(p.query, "FROM park") &&
					strings.Count(p.steps, "SEARCH park USING PRIMARY KEY (tenant=? AND thread_id=? AND run_id=?)") != 3 {
				t.Errorf("%s: %s", p.query, p.steps)
			}
		}
	}
	if seen != 2 {
		t.Errorf("%d statements were seen", seen)
	}
}
