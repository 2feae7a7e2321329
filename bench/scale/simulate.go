package main

import "math/rand/v2"

// outcome is what a simulation has found.
type outcome struct {
	p50, p99 float64 // seconds from a start to its pick-up
	picked   int     // runs that were picked up
	busy     float64 // mean share of PostgreSQL's cores
	stations []*station
}

// simulate lets one of the shards, with its part of the load and of the slots, work for the time of the plan. Starts
// come at random; a step, a tool and a call of the database take a random time around their mean, with an exponential
// distribution for the calls, which is worse than what was measured. Claims wait for a slot, then for their calls; each
// call waits for a core of PostgreSQL among the calls of all streams and watchers.
func simulate(p *plan, u units) outcome {
	c := &clock{}
	r := rand.New(rand.NewPCG(p.seed, 0))
	shards := float64(p.shards)
	l := p.load(u)
	pg := &station{clock: c, servers: p.pgCores}
	slots := &station{clock: c, servers: max(1, p.workers*p.slots/p.shards)}
	mean := (l.pgCPU + l.notifyCPU) / l.trips // what notifications cost is spread over the calls
	ask := func(done func()) {
		pg.enter(r.ExpFloat64()*mean, func() { c.after(p.network, done) })
	}
	// calls asks n times, one after the other, and waits for the disk once.
	calls := func(n int, done func()) {
		var next func()
		next = func() {
			if n--; n < 0 {
				c.after(p.fsync*(0.5+r.Float64()), done)
				return
			}
			ask(next)
		}
		next()
	}

	// A run has the calls of its start and its claim, and the others around its steps.
	const startCalls, claimCalls = 3, 2
	runs := p.runs() / shards
	steps := max(1, int(p.steps+0.5))
	perStep := max(1, int((u.Postgres.Run.Trips-startCalls-claimCalls+(p.steps-1)*u.Postgres.Step.Trips)/p.steps+0.5))
	var waits []float64
	start := func() {
		calls(startCalls, func() {
			accepted := c.now
			slots.hold(func(leave func()) {
				calls(claimCalls, func() {
					waits = append(waits, c.now-accepted)
					left := steps
					var step func()
					step = func() {
						if left--; left < 0 {
							leave()
							return
						}
						c.after(p.tokens/p.rate*(0.5+r.Float64())+p.tool*(p.steps-1)/p.steps, func() { calls(perStep, step) })
					}
					step()
				})
			})
		})
	}
	every(c, r, runs, start)
	// The calls of streams and of those who read them.
	every(c, r, max(0, l.trips/shards-runs*float64(startCalls+claimCalls+steps*perStep)), func() { ask(func() {}) })
	c.run(p.seconds)
	return outcome{
		p50: quantile(waits, 0.5), p99: quantile(waits, 0.99), picked: len(waits), busy: pg.utilisation(),
		stations: []*station{pg, slots},
	}
}

// every calls fn at random, so often in a second on average.
func every(c *clock, r *rand.Rand, rate float64, fn func()) {
	if rate <= 0 {
		return
	}
	var next func()
	next = func() {
		c.after(r.ExpFloat64()/rate, next)
		fn()
	}
	c.after(r.ExpFloat64()/rate, next)
}
