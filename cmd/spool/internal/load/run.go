package load

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/client"
)

// load is one call of [Run].
type load struct {
	c Config

	mu sync.Mutex
	// runs counts the runs of all rungs, with those of the warm-up.
	runs int
	// whole counts those of runs that are not to be stopped.
	whole int
	// watchers counts the watchers of all rungs.
	watchers int
	// threads are those that the server may have.
	threads []spool.ThreadID
	made    int
}

// Run puts load on a server, and deletes the threads that it has made. When ctx ends, it stops the runs in
// progress, deletes the threads and returns the report so far, with [Report.Cut]. An end of ctx during the deletion
// ends the deletion. Run returns an error if the configuration is wrong, if the server is not ready within ten
// seconds, and if no run of the warm-up ended as it should. If the server dies, the report says so.
func Run(ctx context.Context, c Config) (*Report, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	l := &load{c: c}
	if err := l.ready(ctx); err != nil {
		return nil, err
	}
	r := &Report{StartedAt: time.Now().UTC(), Command: Command{
		Session: c.Session, Ladder: c.Ladder, Step: c.Step.Seconds(), Watchers: c.Watchers, Stops: c.Stops,
		Resumes: c.Resumes, Agent: c.Agent, Prompt: c.Prompt,
	}}
	err := l.climb(ctx, r)
	r.Seconds = time.Since(r.StartedAt).Seconds()
	if !r.Interrupted() {
		l.checkAlive(context.WithoutCancel(ctx), r)
	}
	r.conclude()
	if ctx.Err() != nil {
		ctx = context.WithoutCancel(ctx)
	}
	l.clean(ctx, r)
	return r, err
}

const (
	// readyTime is how long a server that answers may take to be ready, and readyAgain the wait between two
	// questions.
	readyTime  = 10 * time.Second
	readyAgain = 200 * time.Millisecond
)

// ready waits until a server that has just been started is ready.
func (l *load) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyTime)
	defer cancel()
	for {
		err := l.c.Server.Ready(ctx)
		if err == nil || client.StatusOf(err) != http.StatusServiceUnavailable || !until(ctx, time.Now().Add(readyAgain)) {
			return err
		}
	}
}

// checkAlive makes the report say so if the server does not answer any more. Its last rung then measures nothing.
func (l *load) checkAlive(ctx context.Context, r *Report) {
	ctx, cancel := context.WithTimeout(ctx, readyTime)
	defer cancel()
	err := l.c.Server.Ready(ctx)
	for err != nil && until(ctx, time.Now().Add(readyAgain)) {
		err = l.c.Server.Ready(ctx)
	}
	if err == nil {
		return
	}
	r.Lost, r.Cut = true, "the server does not answer any more: "+spool.MessageOf(err)
	if n := len(r.Rungs); n > 0 {
		r.Rungs[n-1].Cut, r.Rungs[n-1].Saturation = true, ""
	}
}

// The reasons of [Report.Cut], beside the loss of the server.
const (
	cutByTime = "the time of --max-duration was over"
	cutByUser = "interrupted"
)

// climb measures the rungs, and adds them to the report.
func (l *load) climb(ctx context.Context, r *Report) error {
	limited, cancel := context.WithTimeout(ctx, l.c.MaxDuration)
	defer cancel()
	if err := l.warmUp(limited); err != nil && limited.Err() == nil {
		return err
	}
	for i, rate := range l.c.Ladder {
		if limited.Err() == nil {
			rung, err := l.rung(limited, plan{
				rate: rate, step: l.c.Step, status: Status{Phase: PhaseRung, Rung: i + 1, Rungs: len(l.c.Ladder)},
			})
			if err != nil {
				return err
			}
			r.Rungs = append(r.Rungs, *rung)
			l.report(Status{Phase: PhaseDone, Rung: i + 1, Rungs: len(l.c.Ladder), Rate: rate, Done: rung})
			if rung.Saturation != "" {
				return nil
			}
		}
		if ctx.Err() != nil {
			r.Cut = cutByUser
			return nil
		}
		if limited.Err() != nil {
			r.Cut = cutByTime
			return nil
		}
	}
	return nil
}

// warmRate is the highest rate of a warm-up.
const warmRate = 10

// warmUp starts runs that are not measured. It returns an error if none of them ended as it should.
func (l *load) warmUp(ctx context.Context) error {
	if l.c.WarmUp == 0 {
		return nil
	}
	rate := max(min(l.c.Ladder[0], warmRate), 1/l.c.WarmUp.Seconds())
	rung, err := l.rung(ctx, plan{rate: rate, step: l.c.WarmUp, status: Status{Phase: PhaseWarmUp}})
	switch {
	case err != nil:
		return err
	case rung.Ended > 0:
		return nil
	case len(rung.Errors) > 0:
		return fmt.Errorf("no run of the warm-up succeeded: %s", mostFrequent(rung.Errors))
	}
	return fmt.Errorf("no run of the warm-up ended within %s: a larger --drain waits longer", l.c.Drain)
}

// plan says how a rung is made.
type plan struct {
	rate   float64
	step   time.Duration
	status Status
}

// notSent is the error of an arrival that was not sent.
const notSent = "not sent: too many runs in progress"

// rung offers one rate for one step, and waits for the end of its runs.
func (l *load) rung(ctx context.Context, p plan) (*Rung, error) {
	m := newMeasure()
	// The end of ctx ends the arrivals. The runs in progress then end in an orderly way.
	work, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	ticking := l.ticker(m, p)
	var open sync.WaitGroup
	slots := make(chan struct{}, l.c.InFlight)
	count := max(1, int(math.Round(p.rate*p.step.Seconds())))
	due := func(i int) time.Time { return m.began.Add(time.Duration(float64(i) / p.rate * float64(time.Second))) }
	arrived := 0
	for ; arrived < count && until(ctx, due(arrived)); arrived++ {
		select {
		case slots <- struct{}{}:
			a := l.newAttempt(m, due(arrived))
			open.Go(func() {
				defer func() { <-slots }()
				a.run(work)
			})
		default:
			m.fail(notSent)
		}
	}
	m.arrived(arrived)
	until(ctx, m.began.Add(p.step))
	ended := make(chan struct{})
	go func() { open.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-ctx.Done():
	case <-time.After(l.c.Drain):
	}
	cut := ctx.Err() != nil
	end()
	<-ended
	ticking()
	rung, err := m.rung(p.rate)
	if rung.Cut = cut; !cut && err == nil {
		rung.Saturation = rung.saturation(l.c.MaxP99)
	}
	return rung, err
}

// until waits for a time, and reports whether it came before the end of ctx.
func until(ctx context.Context, at time.Time) bool {
	wait := time.Until(at)
	if wait <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// often reports whether the n-th of a sequence, from 0, belongs to a share that is spread evenly over it.
func often(n int, share float64) bool {
	return math.Floor(float64(n+1)*share) > math.Floor(float64(n)*share)
}
