package command

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"time"

	"github.com/spoolhq/spool/backend/postgres"
	"github.com/spoolhq/spool/backend/sqlite"
	"github.com/spoolhq/spool/store"
)

// storage is the open database of a process.
type storage struct {
	backend store.Backend
	close   func() error
	// unfinished returns the runs that this process continues. Nil: other processes may continue them.
	unfinished func(ctx context.Context) ([]sqlite.Unfinished, error)
}

// closeWithin closes the database. If PostgreSQL does not answer in time, the end of the process closes the
// connections.
func (s *storage) closeWithin(limit time.Duration) error {
	if s.unfinished != nil { // a file: the next process would have to take over its log
		return s.close()
	}
	closed := make(chan error, 1)
	go func() { closed <- s.close() }()
	select {
	case err := <-closed:
		return err
	case <-time.After(max(limit, leastClose)):
		return nil
	}
}

// leastClose is how long the connections have to close if the shutdown has no time left.
const leastClose = 200 * time.Millisecond

// openStorage opens the database that the flags name: a file in the data folder, or PostgreSQL. If PostgreSQL is away,
// openStorage calls away and waits for it. A nil away makes that an error.
func openStorage(ctx context.Context, o options, log *slog.Logger, away func()) (*storage, error) {
	if o.database.url == "" {
		db, err := openData(o, log) //nolint:contextcheck // opening is quick and must not be interrupted
		if err != nil {
			return nil, err
		}
		return &storage{db.Backend(), db.Close, db.Unfinished}, nil
	}
	db, err := o.database.await(ctx, log, away)
	if err != nil {
		return nil, fmt.Errorf("open the database %s: %w", o.database.shown(), err)
	}
	log.Info("the database is open", "database", o.database.shown())
	return &storage{backend: db.Backend(), close: db.Close}, nil
}

// changed reports the runs that would not continue as they began with this setup.
func (s *storage) changed(ctx context.Context, with *setup) ([]string, error) {
	if s.unfinished == nil {
		return nil, nil
	}
	unfinished, err := s.unfinished(context.WithoutCancel(ctx)) // a start that a signal ends exits with 0
	return with.changedRuns(unfinished), err
}

// database says which database a process uses. The zero value is the file in the data folder.
type database struct {
	// url is a URL of PostgreSQL, which may have a password. Only shown goes into messages.
	url string
	// pooler says that the URL is of PgBouncer in transaction mode, or of a pooler like it.
	pooler bool
	// connections bounds the connections of this process.
	connections int
	// timeout is how long the database may take to answer.
	timeout time.Duration
	// keepSchema refuses an older schema instead of bringing it up to date.
	keepSchema bool
}

func (d database) options(log *slog.Logger) *postgres.Options {
	return &postgres.Options{Pooler: d.pooler, Pool: d.connections, Timeout: d.timeout, NoMigrate: d.keepSchema, Log: log}
}

// await opens PostgreSQL, and waits while it is away unless away is nil. It logs that once a minute.
func (d database) await(ctx context.Context, log *slog.Logger, away func()) (*postgres.DB, error) {
	if away != nil {
		defer time.AfterFunc(time.Second, away).Stop() // a server that hangs takes longer to fail
	}
	var lastLogged time.Time
	for pause := time.Second; ; pause = min(2*pause, longestPause) {
		db, err := d.open(ctx, log)
		if err == nil || away == nil || ctx.Err() != nil || !postgres.Away(err) {
			return db, err
		}
		away()
		if time.Since(lastLogged) >= time.Minute {
			log.Warn("waiting for the database", "database", d.shown(), "error", err)
			lastLogged = time.Now()
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, err
		}
	}
}

// open opens PostgreSQL. When ctx ends, open does not wait for a server that hangs.
func (d database) open(ctx context.Context, log *slog.Logger) (*postgres.DB, error) {
	type outcome struct {
		db  *postgres.DB
		err error
	}
	opened := make(chan outcome, 1)
	go func() {
		db, err := postgres.Open(ctx, d.url, d.options(log))
		opened <- outcome{db, err}
	}()
	select {
	case o := <-opened:
		return o.db, o.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// longestPause is the longest time between two attempts to open PostgreSQL.
const longestPause = 5 * time.Second

// check returns what is wrong with the URL, without the URL.
func (d database) check() error {
	if d.url == "" {
		return nil
	}
	u, err := url.Parse(d.url)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" || u.Host == "" || len(u.Path) < 2 {
		return usagef(`--database: it must be a URL such as "postgres://user:password@host:5432/name"`)
	}
	return nil
}

// shown returns the database for people: the host and the name, and neither user nor password.
func (d database) shown() string {
	u, err := url.Parse(d.url)
	if err != nil {
		return "postgres"
	}
	return "postgres://" + u.Host + u.Path
}

// The roles of a process.
const (
	roleAll    = "all"
	roleAPI    = "api"
	roleWorker = "worker"
)

// checkRole returns what is wrong with a role.
func (o *options) checkRole() error {
	switch o.role {
	case roleAll:
		return nil
	case roleAPI, roleWorker:
		if o.database.url == "" {
			return usagef("--role %s: needs --database, because no other process can use the file in --data", o.role)
		}
		return nil
	default:
		return usagef("--role: %q must be all, api or worker", o.role)
	}
}

// place returns the database, for messages to people.
func (o *options) place() string {
	if o.database.url != "" {
		return o.database.shown()
	}
	return o.file()
}

// migrate brings the schema of a PostgreSQL database up to date.
func migrate(ctx context.Context, args []string, h host) error {
	f, err := parseFlags(migrateHelp(), args, h) //nolint:contextcheck // it waits for nothing
	switch {
	case err != nil:
		return err
	case len(f.operands) > 0:
		return usagef("migrate takes no argument, but there is %q", f.operands[0])
	case f.database.url == "":
		return usagef("migrate needs --database; a SQLite file is brought up to date when a server opens it")
	}
	f.database.keepSchema = false
	db, err := postgres.Open(ctx, f.database.url, f.database.options(f.logger(h.stderr)))
	if err != nil {
		return fmt.Errorf("migrate %s: %w", f.database.shown(), err)
	}
	_, err = fmt.Fprintf(h.stdout, "%s has the schema of this version\n", f.database.shown())
	return errors.Join(err, db.Close())
}
