// Package activetest has a run in work over rows in a map, for the tests of the rooms.
package activetest

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/active"
	"github.com/spoolhq/spool/engine/internal/change"
	"github.com/spoolhq/spool/engine/internal/publish"
	"github.com/spoolhq/spool/engine/internal/registry"
	"github.com/spoolhq/spool/engine/internal/stream"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/internal/testing/maptx"
	"github.com/spoolhq/spool/internal/testing/stage"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Scene is the run "r" that a worker executes, over rows in a map. Nothing in it waits, and only the test's own
// goroutine uses it.
type Scene struct {
	*active.Run

	T      *testing.T
	Rows   *maptx.Tx
	Screen *stage.Screen
	Lease  *Lease
}

// Lease is a lease that nobody else has, until it has an error.
type Lease struct{ Err error }

func (l *Lease) Check(context.Context) error           { return l.Err }
func (l *Lease) Committed(store.RunRow, thread.Follow) {}

// New returns a run of an agent that has the model "m" and, for the tests of fallbacks, "spare" and "last".
func New(t *testing.T, agent spool.Agent, run store.RunRow) *Scene {
	t.Helper()
	agent.Name, agent.Model = "a", "m"
	reg, err := registry.New(registry.Config{
		Agents:         []spool.Agent{agent, {Name: "other", Model: "m"}},
		Models:         map[string]spool.Model{"m": stage.Mute{}, "spare": stage.Mute{}, "last": stage.Mute{}},
		MaxPromptBytes: 1000, OnBudget: spool.BudgetEnd, WhenBusy: spool.BusyReject,
	})
	if err != nil {
		t.Fatal(err)
	}
	run.ID, run.Agent = "r", "a"
	if run.Model == "" {
		run.Model = "m"
	}
	if run.State == "" {
		run.State = wire.Running
	}
	run.Segments = max(run.Segments, 1)
	rows := maptx.New(spool.ThreadKey{Tenant: "t", ID: "c"}, stage.Noon)
	rows.Rows.Thread = &wire.Thread{
		Tenant: "t", ID: "c", RunID: "r", State: run.State, Fence: 1, LeaseUntil: stage.Noon.Add(time.Minute),
		CreatedAt: stage.Noon,
	}
	rows.Rows.Runs = []store.RunRow{run}
	screen, log, lease := &stage.Screen{}, slog.New(slog.DiscardHandler), &Lease{}
	host := &active.Host{
		Threads: &change.Threads{Store: maptx.Store{Tx: rows}, Live: screen, Log: log, Rules: thread.Rules{
			Lease: time.Minute, ParkTTL: time.Hour, ClientToolTTL: time.Minute, Log: log,
			QueueOf:    func(string) string { return "" },
			Parameters: reg.Parameters,
			Retry:      option.Retry{Attempts: 3, Backoff: time.Second, BackoffMax: time.Minute, AfterMax: time.Hour},
		}},
		Registry: reg, Limits: option.Limits{StepBytes: 1000},
	}
	key := rows.Rows.Thread.Key()
	segment := active.NewSegment(host, publish.Segment{
		Key: key, Fence: 1, RunID: "r", CreatedAt: stage.Noon,
		Writer: stream.New(Streaming(host), store.StreamKey{Thread: key, ID: run.Stream()}, 1, 0),
	}, lease, run)
	return &Scene{Run: active.NewRun(segment, reg.Configured(run), run), T: t, Rows: rows, Screen: screen, Lease: lease}
}

// Streaming returns the settings of the scene's stream, which writes each item at once.
func Streaming(h *active.Host) stream.Settings {
	return stream.Settings{Live: h.Live, Log: h.Log, FlushEvery: -1}
}

// Nested returns the scene of a run with this id, which the call "c1" of the scene's run has spawned.
func (s *Scene) Nested(id spool.RunID, run store.RunRow) *Scene {
	s.T.Helper()
	run.ID, run.Agent, run.ParentID, run.RootID, run.CallID, run.Depth = id, "helper", "r", "r", "c1", 1
	if run.State == "" {
		run.State = wire.Running
	}
	s.Rows.Rows.Runs = append(s.Rows.Rows.Runs, run)
	s.Rows.Rows.Runs[0].Children = 1
	s.Refresh()
	nested := *s
	nested.Run = s.Child(run)
	return &nested
}

// Refresh reads the scene's run from the rows.
func (s *Scene) Refresh() {
	s.T.Helper()
	s.Check(s.Update(s.T.Context(), func(*thread.Tx) error { return nil }))
}

// Tx opens a transaction of the scene's run.
func (s *Scene) Tx() *thread.Tx {
	s.T.Helper()
	root, err := thread.Open(s.Rows, s.Host().Rules)
	s.Check(err)
	tx, err := root.ForRun(s.AtStart())
	s.Check(err)
	return tx
}

// Saved returns the scene's run as it is stored.
func (s *Scene) Saved() store.RunRow {
	at := slices.IndexFunc(s.Rows.Rows.Runs, func(r store.RunRow) bool { return r.ID == s.AtStart().ID })
	return s.Rows.Rows.Runs[at]
}

// Check fails the test if err is not nil.
func (s *Scene) Check(err error) {
	s.T.Helper()
	if err != nil {
		s.T.Fatal(err)
	}
}
