package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/sqlite"
	"github.com/spoolhq/spool/engine"
)

// measureSnapshot measures whether a snapshot costs more when the record is long.
func measureSnapshot(b *bench) (_ *section, err error) {
	file, err := b.fill()
	if err != nil {
		return nil, err
	}
	db, err := sqlite.Open(file, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	e, err := engine.New(db.Backend(), engine.Config{
		SingleProcess: true,
		Agents:        []spool.Agent{{Name: "bench", Model: "script"}}, Models: map[string]spool.Model{"script": script{}},
	})
	if err != nil {
		return nil, err
	}
	defer e.Close()

	calls := size(b, 60, 3)
	s := &section{
		title: "Snapshot",
		how: fmt.Sprintf("`Engine.Snapshot` of two threads with %d messages and %d runs each, in this process, from a SQLite file; the median of "+
			"%d calls is a round's number, call by call in turns.", filledMessages, filledRuns, calls),
	}
	var short, long sample
	err = b.interleave(1, func() error {
		var ofShort, ofLong sample
		for range calls {
			if err := errors.Join(b.snap(&ofShort, e, shortRecord), b.snap(&ofLong, e, longRecord)); err != nil {
				return err
			}
		}
		short = append(short, ofShort.median())
		long = append(long, ofLong.median())
		return nil
	})
	if err != nil {
		return nil, err
	}
	s.rows = []row{
		{fmt.Sprintf("%d messages", filledMessages), "µs", short},
		{fmt.Sprintf("%d messages and %s record entries", filledMessages, number(float64(entriesOf(b)))), "µs", long},
	}
	s.goals = []goal{ratioGoal("Snapshot with a long record beside a short one", long, short, 1.2, false)}
	return s, nil
}

func (b *bench) snap(into *sample, e *engine.Engine, key spool.ThreadKey) error {
	began := time.Now()
	snap, err := e.Snapshot(b.ctx, key, nil)
	*into = append(*into, milliseconds(time.Since(began))*1000)
	if err == nil && len(snap.Messages) != filledMessages {
		err = fmt.Errorf("the snapshot has %d messages", len(snap.Messages))
	}
	return err
}
