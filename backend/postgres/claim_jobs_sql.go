package postgres

import (
	"slices"

	"github.com/spoolhq/spool/store"
)

// clock is the store's time in a statement, as the table clock.
const clock = "clock AS MATERIALIZED (SELECT " + nowExpr + " AS now)"

// A lane is what a worker selects jobs by within a queue: '' for jobs that need no agent (see
// [wire.Job.NeedsAgent]), and "=" with the agent for the others. The indexes of the claim begin with the queue and
// the lane, so a claim never meets a job that the worker does not take.

// lanes returns the table lane of a statement, with the lanes of a query.
func lanes(q store.ClaimQuery) (table string, args []any) {
	queues := queuesOf(q)
	if q.Agents == nil {
		return lanesIn(queues, false)
	}
	of := []string{""}
	for _, agent := range q.Agents {
		of = append(of, "="+clean(agent))
	}
	return lanesOfAgents, []any{queues, of}
}

// queuesOf returns the queues of a claim.
func queuesOf(q store.ClaimQuery) []string {
	if q.Queues == nil {
		return []string{""}
	}
	return q.Queues
}

const lanesOfAgents = `lane (queue, lane) AS (
		SELECT q.queue, l.lane FROM unnest(?::text[]) AS q (queue) CROSS JOIN unnest(?::text[]) AS l (lane)
	)`

// lanesIn returns the table of the lanes that have jobs, in the queues or, for nil, in all. It finds them with one
// index lookup for each. needsAgent leaves out the lanes of jobs that need no agent.
func lanesIn(queues []string, needsAgent bool) (table string, args []any) {
	table = allQueues
	if queues != nil {
		table, args = listedQueues, []any{slices.Compact(slices.Sorted(slices.Values(queues)))}
	}
	above := ""
	if needsAgent {
		above = " AND j.lane > ''"
	}
	return table + `, lane (queue, lane) AS (
		SELECT q.queue, (SELECT min(j.lane) FROM spool.job j WHERE j.queue = q.queue` + above + `) FROM queues q
		UNION ALL
		SELECT l.queue, (SELECT min(j.lane) FROM spool.job j WHERE j.queue = l.queue AND j.lane > l.lane) FROM lane l WHERE l.lane IS NOT NULL
	)`, args
}

const (
	listedQueues = "queues (queue) AS (SELECT q.queue FROM unnest(?::text[]) AS q (queue))"
	allQueues    = `queues (queue) AS (
		SELECT min(queue) FROM spool.job
		UNION ALL
		SELECT (SELECT min(j.queue) FROM spool.job j WHERE j.queue > q.queue) FROM queues q WHERE q.queue IS NOT NULL
	)`
)

// dueParts reads the tenants with due jobs. It first reads up to 32 due jobs of each lane in due order. If there
// are fewer altogether, they show all such tenants. Otherwise it looks at each tenant that has jobs in the lanes,
// with one index lookup for each. The queues come twice behind the values of the lanes: for the jobs in flight.
const dueParts = `, due_first AS MATERIALIZED (
		SELECT l.queue, l.lane, j.tenant, j.due_at FROM lane l CROSS JOIN LATERAL (
			SELECT tenant, due_at FROM spool.job WHERE queue = l.queue AND lane = l.lane AND due_at <= (SELECT now FROM clock)
			ORDER BY due_at, id LIMIT 32
		) j
	), many AS MATERIALIZED (
		SELECT count(*) >= 32 AS yes FROM due_first
	), holder (queue, lane, tenant) AS (
		SELECT l.queue, l.lane, (SELECT min(j.tenant) FROM spool.job j WHERE j.queue = l.queue AND j.lane = l.lane)
		FROM lane l WHERE (SELECT yes FROM many)
		UNION ALL
		SELECT h.queue, h.lane, (SELECT min(j.tenant) FROM spool.job j WHERE j.queue = h.queue AND j.lane = h.lane AND j.tenant > h.tenant)
		FROM holder h WHERE h.tenant IS NOT NULL
	), part (queue, lane, tenant, due_at) AS (
		SELECT queue, lane, tenant, min(due_at) FROM due_first WHERE NOT (SELECT yes FROM many) GROUP BY queue, lane, tenant
		UNION ALL
		SELECT h.queue, h.lane, h.tenant, (SELECT min(j.due_at) FROM spool.job j WHERE j.queue = h.queue AND j.lane = h.lane AND j.tenant = h.tenant)
		FROM holder h WHERE h.tenant IS NOT NULL
	), flight AS (
		SELECT c.tenant FROM spool.job c WHERE c.claimed AND c.due_at > (SELECT now FROM clock)` + inQueues + `
	)
	SELECT p.queue, p.lane, p.tenant, p.due_at, (` + inFlight + inQueues + `),
		(SELECT count(*) FROM flight), (SELECT count(DISTINCT tenant) FROM flight), (SELECT yes FROM many)
	FROM part p WHERE p.due_at <= (SELECT now FROM clock)`

// inFlight counts the jobs in flight of the tenant of p. Their number is at most that of the workers' slots.
const inFlight = `SELECT count(*) FROM spool.job c WHERE c.tenant = p.tenant AND c.claimed AND c.due_at > (SELECT now FROM clock)`

// inQueues is the condition of the jobs c of queues.
const inQueues = ` AND c.queue = ANY (?::text[])`

// nextDue returns when the next job of the lanes becomes due, or its lease lapses.
const nextDue = ` SELECT coalesce(min(j.due_at), 0) FROM lane l CROSS JOIN LATERAL (
		SELECT due_at FROM spool.job WHERE queue = l.queue AND lane = l.lane AND due_at > (SELECT now FROM clock)
		ORDER BY due_at, id LIMIT 1
	) j`

