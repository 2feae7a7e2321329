package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
)

// Tx returns a host's transaction of pgx for an engine. The transaction must be on a database that has the tables in
// the schema "spool": see [DB.Tx] for another one.
//
// The transaction should have the isolation level READ COMMITTED, which is PostgreSQL's default. At a higher level, a
// change of a thread that was written since the transaction began fails with an [spool.Unavailable] error, and the
// host has to try its whole transaction again.
//
// The thread stays locked until the host's transaction ends, so it should end soon.
func Tx(tx pgx.Tx) store.HostTx { return plain.Tx(tx) }

// SQLTx does the same for a transaction of database/sql, whose driver must be github.com/jackc/pgx/v5/stdlib. Each
// statement takes a round trip.
func SQLTx(tx *sql.Tx) store.HostTx { return plain.SQLTx(tx) }

// plain has the defaults of [Options] and no connections.
var plain = &DB{dialect: dialect{schema: defaultSchema}}

// Tx is [Tx] for the schema of an open database.
func (db *DB) Tx(tx pgx.Tx) store.HostTx { return db.hostTx(pgxLink{tx, db}) }

// SQLTx is [SQLTx] for the schema of an open database.
func (db *DB) SQLTx(tx *sql.Tx) store.HostTx { return db.hostTx(sqlLink{tx, db}) }

// hostDatabase is the [store.Backend.HostTx]. A transaction does not say which database it is on.
const hostDatabase = "postgres"

func (db *DB) hostTx(l link) store.HostTx {
	return store.NewHostTx(hostDatabase, func(ctx context.Context, key spool.ThreadKey, fn func(tx store.Tx) error) error {
		if err := canceled(ctx); err != nil {
			return err
		}
		t := newTx(ctx, db, l, key)
		t.pending = []statement{{sql: "SAVEPOINT spool"}, t.lock(), t.head()}
		err := t.call(0, fn)
		if err == nil {
			err = t.finish(statement{sql: "RELEASE SAVEPOINT spool"})
		}
		if err != nil {
			undo(ctx, l)
		}
		return err
	})
}

// undo takes back what an update has done in the host's transaction. If that fails, the transaction is lost anyway.
func undo(ctx context.Context, l link) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTimeout)
	defer cancel()
	for _, sql := range []string{"ROLLBACK TO SAVEPOINT spool", "RELEASE SAVEPOINT spool"} {
		if l.send(ctx, []statement{{sql: sql}}) != nil {
			return
		}
	}
}

// undoTimeout bounds how long undo may take.
const undoTimeout = 5 * time.Second

// sqlLink is a link by database/sql, which has no batches.
type sqlLink struct {
	tx *sql.Tx
	db *DB
}

func (l sqlLink) send(ctx context.Context, batch []statement) error {
	var unread error // of the first row that could not be read
	for i := range batch {
		failed, err := l.one(ctx, &batch[i])
		if err != nil {
			return statementError(ctx, err, &batch[i])
		}
		if unread == nil {
			unread = failed
		}
	}
	if unread != nil {
		return unreadError{unread}
	}
	return nil
}

// one executes one statement.
func (l sqlLink) one(ctx context.Context, s *statement) (unread, err error) {
	rows, err := l.tx.QueryContext(ctx, l.db.dialect.rewrite(s.text()), encoded(s.args)...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	values, into := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		if s.scan == nil || unread != nil {
			continue
		}
		r := rowOf(values)
		s.scan(r)
		unread = r.err
	}
	return unread, rows.Err()
}

// rowOf returns a row with the values of database/sql, in the text format.
func rowOf(values []any) *row {
	r := &row{fields: make([]pgconn.FieldDescription, len(values)), raw: make([][]byte, len(values))}
	for i, value := range values {
		switch x := value.(type) {
		case nil:
		case []byte:
			r.raw[i] = x
		case string:
			r.raw[i] = []byte(x)
		case int64:
			r.raw[i] = strconv.AppendInt([]byte{}, x, 10)
		case bool:
			r.raw[i] = strconv.AppendBool([]byte{}, x) // "t" or "f" is first
		default:
			r.Fail(spool.Errorf(spool.Internal, "column %d has a value of the type %s", i, fmt.Sprintf("%T", x)))
		}
	}
	return r
}
