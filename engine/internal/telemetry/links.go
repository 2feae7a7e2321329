package telemetry

import (
	"sync"

	"go.opentelemetry.io/otel/trace"

	"github.com/spoolhq/spool"
)

// maxLinks bounds the number of runs in links. Beyond it, the oldest run is dropped.
const maxLinks = 4096

type runKey struct {
	tenant spool.Tenant
	run    spool.RunID
}

// links keeps, for each run, the spans to which the run's next segment links: the span of its start,
// and the span of its latest segment. Only this process knows them. The store has no column for them,
// because every span has the attribute spool.run.id.
type links struct {
	mu    sync.Mutex
	known map[runKey]*linked
	order []runKey
}

type linked struct{ start, latest trace.SpanContext }

func (l *links) add(key runKey, span trace.SpanContext) {
	if span.IsValid() {
		l.put(key, func(l *linked) { l.latest = span })
	}
}

func (l *links) put(key runKey, set func(*linked)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known == nil {
		l.known = make(map[runKey]*linked)
	}
	at := l.known[key]
	if at == nil {
		at = &linked{}
		l.known[key] = at
		l.order = append(l.order, key)
	}
	set(at)
	for len(l.order) > maxLinks {
		delete(l.known, l.order[0])
		l.order = l.order[1:]
	}
}

func (l *links) of(key runKey) []trace.Link {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := l.known[key]
	if at == nil {
		return nil
	}
	var out []trace.Link
	for _, span := range []trace.SpanContext{at.start, at.latest} {
		if span.IsValid() {
			out = append(out, trace.Link{SpanContext: span})
		}
	}
	return out
}

// forget drops a run. The run's key stays in order until it is the oldest.
func (l *links) forget(key runKey) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.known, key)
}
