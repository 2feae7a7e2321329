package telemetry

import (
	"errors"

	"go.opentelemetry.io/otel/metric"
)

// meters holds the instruments that record events when they happen.
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
	fallbacks     metric.Int64Counter
	providerWaits metric.Int64UpDownCounter
	providerWait  metric.Float64Histogram
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
		h, err := m.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(about),
			metric.WithExplicitBucketBoundaries(bounds...))
		problems = append(problems, err)
		return h
	}
	var err error
	out.tokens, err = m.Int64Histogram(metricTokens, metric.WithUnit("{token}"),
		metric.WithDescription("Tokens of an answer, as its provider counted them."),
		metric.WithExplicitBucketBoundaries(tokenBounds...))
	problems = append(problems, err)
	out.chats = seconds(metricChat, "From asking a model to the end of its answer.", callBounds)
	out.firstChunks = seconds(metricFirstChunk, "From asking a model to the first piece of its answer.", callBounds)
	out.tools = seconds(metricTool, "Of a call of a tool.", callBounds)
	out.costs, err = m.Float64Counter(metricCost, metric.WithUnit("1"),
		metric.WithDescription("What answers have cost, as far as prices are known."))
	problems = append(problems, err)
	out.runsStarted = counter(metricRunsStarted, "{run}", "Runs that were made, nested ones included.")
	out.runs = seconds(metricRunDuration, "Of a run, from its first pickup to its end, waits included.", runBounds)
	out.parksOpened = counter(metricParksOpened, "{park}", "Waits for an answer that began.")
	out.parksResolved = counter(metricParksResolved, "{park}", "Waits for an answer that ended.")
	out.claims = seconds(metricClaimLatency, "From when a job was due to when a worker took it.", workBounds)
	out.updates = seconds(metricStoreUpdate, "Of a transaction of the store, until it was durable.", workBounds)
	out.providerWaits, err = m.Int64UpDownCounter(metricProviderWaits, metric.WithUnit("{call}"),
		metric.WithDescription("Model calls that wait for a limit of their provider."))
	problems = append(problems, err)
	out.providerWait = seconds(metricProviderWait, "Of a model call's wait for a limit of its provider.", waitBounds)
	out.fallbacks = counter(metricFallbacks, "{move}", "Moves of a run to another model, because one has failed.")
	out.failedLogins = counter(metricFailedLogins, "{request}", "Requests whose credentials were missing or wrong.")
	return out, errors.Join(problems...)
}
