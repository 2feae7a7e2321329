package main

import (
	"errors"
	"fmt"

	"github.com/spoolhq/spool"
)

// measurePgStep measures whether a step over PostgreSQL costs more in a long thread.
func measurePgStep(b *bench) (s *section, err error) {
	steps, turns := size(b, 100, 3), size(b, longHistory, 10)
	server, err := b.postgres()
	if err != nil {
		return nil, err
	}
	s = &section{
		title: "Step over PostgreSQL",
		how: fmt.Sprintf("Runs of %d steps with a tool call each, carried out by `Engine.HandleJob` in this process; the model answers at once and the "+
			"tool returns at once. A step is %d commits, and items of the run's stream. Beside it, %d commits of one row by the same store. %s",
			steps, stepCommits, stepCommits, server.about),
	}
	err = b.onFresh(func(url string) (err error) {
		db, err := openPostgres(b.ctx, url)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, db.Close()) }()
		e, err := newStepEngine(db.Backend(), steps)
		if err != nil {
			return err
		}
		defer e.Close()
		long := spool.ThreadKey{Tenant: spool.DefaultTenant, ID: "long-history"}
		if err := fillHistory(b.ctx, db, long, turns); err != nil {
			return err
		}
		m := stepMeasure{b: b, db: db, e: e, steps: steps}
		if err := b.interleave(1, m.bare, m.short, func() error { return m.long(long) }); err != nil {
			return err
		}
		s.rows = []row{
			{"step", "µs", m.ofShort},
			{fmt.Sprintf("step behind %s turns", number(longHistory)), "µs", m.ofLong},
			{fmt.Sprintf("%d bare commits", stepCommits), "µs", m.ofBare},
		}
		s.goals = []goal{
			ratioGoal(fmt.Sprintf("Step over PostgreSQL behind %s turns beside one in a new thread", number(longHistory)),
				m.ofLong, m.ofShort, 1.3, false),
		}
		return nil
	})
	return s, err
}
