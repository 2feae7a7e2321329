package main

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"strings"
)

// plan is an installation and what is asked of it.
type plan struct {
	// What is asked.
	threads  float64 // that exist
	perDay   float64 // runs of a thread in a day, spread evenly
	peak     float64 // how many times the mean the busiest time has
	steps    float64 // of a run
	tokens   float64 // of a step, each one item
	rate     float64 // tokens of a model in a second
	tool     float64 // seconds of a tool call between two steps
	watchers float64 // open streams
	watched  float64 // watchers of a thread that runs; the others are idle
	days     float64 // how long threads are kept

	// What there is.
	workers, slots, workerCores int
	apis, apiCores              int
	memory                      float64 // bytes of an API node
	pool                        int     // connections of a process to each shard
	shards, pgCores             int     // PostgreSQL servers, and cores of each
	connections                 int     // max_connections
	wal                         float64 // bytes a second that the disk of a shard takes
	fsync, network              float64 // seconds
	checkpoint                  float64 // seconds between two checkpoints
	nats                        bool    // wake-ups and streams by NATS instead of the database
	speed                       float64 // of a core here, as a multiple of one of the measured machine

	seconds float64 // of simulated time
	seed    uint64
}

// flags adds the flags of a plan, with a cluster of moderate size as their defaults.
func (p *plan) flags(fs *flag.FlagSet) {
	number := func(to *float64, name string, value float64, usage string) { fs.Float64Var(to, name, value, usage) }
	count := func(to *int, name string, value int, usage string) { fs.IntVar(to, name, value, usage) }
	number(&p.threads, "threads", 100_000, "threads that exist")
	number(&p.perDay, "per-day", 4, "runs of each thread in a day")
	number(&p.peak, "peak", 3, "how many times the mean the busiest time has")
	number(&p.steps, "steps", 3, "steps of a run, at least 1")
	number(&p.tokens, "tokens", 200, "tokens of a step")
	number(&p.rate, "rate", 50, "tokens of a model in a second")
	number(&p.tool, "tool", 1, "seconds of a tool call, one between two steps")
	number(&p.watchers, "watchers", 10_000, "open streams")
	number(&p.watched, "watched", 1, "open streams of a thread that runs")
	number(&p.days, "days", 90, "days that a thread is kept after its last run")
	count(&p.workers, "workers", 4, "worker nodes")
	count(&p.slots, "slots", 64, "runs that a worker executes at the same time")
	count(&p.workerCores, "worker-cores", 2, "cores of a worker node")
	count(&p.apis, "apis", 2, "API nodes")
	count(&p.apiCores, "api-cores", 2, "cores of an API node")
	number(&p.memory, "memory", 8<<30, "bytes of memory of an API node")
	count(&p.pool, "pool", 16, "connections of a process to each shard")
	count(&p.shards, "shards", 1, "PostgreSQL servers, each with its own threads")
	count(&p.pgCores, "pg-cores", 8, "cores of a PostgreSQL server")
	count(&p.connections, "connections", 500, "max_connections of a PostgreSQL server")
	number(&p.wal, "wal", 200e6, "bytes a second that the disk of a shard takes")
	number(&p.fsync, "fsync", 0.001, "seconds of an fsync")
	number(&p.network, "network", 0.0005, "seconds of a round trip in the network")
	number(&p.checkpoint, "checkpoint", 900, "seconds between two checkpoints")
	fs.BoolVar(&p.nats, "nats", false, "run streams and wake-ups go through NATS instead of PostgreSQL")
	number(&p.speed, "speed", 1, "speed of a core, as a multiple of one of the measured machine")
	number(&p.seconds, "seconds", 100, "simulated seconds")
	fs.Uint64Var(&p.seed, "seed", 1, "of the random numbers")
}

// maxCalls bounds the work of a simulation.
const maxCalls = 30e6

