package schedule

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/backend/postgres"
	"github.com/spoolhq/spool/backend/sqlite"
	"github.com/spoolhq/spool/engine/internal/random"
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/internal/cron"
	"github.com/spoolhq/spool/internal/inprocess"
	"github.com/spoolhq/spool/internal/testing/pgtest"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

// TestCampaign simulates workers that see to schedules in six zones, over the days on which clocks change. About once
// an hour a worker dies between two calls of the store, or its call happens and it never learns of it. Two workers get
// the same tick, schedules are paused, changed and run in the middle of a tick, and nobody works for some days. Each
// due time must be seen to exactly once, as its policy says.
//
// SPOOL_SEED is the seed. With SPOOL_CAMPAIGN, it simulates two years instead of some weeks, over SQLite and
// PostgreSQL too.
func TestCampaign(t *testing.T) {
	t.Parallel()
	for backend, open := range backends(t) {
		t.Run(backend, func(t *testing.T) {
			t.Parallel()
			for _, span := range spans() {
				s := simulate(t, open, span, seed(), nil)
				t.Logf("%s: %d ticks, %d deaths, %d races, %d edits", span.from.Format(time.DateOnly), s.ticks, s.deaths, s.races,
					s.edits)
				if s.deaths == 0 || s.races == 0 || s.edits == 0 || s.ticks < 100 {
					t.Error("the simulation proves nothing")
				}
				for _, problem := range s.problems {
					t.Errorf("seed %d: %s", seed(), problem)
				}
			}
		})
	}
}

// TestCampaignSees plants mistakes, which the campaign must see.
func TestCampaignSees(t *testing.T) {
	t.Parallel()
	for name, sabotage := range map[string]func(c *store.Changes){
		"a row that is replaced whatever its version is": func(c *store.Changes) {
			for i := range c.Rows {
				c.Rows[i].Version = store.AnyVersion
			}
		},
		"a key of ticks without the turn": func(c *store.Changes) {
			for i, j := range c.Jobs {
				c.Jobs[i].Key = j.Key[:strings.LastIndexByte(j.Key, '/')]
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if s := simulate(t, inMemory, spans()[0], seed(), sabotage); len(s.problems) == 0 {
				t.Error("the campaign sees no problem")
			} else {
				t.Log(s.problems[0])
			}
		})
	}
}

func inMemory(_ *testing.T, clock store.Clock) store.Store {
	return memory.New(&memory.Options{Clock: clock}).Store
}

