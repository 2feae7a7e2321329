package postgres

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/spoolhq/spool/wire"
)

const (
	// maintainEvery is how often a process looks whether there is a partition to make or to drop.
	maintainEvery   = time.Minute
	maintainTimeout = 30 * time.Second
	// abandoned is the age at which a stream that nobody has closed counts as over. Workers and the sweeper
	// close streams, so it is for those that neither has.
	abandoned = 48 * time.Hour
	// streamsAtOnce bounds how many rows of streams that are over are removed in one transaction.
	streamsAtOnce = 5000
)

// maintain looks after the partitions until the database is closed. Errors are logged: until the next time, streams
// are opened in the last partition there is.
func (l *live) maintain() {
	for {
		if err := l.maintainOnce(l.ctx); err != nil && l.ctx.Err() == nil {
			l.db.log.WarnContext(l.ctx, "look after the tables of run streams", "error", err)
		}
		if !l.pause(maintainEvery + rand.N(maintainEvery/4)) { //nolint:gosec // it is no secret
			return
		}
	}
}

// maintainOnce makes the partition of this hour, removes old wake-ups, removes streams that are over from earlier
// hours, and drops the partitions of hours that have no stream left.
func (l *live) maintainOnce(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, maintainTimeout)
	defer cancel()
	if err := l.makePartition(ctx); err != nil {
		return err
	}
	// The last process that polled may have left some.
	if err := l.db.run(ctx, notSynced, pruneWakes); err != nil {
		return err
	}
	var hours []int64
	err := l.db.run(ctx, statement{
		sql:  "SELECT hour FROM spool.stream_hour WHERE hour < (SELECT max(hour) FROM spool.stream_hour) ORDER BY hour",
		scan: each(&hours, (*row).Int64),
	})
	if err != nil {
		return err
	}
	for _, hour := range hours {
		if err := l.endHour(ctx, hour); err != nil {
			return err
		}
	}
	return nil
}

// partitionLock is the number of the lock that guards partitions. A process holds it exclusively while it makes or
// drops a partition, and shared while it opens a stream.
func (l *live) partitionLock() int64 { return lockNumber("stream_hour", l.db.dialect.schema) }

// makePartition makes the partition of this hour, unless it exists.
func (l *live) makePartition(ctx context.Context) error {
	var hour int64
	exists := false
	err := l.db.run(ctx, statement{
		sql: `SELECT h.hour, EXISTS (SELECT FROM spool.stream_hour s WHERE s.hour >= h.hour)
			FROM (SELECT ` + serverNow + ` / 3600000000 AS hour) h`,
		scan: func(r *row) { hour, exists = r.Int64(), r.Bool() },
	})
	if err != nil || exists {
		return err
	}
	return l.makePartitionOf(ctx, hour)
}

// makePartitionOf makes the partition of an hour, unless there is that one or a later one. Attaching a table does
// not wait for those who read or write, and making a partition in its place would. A partition only gets rows, and
// is dropped before a vacuum would be worth it.
func (l *live) makePartitionOf(ctx context.Context, hour int64) error {
	return l.script(ctx, fmt.Sprintf(`DO $$ BEGIN
		PERFORM pg_advisory_xact_lock(%[1]d);
		IF NOT EXISTS (SELECT FROM spool.stream_hour WHERE hour >= %[2]d) THEN
			CREATE TABLE spool.stream_item_%[2]d (LIKE spool.stream_item INCLUDING ALL) WITH (autovacuum_enabled = off);
			ALTER TABLE spool.stream_item ATTACH PARTITION spool.stream_item_%[2]d FOR VALUES IN (%[2]d);
			INSERT INTO spool.stream_hour VALUES (%[2]d);
		END IF;
	END $$`, l.partitionLock(), hour))
}

// endHour removes the streams of an earlier hour that are over. If none is left, it drops the hour's partition.
func (l *live) endHour(ctx context.Context, hour int64) error {
	for {
		removed, left := 0, false
		over := removeStreams(hour)
		over.scan = func(r *row) { removed = r.Int() }
		err := l.db.run(ctx, notSynced, over, statement{
			sql: "SELECT EXISTS (SELECT FROM spool.stream WHERE hour = ?)", args: []any{hour},
			scan: func(r *row) { left = r.Bool() },
		})
		switch {
		case err != nil:
			return err
		case !left:
			return l.dropPartition(ctx, hour)
		case removed < streamsAtOnce:
			return nil
		}
	}
}

// removeStreams removes some streams of an hour that are over, and returns how many. The items stay until the
// partition is dropped. The time is a subquery, because an index cannot be searched by a function that changes.
func removeStreams(hour int64) statement {
	return statement{
		sql: `WITH gone AS (
				DELETE FROM spool.stream WHERE hour = ? AND ctid = ANY (ARRAY (
					SELECT ctid FROM spool.stream WHERE hour = ? AND expires_at > 0 AND expires_at <= (SELECT ` + serverNow + `)
					UNION ALL
					SELECT ctid FROM spool.stream WHERE hour = ? AND expires_at = 0 AND opened_at <= ` + serverNow + ` - ?
					LIMIT ?
				)) RETURNING 1
			) SELECT count(*) FROM gone`,
		args: []any{hour, hour, hour, abandoned.Microseconds(), streamsAtOnce},
	}
}

// dropPartition drops the partition of an hour that has no stream. It waits for the lock of the table for a moment
// only, because all who read or write streams wait behind it: if there is a long transaction, the next time comes in
// a minute.
func (l *live) dropPartition(ctx context.Context, hour int64) error {
	return l.script(ctx, fmt.Sprintf(`DO $$ BEGIN
		PERFORM set_config('lock_timeout', '300ms', true), pg_advisory_xact_lock(%[1]d);
		IF NOT EXISTS (SELECT FROM spool.stream WHERE hour = %[2]d) THEN
			DELETE FROM spool.stream_hour WHERE hour = %[2]d;
			DROP TABLE IF EXISTS spool.stream_item_%[2]d;
		END IF;
	END $$`, l.partitionLock(), hour))
}

// script runs a statement whose text is different each time, so that nothing remembers it.
func (l *live) script(ctx context.Context, text string) error {
	conn, err := l.db.acquire(ctx)
	if err != nil {
		return err
	}
	defer release(ctx, conn)
	if err := conn.Conn().PgConn().Exec(ctx, l.db.dialect.qualify(text)).Close(); err != nil {
		return storeError(ctx, err)
	}
	return nil
}

// streamPartitions counts the partitions, for [DB.Stats].
func streamPartitions(gauges *[]wire.Gauge) statement {
	return statement{
		sql: "SELECT count(*) FROM spool.stream_hour",
		scan: func(r *row) {
			*gauges = append(*gauges, wire.Gauge{Name: "stream_partitions", Value: float64(r.Int())})
		},
	}
}
