package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/server/probe"
)

// node has the parts of a serving process. The process executes its jobs or pushes them.
type node struct {
	engine    *engine.Engine
	work      engine.WorkOptions
	server    *server.Server
	http      *http.Server
	telemetry *telemetry
	// metrics serves the metrics on a separate port, or is nil.
	metrics *http.Server
	delay   time.Duration
	timeout time.Duration
	// works and serves say what the process does.
	works, serves bool
	log           *slog.Logger
	// tokens are read again at a SIGHUP. It is nil if no file has tokens.
	tokens *tokenFile
}

func newNode(ctx context.Context, b spool.Backend, o options, s *setup, t *telemetry, log *slog.Logger) (*node, error) {
	n := &node{work: s.work, telemetry: t, delay: o.delay, timeout: o.timeout, works: o.role != roleAPI, serves: o.role != roleWorker, log: log}
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
	if n.engine, err = engine.New(b, config); err != nil {
		return nil, &usageError{err}
	}
	if n.tokens = s.tokens; n.tokens != nil {
		n.tokens.log = log
	}
	exposed := s.server
	exposed.Log, exposed.AccessLevel, exposed.NoStreamTakeover = log, o.access, !o.takeover
	if n.works {
		exposed.Checks = map[string]server.Check{"worker": n.engine.CheckWorker}
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
	n.http = n.listening(handler)
	if t.scraped != nil {
		mux := http.NewServeMux()
		mux.Handle("GET /metrics", t.scraped)
		n.metrics = n.listening(o.scraping.guard(mux))
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
func (n *node) listening(h http.Handler) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(n.log.Handler(), slog.LevelWarn),
	}
}

// run serves and works until ctx ends or a part fails, and then stops all parts. The listener of the
// metrics may be nil.
func (n *node) run(ctx context.Context, listener, metrics net.Listener) error {
	workCtx, stopWork := context.WithCancel(context.WithoutCancel(ctx))
	defer stopWork()
	if n.tokens != nil {
		defer n.tokens.watch(ctx)()
	}
	worked, served := make(chan error, 1), make(chan error, 2)
	if n.works {
		go func() { worked <- n.engine.Work(workCtx, n.work) }()
	}
	go func() { served <- n.http.Serve(listener) }()
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
	ctx, cancel := context.WithTimeout(context.Background(), n.timeout)
	defer cancel()
	closed := make(chan error, 1)
	go func() { closed <- n.http.Shutdown(ctx) }()
	n.engine.Close()
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
	if err := <-closed; err != nil {
		// A client that sends half of a request, or does not read, is not a failure of this process.
		n.log.Warn("requests did not end in time and are cut off", "error", err)
		failure = errors.Join(failure, n.http.Close())
	}
	if err := n.closeTelemetry(); err != nil {
		n.log.Warn("send the remaining telemetry", "error", err)
	}
	return failure
}

// telemetryTimeout is how long an exporter may take to send the rest.
const telemetryTimeout = 3 * time.Second

func (n *node) closeTelemetry() error {
	ctx, cancel := context.WithTimeout(context.Background(), telemetryTimeout)
	defer cancel()
	err := n.telemetry.close(ctx)
	if n.metrics != nil {
		err = errors.Join(err, n.metrics.Close())
	}
	return err
}
