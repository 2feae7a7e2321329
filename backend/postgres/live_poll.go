package postgres

import (
	"context"
	"time"
)

// Behind a pooler in transaction mode nothing can listen. Wake-ups then go into the table wake, and each process
// reads what is new there. A process behind a pooler also sends its wake-ups by NOTIFY, for processes that listen.
// It tells those from time to time that it polls, and they write theirs into the table as long as they hear that.
//
// The alternative is to compare the watched threads' last seqs and stream offsets with those of the last poll. It
// needs no writes, but its cost grows with the number of watched threads of each process, whether something happens
// or not, and it cannot carry live notices, or the news that an owner has changed. A poll of the table is one index
// lookup, and its cost grows only with what has happened.
const (
	// pollInterval bounds how late a wake-up comes, together with sendPausePooled: a stop on another machine arrives
	// within 0.3 seconds.
	pollInterval = 250 * time.Millisecond
	// wakesKept is how long a wake-up stays in the table.
	wakesKept   = 10 * time.Second
	pollTimeout = 5 * time.Second
	// tidyEvery is how often a process that polls tells others so, and removes old wake-ups.
	tidyEvery = wakesKept / 2
	// pollersKept is how long a process that listens believes that another one polls, since it heard so.
	pollersKept = 3*tidyEvery + tidyEvery/2
	// pollPage bounds how many rows a poll reads at once.
	pollPage = 500
)

// storeWakes returns the statements that add a row of wake-ups. The lock gives ids out in the order of the
// commits, so that a reader never has to look behind the greatest id that it has seen. It is held for a
// commit that does not wait for the disk.
func (l *live) storeWakes(body []byte) []statement {
	return []statement{
		{sql: "SELECT pg_advisory_xact_lock(?)", args: []any{lockNumber("wake", l.db.dialect.schema)}},
		{sql: "INSERT INTO spool.wake (at, node, body) VALUES (" + serverNow + ", ?, ?)", args: []any{l.node, body}},
	}
}

// serverNow is the time of the server's clock.
const serverNow = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint"

// poll receives wake-ups until the database is closed.
func (l *live) poll() {
	last, known := int64(0), false
	at, tidied := time.Now(), time.Time{}
	for {
		var err error
		if known {
			err = l.readWakes(&last)
		} else if last, err = l.lastWake(); err == nil {
			known = true
		}
		now := time.Now()
		switch {
		case err != nil && l.ctx.Err() != nil:
			return
		case err != nil:
			l.db.log.WarnContext(l.ctx, "poll wake-ups", "error", err)
		default:
			l.arrive(now.Sub(at) > wakesKept/2) // others may have removed some
			at = now
		}
		if now.Sub(tidied) > tidyEvery {
			l.tidyWakes()
			tidied = now
		}
		if !l.pause(pollInterval) {
			return
		}
	}
}

// lastWake returns the greatest id so far.
func (l *live) lastWake() (last int64, err error) {
	ctx, cancel := context.WithTimeout(l.ctx, pollTimeout)
	defer cancel()
	err = l.db.run(ctx, statement{
		sql: "SELECT coalesce(max(id), 0) FROM spool.wake", scan: func(r *row) { last = r.Int64() },
	})
	return last, err
}

// readWakes receives all wake-ups after the last one.
func (l *live) readWakes(last *int64) error {
	type sent struct {
		id   int64
		node string
		body []byte
	}
	for {
		ctx, cancel := context.WithTimeout(l.ctx, pollTimeout)
		var rows []sent
		err := l.db.run(ctx, statement{
			sql:  "SELECT id, node, body FROM spool.wake WHERE id > ? ORDER BY id LIMIT ?",
			args: []any{*last, pollPage},
			scan: each(&rows, func(r *row) sent { return sent{r.Int64(), r.Text(), r.bytes()} }),
		})
		cancel()
		if err != nil {
			return err
		}
		for _, s := range rows {
			*last = s.id
			if s.node != l.node {
				l.receive(s.body)
			}
		}
		if len(rows) < pollPage {
			return nil
		}
	}
}

// tidyWakes removes old wake-ups, and tells the processes that listen that this one polls.
func (l *live) tidyWakes() {
	ctx, cancel := context.WithTimeout(l.ctx, pollTimeout)
	defer cancel()
	err := l.db.run(ctx, notSynced, pruneWakes, l.notify([]string{pollsPayload(l.node)}))
	if err != nil && l.ctx.Err() == nil {
		l.db.log.WarnContext(l.ctx, "remove old wake-ups", "error", err)
	}
}

// pruneWakes removes old wake-ups. Processes that do so at the same time do not wait for each other.
var pruneWakes = statement{
	sql: `DELETE FROM spool.wake WHERE id IN (
			SELECT id FROM spool.wake WHERE at < ` + serverNow + ` - ? ORDER BY id LIMIT 10000 FOR UPDATE SKIP LOCKED
		)`,
	args: []any{wakesKept.Microseconds()},
}

// notePoller notes that another process polls.
func (l *live) notePoller() { l.pollers.Store(time.Now().Add(pollersKept).UnixNano()) }

// somePoll reports whether wake-ups must be in the table: this process or another one polls.
func (l *live) somePoll() bool { return l.db.pooler || time.Now().UnixNano() < l.pollers.Load() }
