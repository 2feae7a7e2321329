package postgres

import (
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// queueStats returns the statements that count the jobs of a tenant, or of all for the empty tenant. Each is a
// reading one.
func (db *DB) queueStats(tenant spool.Tenant, stats *wire.QueueStats) []statement {
	where, args := "true", []any{db.clockArg()}
	var dead []any
	if tenant != "" {
		where = "tenant = ?"
		args, dead = append(args, tenant), []any{tenant}
	}
	return []statement{{
		sql: "WITH " + clock + `
			SELECT count(*) FILTER (WHERE due_at <= c.now), count(*) FILTER (WHERE due_at > c.now AND NOT claimed),
				count(*) FILTER (WHERE due_at > c.now AND claimed), coalesce((max(c.now) - min(due_at) FILTER (WHERE due_at <= c.now)) / 1000, 0)
			FROM spool.job CROSS JOIN clock c WHERE ` + where,
		args: args,
		scan: func(r *row) {
			stats.Ready, stats.Delayed, stats.InFlight, stats.OldestMS = r.Int(), r.Int(), r.Int(), r.Int64()
		},
	}, {
		sql: "SELECT count(*) FROM spool.job_dead WHERE " + where, args: dead,
		scan: func(r *row) { stats.Dead = r.Int() },
	}}
}

// waitingTenants returns the statement that lists the tenants with due jobs. It looks at each tenant that has jobs
// in each queue and lane, with one index lookup for each.
func (db *DB) waitingTenants(waiting *[]wire.WaitingTenant) statement {
	return statement{
		sql: "WITH RECURSIVE " + clock + `, holder AS (
				(SELECT queue, lane, tenant FROM spool.job ORDER BY queue, lane, tenant LIMIT 1)
				UNION ALL
				SELECT j.queue, j.lane, j.tenant FROM holder h CROSS JOIN LATERAL (
					SELECT queue, lane, tenant FROM spool.job WHERE (queue, lane, tenant) > (h.queue, h.lane, h.tenant)
					ORDER BY queue, lane, tenant LIMIT 1
				) j
			), oldest AS (
				SELECT h.tenant, (SELECT min(j.due_at) FROM spool.job j WHERE j.queue = h.queue AND j.lane = h.lane AND j.tenant = h.tenant) AS due_at
				FROM holder h
			), part AS (
				SELECT tenant, min(due_at) AS due_at FROM oldest GROUP BY tenant
			)
			SELECT p.tenant, p.due_at, ` + inFlight +
			` FROM part p WHERE p.due_at <= (SELECT now FROM clock) ORDER BY p.due_at, p.tenant`,
		args: []any{db.clockArg()},
		scan: each(waiting, func(r *row) wire.WaitingTenant {
			return wire.WaitingTenant{Tenant: spool.Tenant(r.Text()), DueAt: r.Time(), InFlight: r.Int()}
		}),
	}
}

// waitingSubjects returns the statement that lists the subjects of a tenant with due jobs, in the same way.
func (db *DB) waitingSubjects(tenant spool.Tenant, waiting *[]wire.WaitingSubject) statement {
	return statement{
		sql: "WITH RECURSIVE " + clock + `, lane (queue, lane) AS (
				(SELECT queue, lane FROM spool.job ORDER BY queue, lane LIMIT 1)
				UNION ALL
				SELECT j.queue, j.lane FROM lane l CROSS JOIN LATERAL (
					SELECT queue, lane FROM spool.job WHERE (queue, lane) > (l.queue, l.lane) ORDER BY queue, lane LIMIT 1
				) j
			), person (queue, lane, subject) AS (
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
				WHERE c.tenant = ? AND c.subject = s.subject AND c.claimed AND c.due_at > (SELECT now FROM clock)
			) FROM listed s WHERE (
				SELECT min(j.due_at) FROM spool.job j WHERE j.queue = s.queue AND j.lane = s.lane AND j.tenant = ? AND j.subject = s.subject
			) <= (SELECT now FROM clock) GROUP BY s.subject ORDER BY s.subject LIMIT ?`,
		args: []any{db.clockArg(), tenant, tenant, 4 * store.MaxSubjects, tenant, tenant, store.MaxSubjects},
		scan: each(waiting, func(r *row) wire.WaitingSubject {
			return wire.WaitingSubject{Subject: r.Text(), InFlight: r.Int()}
		}),
	}
}

// stats adds the sums of the queue that a query asks for to the statements of [DB.Stats].
func (db *DB) statsOfQueue(q wire.StatsQuery, stats *wire.Stats) (batch []statement) {
	if q.Queue {
		batch = db.queueStats(q.Tenant, &stats.Queue)
	}
	if q.Waiting {
		batch = append(batch, db.waitingTenants(&stats.Waiting))
		if q.Tenant != "" {
			batch = append(batch, db.waitingSubjects(q.Tenant, &stats.Subjects))
		}
	}
	return slices.Clip(batch)
}
