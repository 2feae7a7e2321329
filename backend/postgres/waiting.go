package postgres

import (
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/internal/form"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// queueStats returns the statements that count the jobs of a query. Each is a reading one.
func (db *DB) queueStats(q wire.StatsQuery, stats *wire.QueueStats) []statement {
	of := form.Conditions{Text: "true"}
	if q.Tenant != "" {
		of.And("c.tenant = ?", q.Tenant)
	}
	if q.Queues != nil {
		of.Text, of.Args = of.Text+inQueues, append(of.Args, q.Queues)
	}
	if q.NeedsAgent {
		return []statement{db.countOfLanes(q, of, stats)}
	}
	dead := statement{
		sql: "SELECT count(*) FROM spool.job_dead c WHERE " + of.Text, args: of.Args,
		scan: func(r *row) { stats.Dead = r.Int() },
	}
	if q.Queues != nil {
		return []statement{db.countOfLanes(q, of, stats), dead}
	}
	return []statement{{
		sql: "WITH " + clock + `
			SELECT count(*) FILTER (WHERE c.due_at <= t.now), count(*) FILTER (WHERE c.due_at > t.now),
				count(*) FILTER (WHERE c.due_at > t.now AND c.claimed), ` + oldestMS("max(t.now)", "min(c.due_at)") + `
			FROM spool.job c CROSS JOIN clock t WHERE ` + of.Text,
		args: append([]any{db.clockArg()}, of.Args...),
		scan: scanQueueStats(stats),
	}, dead}
}

// countOfLanes returns the statement that counts the jobs in the lanes of a query, from indexes alone but for those in
// flight: starts ask for them. The order has the server choose the index also where its statistics are old, and it
// would read the whole table for each lane.
func (db *DB) countOfLanes(q wire.StatsQuery, of form.Conditions, stats *wire.QueueStats) statement {
	table, args := lanesIn(q.Queues, q.NeedsAgent)
	args = append([]any{db.clockArg()}, args...)
	claimed, tenant := of.Text, ""
	if q.NeedsAgent {
		claimed += " AND c.lane > ''"
	}
	args = append(args, of.Args...)
	if q.Tenant != "" {
		tenant = " AND j.tenant = ?"
		args = append(args, q.Tenant)
	}
	return statement{
		sql: "WITH RECURSIVE " + clock + ", " + table + `
			SELECT coalesce(sum(n.ready), 0)::bigint, coalesce(sum(n.later), 0)::bigint, (
				SELECT count(*) FROM spool.job c WHERE c.claimed AND c.due_at > (SELECT now FROM clock) AND ` + claimed + `
			), ` + oldestMS("(SELECT now FROM clock)", "min(n.oldest)") + `
			FROM lane l CROSS JOIN LATERAL (
				SELECT count(*) FILTER (WHERE j.due_at <= (SELECT now FROM clock)) AS ready,
					count(*) FILTER (WHERE j.due_at > (SELECT now FROM clock)) AS later, min(j.due_at) AS oldest
				FROM (SELECT j.due_at FROM spool.job j WHERE j.queue = l.queue AND j.lane = l.lane` + tenant + ` ORDER BY j.due_at, j.id) j
			) n WHERE l.lane IS NOT NULL`,
		args: args,
		scan: scanQueueStats(stats),
	}
}

// oldestMS returns the milliseconds from a time to now, or 0 for a time that is later or NULL.
func oldestMS(now, due string) string {
	return "coalesce(greatest(" + now + " - " + due + ", 0) / 1000, 0)"
}

// scanQueueStats reads the jobs that are due, those that are not, how many of these are in flight, and for how long the
// oldest one has been due.
func scanQueueStats(stats *wire.QueueStats) func(r *row) {
	return func(r *row) {
		stats.Ready, stats.Delayed, stats.InFlight, stats.OldestMS = r.Int(), r.Int(), r.Int(), r.Int64()
		stats.Delayed -= stats.InFlight
	}
}

// waitingTenants returns the statement that lists the tenants with due jobs in the queues, or for nil in all. It looks
// at each tenant that has jobs in each lane, with one index lookup for each.
func (db *DB) waitingTenants(queues []string, waiting *[]wire.WaitingTenant) statement {
	lanes, args := lanesIn(queues, false)
	counted, inFlightArgs := ofWaiting(queues)
	return statement{
		sql: "WITH RECURSIVE " + clock + ", " + lanes + `, holder (queue, lane, tenant) AS (
				SELECT l.queue, l.lane, (SELECT min(j.tenant) FROM spool.job j WHERE j.queue = l.queue AND j.lane = l.lane) FROM lane l
				UNION ALL
				SELECT h.queue, h.lane, (SELECT min(j.tenant) FROM spool.job j WHERE j.queue = h.queue AND j.lane = h.lane AND j.tenant > h.tenant)
				FROM holder h WHERE h.tenant IS NOT NULL
			), oldest AS (
				SELECT h.tenant, (SELECT min(j.due_at) FROM spool.job j WHERE j.queue = h.queue AND j.lane = h.lane AND j.tenant = h.tenant) AS due_at
				FROM holder h WHERE h.tenant IS NOT NULL
			), part AS (
				SELECT tenant, min(due_at) AS due_at FROM oldest GROUP BY tenant
			)
			SELECT p.tenant, p.due_at, (` + inFlight + counted +
			`) FROM part p WHERE p.due_at <= (SELECT now FROM clock) ORDER BY p.due_at, p.tenant`,
		args: slices.Concat([]any{db.clockArg()}, args, inFlightArgs),
		scan: each(waiting, func(r *row) wire.WaitingTenant {
			return wire.WaitingTenant{Tenant: spool.Tenant(r.Text()), DueAt: r.Time(), InFlight: r.Int()}
		}),
	}
}

// ofWaiting returns the condition of the jobs in flight that count for those who wait.
func ofWaiting(queues []string) (condition string, args []any) {
	if queues == nil {
		return "", nil
	}
	return inQueues, []any{queues}
}

// waitingSubjects returns the statement that lists the subjects of a tenant with due jobs, in the same way.
func (db *DB) waitingSubjects(tenant spool.Tenant, queues []string, waiting *[]wire.WaitingSubject) statement {
	lanes, args := lanesIn(queues, false)
	counted, inFlightArgs := ofWaiting(queues)
	return statement{
		sql: "WITH RECURSIVE " + clock + ", " + lanes + `, person (queue, lane, subject) AS (
				SELECT l.queue, l.lane, (SELECT min(j.subject) FROM spool.job j WHERE j.queue = l.queue AND j.lane = l.lane AND j.tenant = ?) FROM lane l
				UNION ALL
				SELECT p.queue, p.lane, (
					SELECT min(j.subject) FROM spool.job j
					WHERE j.queue = p.queue AND j.lane = p.lane AND j.tenant = ? AND j.subject > p.subject
				) FROM person p WHERE p.subject IS NOT NULL
			), listed AS (
				SELECT queue, lane, subject FROM person WHERE subject IS NOT NULL LIMIT ?
			)
			SELECT s.subject, (
				SELECT count(*) FROM spool.job c
				WHERE c.tenant = ? AND c.subject = s.subject AND c.claimed AND c.due_at > (SELECT now FROM clock)` + counted + `
			) FROM listed s WHERE (
				SELECT min(j.due_at) FROM spool.job j WHERE j.queue = s.queue AND j.lane = s.lane AND j.tenant = ? AND j.subject = s.subject
			) <= (SELECT now FROM clock) GROUP BY s.subject ORDER BY s.subject LIMIT ?`,
		args: slices.Concat([]any{db.clockArg()}, args, []any{tenant, tenant, 4 * store.MaxSubjects, tenant}, inFlightArgs,
			[]any{tenant, store.MaxSubjects}),
		scan: each(waiting, func(r *row) wire.WaitingSubject {
			return wire.WaitingSubject{Subject: r.Text(), InFlight: r.Int()}
		}),
	}
}

// stats adds the sums of the queue that a query asks for to the statements of [DB.Stats].
func (db *DB) statsOfQueue(q wire.StatsQuery, stats *wire.Stats) (batch []statement) {
	if q.Queue {
		batch = db.queueStats(q, &stats.Queue)
	}
	if q.Waiting {
		batch = append(batch, db.waitingTenants(q.Queues, &stats.Waiting))
		if q.Tenant != "" {
			batch = append(batch, db.waitingSubjects(q.Tenant, q.Queues, &stats.Subjects))
		}
	}
	return slices.Clip(batch)
}
