package command

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/sqlite"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/internal/testing/testwait"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

// moveTwice imports an export into two other databases: twice without a flag, so that nothing goes on there, and with
// --keep-schedules.
func moveTwice(t *testing.T, data string) (stopped, kept string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "spool.jsonl")
	stopped, kept = t.TempDir(), t.TempDir()
	for _, args := range [][]string{
		{"export", "--data", data, file},
		{"import", "--data", stopped, file},
		{"import", "--data", stopped, file},
		{"import", "--keep-schedules", "--data", kept, file},
	} {
		if got := command(nil, args...); got.code != exitOK {
			t.Fatalf("%v: %+v", args, got)
		}
	}
	return stopped, kept
}

// TestMoveSchedules moves a schedule. It is paused in the other database, unless it should go on there.
func TestMoveSchedules(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	made := time.Date(2026, time.January, 5, 8, 0, 0, 0, time.UTC)
	e, done := scheduling(t, data, made)
	_, err := e.CreateSchedule(t.Context(), spool.DefaultTenant, wire.ScheduleRequest{
		Name: "report", ScheduleRule: wire.ScheduleRule{Cron: "0 9 * * 1-5", Zone: "UTC"},
		ScheduleStart: wire.ScheduleStart{Prompt: "Report."},
	}, wire.Maker{Tenant: spool.DefaultTenant, Kind: wire.MakerToken})
	if err != nil {
		t.Fatal(err)
	}
	done()
	paused, kept := moveTwice(t, data)
	nine := made.Add(time.Hour)
	e, done = scheduling(t, paused, nine)
	got, err := e.Schedule(t.Context(), spool.DefaultTenant, "report")
	if err != nil || !got.Paused || got.PausedReason == "" || !got.NextAt.IsZero() {
		t.Errorf("the schedule is %+v, %v", got, err)
	}
	if got, err = e.ResumeSchedule(t.Context(), spool.DefaultTenant, "report"); err != nil || !got.NextAt.Equal(nine.AddDate(0, 0, 1)) {
		t.Errorf("resumed, the schedule is %+v, %v", got, err)
	}
	done()

	e, done = scheduling(t, kept, nine)
	defer done()
	got, err = e.Schedule(t.Context(), spool.DefaultTenant, "report")
	if err != nil || got.Paused || !got.NextAt.Equal(nine) {
		t.Errorf("the schedule that is kept is %+v, %v", got, err)
	}
	ctx, cancel := context.WithCancel(testwait.Context(t, "the schedule goes on"))
	worked := make(chan error, 1)
	go func() { worked <- e.Work(ctx, engine.WorkOptions{}) }()
	for tick := time.NewTicker(20 * time.Millisecond); ; {
		ticks, err := e.ScheduleTicks(ctx, spool.DefaultTenant, "report", 0)
		if err != nil {
			t.Fatal(err)
		}
		if len(ticks) == 1 && ticks[0].Result == wire.ScheduleStarted {
			tick.Stop()
			break
		}
		<-tick.C
	}
	cancel()
	if err := <-worked; err != nil {
		t.Error(err)
	}
}

// scheduling returns an engine over a database of a folder, whose time is the given one.
func scheduling(t *testing.T, data string, at time.Time) (e *engine.Engine, done func()) {
	t.Helper()
	clock := spooltest.NewClock()
	clock.Advance(at.Sub(clock.Now()))
	db, err := sqlite.Open(filepath.Join(data, databaseName), &sqlite.Options{Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	c := engine.Config{
		Agents: []spool.Agent{{Name: "a", Model: "m"}},
		Models: map[string]spool.Model{"m": spooltest.NewModelFunc(
			func(context.Context, spool.ModelRequest) spooltest.Turn { return spooltest.Say("Hello") })},
	}
	c.SingleProcess = true
	c.Schedules.MayStart = func(context.Context, wire.Maker) (wire.Rights, error) {
		return wire.Rights{}, nil
	}
	if e, err = engine.New(db.Backend(), c); err != nil {
		t.Fatal(err)
	}
	return e, func() {
		e.Close()
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestMoveDelayedStarts moves a start that waits for its time. In the other database it starts nothing before it is
// moved, unless it should come due there.
func TestMoveDelayedStarts(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	made := time.Date(2026, time.January, 5, 8, 0, 0, 0, time.UTC)
	key := spool.ThreadKey{Tenant: spool.DefaultTenant, ID: "t1"}
	e, done := scheduling(t, data, made)
	due := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	_, err := e.Run(t.Context(), key, wire.StartRequest{RunID: "r1", Prompt: "Hello", StartAt: due})
	if err != nil {
		t.Fatal(err)
	}
	done()
	stopped, kept := moveTwice(t, data)
	for folder, starts := range map[string]bool{stopped: false, kept: true} {
		e, done = scheduling(t, folder, due.Add(time.Minute))
		working := func(until func(ctx context.Context) bool) {
			t.Helper()
			ctx, cancel := context.WithCancel(testwait.Context(t, "the job of the start"))
			worked := make(chan error, 1)
			go func() { worked <- e.Work(ctx, engine.WorkOptions{}) }()
			for tick := time.NewTicker(20 * time.Millisecond); !until(ctx); {
				<-tick.C
			}
			cancel()
			if err := <-worked; err != nil {
				t.Error(err)
			}
		}
		run := func(ctx context.Context) bool {
			runs, err := e.Runs(ctx, spool.DefaultTenant, wire.RunQuery{ID: "r1"})
			if err != nil {
				t.Fatal(err)
			}
			return len(runs) == 1
		}
		if starts {
			working(run)
			done()
			continue
		}
		working(func(ctx context.Context) bool {
			jobs, err := e.Jobs(ctx, spool.DefaultTenant, wire.JobQuery{Queue: new("spool.starts")})
			if err != nil {
				t.Fatal(err)
			}
			return len(jobs) == 0
		})
		got, err := e.DelayedStart(t.Context(), spool.DefaultTenant, "r1")
		if err != nil || got.Reason != wire.ReasonImported || got.RefusedAt.IsZero() || run(t.Context()) {
			t.Errorf("the start is %+v, %v", got, err)
		}
		moved, err := e.MoveDelayedStart(t.Context(), spool.DefaultTenant, "r1", time.Now())
		if err != nil || !moved.RefusedAt.IsZero() {
			t.Errorf("moved, the start is %+v, %v", moved, err)
		}
		working(run)
		done()
	}
}
