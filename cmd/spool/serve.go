package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spoolhq/spool/backend/sqlite"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/server"
)

const (
	// shutdownTimeout is how long requests, deliveries and the worker have to end.
	shutdownTimeout = 10 * time.Second
	headerTimeout   = 10 * time.Second
	idleTimeout     = 2 * time.Minute
	maxHeaderBytes  = 64 << 10
)

// serve runs until a signal comes.
func serve(ctx context.Context, args []string, h host) error {
	o, err := parseFlags(args, h)
	if err != nil {
		return err
	}
	setup, err := loadSetup(o, h.lookup)
	if err != nil {
		return err
	}
	log := o.logger(h.stderr)

	// The signals are caught from here on. Once one has come they are not any more, so
	// that a second one ends the process.
	ctx, release := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer release()
	context.AfterFunc(ctx, release)

	// The port first: whoever finds it taken has not made a folder yet.
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.listen)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", o.listen, errors.Unwrap(err))
	}
	defer listener.Close()
	db, err := openData(o.data) //nolint:contextcheck // opening is quick, and not to be left half done
	if err != nil {
		return err
	}
	n, err := newNode(db, setup, log) //nolint:contextcheck // making the parts waits for nothing
	if err != nil {
		return errors.Join(err, db.Close())
	}
	if err := banner(h.stdout, o, setup, listener.Addr()); err != nil {
		return errors.Join(err, db.Close())
	}
	return errors.Join(n.run(ctx, listener), db.Close())
}

// openData opens the database in a folder that nobody else serves.
func openData(dir string) (*sqlite.DB, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the data folder: %w", err)
	}
	db, err := sqlite.Open(filepath.Join(dir, "spool.db"), &sqlite.Options{Exclusive: true})
	if err != nil {
		return nil, fmt.Errorf("open the data folder %s: %w", dir, err)
	}
	return db, nil
}

// node is the parts of a process that serves, and works or pushes its jobs.
type node struct {
	engine *engine.Engine
	work   engine.WorkOptions
	server *server.Server
	http   *http.Server
	log    *slog.Logger
}

func newNode(db *sqlite.DB, s *setup, log *slog.Logger) (*node, error) {
	config := s.engine
	config.Log = log
	e, err := engine.New(db.Backend(), config)
	if err != nil {
		return nil, &usageError{err}
	}
	exposed := s.server
	exposed.Log = log
	surface, err := server.New(e, exposed)
	if err != nil {
		return nil, &usageError{err}
	}
	return &node{engine: e, work: s.work, server: surface, log: log, http: &http.Server{
		Handler:           surface,
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}}, nil
}

// run serves and works until ctx ends or one of the two fails, and then ends both.
func (n *node) run(ctx context.Context, listener net.Listener) error {
	workCtx, stopWork := context.WithCancel(context.WithoutCancel(ctx))
	defer stopWork()
	worked, served := make(chan error, 1), make(chan error, 1)
	go func() { worked <- n.engine.Work(workCtx, n.work) }()
	go func() { served <- n.http.Serve(listener) }()

	var failure error
	select {
	case <-ctx.Done():
		n.log.Info("shutting down")
	case err := <-worked:
		failure = fmt.Errorf("work: %w", err)
		worked <- nil
	case err := <-served:
		failure = fmt.Errorf("serve: %w", err)
	}
	return errors.Join(failure, n.shutdown(stopWork, worked)) //nolint:contextcheck // ctx has ended by now
}

// shutdown stops accepting, tells event streams when to come back, has segments hand
// back their jobs, and waits for all of it.
func (n *node) shutdown(stopWork func(), worked <-chan error) error {
	ctx, cancel := context.WithTimeout(context.Background(), shutdownTimeout)
	defer cancel()
	closed := make(chan error, 1)
	go func() { closed <- n.http.Shutdown(ctx) }()
	n.engine.Close()
	stopWork()

	failure := n.server.Shutdown(ctx)
	select {
	case err := <-worked:
		failure = errors.Join(failure, err)
	case <-ctx.Done():
		failure = errors.Join(failure, errors.New("a tool or model call did not end in time; its run is reclaimed later"))
	}
	if err := <-closed; err != nil {
		failure = errors.Join(failure, fmt.Errorf("requests did not end in time: %w", err), n.http.Close())
	}
	return failure
}
