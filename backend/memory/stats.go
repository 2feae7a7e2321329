package memory

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Stats returns the sums that the query asks for. A store in memory measures nothing about itself.
func (s port) Stats(ctx context.Context, q wire.StatsQuery) (stats wire.Stats, err error) {
	if err := canceled(ctx); err != nil {
		return stats, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if q.Tally {
		stats.Tally = s.tally(q.Tenant)
	}
	if q.Queue {
		stats.Queue = s.queueStats(q)
	}
	if q.Waiting {
		stats.Waiting = s.waiting(q)
		stats.Subjects = s.waitingSubjects(q)
	}
	return stats, nil
}

// tally counts the threads, runs and tokens of a tenant. The caller must hold mu.
func (m *memory) tally(tenant spool.Tenant) wire.Tally {
	tally := wire.Tally{Runs: make(map[wire.State]int64)}
	for key, data := range m.threads {
		if key.Tenant != tenant {
			continue
		}
		tally.Threads++
		tally.Bytes += data.bytes()
		for _, r := range data.runs {
			tally.Runs[r.State]++
			if r.Depth == 0 {
				tally.Tokens.Add(r.TokenCount)
			}
		}
	}
	return tally
}

// counts reports whether the query looks at the job.
func counts(j wire.Job, q wire.StatsQuery) bool {
	return q.Queues == nil || slices.Contains(q.Queues, j.Queue)
}

// queueStats counts jobs. The caller must hold mu.
func (m *memory) queueStats(q wire.StatsQuery) (stats wire.QueueStats) {
	now := m.now()
	of := func(j wire.Job) bool { return (q.Tenant == "" || j.Tenant == q.Tenant) && counts(j, q) }
	for _, d := range m.dead {
		if !q.NeedsAgent && of(d.Job) {
			stats.Dead++
		}
	}
	for _, j := range m.jobs {
		if !of(j.Job) || q.NeedsAgent && !j.NeedsAgent() {
			continue
		}
		switch j.state(now) {
		case wire.JobReady:
			stats.Ready++
			stats.OldestMS = max(stats.OldestMS, now.Sub(j.due).Milliseconds())
		case wire.JobInFlight:
			stats.InFlight++
		default:
			stats.Delayed++
		}
	}
	return stats
}

// waiting lists the tenants that have due jobs. The caller must hold mu.
func (m *memory) waiting(q wire.StatsQuery) (waiting []wire.WaitingTenant) {
	now := m.now()
	oldest := make(map[spool.Tenant]time.Time)
	inFlight := make(map[spool.Tenant]int)
	for _, j := range m.jobs {
		if !counts(j.Job, q) {
			continue
		}
		switch first, some := oldest[j.Tenant]; j.state(now) {
		case wire.JobReady:
			if !some || j.due.Before(first) {
				oldest[j.Tenant] = j.due
			}
		case wire.JobInFlight:
			inFlight[j.Tenant]++
		default:
		}
	}
	for tenant, due := range oldest {
		waiting = append(waiting, wire.WaitingTenant{Tenant: tenant, InFlight: inFlight[tenant], DueAt: due})
	}
	slices.SortFunc(waiting, func(a, b wire.WaitingTenant) int {
		return cmp.Or(a.DueAt.Compare(b.DueAt), cmp.Compare(a.Tenant, b.Tenant))
	})
	return waiting
}

// waitingSubjects lists the subjects of a tenant that have due jobs. The caller must hold mu.
func (m *memory) waitingSubjects(q wire.StatsQuery) (waiting []wire.WaitingSubject) {
	now := m.now()
	due, inFlight := make(map[string]bool), make(map[string]int)
	for _, j := range m.jobs {
		switch state := j.state(now); {
		case q.Tenant == "" || j.Tenant != q.Tenant || !counts(j.Job, q):
		case state == wire.JobReady:
			due[j.Subject] = true
		case state == wire.JobInFlight:
			inFlight[j.Subject]++
		}
	}
	for _, subject := range slices.Sorted(maps.Keys(due)) {
		waiting = append(waiting, wire.WaitingSubject{Subject: subject, InFlight: inFlight[subject]})
	}
	return waiting[:min(len(waiting), store.MaxSubjects)]
}
