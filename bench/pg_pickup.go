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

// pickUps are the times of a number of starts: from the return of a start to the call of the worker, and from the
// call of the start.
type pickUps struct{ wait, whole quantiles }

// measurePgPickup measures how long an accepted run waits for its worker, compared with a job of River.
func measurePgPickup(b *bench) (*section, error) {
	starts := size(b, 60, 3)
	server, err := b.postgres()
	if err != nil {
		return nil, err
	}
	s := &section{
		title: "Pick-up over PostgreSQL",
		how: fmt.Sprintf("How long an accepted start waits for its worker. Spool: from the return of `Engine.Run` to the call of the model, with the "+
			"claim of the run and the first entry of its record in between, or in the start. River %s: from the return of `Client.Insert` to the call of "+
			"the worker, at its default FetchCooldown of %s and at its lowest of %s. \"One process\" has one engine or one client, which accepts and "+
			"works. \"Two nodes\" have one that accepts and one that works, each with its own connections, both in this process. \"With the start\" "+
			"counts from the call of the start, and so includes its commit. A wait below a microsecond counts as one. %d starts a round, each some %s after "+
			"the one before was picked up, at random. Each round has a new database. %s",
			versionOf("github.com/riverqueue/river"), river.FetchCooldownDefault, river.FetchCooldownMin, starts, pickupGap,
			server.about),
	}
	var one, two, oneRiver, twoRiver, byDefault pickUps
	err = b.interleave(1,
		func() error { return b.pickUp(&one, starts, newEngines(1)) },
		func() error { return b.pickUp(&oneRiver, starts, newRiver(1, river.FetchCooldownMin)) },
		func() error { return b.pickUp(&two, starts, newEngines(2)) },
		func() error { return b.pickUp(&twoRiver, starts, newRiver(2, river.FetchCooldownMin)) },
		func() error { return b.pickUp(&byDefault, starts, newRiver(1, 0)) },
	)
	if err != nil {
		return nil, err
	}
	for _, arm := range []struct {
		name string
		of   pickUps
	}{
		{"one process, Spool", one},
		{"one process, River at its lowest cooldown", oneRiver},
		{"one process, River at its defaults", byDefault},
		{"two nodes, Spool", two},
		{"two nodes, River at its lowest cooldown", twoRiver},
	} {
		s.rows = append(
			s.rows,
			row{arm.name + ", p50", "ms", arm.of.wait.p50},
			row{arm.name + ", p99", "ms", arm.of.wait.p99},
			row{arm.name + ", with the start, p50", "ms", arm.of.whole.p50},
		)
	}
	s.notes = []string{"In one process, the start of a Spool run claims it for a free worker in its own transaction, so that nothing is left to do behind the " +
		"commit. On two nodes, one commit claims the job and the run, with its first record entry; its transaction waits for the start's. River's " +
		"worker has one commit behind the insert, and nothing is recorded when it is called. The goal of two nodes was 5.00, which was a wish: both sides wait for the disk once."}
	s.goals = []goal{
		ratioGoal("p50 of a pick-up of River at its lowest cooldown beside Spool, one process", oneRiver.wait.p50,
			one.wait.p50, 5, true),
		ratioGoal("p50 of a pick-up of River at its lowest cooldown beside Spool, two nodes", twoRiver.wait.p50, two.wait.p50,
			1, true),
	}
	return s, nil
}

// pickUp measures a number of starts, one after the other, on a new database.
func (b *bench) pickUp(
	into *pickUps, starts int, begin func(ctx context.Context, url string) (starter, <-chan time.Time, error),
) error {
	return b.onFresh(func(url string) (err error) {
		s, called, err := begin(b.ctx, url)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.close()) }()
		var wait, whole sample
		for i := range starts + pickupWarm {
			if err := b.wait(rand.N(2 * pickupGap)); err != nil {
				return err
			}
			began := time.Now()
			if err := s.start(b.ctx); err != nil {
				return err
			}
			accepted := time.Now()
			select {
			case at := <-called:
				if i >= pickupWarm {
					wait = append(wait, milliseconds(max(at.Sub(accepted), time.Microsecond)))
					whole = append(whole, milliseconds(at.Sub(began)))
				}
			case <-b.ctx.Done():
				return b.ctx.Err()
			}
		}
		into.wait.add(wait)
		into.whole.add(whole)
		return nil
	})
}

// engines are one or two nodes of Spool: the starter accepts, and the worker works.
type engines struct {
	*engineStarter

	worker *engineStarter
	cancel context.CancelFunc
	works  sync.WaitGroup
	failed error
}

// newEngines returns what starts one or two nodes on a new database.
func newEngines(nodes int) func(ctx context.Context, url string) (starter, <-chan time.Time, error) {
	return func(ctx context.Context, url string) (starter, <-chan time.Time, error) {
		called := make(chan time.Time, 1)
		accepts, err := openStarter(ctx, url, caller{called})
		if err != nil {
			return nil, nil, err
		}
		works := accepts
		if nodes > 1 {
			if works, err = openStarter(ctx, url, caller{called}); err != nil {
				return nil, nil, errors.Join(err, accepts.close())
			}
		}
		n := &engines{engineStarter: accepts, worker: works}
		ctx, n.cancel = context.WithCancel(ctx)
		n.works.Go(func() { n.failed = works.e.Work(ctx, engine.WorkOptions{Concurrency: pickupSlots}) })
		return n, called, nil
	}
}

func (n *engines) close() error {
	n.cancel()
	n.works.Wait()
	err := errors.Join(n.failed, n.engineStarter.close())
	if n.worker != n.engineStarter {
		err = errors.Join(err, n.worker.close())
	}
	return err
}

// caller is a model that notes when it is called.
type caller struct{ called chan<- time.Time }

// Stream implements [spool.Model].
func (c caller) Stream(context.Context, spool.ModelRequest) iter.Seq2[spool.ModelEvent, error] {
	return func(yield func(spool.ModelEvent, error) bool) {
		c.called <- time.Now()
		_ = yield(spool.TextDelta{Text: words}, nil) &&
			yield(spool.Finish{Reason: spool.FinishStop, ModelID: "caller-1"}, nil)
	}
}
