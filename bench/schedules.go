package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/sqlite"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

const (
	// manySchedules is how many schedules a server has, and dueEachSecond how many of them come due each second.
	manySchedules, dueEachSecond = 10_000, 100
	// mostLate is how late the slowest hundredth of them may start, in milliseconds.
	mostLate = 1000
)

// measureSchedules measures how late schedules start, and what those cost that do not come due.
func measureSchedules(b *bench) (_ *section, err error) {
	m := &scheduleMeasure{b: b, schedules: size(b, manySchedules, 100), seconds: size(b, 10, 2)}
	s := &section{
		title: "Schedules",
		how: fmt.Sprintf("%s schedules on a SQLite file, of which %s come due each second, for %d s: from the due time to the beginning of the run, with one worker in this "+
			"process. Then the CPU of a process with a worker in which nothing comes due, for %d s, with as many schedules and with none.",
			number(float64(m.schedules)), number(float64(m.schedules/manySchedules*dueEachSecond)), m.seconds, m.seconds),
	}
	if err := b.interleave(1, m.due, func() error { return m.idle(&m.ofMany, m.schedules) },
		func() error { return m.idle(&m.ofNone, 0) }); err != nil {
		return nil, err
	}
	s.rows = []row{
		{"from the due time to the run, p50", "ms", m.p50},
		{"from the due time to the run, p99", "ms", m.p99},
		{"idle, " + number(float64(m.schedules)) + " schedules", "ms of CPU a second", m.ofMany},
		{"idle, no schedule", "ms of CPU a second", m.ofNone},
	}
	s.goals = []goal{
		atMost("p99 from the due time to the run, in ms", m.p99.median(), mostLate),
		ratioGoal("CPU of an idle process with "+number(float64(m.schedules))+" schedules beside one with none",
			m.ofMany, m.ofNone, m.ofNone.max()/m.ofNone.median(), false),
	}
	return s, nil
}

// scheduleMeasure collects one number per round for each arm.
type scheduleMeasure struct {
	b                  *bench
	schedules, seconds int
	p50, p99           sample
	ofMany, ofNone     sample
}

// with makes schedules on a new file, and calls a function with its engine.
func (m *scheduleMeasure) with(
	n int, rule func(i int) wire.ScheduleRule, do func(*sqlite.DB, *engine.Engine) error,
) (err error) {
	db, err := sqlite.Open(m.b.newFile("schedules"), &sqlite.Options{Exclusive: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	e, err := engine.New(db.Backend(), engine.Config{
		SingleProcess: true,
		Agents:        []spool.Agent{{Name: "bench", Model: "script"}},
		Models:        map[string]spool.Model{"script": script{}},
		Schedules:     option.Schedules{Max: manySchedules, MayStart: anybody},
		Log:           warnings(),
	})
	if err != nil {
		return err
	}
	defer e.Close()
	if err := atOnce(n, func(i int) error {
		_, err := e.CreateSchedule(m.b.ctx, spool.DefaultTenant, wire.ScheduleRequest{
			Name: fmt.Sprintf("s%05d", i), ScheduleRule: rule(i),
			ScheduleStart: wire.ScheduleStart{Prompt: startPrompt, ThreadID: spool.ThreadID(fmt.Sprintf("t%05d", i))},
		}, wire.ScheduleMaker{Tenant: spool.DefaultTenant, Subject: fmt.Sprintf("maker-%d", i), Kind: wire.MakerPrincipal})
		return err
	}); err != nil {
		return err
	}
	return do(db, e)
}

// atOnce calls a function n times, up to 32 at once.
func atOnce(n int, do func(i int) error) error {
	var all sync.WaitGroup
	free := make(chan struct{}, 32)
	failed := make([]error, n)
	for i := range n {
		free <- struct{}{}
		all.Go(func() {
			failed[i] = do(i)
			<-free
		})
	}
	all.Wait()
	return errors.Join(failed...)
}

// anybody lets every maker start runs.
func anybody(_ context.Context, maker wire.ScheduleMaker) (wire.ScheduleRights, error) {
	return maker.ScheduleRights, nil
}

// work runs a worker for a time.
func (m *scheduleMeasure) work(e *engine.Engine, d time.Duration) error {
	ctx, cancel := context.WithTimeout(m.b.ctx, d)
	defer cancel()
	return errors.Join(e.Work(ctx, engine.WorkOptions{}), m.b.ctx.Err())
}

// due measures how late schedules start.
func (m *scheduleMeasure) due() error {
	// Making them takes a while, and none may come due before all are there.
	period := time.Duration(m.schedules/dueEachSecond) * time.Second
	first := time.Now().Add(size(m.b, time.Minute, 3*time.Second)).Truncate(time.Second)
	rule := func(i int) wire.ScheduleRule {
		from := first.Add(time.Duration(i%max(1, m.schedules/dueEachSecond)) * time.Second)
		return wire.ScheduleRule{Every: max(period, time.Minute).String(), From: from}
	}
	return m.with(m.schedules, rule, func(db *sqlite.DB, e *engine.Engine) error {
		if err := m.b.wait(time.Until(first)); err != nil {
			return err
		}
		if err := m.work(e, time.Duration(m.seconds)*time.Second); err != nil {
			return err
		}
		runs, err := db.Runs(m.b.ctx, wire.RunQuery{Tenant: spool.DefaultTenant})
		if err != nil {
			return err
		}
		late := lateness(runs, first, m.schedules/dueEachSecond)
		if len(late) == 0 {
			return errors.New("nothing has started")
		}
		m.p50, m.p99 = append(m.p50, late.quantile(0.5)), append(m.p99, late.quantile(0.99))
		return nil
	})
}

// lateness returns how late each run began, in milliseconds.
func lateness(runs []store.RunRow, first time.Time, seconds int) (late sample) {
	for _, r := range runs {
		var i int
		if _, err := fmt.Sscanf(string(r.ThreadID), "t%d", &i); err != nil || r.StartedAt.IsZero() {
			continue
		}
		due := first.Add(time.Duration(i%max(1, seconds)) * time.Second)
		late = append(late, milliseconds(r.StartedAt.Sub(due)))
	}
	return late
}

// idle measures a worker that has nothing to do.
func (m *scheduleMeasure) idle(into *sample, n int) error {
	rule := func(int) wire.ScheduleRule { return wire.ScheduleRule{Every: "24h"} }
	return m.with(n, rule, func(_ *sqlite.DB, e *engine.Engine) error {
		begun := cpuTime()
		err := m.work(e, time.Duration(m.seconds)*time.Second)
		*into = append(*into, (cpuTime()-begun).Seconds()*1000/float64(m.seconds))
		return err
	})
}