// check returns everything that is wrong with a plan.
func (p *plan) check(u units) error {
	var wrong []error
	for name, v := range map[string]float64{
		"threads": p.threads, "per-day": p.perDay, "steps": p.steps, "tokens": p.tokens, "rate": p.rate, "memory": p.memory,
		"wal": p.wal, "checkpoint": p.checkpoint, "speed": p.speed, "days": p.days,
	} {
		if !(v > 0) || math.IsInf(v, 0) {
			wrong = append(wrong, fmt.Errorf("-%s: %v must be more than 0", name, v))
		}
	}
	for name, v := range map[string]float64{
		"tool": p.tool, "watchers": p.watchers, "watched": p.watched, "fsync": p.fsync, "network": p.network,
	} {
		if !(v >= 0) || math.IsInf(v, 0) {
			wrong = append(wrong, fmt.Errorf("-%s: %v must be 0 or more", name, v))
		}
	}
	for name, v := range map[string]int{
		"workers": p.workers, "slots": p.slots, "worker-cores": p.workerCores, "apis": p.apis, "api-cores": p.apiCores,
		"pool": p.pool, "shards": p.shards, "pg-cores": p.pgCores, "connections": p.connections,
	} {
		if v < 1 {
			wrong = append(wrong, fmt.Errorf("-%s: %d must be 1 or more", name, v))
		}
	}
	if p.steps < 1 {
		wrong = append(wrong, fmt.Errorf("-steps: %v must be 1 or more", p.steps))
	}
	if !(p.peak >= 1) || math.IsInf(p.peak, 0) {
		wrong = append(wrong, fmt.Errorf("-peak: %v must be 1 or more", p.peak))
	}
	if len(wrong) == 0 {
		if least := 5 * p.duration(); !(p.seconds >= least) {
			wrong = append(wrong, fmt.Errorf("-seconds: %v must be %.0f or more, five times a run", p.seconds, math.Ceil(least)))
		}
		if calls := p.seconds * p.load(u).trips / float64(p.shards); calls > maxCalls {
			wrong = append(wrong, fmt.Errorf("-seconds: a shard would get %.0f million calls, and %.0f million are the most",
				calls/1e6, maxCalls/1e6))
		}
	}
	return errors.Join(wrong...)
}

// runs returns the starts in a second at the busiest time.
func (p *plan) runs() float64 { return p.threads * p.perDay / 86_400 * p.peak }

// duration returns the seconds of a run in which it keeps a slot, without the waits that the simulation adds.
func (p *plan) duration() float64 { return p.steps*p.tokens/p.rate + (p.steps-1)*p.tool }

// streaming returns how many models send tokens at a moment.
func (p *plan) streaming() float64 { return p.runs() * p.steps * p.tokens / p.rate }

// watchedStreams returns how many of them have a client: with many clients for one of them, the hub reads once.
func (p *plan) watchedStreams() float64 {
	return min(p.streaming()*min(1, p.watched), p.watchers)
}

// load is what the plan asks for in a second, of all nodes together.
type load struct {
	workerCPU, apiCPU, pgCPU, notifyCPU float64
	sendCPU                             float64 // the part of notifyCPU that is for sending
	wal, coldWAL                        float64
	trips                               float64
	notifies                            float64
	kept                                float64 // bytes that stay
	out                                 float64 // bytes to clients
}

// What a node sends at most: see sendPause and the flush window of the engine.
const (
	notifiesOfNode  = 200
	notifiesOfToken = 20
)

// load returns the arithmetic: rates times unit costs.
func (p *plan) load(u units) load {
	pg := u.Postgres
	runs, streaming, watched := p.runs(), p.streaming(), p.watchedStreams()
	items := runs * p.steps * p.tokens
	work := cost{}.plus(runs, pg.Run).plus(runs*(p.steps-1), pg.Step)
	live := cost{}.plus(items, pg.Item).plus(streaming, pg.Stream)
	look := cost{}.plus(watched, pg.Watched)
	if p.nats { // the engine works as before, and the database sees nothing of it
		live.Database, live.Trips, live.Written, look.Database, look.Trips = 0, 0, 0, 0, 0
	}
	l := load{
		workerCPU: (work.Engine + live.Engine) / p.speed, apiCPU: look.Engine / p.speed,
		pgCPU: (work.Database + live.Database + look.Database) / p.speed,
		wal:   work.Written + live.Written, trips: work.Trips + live.Trips + look.Trips,
		kept: work.Kept, out: items * p.watched * frameBytes,
	}
	// A run changes the pages of its own thread, which after a checkpoint go into the WAL as a whole, once. Runs of a
	// thread that come more often than checkpoints share this.
	l.coldWAL = u.ColdWAL * min(runs, p.threads/p.checkpoint)
	if !p.nats {
		nodes := float64(p.workers + p.apis)
		perWorker := min(notifiesOfNode, (streaming*notifiesOfToken+runs*p.steps*2)/float64(p.workers)/float64(p.shards))
		l.notifies = perWorker * float64(p.workers) * float64(p.shards)
		l.sendCPU = l.notifies * u.NotifySend / p.speed
		l.notifyCPU = l.sendCPU + l.notifies*nodes*u.Notify/p.speed
	}
	return l
}

