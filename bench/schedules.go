package main

import (
	"context"
	"errors"
	"fmt"
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
	// mostIdle is how much CPU they may take while nothing comes due, beside a server without schedules: about what two
	// rounds of the same server differ by.
	mostIdle = 1.25
)

// measureSchedules measures what schedules cost that do not come due, and how late those start that do.
func measureSchedules(b *bench) (_ *section, err error) {
	m := &scheduleMeasure{b: b, schedules: size(b, manySchedules, 100), seconds: size(b, 10, 2)}
	m.periods = m.schedules / size(b, dueEachSecond, 20)
	s := &section{
		title: "Schedules",
		how: fmt.Sprintf("A SQLite file with %s schedules of the configuration, and one worker in this process. First nothing comes due: CPU of the process for %d s, "+
			"in turns with a file without schedules. Then %d schedules come due each second: from the due time to the beginning of the run.",
			number(float64(m.schedules)), m.seconds, m.schedules/m.periods),
	}
	none, err := m.open("no-schedules")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, none.Close()) }()
	many, err := m.open("schedules")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, many.Close()) }()
	if err := m.idle(none, many); err != nil {
		return nil, err
	}
	if err := m.due(many); err != nil {
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
			m.ofMany, m.ofNone, mostIdle, false),
	}
	return s, nil
}

// scheduleMeasure collects one number per round for each arm.
type scheduleMeasure struct {
	b                  *bench
	schedules, seconds int
	periods            int           // how many seconds pass until each schedule has come due once
	made               time.Duration // how long the rows of all schedules took to write
	p50, p99           sample
	ofMany, ofNone     sample
}

func (m *scheduleMeasure) open(name string) (*sqlite.DB, error) {
	return sqlite.Open(m.b.newFile(name), &sqlite.Options{Exclusive: true})
}

// engine returns an engine with n schedules, whose rows a worker writes before anything else.
func (m *scheduleMeasure) engine(db *sqlite.DB, n int, rule func(i int) wire.ScheduleRule) (*engine.Engine, error) {
	list := make([]option.Schedule, n)
	for i := range list {
		list[i].ScheduleRequest = wire.ScheduleRequest{
			Name: fmt.Sprintf("s%05d", i), ScheduleRule: rule(i),
			ScheduleStart: wire.ScheduleStart{Prompt: startPrompt, ThreadID: spool.ThreadID(fmt.Sprintf("t%05d", i))},
		}
	}
	return engine.New(db.Backend(), engine.Config{
		SingleProcess: true,
		Agents:        []spool.Agent{{Name: "bench", Model: "script"}},
		Models:        map[string]spool.Model{"script": script{}},
		Schedules:     option.Schedules{Schedules: list, MaxScopes: []string{}},
		Log:           warnings(),
	})
}

// work runs a worker until a time.
func (m *scheduleMeasure) work(e *engine.Engine, until time.Time) error {
	ctx, cancel := context.WithDeadline(m.b.ctx, until)
	defer cancel()
	return errors.Join(e.Work(ctx, engine.WorkOptions{}), m.b.ctx.Err())
}

// idle measures workers that have nothing to do, over each file in turn.
func (m *scheduleMeasure) idle(none, many *sqlite.DB) error {
	daily := func(int) wire.ScheduleRule { return wire.ScheduleRule{Every: "24h"} }
	without, err := m.engine(none, 0, daily)
	if err != nil {
		return err
	}
	defer without.Close()
	with, err := m.engine(many, m.schedules, daily)
	if err != nil {
		return err
	}
	defer with.Close()
	if err := m.write(with); err != nil {
		return err
	}
	arm := func(into *sample, e *engine.Engine) func() error {
		return func() error {
			begun := cpuTime()
			err := m.work(e, time.Now().Add(time.Duration(m.seconds)*time.Second))
			*into = append(*into, (cpuTime()-begun).Seconds()*1000/float64(m.seconds))
			return err
		}
	}
	return m.b.interleave(1, arm(&m.ofNone, without), arm(&m.ofMany, with))
}

// write lets a worker write the rows of its schedules.
func (m *scheduleMeasure) write(e *engine.Engine) error {
	begun := time.Now()
	ctx, stop := context.WithCancel(m.b.ctx)
	done := make(chan error, 1)
	go func() { done <- e.Work(ctx, engine.WorkOptions{}) }()
	for {
		list, err := e.Schedules(m.b.ctx, wire.ScheduleQuery{Tenant: spool.DefaultTenant})
		if err == nil && len(list) < m.schedules {
			if err = m.b.wait(time.Second); err == nil {
				continue
			}
		}
		m.made = time.Since(begun)
		stop()
		return errors.Join(err, <-done)
	}
}

// due measures how late schedules start. Their rows are written again before, and take as long as the first time.
func (m *scheduleMeasure) due(db *sqlite.DB) error {
	first := time.Now().Add(2*m.made + 5*time.Second).Truncate(time.Second)
	e, err := m.engine(db, m.schedules, func(i int) wire.ScheduleRule {
		every := max(time.Minute, time.Duration(m.periods)*time.Second)
		return wire.ScheduleRule{Every: every.String(), From: m.dueAt(first, i)}
	})
	if err != nil {
		return err
	}
	defer e.Close()
	last := first.Add(time.Duration(m.b.rounds*m.seconds) * time.Second)
	if err := m.work(e, last.Add(2*time.Second)); err != nil {
		return err
	}
	runs, err := db.Runs(m.b.ctx, wire.RunQuery{Tenant: spool.DefaultTenant})
	if err != nil {
		return err
	}
	late, err := m.lateness(runs, first)
	for _, round := range late {
		m.p50, m.p99 = append(m.p50, round.quantile(0.5)), append(m.p99, round.quantile(0.99))
	}
	return err
}

// dueAt returns when a schedule comes due for the first time.
func (m *scheduleMeasure) dueAt(first time.Time, i int) time.Time {
	return first.Add(time.Duration(i%m.periods) * time.Second)
}

// lateness returns how late the runs of each round began, in milliseconds. It returns an error if one is missing.
func (m *scheduleMeasure) lateness(runs []store.RunRow, first time.Time) ([]sample, error) {
	late := make([]sample, m.b.rounds)
	for _, r := range runs {
		var i int
		if _, err := fmt.Sscanf(string(r.ThreadID), "t%d", &i); err != nil {
			return nil, err
		}
		due := m.dueAt(first, i)
		if round := int(due.Sub(first).Seconds()) / m.seconds; round < m.b.rounds && !r.StartedAt.IsZero() {
			late[round] = append(late[round], milliseconds(r.StartedAt.Sub(due)))
		}
	}
	for round, s := range late {
		due := 0
		for i := range m.schedules {
			if second := i % m.periods; second/m.seconds == round {
				due++
			}
		}
		if len(s) != due {
			return nil, fmt.Errorf("%d schedules came due in round %d, and %d runs have started", due, round, len(s))
		}
	}
	return late, nil
}
