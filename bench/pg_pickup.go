package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/riverqueue/river"
	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
)

const (
	// pickupSlots is how many runs or jobs a worker executes at once.
	pickupSlots = 16
	// pickupGap is the mean time from a pick-up to the next start.
	pickupGap = 20 * time.Millisecond
	// pickupWarm is how many starts come before those that count.
	pickupWarm = 5
)

// measurePgPickup measures how long an accepted run waits for its worker, compared with a job of River.
func measurePgPickup(b *bench) (*section, error) {
	starts := size(b, 60, 3)
	server, err := b.postgres()
	if err != nil {
		return nil, err
	}
	s := &section{
		title: "Pick-up over PostgreSQL",
		how: fmt.Sprintf("One node accepts and another one works, each with its own connections, both in this process. Spool: from the return of "+
			"`Engine.Run` to the call of the model, which comes after the claim of the job, the claim of the run and the opening of its stream. River "+
			"%s: from the return of `Client.Insert` to the call of the worker, at its default FetchCooldown of %s and at its lowest of %s, on both "+
			"clients. %d starts a round, each some %s after the one before was picked up, at random. Each round has a new database. %s",
			versionOf("github.com/riverqueue/river"), river.FetchCooldownDefault, river.FetchCooldownMin, starts, pickupGap, server.about),
	}
	var ours, byDefault, lowest quantiles
	err = b.interleave(1,
		func() error { return b.pickUp(&ours, starts, newEngines) },
		func() error { return b.pickUp(&byDefault, starts, newRiver(0)) },
		func() error { return b.pickUp(&lowest, starts, newRiver(river.FetchCooldownMin)) },
	)
	if err != nil {
		return nil, err
	}
	s.rows = []row{
		{"Spool, p50", "ms", ours.p50},
		{"Spool, p99", "ms", ours.p99},
		{"River at its defaults, p50", "ms", byDefault.p50},
		{"River at its defaults, p99", "ms", byDefault.p99},
		{"River at its lowest cooldown, p50", "ms", lowest.p50},
		{"River at its lowest cooldown, p99", "ms", lowest.p99},
	}
	s.notes = []string{"Spool's time has two commits that wait for the disk, the claim of the job and the claim of the run with its first record entry, and " +
		"some eight round trips. River's has one commit, in its one round trip, and nothing is recorded when its worker is called. A claim could commit " +
		"without waiting; it waits, so that no two workers get the same job after a crash of the server."}
	s.goals = []goal{ratioGoal("p50 of a pick-up of River at its lowest cooldown beside Spool", lowest.p50, ours.p50, 5, true)}
	return s, nil
}

// pickUp measures a number of starts, one after the other, on a new database.
func (b *bench) pickUp(into *quantiles, starts int, begin func(ctx context.Context, url string) (starter, <-chan time.Time, error)) error {
	return b.onFresh(func(url string) (err error) {
		s, called, err := begin(b.ctx, url)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.close()) }()
		var all sample
		for i := range starts + pickupWarm {
			if err := b.wait(rand.N(2 * pickupGap)); err != nil {
				return err
			}
			if err := s.start(b.ctx); err != nil {
				return err
			}
			accepted := time.Now()
			select {
			case at := <-called:
				if i >= pickupWarm {
					all = append(all, milliseconds(at.Sub(accepted)))
				}
			case <-b.ctx.Done():
				return b.ctx.Err()
			}
		}
		into.add(all)
		return nil
	})
}

// engines are two nodes of Spool: the starter accepts, and the other one works.
type engines struct {
	*engineStarter

	worker *engineStarter
	cancel context.CancelFunc
	works  sync.WaitGroup
	failed error
}

func newEngines(ctx context.Context, url string) (starter, <-chan time.Time, error) {
	called := make(chan time.Time, 1)
	accepts, err := openStarter(ctx, url, caller{called})
	if err != nil {
		return nil, nil, err
	}
	works, err := openStarter(ctx, url, caller{called})
	if err != nil {
		return nil, nil, errors.Join(err, accepts.close())
	}
	n := &engines{engineStarter: accepts, worker: works}
	ctx, n.cancel = context.WithCancel(ctx)
	n.works.Go(func() { n.failed = works.e.Work(ctx, engine.WorkOptions{Concurrency: pickupSlots}) })
	return n, called, nil
}

func (n *engines) close() error {
	n.cancel()
	n.works.Wait()
	return errors.Join(n.failed, n.worker.close(), n.engineStarter.close())
}

// caller is a model that notes when it is called.
type caller struct{ called chan<- time.Time }

// Stream implements [spool.Model].
func (c caller) Stream(context.Context, spool.ModelRequest) iter.Seq2[spool.ModelEvent, error] {
	return func(yield func(spool.ModelEvent, error) bool) {
		c.called <- time.Now()
		_ = yield(spool.TextDelta{Text: words}, nil) && yield(spool.Finish{Reason: spool.FinishStop, ModelID: "caller-1"}, nil)
	}
}
