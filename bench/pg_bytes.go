package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/wire"
)

// measurePgBytes measures how many bytes PostgreSQL writes to its log for a short run.
func measurePgBytes(b *bench) (*section, error) {
	runs := size(b, 200, 3)
	server, err := b.postgres()
	if err != nil {
		return nil, err
	}
	s := &section{
		title: "Bytes written by a run on PostgreSQL",
		how: fmt.Sprintf("What the server adds to its write-ahead log for a run on a new thread, with all that belongs to it: the start, the claim, the steps, "+
			"the run's stream, the wake-ups and the end. One process accepts and works. A run \"of one step\" is one answer of the model. A run \"with three calls of "+
			"a tool\" has three steps more, in each of which the model calls a tool that returns at once. A round is the mean of %d runs, one after the other, on a new database in "+
			"which %d runs came before, so that its pages are in the log as a whole already. %s", runs, pgBytesWarm, server.about),
	}
	var plain, tool sample
	err = b.interleave(1,
		func() error { return b.writtenByRuns(&plain, runs, 1) },
		func() error { return b.writtenByRuns(&tool, runs, 4) },
	)
	if err != nil {
		return nil, err
	}
	s.rows = []row{{"a run of one step", "bytes", plain}, {"a run with three calls of a tool", "bytes", tool}}
	s.goals = []goal{
		atMost("Bytes that a run of one step writes", plain.median(), 8_000),
		atMost("Bytes that a run with three calls of a tool writes", tool.median(), 18_500),
	}
	return s, nil
}

// pgBytesWarm is how many runs come before those that count.
const pgBytesWarm = 50

// writtenByRuns measures runs on a new database. Each step but the last one has a call of a tool.
func (b *bench) writtenByRuns(into *sample, runs, steps int) error {
	return b.onFresh(func(url string) (err error) {
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
		ctx, cancel := context.WithCancel(b.ctx)
		ended := make(chan error, 1)
		go func() { ended <- e.Work(ctx, engine.WorkOptions{}) }()
		defer func() { cancel(); err = errors.Join(err, <-ended) }()

		conn, err := pgx.Connect(b.ctx, url)
		if err != nil {
			return err
		}
		defer conn.Close(b.ctx)
		var before, after float64
		for _, round := range []struct {
			runs int
			log  *float64
		}{{pgBytesWarm, &before}, {runs, &after}} {
			for range round.runs {
				if err := b.wholeRun(e); err != nil {
					return err
				}
			}
			if *round.log, err = b.logOf(conn); err != nil {
				return err
			}
		}
		*into = append(*into, (after-before)/float64(runs))
		return nil
	})
}

// wholeRun executes a run on a new thread, until it has ended.
func (b *bench) wholeRun(e *engine.Engine) error {
	key := spool.ThreadKey{Tenant: spool.DefaultTenant, ID: spool.ThreadID(spool.NewID("thr"))}
	started, err := e.Run(b.ctx, key, wire.StartRequest{Prompt: startPrompt})
	if err != nil || !started.Accepted {
		return errors.Join(err, errors.New("the run was refused: "+started.Error))
	}
	_, err = e.Await(b.ctx, key, started.RunID)
	return err
}

// logOf returns how many bytes the server's log has, once nothing has been added for a while: the end of a run's stream
// and its job come after the run.
func (b *bench) logOf(conn *pgx.Conn) (bytes float64, err error) {
	for last := -1.0; bytes != last; {
		if err := b.wait(200 * time.Millisecond); err != nil {
			return 0, err
		}
		last = bytes
		if err := conn.QueryRow(b.ctx, "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8").Scan(&bytes); err != nil {
			return 0, err
		}
	}
	return bytes, nil
}
