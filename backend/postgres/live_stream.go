package postgres

import (
	"bytes"
	"context"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// thisStream selects a stream by its key, and presentStream also that it is not over.
const (
	thisStream    = "s.tenant = ? AND s.thread_id = ? AND s.id = ?"
	presentStream = thisStream + " AND (s.expires_at = 0 OR s.expires_at > " + serverNow + ")"
)

func streamArgs(key store.StreamKey) []any { return []any{key.Thread.Tenant, key.Thread.ID, key.ID} }

// openTries is how often Open looks for a partition. The first process of an installation makes one.
const openTries = 3

// Open implements [store.Live].
func (l *live) Open(ctx context.Context, key store.StreamKey) error {
	for range openTries {
		there, closed, err := l.open(ctx, key)
		switch {
		case err != nil:
			return err
		case there && closed:
			return store.ErrStreamClosed
		case there:
			return nil
		}
		if err := l.makePartition(ctx); err != nil { // there is none yet
			return err
		}
	}
	return &spool.Error{Code: spool.Unavailable, Message: "the tables of run streams are not ready"}
}

// open inserts the stream, unless it is there.
func (l *live) open(ctx context.Context, key store.StreamKey) (there, closed bool, err error) {
	err = l.db.run(ctx, l.openBatch(key, &there, &closed)...)
	return there, closed, err
}

// openBatch inserts a stream in the partition of the last hour, unless it is there. The lock keeps that partition
// the last one until the end of the transaction: see [live.dropPartition].
func (l *live) openBatch(key store.StreamKey, there, closed *bool) []statement {
	return []statement{
		notSynced,
		{sql: "SELECT pg_advisory_xact_lock_shared(?)", args: []any{l.partitionLock()}},
		{
			sql: `INSERT INTO spool.stream AS s (tenant, thread_id, id, hour, opened_at)
				SELECT ?, ?, ?, h.hour, ` + serverNow + ` FROM (SELECT max(hour) AS hour FROM spool.stream_hour) h WHERE h.hour IS NOT NULL
				ON CONFLICT (tenant, thread_id, id) DO UPDATE
				SET number = DEFAULT, hour = excluded.hour, opened_at = excluded.opened_at,
					last_fence = 0, last_n = 0, closed = false, expires_at = 0
				WHERE s.expires_at > 0 AND s.expires_at <= ` + serverNow,
			args: streamArgs(key),
		},
		{
			sql: "SELECT s.closed FROM spool.stream s WHERE " + thisStream, args: streamArgs(key),
			scan: func(r *row) { *there, *closed = true, r.Bool() },
		},
	}
}

// state reads how far a present stream is. Without one it returns [store.ErrStreamGone].
func (l *live) state(key store.StreamKey, closed *bool, last *wire.Offset, found *bool) statement {
	return statement{
		sql:  "SELECT s.closed, s.last_fence, s.last_n FROM spool.stream s WHERE " + presentStream,
		args: streamArgs(key),
		scan: func(r *row) {
			*found, *closed = true, r.Bool()
			*last = wire.Offset{Fence: r.Int64(), N: r.Int64()}
		},
	}
}

// Read implements [store.Live].
func (l *live) Read(ctx context.Context, key store.StreamKey, after wire.Offset, limit int) (store.StreamPage, error) {
	var page store.StreamPage
	found, closed := false, false
	s := readStream(key, after, limit)
	err := l.db.read(ctx, s.sql, func(r *row) {
		found, closed = true, r.Bool()
		page.Last = wire.Offset{Fence: r.Int64(), N: r.Int64()}
		if fence := r.Maybe(); fence != nil {
			page.Items = append(page.Items, scanItem(r, *fence))
		}
	}, s.args...)
	if err != nil {
		return store.StreamPage{}, err
	}
	if !found {
		return store.StreamPage{}, store.ErrStreamGone
	}
	if n := len(page.Items); n > 0 {
		after = page.Items[n-1].Offset
	}
	page.Ended = closed && after == page.Last
	return page, nil
}

// readStream reads how far a stream is, and its items after an offset, as one consistent state. A stream without
// such items has one row.
func readStream(key store.StreamKey, after wire.Offset, limit int) statement {
	return statement{
		sql: `SELECT s.closed, s.last_fence, s.last_n, i.fence, i.n, i.type, i.seq, i.data FROM spool.stream s
			LEFT JOIN LATERAL (
				SELECT fence, n, type, seq, data FROM spool.stream_item
				WHERE hour = s.hour AND stream = s.number AND (fence, n) > (?, ?) ORDER BY fence, n LIMIT ?
			) i ON true
			WHERE ` + presentStream + " ORDER BY i.fence, i.n",
		args: append([]any{after.Fence, after.N, bound(limit)}, streamArgs(key)...),
	}
}

func scanItem(r *row, fence int64) wire.Item {
	return wire.Item{
		Offset: wire.Offset{Fence: fence, N: r.Int64()}, Type: wire.ItemType(r.Text()), Seq: r.Int64(), Data: r.bytes(),
	}
}

// Close implements [store.Live].
func (l *live) Close(ctx context.Context, key store.StreamKey, end wire.Item, grace time.Duration) error {
	var last wire.Offset
	ended, found, closed := false, false, false
	s := closeStream(key, end, grace)
	s.scan = func(*row) { ended = true }
	err := l.db.run(ctx, notSynced, s, l.state(key, &closed, &last, &found))
	if err == nil && !ended && !found {
		err = store.ErrStreamGone
	}
	return err
}

// closeStream closes an open stream, and then returns a row. The end gets its offset there, because other writers
// may be at work: an end that does not come after the last item gets the next offset, in its data too.
func closeStream(key store.StreamKey, end wire.Item, grace time.Duration) statement {
	head, hasOffset := bytes.CutSuffix([]byte(end.Data), []byte(`"offset":"`+end.Offset.String()+`"}`))
	args := []any{
		end.Offset.Fence, end.Offset.N, end.Offset.Fence, end.Offset.Fence, end.Offset.N, end.Offset.N,
		max(0, grace.Microseconds()),
	}
	args = append(args, streamArgs(key)...)
	return statement{
		sql: `WITH ended AS (
				UPDATE spool.stream s SET closed = true,
					last_fence = CASE WHEN (s.last_fence, s.last_n) < (?::bigint, ?::bigint) THEN ?::bigint ELSE s.last_fence END,
					last_n = CASE WHEN (s.last_fence, s.last_n) < (?::bigint, ?::bigint) THEN ?::bigint ELSE s.last_n + 1 END,
					expires_at = ` + serverNow + ` + ?
				WHERE ` + thisStream + ` AND NOT s.closed RETURNING s.hour, s.number, s.last_fence AS fence, s.last_n AS n
			), added AS (
				INSERT INTO spool.stream_item (hour, stream, fence, n, type, seq, data)
				SELECT hour, number, fence, n, ?, ?, ?::bytea || CASE WHEN ?::boolean
					THEN convert_to('"offset":"' || fence || '-' || n || '"}', 'UTF8') ELSE ''::bytea END FROM ended
			) SELECT 1 FROM ended`,
		args: append(args, string(end.Type), end.Seq, head, hasOffset),
	}
}

// Delete implements [store.Live]. The items of a deleted thread are removed at once, and not with their partition.
func (l *live) Delete(ctx context.Context, thread spool.ThreadKey) error {
	return l.db.run(ctx, notSynced, deleteStreams(thread))
}

func deleteStreams(thread spool.ThreadKey) statement {
	return statement{
		sql: `WITH gone AS (DELETE FROM spool.stream WHERE tenant = ? AND thread_id = ? RETURNING hour, number)
			DELETE FROM spool.stream_item i USING gone WHERE i.hour = gone.hour AND i.stream = gone.number`,
		args: []any{thread.Tenant, thread.ID},
	}
}
