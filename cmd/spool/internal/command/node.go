package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/server/probe"
	"github.com/spoolhq/spool/store"
)

// node has the parts of a serving process. The process executes its jobs or pushes them.
type node struct {
	engine    *engine.Engine
	work      engine.WorkOptions
	server    *server.Server
	door      *entrance
	telemetry *telemetry
	// metrics serves the metrics on a separate port, or is nil.
	metrics *http.Server
	delay   time.Duration
	end     *ending
	// works and serves say what the process does.
	works, serves bool
	log           *slog.Logger
	// tokens are read again at a SIGHUP. It is nil if no file has tokens.
	tokens *tokenFile
}

// ending is when a process that stops must have ended.
type ending struct {
	limit time.Duration
	at    time.Time
}

// timeLeft returns how much time is left for the shutdown. The time begins with the first call.
func (e *ending) timeLeft() time.Duration {
	if e.at.IsZero() {
		e.at = time.Now().Add(e.limit)
	}
	return max(0, time.Until(e.at))
}

func newNode(
	ctx context.Context, b store.Backend, o options, s *setup, t *telemetry, door *entrance, end *ending, log *slog.Logger,
) (*node, error) {
	n := &node{
		work: s.work, telemetry: t, door: door, delay: o.delay, end: end, works: o.role != roleAPI,
		serves: o.role != roleWorker, log: log,
	}
	if s.store != nil {
		s.store.Store = b.Store
	}
	config := s.engine
	config.Log = log
	config.Telemetry = engine.Telemetry{Contents: o.contents}
	if t.traces != nil {
		config.Telemetry.TracerProvider = t.traces
	}
	if t.metrics != nil {
		config.Telemetry.MeterProvider = t.metrics
	}
	var err error
	if config.Artifacts, err = openArtifacts(ctx, b.Store, s.artifacts); err != nil {
		return nil, err
	}
	if n.engine, err = engine.New(b, config); err != nil { //nolint:contextcheck // making the engine waits for nothing
		return nil, &usageError{err}
	}
	if n.tokens = s.tokens; n.tokens != nil {
		n.tokens.log = log
	}
	exposed := s.server
	exposed.Log, exposed.AccessLevel, exposed.NoStreamTakeover = log, o.access, !o.takeover
	if n.works {
		exposed.Checks = map[string]probe.Check{"worker": n.engine.CheckWorker}
	}
	if n.server, err = server.New(n.engine, exposed); err != nil { //nolint:contextcheck // making the server waits for nothing
		return nil, &usageError{err}
	}
	var surface http.Handler = n.server
	if !n.serves {
		surface = onlyProbes(n.server, exposed.BasePath)
	}
	handler, err := t.requests(surface, o.parents)
	if err != nil {
		return nil, err
	}
	door.surface.Store(&handler)
	if t.scraped != nil {
		mux := http.NewServeMux()
		mux.Handle("GET /metrics", t.scraped)
		n.metrics = listening(o.scraping.guard(mux), log)
	}
	return n, nil
}

// onlyProbes passes the probes on, and refuses all other requests: this process serves no API.
func onlyProbes(surface http.Handler, base string) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET "+base+probe.PathHealth, surface)
	mux.Handle("GET "+base+probe.PathReady, surface)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"error":"This process is a worker: it serves only the probes","code":"not_found"}`)
	})
	return mux
}

// listening returns an HTTP server whose clients cannot block it.
func listening(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
}

// run serves and works until ctx ends or a part fails, and then stops all parts. The listener of the
// metrics may be nil.
func (n *node) run(ctx context.Context, metrics net.Listener) error {
	workCtx, stopWork := context.WithCancel(context.WithoutCancel(ctx))
	defer stopWork()
	if n.tokens != nil {
		defer n.tokens.watch(ctx)()
	}
	worked, served := make(chan error, 1), n.door.served
	if n.works {
		go func() { worked <- n.engine.Work(workCtx, n.work) }()
	}
	n.door.open()
	if n.metrics != nil {
		go func() { served <- n.metrics.Serve(metrics) }()
	}

	var failure error
	select {
	case <-ctx.Done():
		n.log.Info("shutting down")
		failure = n.drain(served)
	case err := <-worked:
		failure = fmt.Errorf("work: %w", err)
		worked <- nil
	case err := <-served:
		failure = fmt.Errorf("serve: %w", err)
	}
	return errors.Join(failure, n.shutdown(stopWork, worked)) //nolint:contextcheck // ctx has ended by now
}

// drain makes /readyz fail, and gives load balancers time to notice.
func (n *node) drain(served <-chan error) error {
	n.server.Drain()
	if n.delay == 0 {
		return nil
	}
	timer := time.NewTimer(n.delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case err := <-served:
		return fmt.Errorf("serve: %w", err)
	}
}

// shutdown stops accepting requests, tells the clients of event streams when to reconnect, lets segments
// hand back their jobs, and waits for all of this. It sends telemetry last, and metrics stay readable
// until then.
func (n *node) shutdown(stopWork func(), worked <-chan error) error {
	ctx, cancel := context.WithTimeout(context.Background(), n.end.timeLeft())
	defer cancel()
	closed, freed := make(chan error, 1), make(chan struct{})
	go func() { closed <- n.door.http.Shutdown(ctx) }()
	go func() {
		defer close(freed)
		n.engine.Close()
	}()
	stopWork()

	failure := n.server.Shutdown(ctx)
	if n.works {
		select {
		case err := <-worked:
			failure = errors.Join(failure, err)
		case <-ctx.Done():
			failure = errors.Join(failure, errors.New("a tool or model call did not end in time; its run is reclaimed later"))
		}
	}
	if failure != nil && ctx.Err() != nil && n.hangs() {
		// Nothing is lost: other workers take the runs over when the leases lapse.
		n.log.Warn("the database does not answer: what it does not take back now continues when its lease lapses", "error",
			failure)
		failure = nil
	}
	if err := <-closed; err != nil {
		// A client that sends half of a request, or does not read, is not a failure of this process.
		n.log.Warn("requests did not end in time and are cut off", "error", err)
		failure = errors.Join(failure, n.door.http.Close())
	}
	select {
	case <-freed:
	case <-ctx.Done():
	}
	if err := n.closeTelemetry(); err != nil {
		n.log.Warn("send the remaining telemetry", "error", err)
	}
	return failure
}

// hangTimeout is how long a database may take to answer when the time for the shutdown is over.
const hangTimeout = 500 * time.Millisecond

// hangs reports whether the database does not answer.
func (n *node) hangs() bool {
	ctx, cancel := context.WithTimeout(context.Background(), hangTimeout)
	defer cancel()
	checked := make(chan error, 1)
	go func() { checked <- n.engine.CheckStore(ctx) }()
	select {
	case err := <-checked:
		return err != nil
	case <-ctx.Done():
		return true
	}
}

// telemetryTimeout is how long an exporter may take to send the rest, and leastTelemetry how long if the shutdown has
// no time left.
const (
	telemetryTimeout = 3 * time.Second
	leastTelemetry   = 500 * time.Millisecond
)

func (n *node) closeTelemetry() error {
	ctx, cancel := context.WithTimeout(context.Background(), min(telemetryTimeout, max(leastTelemetry, n.end.timeLeft())))
	defer cancel()
	err := n.telemetry.close(ctx)
	if n.metrics != nil {
		err = errors.Join(err, n.metrics.Close())
	}
	return err
}
