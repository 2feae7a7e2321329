package main

import (
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/spoolhq/spool"
)

const (
	// takeoverLease is the engine's default lease.
	takeoverLease = 30 * time.Second
	// takeoverGrace is how much later than the end of the lease a run must move at the latest.
	takeoverGrace = 10 * time.Second
	// killGap is the time between two kills.
	killGap = 1500 * time.Millisecond
)

// measurePgTakeover measures how long the run of a killed worker takes to move again on another node.
func measurePgTakeover(b *bench) (*section, error) {
	kills, lease := size(b, 2*b.rounds, 1), size(b, takeoverLease, time.Second)
	server, err := b.postgres()
	if err != nil {
		return nil, err
	}
	s := &section{
		title: "Takeover over PostgreSQL",
		how: fmt.Sprintf("%d processes over one database carry out one run each, which streams a delta every 50 ms. They are killed with SIGKILL, one "+
			"every %s. Another process then takes their runs over, and clients follow the runs on a third one, without a worker. A run moves again when its "+
			"client gets the RUN_STARTED entry of the next segment. The lease is the default of %s; it is renewed each %s, so up to a third of it may have "+
			"passed at the kill. %s", kills, killGap, takeoverLease, takeoverLease/3, server.about),
	}
	var took sample
	err = b.onFresh(func(url string) error {
		took, err = b.takeOver(url, kills, lease)
		return err
	})
	if err != nil {
		return nil, err
	}
	s.rows = []row{{"from the kill until the run moves again", "s", took}}
	s.goals = []goal{
		atMost("Takeover of a killed worker's run, longest in s (the lease and 10 s)", took.max(),
			(takeoverLease + takeoverGrace).Seconds()),
	}
	return s, nil
}

// takeOver starts victims, each with a run, then the process that takes over, and kills the victims.
func (b *bench) takeOver(url string, kills int, lease time.Duration) (took sample, err error) {
	o := options{Postgres: url, Lease: lease}
	watched, err := b.spawn("spool", o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, watched.stop()) }()

	var victims []*victim
	defer func() {
		for _, v := range victims {
			v.kill()
			v.events.close()
		}
	}()
	for range kills {
		v, err := b.newVictim(watched, o)
		if err != nil {
			return nil, err
		}
		victims = append(victims, v)
	}
	heir, err := b.spawn("spool", o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, heir.stop()) }()
	if err := heir.ask(http.MethodPost, "/work", nil); err != nil {
		return nil, err
	}
	took, failed := make(sample, kills), make([]error, kills)
	var moving sync.WaitGroup
	for i, v := range victims {
		if i > 0 {
			if err := b.wait(min(killGap, lease)); err != nil {
				return nil, err
			}
		}
		v.kill()
		killed := time.Now()
		moving.Go(func() {
			failed[i] = v.events.until(`"RUN_STARTED"`)
			took[i] = time.Since(killed).Seconds()
		})
	}
	moving.Wait()
	return took, errors.Join(failed...)
}

// victim is a process that carries out a run, and a client that follows the run elsewhere.
type victim struct {
	*child

	events *events
	once   sync.Once
}

// newVictim starts a process with one slot, and a run that it takes: those before it have no slot left.
func (b *bench) newVictim(watched *child, o options) (_ *victim, err error) {
	o.Slots = 1
	c, err := b.spawn("spool", o)
	if err != nil {
		return nil, err
	}
	v := &victim{child: c}
	defer func() {
		if err != nil {
			v.kill()
		}
	}()
	if err := c.ask(http.MethodPost, "/work", nil); err != nil {
		return nil, err
	}
	var thread spool.ThreadID
	if thread, err = watched.start("", "endless 50ms"); err != nil {
		return nil, err
	}
	if v.events, err = watched.followFor("/api/agent/stream?threadId="+string(thread), 5*patience); err != nil {
		return nil, err
	}
	return v, v.events.until(mark + stamp)
}

// kill ends the process at once.
func (v *victim) kill() {
	v.once.Do(func() {
		_ = v.cmd.Process.Kill()
		_ = v.cmd.Wait() // it was killed
		_ = v.stdin.Close()
	})
}

// wait returns after some time, or with the error of an interrupt.
func (b *bench) wait(d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-b.ctx.Done():
		return b.ctx.Err()
	}
}