func inSQLite(t *testing.T, clock store.Clock) store.Store {
	t.Helper()
	db, err := sqlite.Open(t.TempDir()+"/spool.db", &sqlite.Options{Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db.Backend().Store
}

// template is a database that has the tables.
var template = &pgtest.Template{Prepare: func(ctx context.Context, url string) error {
	db, err := postgres.Open(ctx, url, nil)
	if err != nil {
		return err
	}
	return db.Close()
}}

func inPostgres(t *testing.T, clock store.Clock) store.Store {
	t.Helper()
	db, err := postgres.Open(t.Context(), pgtest.Database(t, template), &postgres.Options{Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db.Backend().Store
}

func backends(t *testing.T) map[string]func(t *testing.T, clock store.Clock) store.Store {
	t.Helper()
	all := map[string]func(t *testing.T, clock store.Clock) store.Store{"memory": inMemory}
	if os.Getenv("SPOOL_CAMPAIGN") != "" {
		all["sqlite"], all["postgres"] = inSQLite, inPostgres
	}
	return all
}

func seed() uint64 {
	if n, err := strconv.ParseUint(os.Getenv("SPOOL_SEED"), 10, 64); err == nil {
		return n
	}
	return 36
}

type span struct{ from, until time.Time }

// spans returns the times to simulate: around changes of clocks, or two years.
func spans() []span {
	date := func(year int, month time.Month, day int) time.Time {
		return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	}
	if os.Getenv("SPOOL_CAMPAIGN") != "" {
		return []span{{date(2026, time.January, 1), date(2028, time.January, 1)}}
	}
	return []span{
		{date(2026, time.March, 5), date(2026, time.March, 10)},
		{date(2026, time.March, 26), date(2026, time.April, 7)},
		{date(2026, time.October, 22), date(2026, time.November, 3)},
	}
}

// sim is a simulation.
type sim struct {
	t        *testing.T
	clock    *spooltest.Clock
	db       store.Store
	sabotage func(c *store.Changes)
	rng      *rand.Rand
	all      map[string]*watched
	names    []string
	ends     map[spool.ThreadKey]time.Time // when the runs end that are active

	ticks, deaths, races, edits int
	problems                    []string
}

// watched is a schedule with what is known to be right.
type watched struct {
	rule    cron.Schedule
	row     row       // its policy
	covered time.Time // each due time until then was seen to
	seen    wire.ScheduleTick
	paused  bool
	runs    map[spool.RunID]bool
}

const tenant = spool.Tenant("acme")

func simulate(
	t *testing.T, open func(t *testing.T, clock store.Clock) store.Store, over span, seed uint64,
	sabotage func(c *store.Changes),
) *sim {
	t.Helper()
	clock := spooltest.NewClock()
	clock.Advance(over.from.Sub(clock.Now()))
	s := &sim{
		t: t, clock: clock, db: open(t, clock), sabotage: sabotage, rng: rand.New(rand.NewPCG(seed, 36)),
		all: make(map[string]*watched), ends: make(map[spool.ThreadKey]time.Time),
	}
	s.create()
	nextDeath := clock.Now()
	for clock.Now().Before(over.until) && len(s.problems) < 5 {
		m := s.mortal()
		if !clock.Now().Before(nextDeath) {
			m.diesAt, m.diesAfter = 1+s.rng.IntN(9), s.rng.IntN(2) == 0
		}
		next := s.work(m)
		s.endRuns()
		switch {
		case m.dead:
			s.deaths++
			nextDeath = clock.Now().Truncate(time.Hour).Add(time.Hour + time.Duration(s.rng.IntN(3600))*time.Second)
			clock.Advance(s.absence())
		case !next.IsZero():
			clock.Advance(max(next.Sub(clock.Now()), 0) + time.Duration(s.rng.IntN(3000))*time.Millisecond)
		case m.calls == 1: // nothing is due, and nothing will be
			clock.Advance(time.Hour)
		}
	}
	s.finish()
	return s
}

// absence returns for how long nobody works.
func (s *sim) absence() time.Duration {
	most := 2 * time.Second
	switch n := s.rng.IntN(100); {
	case n < 2:
		most = 60 * time.Hour
	case n < 10:
		most = 3 * time.Hour
	case n < 40:
		most = 90 * time.Second
	}
	return time.Duration(s.rng.Int64N(int64(most)))
}

// create makes the schedules: each zone has the same ones.
func (s *sim) create() {
	requests := []wire.ScheduleRequest{
		{ScheduleRule: wire.ScheduleRule{Cron: "30 2 * * *"}, SchedulePolicy: wire.SchedulePolicy{Missed: wire.MissedAll}},
		{
			ScheduleRule:   wire.ScheduleRule{Cron: "*/30 1-2 * * *"},
			SchedulePolicy: wire.SchedulePolicy{Missed: wire.MissedLatest, Overlap: "enqueue"},
		},
		{ScheduleRule: wire.ScheduleRule{Cron: "5 */4 * * *"}, SchedulePolicy: wire.SchedulePolicy{Missed: wire.MissedSkip}},
		{
			ScheduleRule: wire.ScheduleRule{Every: "7m"},
			SchedulePolicy: wire.SchedulePolicy{
				Missed: wire.MissedAll, Overlap: "reject", Jitter: "5m", Grace: "10m",
			},
		},
	}
	zones := []string{
		"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "Africa/Casablanca", "America/St_Johns",
	}
	for i, zone := range zones {
		for n, q := range requests {
			if q.Every != "" && i > 0 {
				continue // it has no zone
			}
			q.Name, q.Prompt = fmt.Sprintf("s%d-%d", i, n), "Report."
			if q.Cron != "" {
				q.Zone = zone
			}
			if _, err := s.over(s.db).Create(context.Background(), tenant, q, ann()); err != nil {
				s.t.Fatal(err)
			}
			r, err := s.over(s.db).find(context.Background(), tenant, q.Name)
			if err != nil {
				s.t.Fatal(err)
			}
			rule, err := r.schedule()
			if err != nil {
				s.t.Fatal(err)
			}
			s.all[q.Name] = &watched{rule: rule, row: *r, covered: s.clock.Now(), runs: make(map[spool.RunID]bool)}
			s.names = append(s.names, q.Name)
		}
	}
}

func ann() wire.Maker {
	return wire.Maker{Tenant: tenant, Subject: "ann", Kind: wire.MakerFile}
}

// over returns the schedules of a process.
func (s *sim) over(db store.Store) *Schedules {
	out := &Schedules{
		Store: db, Live: inprocess.NewLive(0), Log: slog.New(slog.DiscardHandler), Random: random.Source{},
		Options: option.Schedules{Max: 1000, MaxRuns: 10},
		Check:   func(context.Context, spool.ThreadKey, wire.StartRequest) error { return nil },
	}
	out.Start = func(
		ctx context.Context, key spool.ThreadKey, r wire.StartRequest, also func(tx store.Tx) error,
	) (wire.RunResult, error) {
		lasts := s.rng.IntN(10) == 0
		err := db.Update(ctx, key, 0, func(tx store.Tx) error {
			run := store.RunRow{Run: wire.Run{ID: r.RunID, State: wire.Completed}}
			state := wire.Idle
			if lasts {
				run.State, state = wire.Running, wire.Running
			}
			return errors.Join(tx.Write(store.Changes{
				Thread: &wire.Thread{State: state}, NewRuns: []store.RunRow{run},
			}), also(tx))
		})
		switch {
		case errors.Is(err, store.ErrRunIDUsed):
			return wire.RunResult{Reason: wire.ReasonRunIDUsed, Error: "Run id already used"}, nil
		case err != nil:
			return wire.RunResult{}, err
		case lasts:
			s.ends[key] = s.clock.Now().Add(time.Duration(s.rng.IntN(20)) * time.Hour)
		}
		return wire.RunResult{Accepted: true, ThreadID: key.ID, RunID: r.RunID}, nil
	}
	return out
}

// work lets a worker look once. It returns when the next tick is due, if it has found none.
func (s *sim) work(m *mortal) time.Time {
	ctx := context.Background()
	taken, next, err := m.Claim(ctx, store.ClaimQuery{
		Limit: 1, Lease: 30 * time.Second, Queues: []string{Queue}, Agents: []string{},
	})
	if err != nil || len(taken) == 0 {
		return next
	}
	d := taken[0]
	name := strings.Split(d.Key, "/")[1]
	if s.rng.IntN(8) == 0 {
		m.meetsAt, m.meets = m.calls+1+s.rng.IntN(6), func() { s.meet(d, name) }
	}
	err = s.over(m).Tick(ctx, d)
	ack := store.Ack{Kind: store.AckDone}
	if by, ok := errors.AsType[*store.AckError](err); ok {
		ack = by.Ack
	} else if err != nil {
		s.problemf("%s: the handler returns %v", name, err)
	}
	_ = m.Ack(ctx, d, ack)
	s.ticks++
	s.collect(name)
	return time.Time{}
}

// meet is what happens while a worker is in the middle of a tick.
func (s *sim) meet(d store.Delivery, name string) {
	ctx := context.Background()
	other := s.over(s.faultless())
	w := s.all[name]
	switch s.rng.IntN(5) {
	case 0:
		s.edits++
		pause := other.Pause
		if w.paused {
			pause = func(ctx context.Context, tenant spool.Tenant, name, _ string) (wire.Schedule, error) {
				return other.Resume(ctx, tenant, name)
			}
		}
		if _, err := pause(ctx, tenant, name, "for a while"); err != nil {
			s.problemf("%s: pause or resume: %v", name, err)
		}
		s.collect(name)
		w.paused = !w.paused
		w.covered = later(w.covered, s.clock.Now()) // nothing comes due between the two
	case 1:
		s.edits++
		title := fmt.Sprint("edit ", s.edits)
		if _, err := other.Change(ctx, tenant, name, wire.ScheduleChange{Title: &title}, ann()); err != nil {
			s.problemf("%s: change: %v", name, err)
		}
	case 2:
		s.edits++
		if _, err := other.Now(ctx, tenant, name); err != nil {
			s.problemf("%s: run now: %v", name, err)
		}
	default:
		s.races++
		if err := other.Tick(ctx, d); err != nil {
			if _, ok := errors.AsType[*store.AckError](err); !ok {
				s.problemf("%s: the handler returns %v", name, err)
			}
		}
	}
	s.collect(name)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// endRuns ends the runs that have lasted long enough, and resumes schedules now and then.
func (s *sim) endRuns() {
	now := s.clock.Now()
	for key, at := range s.ends {
		if at.After(now) {
			continue
		}
		delete(s.ends, key)
		err := s.db.Update(context.Background(), key, 0, func(tx store.Tx) error {
			runs, err := tx.Runs(wire.RunQuery{Whole: true})
			if err != nil {
				return err
			}
			runs[0].State = wire.Completed
			return tx.Write(store.Changes{Runs: runs[:1]})
		})
		if err != nil {
			s.t.Fatal(err)
		}
	}
	if s.rng.IntN(20) > 0 {
		return
	}
	for _, name := range s.names {
		w := s.all[name]
		if !w.paused {
			continue
		}
		if _, err := s.over(s.faultless()).Resume(context.Background(), tenant, name); err != nil {
			s.problemf("%s: resume: %v", name, err)
		}
		s.collect(name)
		w.paused, w.covered = false, later(w.covered, now)
	}
}

func (s *sim) problemf(format string, args ...any) {
	s.problems = append(s.problems, s.clock.Now().Format(time.RFC3339)+": "+fmt.Sprintf(format, args...))
}

// line reads a line of the history.
func (s *sim) line(name string, seq int64) (t wire.ScheduleTick) {
	ticks, err := s.db.Rows(context.Background(), store.RowQuery{
		Tenant: tenant, Kind: kindTick, Key: tickKey(name, seq), Limit: 1,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	if len(ticks) == 0 {
		s.problemf("%s: the line %d is missing", name, seq)
		return t
	}
	return lineOf(s.t, ticks[0])
}

// collect checks the new lines of the history of a schedule.
func (s *sim) collect(name string) {
	w := s.all[name]
	r, err := s.over(s.db).find(context.Background(), tenant, name)
	if err != nil {
		s.t.Fatal(err)
	}
	if w.seen.Seq > 0 {
		if again := s.line(name, w.seen.Seq); again != w.seen {
			s.problemf("%s: a line of the history becomes another one:\n%+v\n%+v", name, w.seen, again)
		}
	}
	for seq := w.seen.Seq + 1; seq <= r.Lines; seq++ {
		t := s.line(name, seq)
		if t.Seq != seq {
			s.problemf("%s: the line %d is %+v", name, seq, t)
		}
		w.seen = t
		s.check(name, w, t)
	}
}

// check checks a line of the history.
func (s *sim) check(name string, w *watched, t wire.ScheduleTick) {
	switch t.Result {
	case wire.ScheduleStarted:
		if w.runs[t.RunID] {
			s.problemf("%s: the run %s is started twice", name, t.RunID)
		}
		w.runs[t.RunID] = true
	case wire.ScheduleRefused:
		s.problemf("%s: a start is refused: %+v", name, t)
	case wire.ScheduleOverlap, wire.ScheduleMissed:
	}
	if t.DueAt.IsZero() {
		return
	}
	// By the rule of the policy, which of the due times are missed.
	until := t.At.Add(-w.row.maxJitter() - w.row.grace())
	missed := func(due time.Time) bool { return due.Before(until) }
	due := slices.Collect(w.rule.Between(w.covered, t.DueAt))
	if len(due) == 0 || !due[len(due)-1].Equal(t.DueAt) {
		s.problemf("%s: the due time of %+v is none, or was seen to: it is known until %s", name, t, w.covered)
		return
	}
	w.covered = t.DueAt
	behind := 0
	for next := range w.rule.Between(t.DueAt, t.At) {
		if missed(next) {
			behind++
		}
	}
	if t.Result == wire.ScheduleMissed {
		if max(t.Count, 1) != len(due) || !missed(t.DueAt) {
			s.problemf("%s: %d due times are behind %+v", name, len(due), t)
		}
		left := map[wire.MissedPolicy]int{wire.MissedLatest: 1, wire.MissedAll: maxMissed}
		if want := left[w.row.Policy.Missed]; behind != want {
			s.problemf("%s: %d missed due times are left behind %+v, want %d", name, behind, t, want)
		}
		return
	}
	if len(due) != 1 {
		s.problemf("%s: the due times %v are lost before %+v", name, due[:len(due)-1], t)
	}
	if !missed(t.DueAt) {
		return
	}
	left := map[wire.MissedPolicy]int{wire.MissedSkip: -1, wire.MissedAll: maxMissed - 1}
	if behind > left[w.row.Policy.Missed] {
		s.problemf("%s: the policy starts no %+v, with %d missed ones behind it", name, t, behind)
	}
}

// finish sees to what is due, and compares the runs with the histories.
func (s *sim) finish() {
	for range 100_000 {
		if next := s.work(s.faultless()); next.After(s.clock.Now()) || len(s.problems) > 5 {
			break
		}
	}
	now, started := s.clock.Now(), 0
	for _, name := range s.names {
		w := s.all[name]
		started += len(w.runs)
		due, _ := w.rule.Last(w.covered, now)
		if w.paused || due.IsZero() || due.Add(w.row.maxJitter()).After(now) {
			continue
		}
		s.problemf("%s: nobody has seen to the due time %s", name, due)
	}
	runs, err := s.db.Runs(context.Background(), wire.RunQuery{Tenant: tenant})
	if err != nil || len(runs) != started {
		s.problemf("the histories have %d runs, and the store %d, %v", started, len(runs), err)
	}
}

// mortal is the store of a worker that dies.
type mortal struct {
	store.Store

	sabotage        func(c *store.Changes)
	calls           int
	diesAt, meetsAt int // the number of the call. Zero: none.
	diesAfter       bool
	meets           func()
	dead            bool
}

func (s *sim) mortal() *mortal { return &mortal{Store: s.db, sabotage: s.sabotage} }

// faultless returns the store of a worker that lives.
func (s *sim) faultless() *mortal { return s.mortal() }

var errDied = spool.Errorf(spool.Unavailable, "the worker is dead")

func (m *mortal) call(fn func() error) error {
	m.calls++
	if m.calls == m.meetsAt && !m.dead {
		m.meets()
	}
	dies := m.calls == m.diesAt
	if dies && !m.diesAfter || m.dead {
		m.dead = true
		return errDied
	}
	err := fn()
	if dies {
		m.dead = true
		return errDied
	}
	return err
}

func (m *mortal) Update(ctx context.Context, key spool.ThreadKey, fence int64, fn func(tx store.Tx) error) error {
	return m.call(func() error {
		return m.Store.Update(ctx, key, fence, func(tx store.Tx) error { return fn(sabotagedTx{tx, m.sabotage}) })
	})
}

func (m *mortal) View(ctx context.Context, key spool.ThreadKey, fn func(v store.View) error) error {
	return m.call(func() error { return m.Store.View(ctx, key, fn) })
}

func (m *mortal) Rows(ctx context.Context, q store.RowQuery) (rows []store.Row, err error) {
	err = m.call(func() error {
		rows, err = m.Store.Rows(ctx, q)
		return err
	})
	return rows, err
}

func (m *mortal) Claim(ctx context.Context, q store.ClaimQuery) (taken []store.Delivery, next time.Time, err error) {
	err = m.call(func() error {
		taken, next, err = m.Store.Claim(ctx, q)
		return err
	})
	if err != nil {
		return nil, time.Time{}, err
	}
	return taken, next, nil
}

func (m *mortal) Ack(ctx context.Context, d store.Delivery, a store.Ack) error {
	return m.call(func() error { return m.Store.Ack(ctx, d, a) })
}

type sabotagedTx struct {
	store.Tx

	sabotage func(c *store.Changes)
}

func (tx sabotagedTx) Write(c store.Changes) error {
	if tx.sabotage != nil {
		tx.sabotage(&c)
	}
	return tx.Tx.Write(c)
}
