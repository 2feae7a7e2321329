package postgres

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"regexp"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
)

// Options says how a database is opened. The zero value works.
type Options struct {
	// Schema is the schema of the tables: lower-case letters, digits and underscores, with a letter first.
	// Several installations may share a database under different names. Defaults to "spool".
	Schema string
	// Pool is the greatest number of connections that the process opens, for all purposes together. At least
	// 4. Defaults to 16.
	Pool int
	// Pooler says that the connections lead to a pooler such as PgBouncer in transaction mode. Then nothing
	// depends on the session of a connection: statements are not prepared, and wake-ups are found by polling. The pooler
	// gets no cancel requests.
	// Processes with and without a pooler may share a database, and hear each other.
	// Defaults to false.
	Pooler bool
	// NoMigrate leaves the tables as they are. Open then fails unless they have the schema of this package or
	// a later one that this package may still use. Defaults to false: Open brings them up to date.
	NoMigrate bool
	// Timeout is how long the database may take to answer before a call fails with an [spool.Unavailable] error: the
	// wait for a connection counts, and the wait for a thread that another transaction has locked. So a network
	// that swallows everything, or a server that hangs, looks like one that is down. A call waits for two answers at
	// most: that of its first statement and, if the database hangs from then on, one more. At least a second. Defaults
	// to 15 seconds.
	Timeout time.Duration
	// Log gets warnings. Defaults to none.
	Log *slog.Logger
	// Clock is the source of all times. It is for tests, and must be the same in all processes. Defaults to the
	// database's clock.
	Clock store.Clock
}

const (
	defaultSchema = "spool"
	defaultPool   = 16
	leastPool     = 4
	// defaultTimeout is longer than a transaction may wait for its process: see [idleInTransaction].
	defaultTimeout = 15 * time.Second
	leastTimeout   = time.Second
)

const connectTimeout = 5 * time.Second

// keepAlive ends a connection whose other side has gone without a word after 30 seconds.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 3}