// dueJobs are the conditions of the due jobs of a part.
const dueJobs = "j.queue = p.queue AND j.lane = p.lane AND j.tenant = p.tenant AND j.due_at <= (SELECT now FROM clock)"

// leaseJobs leases jobs. It ranks the due jobs of each part: how many slots the job must leave free, the jobs in flight
// of the tenant when this one is taken, when the tenant was served, the jobs in flight of the subject, and when the job
// became due. That is the order in which taking them one by one would choose them. A later job in it leaves no fewer
// slots free, so those that may be taken come first. Jobs that another claim is taking at the same time are skipped,
// and the next ones in the order take their places.
//
// Of a tenant with many jobs it also looks at those of its first subjects, with one index lookup for each. The first
// term of the recursion is empty for a tenant with few jobs.
const leaseJobs = "WITH " + clock + `, param AS (
		SELECT ?::bigint AS tenant_share, ?::bigint AS reserved, ?::bigint AS per_tenant, ?::bigint AS free, ?::bigint AS spare
	), part AS MATERIALIZED (
		SELECT p.queue, p.lane, p.tenant, p.served
		FROM unnest(?::text[], ?::text[], ?::text[], ?::bigint[]) AS p (queue, lane, tenant, served)
	), flight AS MATERIALIZED (
		SELECT c.tenant, c.subject, count(*) AS n FROM spool.job c
		WHERE c.tenant IN (SELECT tenant FROM part) AND c.claimed AND c.due_at > (SELECT now FROM clock)` + inQueues + `
		GROUP BY c.tenant, c.subject
	), due AS MATERIALIZED (
		SELECT p.tenant, p.served, j.id, j.due_at, j.subject FROM part p CROSS JOIN LATERAL (
			(SELECT j.id, j.due_at, j.subject FROM spool.job j WHERE ` + dueJobs + ` ORDER BY j.due_at, j.id LIMIT ?)
			UNION
			(WITH RECURSIVE person (subject) AS (
				SELECT (SELECT min(j.subject) FROM spool.job j WHERE j.queue = p.queue AND j.lane = p.lane AND j.tenant = p.tenant) WHERE ?
				UNION ALL
				SELECT (
					SELECT min(j.subject) FROM spool.job j
					WHERE j.queue = p.queue AND j.lane = p.lane AND j.tenant = p.tenant AND j.subject > person.subject
				) FROM person WHERE person.subject IS NOT NULL
			)
			SELECT f.id, f.due_at, f.subject FROM (SELECT subject FROM person WHERE subject IS NOT NULL LIMIT ?) s CROSS JOIN LATERAL (
				SELECT j.id, j.due_at, j.subject FROM spool.job j WHERE ` + dueJobs + ` AND j.subject = s.subject
				ORDER BY j.due_at, j.id LIMIT ?
			) f)
		) j
	), crowd AS (
		SELECT tenant, count(*) AS n FROM (SELECT tenant, subject FROM due UNION SELECT tenant, subject FROM flight) p GROUP BY tenant
	), own AS (
		SELECT d.*, coalesce(f.n, 0) + row_number() OVER (PARTITION BY d.tenant, d.subject ORDER BY d.due_at, d.id) - 1 AS mine
		FROM due d LEFT JOIN flight f ON f.tenant = d.tenant AND f.subject = d.subject
	), loaded AS (
		SELECT o.*, greatest(1, q.tenant_share / p.n) AS own_share, coalesce((SELECT sum(f.n) FROM flight f WHERE f.tenant = o.tenant), 0)
			+ row_number() OVER (PARTITION BY o.tenant ORDER BY o.mine, o.due_at, o.id) - 1 AS level
		FROM own o JOIN crowd p ON p.tenant = o.tenant CROSS JOIN param q
	), bound AS (
		SELECT l.*, CASE
			WHEN l.level < q.tenant_share THEN least(greatest(l.level - 1, 0), (q.reserved + 1) / 2)
			WHEN l.mine < l.own_share THEN least((q.reserved + 1) / 2 + greatest(l.mine - 1, 0), q.reserved)
			ELSE q.reserved END AS kept
		FROM loaded l CROSS JOIN param q WHERE q.per_tenant = 0 OR l.level < q.per_tenant
	), ranked AS (
		SELECT b.id, b.kept, row_number() OVER (ORDER BY b.kept, b.level, b.served, b.mine, b.due_at, b.id) AS place FROM bound b
	), chosen AS MATERIALIZED (
		SELECT array_agg(r.id ORDER BY r.place) AS ids, count(*) FILTER (WHERE r.place <= q.free - r.kept) AS most
		FROM ranked r CROSS JOIN param q WHERE r.place <= q.spare
	), locked AS MATERIALIZED (
		SELECT j.id, j.due_at, array_position((SELECT ids FROM chosen), j.id) AS place FROM spool.job j
		WHERE j.id = ANY ((SELECT ids FROM chosen)::bigint[]) AND j.due_at <= (SELECT now FROM clock)
		ORDER BY place LIMIT (SELECT most FROM chosen) FOR UPDATE OF j SKIP LOCKED
	), taken AS (
		UPDATE spool.job SET due_at = (SELECT now FROM clock) + ?, claimed = true, token = token + 1, attempts = attempts + 1
		FROM locked WHERE job.id = locked.id
		RETURNING job.*, locked.due_at AS was_due, locked.place AS place
	)
	SELECT ` + jobColumns + `, id, token, attempts, was_due FROM taken ORDER BY place`
