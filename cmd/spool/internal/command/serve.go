package command

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
	headerTimeout  = 10 * time.Second
	idleTimeout    = 2 * time.Minute
	maxHeaderBytes = 64 << 10
)

// serve serves and works until a signal comes.
func serve(ctx context.Context, args []string, h host) error {
	asked := &variables{read: h.lookup}
	h.lookup = asked.lookup
	f, err := parseFlags(serveHelp(), args, h) //nolint:contextcheck // it waits for nothing
	if err == nil && len(f.operands) > 0 {
		err = usagef("serve takes no argument, but there is %q", f.operands[0])
	}
	o := f.options
	setup, exported, err := prepare(o, err, h) //nolint:contextcheck // it waits for nothing
	if err != nil {
		return err
	}
	end := &ending{limit: o.timeout}
	defer func() { closeAll(setup.mcp, end.timeLeft()) }()
	log := o.logger(h.stderr)
	for _, m := range asked.misspelled(h.environ()) {
		log.Warn("unknown environment variable with a name close to a known one", "variable", m.name, "known", m.meant)
	}

	// The first signal ends ctx, and releases the handler, so that a second one ends the process.
	ctx, release := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer release()
	context.AfterFunc(ctx, release)

	// Listen first: if a port is taken, no folder is made.
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
	door := newEntrance(listener, setup.server.BasePath, log)
	db, err := openStorage(ctx, o, log, door.open)
	if err != nil {
		err = errors.Join(err, door.http.Close())
		if ctx.Err() != nil { // a signal has ended the wait for the database
			return nil
		}
		return err
	}
	n, err := newNode(ctx, db.backend, o, setup, measured, door, end, log)
	if err != nil {
		return errors.Join(err, db.close())
	}
	changed, err := db.changed(ctx, setup)
	if err != nil {
		return errors.Join(err, db.close())
	}
	for _, text := range changed {
		log.Warn("runs in the database do not continue as they began", "runs", text)
	}
	if o.sharesTokens(setup) {
		log.Warn("other nodes refuse the stream tokens of this one: set auth.stream_token_keys, the same on every node that serves the API")
	}
	if err := banner(h.stdout, o, setup, changed, listener.Addr(), metrics); err != nil {
		return errors.Join(err, db.close())
	}
	if n.works {
		defer setup.tryMCP(ctx, log)()
	}
	return errors.Join(n.run(ctx, metrics), db.closeWithin(end.timeLeft()))
}

// prepare returns the setup from the flags, the environment and the configuration, or everything that
// is wrong with them. The error wrong from the flags is included, unless the flags could not be parsed.
// Prepare writes nothing, and uses the network only for documents of tools.
func prepare(o options, wrong error, h host) (*setup, exporters, error) {
	if wrong != nil && o.listen == "" {
		return nil, exporters{}, wrong
	}
	s, failed := loadSetup(o, h.lookup, o.logger(h.stderr))
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
