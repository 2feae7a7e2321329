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
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/internal/testing/pgtest"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
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
						t.Errorf("%s takes %d round trips and counts %d, want both the same and at most %d", transition.name, n, counted,
							mostTrips)
					}
				}
			}
		})
	}
}

var handKey = spool.ThreadKey{Tenant: spool.DefaultTenant, ID: "hand"}

type transition struct {
	name string
	fn   func(tx store.Tx) error
}

// byHand returns what the engine reads and writes when a run starts, saves a step and ends.
func byHand(run spool.RunID) []transition {
	read := func(tx store.Tx) (t wire.Thread, r store.RunRow, err error) {
		if t, err = tx.Thread(); err == nil {
			r, err = store.FindRun(tx, t.RunID)
		}
		return t, r, err
	}
	return []transition{
		{"the start", func(tx store.Tx) error {
			if _, _, err := read(tx); err != nil && spool.CodeOf(err) != spool.NotFound {
				return err
			}
			return tx.Write(store.Changes{
				Thread:  &wire.Thread{State: wire.Queued, RunID: run},
				NewRuns: []store.RunRow{{Run: wire.Run{ID: run, State: wire.Queued}}},
				Messages: []*spool.Message{
					{ID: spool.MessageID("u-" + run), Role: spool.RoleUser, Content: spool.TextContent("hello")},
				},
				Jobs:  []wire.Job{{RunID: run, Agent: "a", Key: string(run)}},
				Delta: &store.SnapshotDelta{RunID: run},
			})
		}},
		{"a step", func(tx store.Tx) error {
			_, r, err := read(tx)
			r.Steps++
			return errors.Join(err, tx.Write(store.Changes{
				Runs: []store.RunRow{r},
				Messages: []*spool.Message{
					{ID: spool.MessageID("a-" + run), Role: spool.RoleAssistant, Content: spool.TextContent("hi")},
				},
				Usage: []wire.UsageRow{{RunID: run, Agent: "a", Model: "m"}},
				Delta: &store.SnapshotDelta{RunID: run},
			}))
		}},
		{"the end", func(tx store.Tx) error {
			thread, r, err := read(tx)
			if err != nil {
				return err
			}
			if _, err := tx.Parks(run); err != nil {
				return err
			}
			thread.State, r.State = wire.Completed, wire.Completed
			err = tx.Write(store.Changes{
				Thread: &thread, Runs: []store.RunRow{r}, Entries: []*wire.Entry{wire.NewEntry("ENDED", run, nil)},
				Delta: &store.SnapshotDelta{RunID: run},
			})
			if err != nil {
				return err
			}
			_, err = tx.Runs(wire.RunQuery{Waiting: true, Whole: true})
			return err
		}},
	}
}

// oneRun starts a run on one thread and executes it, with a step that calls a tool and a last one.
func oneRun(t *testing.T, db store.Store, run spool.RunID) {
	t.Helper()
	model := spooltest.NewReplayModel(
		spooltest.Use(spooltest.Call{ID: spool.ToolCallID("c-" + string(run)), Name: "echo", Args: `{}`}),
		spooltest.Say("done"),
	)
	e, err := engine.New(store.Backend{Store: db}, engine.Config{
		Models: map[string]spool.Model{"scripted": model},
		Agents: []spool.Agent{{Name: "clerk", Model: "scripted", Tools: []spool.Tool{{
			ToolSpec: spool.ToolSpec{Name: "echo"},
			Call:     func(context.Context, spool.ToolCall) (json.RawMessage, error) { return json.RawMessage(`"x"`), nil },
		}}}},
		Worker: option.Worker{StopPoll: time.Hour}, // a poll in another goroutine would count too
		Log:    slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	key := spool.ThreadKey{Tenant: spool.DefaultTenant, ID: "t"}
	if started, err := e.Run(t.Context(), key, wire.StartRequest{RunID: run, Prompt: "hello"}); err != nil ||
		!started.Accepted {
		t.Fatalf("start: %+v, %v", started, err)
	}
	job := wire.Job{Tenant: key.Tenant, ThreadID: key.ID, RunID: run, Agent: "clerk"}
	if result, err := e.HandleJob(t.Context(), job); err != nil || !result.Accepted {
		t.Fatalf("job: %+v, %v", result, err)
	}
	v, err := db.Runs(t.Context(), wire.RunQuery{Tenant: key.Tenant, ID: run})
	if err != nil || len(v) != 1 || v[0].State != wire.Completed {
		t.Fatalf("the run is %+v, %v", v, err)
	}
}
