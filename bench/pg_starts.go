package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/wire"
)

// measurePgStarts measures how many starts a second are durable over PostgreSQL, compared with the same rows
// written without Spool.
func measurePgStarts(b *bench) (*section, error) {
	took := size(b, time.Second, 100*time.Millisecond)
	server, err := b.postgres()
	if err != nil {
		return nil, err
	}
	s := &section{
		title: "Run starts over PostgreSQL",
		how: fmt.Sprintf("`Engine.Run` on a new thread each, for %s a round, by concurrent goroutines of this process; no worker. \"Bare\" runs the "+
			"same statements on the same tables in the same two round trips, by a pool of pgx without the engine. Both have at most %d connections "+
			"and a new database each round, and wait for the disk at each commit. %s", took, pgConnections, server.about),
	}
	for _, clients := range []int{16, 64} {
		var started, bare sample
		err := b.interleave(size(b, 2, 1),
			func() error { return b.startRuns(&started, clients, took, newStarter) },
			func() error { return b.startRuns(&bare, clients, took, newBareStarter) },
		)
		if err != nil {
			return nil, err
		}
		s.rows = append(s.rows,
			row{fmt.Sprintf("Spool, %d clients", clients), "starts/s", started},
			row{fmt.Sprintf("bare, %d clients", clients), "starts/s", bare},
		)
		s.goals = append(s.goals, ratioGoal(fmt.Sprintf("Starts over PostgreSQL beside bare, %d clients", clients), started,
			bare, 0.5, true))
	}
	return s, nil
}

// starter starts runs. Start returns when the run is durable.
type starter interface {
	start(ctx context.Context) error
	close() error
}

// startRuns measures a starter on a new database, and then checks that each accepted start left a job.
func (b *bench) startRuns(
	into *sample, clients int, took time.Duration, begin func(ctx context.Context, url string) (starter, error),
) error {
	return b.onFresh(func(url string) error {
		s, err := begin(b.ctx, url)
		if err != nil {
			return err
		}
		n, rate, err := startAll(b.ctx, s, clients, took)
		if err := errors.Join(err, s.close()); err != nil {
			return err
		}
		*into = append(*into, rate)
		jobs, err := countRows(b.ctx, url, "spool.job")
		if err == nil && jobs != n {
			err = fmt.Errorf("%d starts were accepted, and %d have jobs", n, jobs)
		}
		return err
	})
}

// startAll starts runs for some time. It returns their number, and how many they were a second.
func startAll(ctx context.Context, s starter, clients int, took time.Duration) (n int64, rate float64, err error) {
	var accepted atomic.Int64
	failed := make([]error, clients)
	var wg sync.WaitGroup
	began := time.Now()
	for c := range clients {
		wg.Go(func() {
			for time.Since(began) < took {
				if failed[c] = s.start(ctx); failed[c] != nil {
					return
				}
				accepted.Add(1)
			}
		})
	}
	wg.Wait()
	n = accepted.Load()
	return n, float64(n) / time.Since(began).Seconds(), errors.Join(failed...)
}

// countRows returns how many rows a table has.
func countRows(ctx context.Context, url, table string) (n int64, err error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return 0, err
	}
	defer conn.Close(ctx)
	err = conn.QueryRow(ctx, "SELECT count(*) FROM "+table).Scan(&n)
	return n, err
}

// engineStarter starts runs with an engine.
type engineStarter struct {
	e       *engine.Engine
	closeDB func() error
}

func newStarter(ctx context.Context, url string) (starter, error) {
	return openStarter(ctx, url, script{})
}

// openStarter opens a database with an engine.
func openStarter(ctx context.Context, url string, model spool.Model) (*engineStarter, error) {
	db, err := openPostgres(ctx, url)
	if err != nil {
		return nil, err
	}
	e, err := engine.New(db.Backend(), engine.Config{
		Agents: []spool.Agent{{Name: "bench", Model: "script"}},
		Models: map[string]spool.Model{"script": model},
		Log:    warnings(),
	})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &engineStarter{e, db.Close}, nil
}

func (s *engineStarter) start(ctx context.Context) error {
	key := spool.ThreadKey{Tenant: spool.DefaultTenant, ID: spool.ThreadID(spool.NewID("thr"))}
	started, err := s.e.Run(ctx, key, wire.StartRequest{Prompt: startPrompt})
	if err == nil && !started.Accepted {
		err = errors.New("the run was refused: " + started.Error)
	}
	return err
}

func (s *engineStarter) close() error {
	s.e.Close()
	return s.closeDB()
}