// frameBytes is the size of an item with a token, as a client gets it.
const frameBytes = 220

// row is a resource of the table.
type row struct {
	what     string
	used     float64
	capacity float64
	unit     string
}

func (r row) share() float64 { return r.used / r.capacity }

// rows returns the use of each resource.
func (p *plan) rows(u units) []row {
	l := p.load(u)
	shards := float64(p.shards)
	nodes := p.workers + p.apis
	return []row{
		{"worker slots", p.runs() * p.duration(), float64(p.workers * p.slots), "runs"},
		{"worker CPU", l.workerCPU, float64(p.workers * p.workerCores), "cores"},
		{"API CPU", l.apiCPU, float64(p.apis * p.apiCores), "cores"},
		{"API memory, open streams", p.watchers * u.WatcherMemory / float64(p.apis) / 1e9, p.memory / 1e9, "GB a node"},
		{"PostgreSQL CPU", (l.pgCPU + l.notifyCPU) / shards, float64(p.pgCores), "cores a shard"},
		{"NOTIFY, one at a time", l.sendCPU / shards, 1, "cores a shard"},
		{"WAL", (l.wal + l.coldWAL) / shards / 1e6, p.wal / 1e6, "MB/s a shard"},
		{connectionsRow, float64(nodes * p.pool), float64(p.connections), "a shard"},
	}
}

// saturated is the share from which on queues grow without an end.
const saturated = 1

// busiest returns the resource with the highest use. Connections grow with the nodes and not with the load, so they
// count only if there are too few.
func busiest(rows []row) row {
	most := rows[0]
	for _, r := range rows {
		if r.share() > most.share() && (r.what != connectionsRow || r.share() > 1) {
			most = r
		}
	}
	return most
}

const connectionsRow = "connections"

// report returns the table of a plan with what the simulation has found.
func report(p *plan, u units, out outcome) string {
	var b strings.Builder
	l := p.load(u)
	fmt.Fprintf(&b, "asked    %.0f threads, %.1f starts/s, %.0f runs at a time, %.0f tokens/s, %.0f watchers\n",
		p.threads, p.runs(), p.runs()*p.duration(), p.runs()*p.steps*p.tokens, p.watchers)
	fmt.Fprintf(&b, "there    %d workers of %d slots, %d API nodes, %d PostgreSQL of %d cores\n\n", p.workers, p.slots,
		p.apis, p.shards, p.pgCores)
	fmt.Fprintf(&b, "%-26s %10s %10s  %-14s %5s\n", "resource", "used", "there is", "", "use")
	rows := p.rows(u)
	for _, r := range rows {
		fmt.Fprintf(&b, "%-26s %10s %10s  %-14s %4.0f%%\n", r.what, figure(r.used), figure(r.capacity), r.unit, 100*r.share())
	}
	fmt.Fprintf(&b, "\nround trips to PostgreSQL  %.0f/s, notifications %.0f/s\n", l.trips, l.notifies)
	fmt.Fprintf(&b, "kept on disk               %s GB a day, %s TB after %.0f days\n", figure(l.kept/p.peak*86_400/1e9),
		figure(l.kept/p.peak*86_400*p.days/1e12), p.days)
	fmt.Fprintf(&b, "to clients                 %s MB/s\n", figure(l.out/1e6))
	first := busiest(rows)
	if first.share() >= saturated {
		fmt.Fprintf(&b, "pick-up                    has no bound: more is asked for than there is\n")
	} else {
		fmt.Fprintf(&b, "pick-up, simulated         p50 %.1f ms, p99 %.1f ms (%d runs, PostgreSQL %.0f%% busy)\n",
			1000*out.p50, 1000*out.p99, out.picked, 100*out.busy)
	}
	fmt.Fprintf(&b, "first bottleneck           %s, at %s times this load\n", first.what, figure(1/first.share()))
	return b.String()
}

// figure returns a number with three significant digits.
func figure(v float64) string {
	switch {
	case v >= 1000:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	default:
		return fmt.Sprintf("%.2f", v)
	}
}