var schemaName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,47}$`)

// DB is an open database. It is a [store.Store], and is safe for concurrent use.
type DB struct {
	dialect dialect
	pool    *pgxpool.Pool
	clock   store.Clock // nil: the database's
	pooler  bool
	log     *slog.Logger
	timeout time.Duration // until an answer
	// views bounds the connections of views and lists, so that starts and claims do not wait for the views of
	// hundreds of reconnecting clients.
	views   chan struct{}
	threads threadLocks
	// observe is called with the round trips of each transaction that has ended. Nil except in tests.
	observe func(trips int)
	// dropped is when the idle connections were closed, in nanoseconds since 1970.
	dropped atomic.Int64

	live *live

	closing sync.Once
}

var _ store.Store = (*DB)(nil)

// Open opens the database at url, which has a form of libpq: "postgres://user@host/database" or "host=… user=…".
// It creates the schema and its tables if they do not exist. A nil o is allowed.
//
// Open returns an [spool.Invalid] error for a wrong url or option, a [spool.Conflict] error if the tables have a
// schema that this package cannot use, and an [spool.Unavailable] error if the database cannot be reached. [Away] says
// whether such a database may come back.
func Open(ctx context.Context, url string, o *Options) (*DB, error) {
	if o == nil {
		o = &Options{}
	}
	config, err := poolConfig(url, o)
	if err != nil {
		return nil, err
	}
	return open(ctx, config, o)
}

// open opens the database of a configuration.
func open(ctx context.Context, config *pgxpool.Config, o *Options) (_ *DB, err error) {
	db := newDB(o, int(config.MaxConns))
	if db.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, storeError(ctx, err)
	}
	if err := db.prepare(ctx, o); err != nil {
		db.pool.Close()
		return nil, err
	}
	return db, nil
}

func newDB(o *Options, connections int) *DB {
	db := &DB{
		dialect: dialect{schema: defaultSchema}, clock: o.Clock, pooler: o.Pooler, timeout: cmp.Or(o.Timeout, defaultTimeout),
		log: o.Log, views: make(chan struct{}, max(1, connections*3/4)),
	}
	if o.Schema != "" {
		db.dialect.schema = o.Schema
	}
	if db.log == nil {
		db.log = slog.New(slog.DiscardHandler)
	}
	db.live = newLive(db)
	return db
}

// prepare checks the server and brings the tables up to date.
func (db *DB) prepare(ctx context.Context, o *Options) error {
	if err := db.checkServer(ctx); err != nil {
		return err
	}
	if o.NoMigrate {
		return db.checkSchema(ctx)
	}
	return db.Migrate(ctx)
}

// poolConfig returns the configuration of the connections.
func poolConfig(url string, o *Options) (*pgxpool.Config, error) {
	switch {
	case o.Schema != "" && !schemaName.MatchString(o.Schema):
		return nil, spool.Errorf(spool.Invalid,
			"schema: %q is no name of up to 48 lower-case letters, digits and underscores", o.Schema)
	case o.Pool != 0 && o.Pool < leastPool:
		return nil, spool.Errorf(spool.Invalid, "pool: there must be at least %d connections", leastPool)
	case o.Timeout != 0 && o.Timeout < leastTimeout:
		return nil, spool.Errorf(spool.Invalid, "timeout: it must be a second or more")
	}
	config, err := pgxpool.ParseConfig(url)
	if err != nil { // the error may have the password
		return nil, spool.Errorf(spool.Invalid, "the url of the database is wrong")
	}
	connections := defaultPool
	if o.Pool != 0 {
		connections = o.Pool
	}
	if !o.Pooler {
		connections-- // for the connection that listens
	}
	config.MaxConns = int32(connections)
	config.MinConns = 0
	config.ShouldPing = func(ctx context.Context, p pgxpool.ShouldPingParams) bool {
		return ctx.Value(sentOnce{}) != nil && p.IdleDuration > time.Second // the others try again
	}
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = connectTimeout
	}
	config.ConnConfig.DialFunc = (&net.Dialer{KeepAliveConfig: keepAlive}).DialContext
	if o.Pooler {
		config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
		config.ConnConfig.StatementCacheCapacity = 0
		config.BeforeConnect = func(_ context.Context, c *pgx.ConnConfig) error {
			withoutCancelRequests(&c.Config)
			return nil
		}
		return config, nil
	}
	if config.ConnConfig.RuntimeParams["application_name"] == "" {
		config.ConnConfig.RuntimeParams["application_name"] = "spool"
	}
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		ctx, cancel := context.WithTimeout(ctx, connectTimeout)
		defer cancel()
		return conn.QueryRow(ctx, settings(false)).Scan(nil, nil, nil)
	}
	return config, nil
}

// withoutCancelRequests keeps a connection from asking the pooler to cancel its statement. The driver asks whenever it
// gives a connection up, such as after a timeout. PgBouncer 1.18 has crashed at such requests, and drops the statement
// anyway when its client has gone.
func withoutCancelRequests(c *pgconn.Config) {
	var connected atomic.Bool
	dial := c.DialFunc
	c.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		if connected.Load() { // the driver dials again only for such a request
			return nil, errNoCancelRequests
		}
		return dial(ctx, network, address)
	}
	c.AfterConnect = func(context.Context, *pgconn.PgConn) error {
		connected.Store(true)
		return nil
	}
}

var errNoCancelRequests = errors.New("no cancel requests are sent to a pooler")

// checkServer returns an error for a server that the package cannot use.
func (db *DB) checkServer(ctx context.Context) error {
	var version int64
	var encoding string
	err := db.read(ctx, `SELECT current_setting('server_version_num')::bigint, current_setting('server_encoding')`,
		func(r *row) {
			version, encoding = r.Int64(), r.Text()
		})
	switch {
	case err != nil:
		return err
	case version < leastVersion:
		return spool.Errorf(spool.Conflict, "PostgreSQL %d is too old: 14 or later is needed", version/10000)
	case encoding != "UTF8":
		return spool.Errorf(spool.Conflict, "the database has the encoding %s: UTF8 is needed", encoding)
	}
	return nil
}

const leastVersion = 140000

// Backend returns what an engine needs.
func (db *DB) Backend() store.Backend {
	return store.Backend{Store: db, Live: db.Live(), Shared: true, HostTx: hostDatabase}
}

// Close waits for calls under way and closes the connections.
func (db *DB) Close() error {
	db.closing.Do(func() {
		db.live.close()
		db.pool.Close()
	})
	return nil
}

// acquire returns a connection of the pool. The caller must release it.
func (db *DB) acquire(ctx context.Context) (*pgxpool.Conn, error) {
	conn, err := db.pool.Acquire(ctx)
	if err == nil {
		return conn, nil
	}
	return nil, storeError(ctx, err)
}

// release gives a connection back. It rolls an unfinished transaction back, also after the caller's context has
// ended.
func release(ctx context.Context, conn *pgxpool.Conn) {
	defer conn.Release()
	raw := conn.Conn().PgConn()
	if raw.IsClosed() || raw.IsBusy() || raw.TxStatus() == 'I' {
		return // the pool destroys a connection that cannot be used again
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTimeout)
	defer cancel()
	_ = raw.Exec(ctx, "ROLLBACK").Close() // if it fails, the pool destroys the connection
}

const rollbackTimeout = 5 * time.Second
