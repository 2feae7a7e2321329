package postgres

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/spoolhq/spool"
)

// nowExpr is the store's time in a statement. Its value is [DB.clockArg].
const nowExpr = "coalesce(?::bigint, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)"

// clockArg is the value of [nowExpr]: the time of a test's clock, or nil for the database's.
func (db *DB) clockArg() any {
	if db.clock == nil {
		return nil
	}
	return db.clock.Now().UnixMicro()
}

// attempts is how often a call is tried that finds a dead connection, or collides with another transaction.
const attempts = 5

// session is a connection during one call. Its first batch may be sent again on another connection, because a
// connection that was idle may be dead.
type session struct {
	db   *DB
	conn *pgxpool.Conn // nil before the first batch, and after end
	used bool          // a batch was answered
	// until is when the database must have given its next answer. Zero: nobody waits for one yet.
	until time.Time
	// trips counts the round trips of the call.
	trips int
}

var _ link = (*session)(nil)

// newSession returns a session whose first answer must come within the timeout. What the call waits for before it,
// such as a turn, counts.
func (db *DB) newSession() *session {
	return &session{db: db, until: time.Now().Add(db.timeout)}
}

// send implements [link]. The first batch must be harmless if it is executed twice.
func (s *session) send(ctx context.Context, batch []statement) error {
	s.trips++
	err := s.within(ctx, func(ctx context.Context) error {
		if s.used {
			return s.trip(ctx, batch)
		}
		return s.first(ctx, batch)
	})
	s.until = time.Time{} // what the caller does until the next batch does not count
	return err
}

// first sends the first batch.
func (s *session) first(ctx context.Context, batch []statement) (err error) {
	scanned := false
	batch = noting(batch, &scanned)
	for range attempts {
		if err := s.connect(ctx); err != nil {
			return err
		}
		err = s.trip(ctx, batch)
		if ctx.Err() != nil || !lost(err) || scanned {
			s.used = true
			return err
		}
		s.end(ctx)
		s.db.dropIdle()
	}
	return err
}

// within calls fn with a context that ends when the database must have answered. The error is then
// [spool.Unavailable].
func (s *session) within(ctx context.Context, fn func(ctx context.Context) error) error {
	if s.until.IsZero() {
		s.until = time.Now().Add(s.db.timeout)
	}
	bounded, cancel := context.WithDeadline(ctx, s.until)
	defer cancel()
	err := fn(bounded)
	if spool.CodeOf(err) == spool.Canceled && ctx.Err() == nil {
		return unavailable(fmt.Errorf("no answer within %s: %w", s.db.timeout, context.DeadlineExceeded))
	}
	return err
}

// noting returns a batch that notes when it has scanned a row. It must not be sent again then, because its caller
// would get rows twice.
func noting(batch []statement, scanned *bool) []statement {
	batch = slices.Clone(batch)
	for i := range batch {
		if scan := batch[i].scan; scan != nil {
			batch[i].scan = func(r *row) {
				*scanned = true
				scan(r)
			}
		}
	}
	return batch
}

// trip sends a batch on the session's connection.
func (s *session) trip(ctx context.Context, batch []statement) error {
	return pgxLink{s.conn, s.db}.send(ctx, batch)
}

// connect takes a connection from the pool, unless the session has one.
func (s *session) connect(ctx context.Context) (err error) {
	if s.conn == nil {
		s.conn, err = s.db.acquire(ctx)
	}
	return err
}

// end gives the connection back, and rolls an unfinished transaction back.
func (s *session) end(ctx context.Context) {
	if s.conn != nil {
		release(ctx, s.conn)
		s.conn = nil
	}
}

// dropIdle closes the idle connections after one of them was dead: the others probably are too.
func (db *DB) dropIdle() {
	now := time.Now().UnixNano()
	last := db.dropped.Load()
	if now-last > int64(time.Second) && db.dropped.CompareAndSwap(last, now) {
		db.pool.Reset()
	}
}

// read runs one reading statement.
func (db *DB) read(ctx context.Context, sql string, scan func(r *row), args ...any) error {
	return db.viewing(ctx, func(l link) error {
		return l.send(ctx, []statement{{sql: sql, args: args, scan: scan}})
	})
}

// viewing runs fn with a connection for views and lists. The first batch that fn sends must be harmless if it is
// executed twice.
func (db *DB) viewing(ctx context.Context, fn func(l link) error) error {
	if err := canceled(ctx); err != nil {
		return err
	}
	s := db.newSession()
	if err := s.within(ctx, db.enterView); err != nil {
		return err
	}
	defer db.leaveView()
	defer s.end(ctx)
	return fn(s)
}

// enterView waits for a turn of [DB.viewing].
func (db *DB) enterView(ctx context.Context) error {
	select {
	case db.views <- struct{}{}:
		return nil
	case <-ctx.Done():
		return canceled(ctx)
	}
}

func (db *DB) leaveView() { <-db.views }

// run runs statements in one transaction and one round trip. After an [spool.Unavailable] error they may have
// been committed or not, and after any other they were not.
func (db *DB) run(ctx context.Context, batch ...statement) error {
	if err := canceled(ctx); err != nil {
		return err
	}
	s := db.newSession()
	s.used = true // the batch may be sent once only
	defer s.end(ctx)
	var err error
	for range attempts {
		if err := s.within(context.WithValue(ctx, sentOnce{}, true), s.connect); err != nil {
			return err
		}
		// Without BEGIN, the statements of a batch are one transaction, which ends with the batch.
		if err = s.send(ctx, batch); !collided(err) {
			break
		}
	}
	if lost(err) {
		db.dropIdle()
	}
	return uncertain(err)
}

// sentOnce is in the context of a call whose batch may be sent once only. It takes a connection that was idle for a
// while only if the connection answers.
type sentOnce struct{}

// uncertain returns the error of a commit. If ctx has ended, the commit may have happened.
func uncertain(err error) error {
	if spool.CodeOf(err) == spool.Canceled {
		return unavailable(err)
	}
	return err
}
