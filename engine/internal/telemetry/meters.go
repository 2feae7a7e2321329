package telemetry

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.opentelemetry.io/otel/metric"

	"github.com/spoolhq/spool"
)

// meters are the instruments that something is recorded with as it happens.
type meters struct {
	meter metric.Meter

	tokens        metric.Int64Histogram
	chats         metric.Float64Histogram
	firstChunks   metric.Float64Histogram
	tools         metric.Float64Histogram
	costs         metric.Float64Counter
	runsStarted   metric.Int64Counter
	runs          metric.Float64Histogram
	parksOpened   metric.Int64Counter
	parksResolved metric.Int64Counter
	claims        metric.Float64Histogram
	updates       metric.Float64Histogram
	failedLogins  metric.Int64Counter
}

func newMeters(m metric.Meter) (meters, error) {
	out := meters{meter: m}
	var problems []error
	counter := func(name, unit, about string) metric.Int64Counter {
		c, err := m.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(about))
		problems = append(problems, err)
		return c
	}
	seconds := func(name, about string, bounds []float64) metric.Float64Histogram {
		h, err := m.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(about), metric.WithExplicitBucketBoundaries(bounds...))
		problems = append(problems, err)
		return h
	}
	var err error
	out.tokens, err = m.Int64Histogram(metricTokens, metric.WithUnit("{token}"),
		metric.WithDescription("Tokens of an answer, as its provider counted them."), metric.WithExplicitBucketBoundaries(tokenBounds...))
	problems = append(problems, err)
	out.chats = seconds(metricChat, "From asking a model to the end of its answer.", callBounds)
	out.firstChunks = seconds(metricFirstChunk, "From asking a model to the first piece of its answer.", callBounds)
	out.tools = seconds(metricTool, "Of a call of a tool.", callBounds)
	out.costs, err = m.Float64Counter(metricCost, metric.WithUnit("1"), metric.WithDescription("What answers have cost, as far as prices are known."))
	problems = append(problems, err)
	out.runsStarted = counter(metricRunsStarted, "{run}", "Runs that were made, nested ones included.")
	out.runs = seconds(metricRunDuration, "Of a run, from its first pickup to its end, waits included.", runBounds)
	out.parksOpened = counter(metricParksOpened, "{park}", "Waits for an answer that began.")
	out.parksResolved = counter(metricParksResolved, "{park}", "Waits for an answer that ended.")
	out.claims = seconds(metricClaimLatency, "From when a job was due to when a worker took it.", workBounds)
	out.updates = seconds(metricStoreUpdate, "Of a transaction of the store, until it was durable.", workBounds)
	out.failedLogins = counter(metricFailedLogins, "{request}", "Requests whose credentials were missing or wrong.")
	return out, errors.Join(problems...)
}

// FailedLogin counts a request whose credentials were refused.
func (t *Recorder) FailedLogin(ctx context.Context, kind string) {
	if t != nil {
		t.failedLogins.Add(ctx, 1, labels(attrCredentials.String(kind)))
	}
}

// Claimed records how long a job that is taken was due. The times are of two clocks where
// the store has another machine's.
func (t *Recorder) Claimed(ctx context.Context, d spool.Delivery) {
	if t == nil || d.DueAt.IsZero() {
		return
	}
	t.claims.Record(ctx, max(time.Since(d.DueAt).Seconds(), 0), labels(attrJobKind.String(string(d.Kind))))
}

// statsTimeout bounds the look into the queue that a collection of metrics takes.
const statsTimeout = 2 * time.Second

// Sources are what is read when metrics are collected.
type Sources struct {
	// Active returns how many runs this process carries forward.
	Active func() int64
	// Followers returns how many clients follow a thread in this process.
	Followers func() int64
	// Queue is the queue of the jobs. Nil: there is none.
	Queue spool.Queue
}

// Observe registers what is read when metrics are collected. Stop ends that, and may be called more
// than once.
func (t *Recorder) Observe(from Sources) (stop func(), err error) {
	if t == nil {
		return func() {}, nil
	}
	var problems []error
	gauge := func(name, unit, about string) metric.Int64ObservableGauge {
		g, err := t.meter.Int64ObservableGauge(name, metric.WithUnit(unit), metric.WithDescription(about))
		problems = append(problems, err)
		return g
	}
	active := gauge(metricRunsActive, "{run}", "Runs that this process carries forward.")
	streams := gauge(metricStreamsOpen, "{stream}", "Clients that follow a thread in this process.")
	jobs := gauge(metricQueueJobs, "{job}", "Jobs of the queue.")
	age, err := t.meter.Float64ObservableGauge(metricQueueAge, metric.WithUnit("s"),
		metric.WithDescription("How long the job has been due that waits longest. Zero: none waits."))
	if err := errors.Join(append(problems, err)...); err != nil {
		return nil, err
	}
	registered, err := t.meter.RegisterCallback(func(ctx context.Context, o metric.Observer) error {
		o.ObserveInt64(active, from.Active())
		o.ObserveInt64(streams, from.Followers())
		if from.Queue == nil {
			return nil
		}
		ctx, cancel := context.WithTimeout(ctx, statsTimeout)
		defer cancel()
		stats, err := from.Queue.Stats(ctx, "")
		if err != nil {
			return nil // the other metrics are worth having, and readiness tells of a store that fails
		}
		for _, s := range []struct {
			state string
			n     int
		}{{"ready", stats.Ready}, {"delayed", stats.Delayed}, {"in_flight", stats.InFlight}, {"dead", stats.Dead}} {
			o.ObserveInt64(jobs, int64(s.n), metric.WithAttributes(attrJobState.String(s.state)))
		}
		o.ObserveFloat64(age, (time.Duration(stats.OldestMS) * time.Millisecond).Seconds())
		return nil
	}, active, streams, jobs, age)
	if err != nil {
		return nil, err
	}
	return sync.OnceFunc(func() { _ = registered.Unregister() }), nil
}
