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
	asked := &variables{read: h.lookup}
	h.lookup = asked.lookup
	f, err := parseFlags(serveHelp(), args, h) //nolint:contextcheck // it waits for nothing
	if err == nil && len(f.rest) > 0 {
		err = usagef("serve takes no argument, but there is %q", f.rest[0])
	}
	o := f.options
	setup, exported, err := prepare(o, err, h) //nolint:contextcheck // it waits for nothing
	if err != nil {
		return err
	}
	log := o.logger(h.stderr)
	for _, m := range asked.misspelled(h.environ()) {
		log.Warn("nothing reads this variable, whose name is close to one that is read", "variable", m.name, "read", m.meant)
	}

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
	unfinished, err := db.Unfinished(context.WithoutCancel(ctx)) // a start that a signal ends exits with 0
	if err != nil {
		return errors.Join(err, db.Close())
	}
	changed := setup.resumed(unfinished)
	for _, text := range changed {
		log.Warn("work in the database does not go on as it began", "what", text)
	}
	if err := banner(h.stdout, o, setup, changed, listener.Addr(), metrics); err != nil {
		return errors.Join(err, db.Close())
	}
	return errors.Join(n.run(ctx, listener, metrics), db.Close())
}

// prepare returns what the flags, the environment and the configuration come to, or all that is
// wrong with them: with the flags as well, unless those could not be told at all. It makes and
// changes nothing, and asks nobody.
func prepare(o options, wrong error, h host) (*setup, exporters, error) {
	if wrong != nil && o.listen == "" {
		return nil, exporters{}, wrong
	}
	s, failed := loadSetup(o, h.lookup)
	exported, err := readExporters(h.lookup)
	return s, exported, errors.Join(wrong, failed, err)
}

func listen(ctx context.Context, address string) (net.Listener, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", address, errors.Unwrap(err))
	}
	return listener, nil
}
