package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/internal/testing/pgtest"
	"github.com/spoolhq/spool/spooltest"
)

// mostTrips is how many round trips a transition on the hot paths takes at the most.
const mostTrips = 3

// TestTrips counts the round trips of the transitions of a run: the start, the claim, the step before and after
// its tool, and the end.
func TestTrips(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]*Options{"Direct": {}, "Pooler": {Pooler: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := pgtest.Database(t, nil)
			if o.Pooler {
				url = pgtest.Bouncer(t, url, 2)
			}
			db, _ := openWire(t, url, o)
			var trips []int // one goroutine makes all transitions
			db.observe = func(n int) { trips = append(trips, n) }
			for _, run := range []spool.RunID{"r1", "r2"} { // the second one on a thread that exists
				oneRun(t, db, run)
			}
			t.Logf("round trips of the transitions: %v", trips)
			if len(trips) < 2*transitionsOfRun || slices.Max(trips) > mostTrips {
				t.Errorf("the transitions take %v round trips, want at least %d transitions with at most %d each",
					trips, 2*transitionsOfRun, mostTrips)
			}
		})
	}
}

const transitionsOfRun = 5

// TestTripsOnTheWire compares the counted round trips with those of the connection, once its statements are
// prepared.
func TestTripsOnTheWire(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]*Options{"Direct": {}, "Pooler": {Pooler: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := pgtest.Database(t, nil)
			if o.Pooler {
				url = pgtest.Bouncer(t, url, 2)
			}
			db, wire := openWire(t, url, o)
			var counted int
			db.observe = func(n int) { counted = n }
			for i, run := range []spool.RunID{"r1", "r2", "r3"} {
				for _, transition := range byHand(run) {
					before := wire.trips.Load()
					if err := db.Update(t.Context(), handKey, 0, transition.fn); err != nil {
						t.Fatal(err)
					}
					if n := int(wire.trips.Load() - before); i > 0 && (n != counted || n > mostTrips) {
						t.Errorf("%s takes %d round trips and counts %d, want both the same and at most %d", transition.name, n, counted, mostTrips)
					}
				}
			}
		})
	}
}

var handKey = spool.ThreadKey{Tenant: spool.DefaultTenant, ID: "hand"}

type transition struct {
	name string
	fn   func(tx spool.Tx) error
}

// byHand returns what the engine reads and writes when a run starts, saves a step and ends.
func byHand(run spool.RunID) []transition {
	read := func(tx spool.Tx) (t spool.Thread, r spool.RunRow, err error) {
		if t, err = tx.Thread(); err == nil {
			r, err = spool.FindRun(tx, t.RunID)
		}
		return t, r, err
	}
	return []transition{
		{"the start", func(tx spool.Tx) error {
			if _, _, err := read(tx); err != nil && spool.CodeOf(err) != spool.NotFound {
				return err
			}
			return tx.Write(spool.Changes{
				Thread:   &spool.Thread{State: spool.Queued, RunID: run},
				NewRuns:  []spool.RunRow{{Run: spool.Run{ID: run, State: spool.Queued}}},
				Messages: []*spool.Message{{ID: spool.MessageID("u-" + run), Role: spool.RoleUser, Content: spool.TextContent("hello")}},
				Jobs:     []spool.Job{{RunID: run, Agent: "a", Key: string(run)}},
				Delta:    &spool.SnapshotDelta{RunID: run},
			})
		}},
		{"a step", func(tx spool.Tx) error {
			_, r, err := read(tx)
			r.Steps++
			return errors.Join(err, tx.Write(spool.Changes{
				Runs:     []spool.RunRow{r},
				Messages: []*spool.Message{{ID: spool.MessageID("a-" + run), Role: spool.RoleAssistant, Content: spool.TextContent("hi")}},
				Usage:    []spool.UsageRow{{RunID: run, Agent: "a", Model: "m"}},
				Delta:    &spool.SnapshotDelta{RunID: run},
			}))
		}},
		{"the end", func(tx spool.Tx) error {
			thread, r, err := read(tx)
			if err != nil {
				return err
			}
			if _, err := tx.Parks(run); err != nil {
				return err
			}
			thread.State, r.State = spool.Completed, spool.Completed
			err = tx.Write(spool.Changes{
				Thread: &thread, Runs: []spool.RunRow{r}, Entries: []*spool.Entry{spool.NewEntry("ENDED", run, nil)},
				Delta: &spool.SnapshotDelta{RunID: run},
			})
			if err != nil {
				return err
			}
			_, err = tx.Runs(spool.RunQuery{Waiting: true, Whole: true})
			return err
		}},
	}
}

// oneRun starts a run on one thread and executes it, with a step that calls a tool and a last one.
func oneRun(t *testing.T, db spool.Store, run spool.RunID) {
	t.Helper()
	model := spooltest.NewReplayModel(
		spooltest.Use(spooltest.Call{ID: spool.ToolCallID("c-" + string(run)), Name: "echo", Args: `{}`}),
		spooltest.Say("done"),
	)
	e, err := engine.New(spool.Backend{Store: db}, engine.Config{
		Models: map[string]spool.Model{"scripted": model},
		Agents: []engine.Agent{{Name: "clerk", Model: "scripted", Tools: []spool.Tool{{
			ToolSpec: spool.ToolSpec{Name: "echo"},
			Call:     func(context.Context, spool.ToolCall) (json.RawMessage, error) { return json.RawMessage(`"x"`), nil },
		}}}},
		Worker: engine.WorkerOptions{StopPoll: time.Hour}, // a poll in another goroutine would count too
		Log:    slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	key := spool.ThreadKey{Tenant: spool.DefaultTenant, ID: "t"}
	if started, err := e.Run(t.Context(), key, engine.StartRequest{RunID: run, Prompt: "hello"}); err != nil || !started.Accepted {
		t.Fatalf("start: %+v, %v", started, err)
	}
	job := spool.Job{Tenant: key.Tenant, ThreadID: key.ID, RunID: run, Agent: "clerk"}
	if result, err := e.HandleJob(t.Context(), job); err != nil || !result.Accepted {
		t.Fatalf("job: %+v, %v", result, err)
	}
	v, err := db.Runs(t.Context(), spool.RunQuery{Tenant: key.Tenant, ID: run})
	if err != nil || len(v) != 1 || v[0].State != spool.Completed {
		t.Fatalf("the run is %+v, %v", v, err)
	}
}
