package postgres

import "github.com/spoolhq/spool"

// clock is the store's time in a statement, as the table clock.
const clock = "clock AS MATERIALIZED (SELECT " + nowExpr + " AS now)"

// A lane is what a worker selects jobs by within a queue: '' for jobs that need no agent (see
// [spool.Job.NeedsAgent]), and "=" with the agent for the others. The indexes of the claim begin with the queue and the lane, so a claim never meets a job that
// the worker does not take.

// lanes returns the table lane of a statement, with the lanes of a query.
func lanes(q spool.ClaimQuery) (table string, args []any) {
	queues := q.Queues
	if queues == nil {
		queues = []string{""}
	}
	if q.Agents == nil {
		return lanesOfQueues, []any{queues}
	}
	of := []string{""}
	for _, agent := range q.Agents {
		of = append(of, "="+clean(agent))
	}
	return lanesOfAgents, []any{queues, of}
}

const lanesOfAgents = `lane (queue, lane) AS (
		SELECT q.queue, l.lane FROM unnest(?::text[]) AS q (queue) CROSS JOIN unnest(?::text[]) AS l (lane)
	)`

// lanesOfQueues finds the lanes that have jobs, with one index lookup for each.
const lanesOfQueues = `lane (queue, lane) AS (
		SELECT q.queue, (SELECT min(j.lane) FROM spool.job j WHERE j.queue = q.queue) FROM unnest(?::text[]) AS q (queue)
		UNION ALL
		SELECT l.queue, (SELECT min(j.lane) FROM spool.job j WHERE j.queue = l.queue AND j.lane > l.lane) FROM lane l WHERE l.lane IS NOT NULL
	)`

// dueParts reads the tenants with due jobs. It first reads up to 32 due jobs of each lane in due order. If there
// are fewer altogether, they show all such tenants. Otherwise it looks at each tenant that has jobs in the lanes,
// with one index lookup for each.
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
	)
	SELECT p.queue, p.lane, p.tenant, p.due_at, ` + inFlight + ` FROM part p WHERE p.due_at <= (SELECT now FROM clock)`

// inFlight counts the jobs in flight of the tenant of p. Their number is at most that of the workers' slots.
const inFlight = `(SELECT count(*) FROM spool.job c WHERE c.tenant = p.tenant AND c.claimed AND c.due_at > (SELECT now FROM clock))`

// nextDue returns when the next job of the lanes becomes due, or its lease lapses.
const nextDue = ` SELECT coalesce(min(j.due_at), 0) FROM lane l CROSS JOIN LATERAL (
		SELECT due_at FROM spool.job WHERE queue = l.queue AND lane = l.lane AND due_at > (SELECT now FROM clock)
		ORDER BY due_at, id LIMIT 1
	) j`

// takeJobs leases jobs. It ranks the due jobs of each part: the jobs in flight of the tenant when this one is
// taken, then when the tenant was served, then when the job became due. That is the order in which taking them
// one by one would choose them. Jobs that another claim is taking at the same time are skipped, and the next ones
// in the order take their places.
//
// The jobs for tenants without one in flight come first. The others get what is left of the limit without the
// reserved places.
const takeJobs = "WITH " + clock + `, part AS MATERIALIZED (
		SELECT p.queue, p.lane, p.tenant, p.served
		FROM unnest(?::text[], ?::text[], ?::text[], ?::bigint[]) AS p (queue, lane, tenant, served)
	), busy AS MATERIALIZED (
		SELECT p.tenant, ` + inFlight + ` AS n FROM (SELECT DISTINCT tenant FROM part) p
	), due AS (
		SELECT p.tenant, p.served, j.id, j.due_at, row_number() OVER (PARTITION BY p.tenant ORDER BY j.due_at, j.id) - 1 AS before
		FROM part p CROSS JOIN LATERAL (
			SELECT id, due_at FROM spool.job WHERE queue = p.queue AND lane = p.lane AND tenant = p.tenant AND due_at <= (SELECT now FROM clock)
			ORDER BY due_at, id LIMIT ?
		) j
	), ranked AS (
		SELECT d.id, b.n + d.before AS level, row_number() OVER (ORDER BY b.n + d.before, d.served, d.due_at, d.id) AS place
		FROM due d JOIN busy b ON b.tenant = d.tenant WHERE ?::bigint = 0 OR b.n + d.before < ?::bigint
	), chosen AS MATERIALIZED (
		SELECT array_agg(id ORDER BY place) AS ids, least(?::bigint, greatest(?::bigint, count(*) FILTER (WHERE level = 0))) AS most
		FROM ranked WHERE place <= ?::bigint
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
