package telemetry

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.opentelemetry.io/otel/metric"

	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// FailedLogin counts a request whose credentials were refused.
func (t *Recorder) FailedLogin(ctx context.Context, kind string) {
	if t != nil {
		t.failedLogins.Add(ctx, 1, labels(attrCredentials.String(kind)))
	}
}

// Claimed records how long a job was due before it was claimed. If the store is on another machine, the
// two times come from different clocks.
func (t *Recorder) Claimed(ctx context.Context, d store.Delivery) {
	if t == nil || d.DueAt.IsZero() {
		return
	}
	t.claims.Record(ctx, max(time.Since(d.DueAt).Seconds(), 0), labels(attrJobKind.String(string(d.Kind))))
}

// statsTimeout bounds the query of the queue when metrics are collected.
const statsTimeout = 2 * time.Second

// Sources are functions and ports that are read when metrics are collected.
type Sources struct {
	// Active returns how many segments this process executes.
	Active func() int64
	// Followers returns how many clients follow a thread in this process.
	Followers func() int64
	// Store has the jobs.
	Store store.Store
}

// Observe registers the sources. Stop unregisters them, and may be called more than once.
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
	active := gauge(metricRunsActive, "{run}", "Runs that this process executes.")
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
		ctx, cancel := context.WithTimeout(ctx, statsTimeout)
		defer cancel()
		all, err := from.Store.Stats(ctx, wire.StatsQuery{Queue: true})
		if err != nil {
			return nil // collect the other metrics; readiness reports a failing store
		}
		stats := all.Queue
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
