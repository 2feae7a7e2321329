package sqlite

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/internal/form"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Stats implements [store.Store]. It measures nothing about the file.
func (db *DB) Stats(ctx context.Context, q wire.StatsQuery) (s wire.Stats, err error) {
	at := now(db.clock)
	var reads []func(c *conn) error
	if q.Tally {
		reads = append(reads, func(c *conn) error { return readTally(c, &s.Tally, q.Tenant) })
	}
	if q.Queue {
		reads = append(reads, func(c *conn) error { return readQueue(c, &s.Queue, q, at) })
	}
	if q.Waiting {
		l := lanesIn(q.Queues, lanesOfQueues)
		reads = append(reads,
			func(c *conn) error { return readWaiting(c, &s.Waiting, l, at) },
			func(c *conn) error { return readSubjects(c, &s.Subjects, l, q.Tenant, at) },
			func(c *conn) error { return readInFlight(c, &s, q, at) })
	}
	switch len(reads) {
	case 0:
	case 1:
		err = db.starts.read(ctx, reads[0])
	default:
		err = db.starts.snapshot(ctx, func(c *conn) error {
			for _, read := range reads {
				if err := read(c); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return s, err
}

// readTally reads the sums of a tenant. Each commit updates them; triggers do so for deleted rows. The tokens of
// running runs are in their rows alone.
func readTally(c *conn, tally *wire.Tally, tenant spool.Tenant) error {
	tally.Runs = make(map[wire.State]int64)
	return c.query(`SELECT state, n, input_tokens, cached_input_tokens, output_tokens, total_tokens
		FROM tally WHERE tenant = ?
		UNION ALL SELECT state, 0, input_tokens, cached_input_tokens, output_tokens, total_tokens
		FROM run INDEXED BY run_state WHERE tenant = ? AND state = 'RUNNING' AND depth = 0`, func(r *row) error {
		state, n := r.Text(), r.Int64()
		tally.Tokens.Add(spool.TokenCount{
			InputTokens: r.Int64(), CachedInputTokens: r.Int64(), OutputTokens: r.Int64(), TotalTokens: r.Int64(),
		})
		switch {
		case state == "":
			tally.Threads = n
		case state == sizeState:
			tally.Bytes = n
		case n > 0:
			tally.Runs[wire.State(state)] = n
		}
		return nil
	}, tenant, tenant)
}

// readQueue counts the jobs of a query. A claimed job whose lease has lapsed is ready.
func readQueue(c *conn, s *wire.QueueStats, q wire.StatsQuery, at time.Time) error {
	scan := func(r *row) error {
		s.Ready, s.Delayed, s.InFlight, s.Dead = r.Int(), r.Int(), r.Int(), r.Int()
		s.Delayed -= s.InFlight
		if oldest := r.Time(); !oldest.IsZero() && oldest.Before(at) {
			s.OldestMS = at.Sub(oldest).Milliseconds()
		}
		return nil
	}
	if q.Queues != nil || q.NeedsAgent {
		return countOfLanes(c, q, at, scan)
	}
	of, args := "", []any{at, at, at}
	if q.Tenant != "" {
		of, args = " WHERE tenant = ?", []any{at, at, at, q.Tenant, q.Tenant}
	}
	return c.query(`SELECT
			count(*) FILTER (WHERE due_at <= ?),
			count(*) FILTER (WHERE due_at > ?),
			count(*) FILTER (WHERE due_at > ? AND claimed = 1),
			(SELECT count(*) FROM job_dead`+of+`),
			min(due_at)
		FROM job`+of, scan, args...)
}

// countOfLanes counts the jobs in the lanes of a query, from indexes alone but for those in flight: starts ask for
// them.
func countOfLanes(c *conn, q wire.StatsQuery, at time.Time, scan func(r *row) error) error {
	of := form.Conditions{Text: "true"}
	index, tenant := "job_due", ""
	var last []any
	if q.Tenant != "" {
		of.And("tenant = ?", q.Tenant)
		index, tenant, last = "job_tenant_due", " AND j.tenant = ?", of.Args
	}
	if q.Queues != nil {
		of.And(inQueues, names(q.Queues))
	}
	lanesOf, dead, args := lanesOfQueues, "(SELECT count(*) FROM job_dead WHERE "+of.Text+")", of.Args
	if q.NeedsAgent {
		lanesOf, dead, args = lanesOfAgents, "0", nil
		of.And("lane > ''")
	}
	return lanesIn(q.Queues, lanesOf).query(c.query, ` SELECT
			count(*) FILTER (WHERE j.due_at <= ?),
			count(*) FILTER (WHERE j.due_at > ?),
			(SELECT count(*) FROM job INDEXED BY job_claimed WHERE claimed = 1 AND due_at > ? AND `+of.Text+`),
			`+dead+`,
			min(j.due_at)
		FROM wanted CROSS JOIN job AS j INDEXED BY `+index+` ON j.queue = q AND j.lane = l`+tenant, scan,
		slices.Concat([]any{at, at, at}, of.Args, args, last)...)
}

// readWaiting reads the tenants that have due jobs.
func readWaiting(c *conn, waiting *[]wire.WaitingTenant, l lanes, at time.Time) error {
	oldest := make(map[spool.Tenant]time.Time)
	err := l.query(c.query, oldestOfEach, func(r *row) error {
		_, _ = r.Text(), r.Text() // the lane
		tenant, due := spool.Tenant(r.Text()), r.Time()
		if known, ok := oldest[tenant]; !ok || due.Before(known) {
			oldest[tenant] = due
		}
		return nil
	}, at)
	for tenant, due := range oldest {
		*waiting = append(*waiting, wire.WaitingTenant{Tenant: tenant, DueAt: due})
	}
	slices.SortFunc(*waiting, func(a, b wire.WaitingTenant) int {
		return cmp.Or(a.DueAt.Compare(b.DueAt), cmp.Compare(a.Tenant, b.Tenant))
	})
	return err
}

// readSubjects reads the subjects of a tenant that have due jobs.
func readSubjects(c *conn, subjects *[]wire.WaitingSubject, l lanes, tenant spool.Tenant, at time.Time) error {
	var parts []part
	if tenant != "" {
		if err := readParts(c.query, l, tenant, at, &parts); err != nil {
			return err
		}
	}
	slices.SortFunc(parts, func(a, b part) int { return cmp.Compare(a.subject, b.subject) })
	parts = slices.CompactFunc(parts, func(a, b part) bool { return a.subject == b.subject })
	for _, p := range parts[:min(len(parts), store.MaxSubjects)] {
		*subjects = append(*subjects, wire.WaitingSubject{Subject: p.subject})
	}
	return nil
}

// readInFlight counts the jobs in flight of waiting tenants, and of the waiting subjects of a tenant.
func readInFlight(c *conn, s *wire.Stats, q wire.StatsQuery, at time.Time) error {
	if len(s.Waiting) == 0 {
		return nil
	}
	query, args := claimedOfEach(q.Queues, at)
	return c.query(query, func(r *row) error {
		tenant, subject, n := spool.Tenant(r.Text()), r.Text(), r.Int()
		if i := slices.IndexFunc(s.Waiting, func(w wire.WaitingTenant) bool { return w.Tenant == tenant }); i >= 0 {
			s.Waiting[i].InFlight += n
		}
		if i := slices.IndexFunc(s.Subjects, func(w wire.WaitingSubject) bool { return w.Subject == subject }); i >= 0 &&
			tenant == q.Tenant {
			s.Subjects[i].InFlight += n
		}
		return nil
	}, args...)
}
