package sqlite

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// claimed claims all due jobs that a query selects, and returns their keys in order.
func claimed(t *testing.T, db *DB, q store.ClaimQuery) (keys []string) {
	t.Helper()
	q.Limit, q.Lease = 100, time.Minute
	taken, _, err := db.Claim(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range taken {
		keys = append(keys, d.Key)
	}
	return keys
}

// TestClaimOfLanes: behind a backlog of an agent that a worker lacks, and of a queue that it does not claim
// from, the worker finds its own jobs, and the time of its next one.
func TestClaimOfLanes(t *testing.T) {
	t.Parallel()

	db, err := Open(filepath.Join(t.TempDir(), "spool.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	addBacklog(t, db, "many", 1000) // of the agent a
	soon := time.Now().Add(time.Hour).UTC().Truncate(time.Microsecond)
	var jobs []wire.Job
	for range 2 * claimWindow {
		jobs = append(jobs, wire.Job{RunID: "r", Agent: "b", Queue: "other"})
	}
	jobs = append(jobs,
		wire.Job{RunID: "r", Agent: "b", Key: "second"},
		wire.Job{RunID: "r", Agent: "c", Key: "first", DueAt: time.Now().Add(-time.Minute)},
		wire.Job{Payload: json.RawMessage(`1`), Key: "event", DueAt: time.Now().Add(-time.Second)},
		wire.Job{RunID: "r", Key: "no agent"},
		wire.Job{RunID: "r", Agent: "b", DueAt: soon},
	)
	err = db.Update(t.Context(), spool.ThreadKey{Tenant: "one"}, 0, func(tx store.Tx) error {
		return tx.Write(store.Changes{Jobs: jobs})
	})
	if err != nil {
		t.Fatal(err)
	}
	mine := store.ClaimQuery{Agents: []string{"b", "c", "b"}}
	if got, want := claimed(t, db, mine), []string{"first", "event", "second"}; !slices.Equal(got, want) {
		t.Errorf("claimed %q, want %q", got, want)
	}
	if taken, next, err := db.Claim(t.Context(), mine); len(taken) > 0 || err != nil {
		t.Errorf("claimed %v again: %v", taken, err)
	} else if next.After(soon) || next.IsZero() {
		t.Errorf("the next job is due at %v, want the end of a lease", next)
	}
	if got := claimed(t, db, store.ClaimQuery{Agents: []string{}}); len(got) > 0 {
		t.Errorf("events only: claimed %q", got)
	}
	if got := claimed(t, db, store.ClaimQuery{Queues: []string{}}); len(got) > 0 {
		t.Errorf("no queue: claimed %q", got)
	}
	taken, next, err := db.Claim(t.Context(), store.ClaimQuery{Queues: []string{"none"}, Limit: 1})
	if len(taken) > 0 || !next.IsZero() || err != nil {
		t.Errorf("a queue without jobs: %v, next at %v, %v", taken, next, err)
	}
	// Each tenant has jobs in several lanes.
	taken, _, err = db.Claim(t.Context(), store.ClaimQuery{Queues: []string{"", "other"}, Limit: 8, Lease: time.Minute})
	tenants := make(map[spool.Tenant]int)
	for _, d := range taken {
		tenants[d.Tenant]++
	}
	// The tenant "one" has three jobs in flight, and gets its share.
	if err != nil || len(taken) != 8 || tenants["many"] != 6 || tenants["one"] != 2 {
		t.Errorf("claimed %v: %v", tenants, err)
	}
	stats, err := db.Stats(t.Context(), wire.StatsQuery{Waiting: true})
	if w := stats.Waiting; err != nil || len(w) != 2 || w[0].Tenant != "many" || w[0].InFlight != 6 ||
		w[1].Tenant != "one" || w[1].InFlight != 5 {
		t.Errorf("waiting: %+v, %v", w, err)
	}
}

// TestEventsOutliveThreads: what a deletion leaves is no problem of the database, and does not make a thread
// busy.
func TestEventsOutliveThreads(t *testing.T) {
	t.Parallel()

	path := filepath.Join(t.TempDir(), "spool.db")
	db := exclusive(t, path, Options{})
	key := spool.ThreadKey{Tenant: "tenant", ID: "t"}
	write := func(c store.Changes) {
		t.Helper()
		if err := db.Update(context.Background(), key, 0, func(tx store.Tx) error { return tx.Write(c) }); err != nil {
			t.Fatal(err)
		}
	}
	event := wire.Job{Queue: "hooks", Payload: json.RawMessage(`{ "n": 1 }`)}
	write(store.Changes{
		Thread: &wire.Thread{State: wire.Idle},
		Jobs:   []wire.Job{event, {RunID: "r", Agent: "a", Key: "ticket"}},
		Dead:   []wire.QueuedJob{{Job: event, Attempts: 3, Cause: "no"}, {Job: wire.Job{RunID: "r"}}},
	})
	idle := func() int {
		t.Helper()
		threads, err := db.Threads(t.Context(), wire.ThreadQuery{Work: wire.ThreadsIdle})
		if err != nil {
			t.Fatal(err)
		}
		return len(threads)
	}
	if n := idle(); n != 0 {
		t.Errorf("%d threads are idle beside a ticket", n)
	}
	write(store.Changes{CancelJobs: []string{"ticket"}})
	if n := idle(); n != 1 {
		t.Errorf("%d threads are idle beside an event", n)
	}
	write(store.Changes{DeleteThread: true})
	for _, state := range []wire.JobState{"", wire.JobDead} {
		jobs, err := db.Jobs(t.Context(), wire.JobQuery{Tenant: "tenant", State: state})
		if err != nil || len(jobs) != 1 || !jobs[0].Event() || jobs[0].ThreadID != "t" || jobs[0].Queue != "hooks" ||
			string(jobs[0].Payload) != `{ "n": 1 }` {
			t.Errorf("jobs %q: %+v, %v", state, jobs, err)
		}
	}
	sound(t, path)
}
