package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os/signal"
	"syscall"
	"time"
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
	exported, err := readExporters(h.lookup)
	if err != nil {
		return err
	}
	log := o.logger(h.stderr)

	// The signals are caught from here on. Once one has come they are not any more, so
	// that a second one ends the process.
	ctx, release := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer release()
	context.AfterFunc(ctx, release)

	// The ports first: whoever finds one taken has not made a folder yet.
	listener, err := listen(ctx, o.listen)
	if err != nil {
		return err
	}
	defer listener.Close()
	var metrics net.Listener
	if o.metrics != "" {
		if metrics, err = listen(ctx, o.metrics); err != nil {
			return err
		}
		defer metrics.Close()
	}
	measured, err := newTelemetry(ctx, o, exported, h.stderr)
	if err != nil {
		return err
	}
	measured.log(log)
	db, err := openData(o, log) //nolint:contextcheck // opening is quick, and not to be left half done
	if err != nil {
		return err
	}
	n, err := newNode(db, o, setup, measured, log) //nolint:contextcheck // making the parts waits for nothing
	if err != nil {
		return errors.Join(err, db.Close())
	}
	if err := banner(h.stdout, o, setup, listener.Addr(), metrics); err != nil {
		return errors.Join(err, db.Close())
	}
	return errors.Join(n.run(ctx, listener, metrics), db.Close())
}

func listen(ctx context.Context, address string) (net.Listener, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", address, errors.Unwrap(err))
	}
	return listener, nil
}
