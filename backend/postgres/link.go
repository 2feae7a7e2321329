package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
)

// link is one connection to the server, or the transaction of a host on one.
type link interface {
	// send sends statements in one round trip and reads their results. It returns the first error of the
	// server, in which case the server has ignored the statements after it. If reading a row fails, send
	// returns that error after all statements were executed.
	send(ctx context.Context, batch []statement) error
}

// batcher is what sends batches: a connection of pgx, or a transaction.
type batcher interface {
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// pgxLink is a link by pgx.
type pgxLink struct {
	to batcher
	db *DB
}

func (l pgxLink) send(ctx context.Context, batch []statement) error {
	queued := &pgx.Batch{QueuedQueries: make([]*pgx.QueuedQuery, 0, len(batch))}
	for i := range batch {
		queued.Queue(l.db.dialect.rewrite(batch[i].text()), encoded(batch[i].args)...)
	}
	results := l.to.SendBatch(ctx, queued)
	var unread error // of the first row that could not be read
	for i := range batch {
		failed, err := receive(results, &batch[i])
		if err != nil {
			_ = results.Close() // it returns the same error
			return statementError(ctx, err, &batch[i])
		}
		if unread == nil {
			unread = failed
		}
	}
	if err := results.Close(); err != nil {
		return storeError(ctx, err)
	}
	if unread != nil {
		return unreadError{unread}
	}
	return nil
}

// unreadError says that a row could not be read, although the server has executed all statements.
type unreadError struct{ error }

func (e unreadError) Unwrap() error { return e.error }

// splitErrors returns the error of [link.send] as one of a row or as one of the server.
func splitErrors(err error) (unread, refused error) {
	if u, ok := errors.AsType[unreadError](err); ok {
		return u.error, nil
	}
	return nil, err
}

// receive reads the results of a statement. Unread is the error of its first row that could not be read.
func receive(results pgx.BatchResults, s *statement) (unread, err error) {
	if s.scan == nil {
		_, err := results.Exec()
		return nil, err
	}
	rows, err := results.Query()
	if err != nil {
		return nil, err
	}
	for rows.Next() {
		r := row{fields: rows.FieldDescriptions(), raw: rows.RawValues()}
		if s.scan(&r); r.err != nil {
			unread = r.err
			break
		}
	}
	rows.Close()
	return unread, rows.Err()
}
