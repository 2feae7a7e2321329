package spooltest

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/compare"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// testQueueApart checks that a claim does not look at the jobs of other queues, also not at those in flight: events
// take nothing from the tickets of their tenant and subject, and tickets nothing from events. There are n tickets of
// each subject.
func testQueueApart(q *queueTest, n int) {
	publish := func(keys ...string) {
		q.Helper()
		for _, key := range keys {
			e := event(key)
			e.Subject = "u"
			q.publish(spool.ThreadKey{Tenant: "a"}, e)
		}
	}
	publish("e1", "e2", "e3", "e4", "e5")
	q.same("events in flight", len(q.delivered()), 5)
	for i := range n {
		for _, subject := range []string{"u", "v", "w"} {
			j := job(subject + strconv.Itoa(i))
			if j.Tenant, j.Subject = "a", subject; subject == "w" {
				j.Tenant = "b"
			}
			q.enqueue(j)
			q.clock.Advance(time.Microsecond)
		}
	}
	_, taken := q.take(store.ClaimQuery{Limit: 1, Reserved: 1})
	q.same("a tenant without a ticket in flight takes the last slot", jobKeys(taken), "u0")
	_, taken = q.take(store.ClaimQuery{Limit: 3})
	q.same("the next three", jobKeys(taken), "w0v0w1")
	of, _ := q.take(store.ClaimQuery{Limit: 9, PerTenant: 3})
	q.same("one more of each", of, "ab")

	publish("e6")
	_, taken = q.take(store.ClaimQuery{Limit: 9, PerTenant: 6, Queues: outbox.Queues})
	q.same("one more event", jobKeys(taken), "e6")
	of, _ = q.take(store.ClaimQuery{Limit: 9, PerTenant: 9, Queues: []string{"", "outbox"}})
	if of == "" || strings.Trim(of, "b") != "" {
		q.Errorf("of both queues: got jobs of %q, want those of b", of)
	}
}

// fillQueues adds jobs in each state to three queues. The other tenant has one ticket.
func (q *queueTest) fillQueues() {
	q.Helper()
	q.addTo("", "a1", "a2", "a3")
	q.addTo("slow", "a4", "a5")
	settle := job("settle")
	settle.Kind = wire.JobSettle
	q.enqueue(settle)
	q.add(time.Hour, "later")
	foreign := job("x")
	foreign.Tenant, foreign.Queue = "other", "slow"
	q.enqueue(foreign)
	for _, key := range []string{"e1", "e2", "e3", "e4"} {
		e := event(key)
		e.Subject = "hook"
		q.publish(spool.ThreadKey{Tenant: spool.DefaultTenant}, e)
		q.clock.Advance(time.Microsecond)
	}
	dies := func(query store.ClaimQuery, want string) {
		q.Helper()
		_, taken := q.take(query)
		q.same("taken", compare.Spaced(taken, func(d store.Delivery) string { return d.Key }), want)
		if last := len(taken) - 1; last > 0 {
			q.ok("dead-letter", q.Store.Ack(q.ctx, taken[last], store.Ack{Kind: store.AckDead, Cause: "cause"}))
		}
	}
	dies(store.ClaimQuery{Limit: 2}, "a1 a2")
	dies(store.ClaimQuery{Limit: 1, Queues: []string{"slow"}}, "a4")
	dies(store.ClaimQuery{Limit: 2, Queues: outbox.Queues}, "e1 e2")
	q.clock.Advance(1500 * time.Millisecond)
}

// testQueueStatsOfQueues counts the jobs of some queues, and those that need an agent.
func testQueueStatsOfQueues(q *queueTest) {
	q.fillQueues()
	const ours = spool.DefaultTenant
	for _, c := range []struct {
		query wire.StatsQuery
		want  wire.QueueStats
	}{
		{wire.StatsQuery{Tenant: ours}, wire.QueueStats{Ready: 5, Delayed: 1, InFlight: 3, Dead: 2}},
		{wire.StatsQuery{Tenant: ours, Queues: []string{""}}, wire.QueueStats{Ready: 2, Delayed: 1, InFlight: 1, Dead: 1}},
		{wire.StatsQuery{Tenant: ours, Queues: []string{"slow", "outbox"}}, wire.QueueStats{Ready: 3, InFlight: 2, Dead: 1}},
		{wire.StatsQuery{Queues: []string{"slow", "slow"}}, wire.QueueStats{Ready: 2, InFlight: 1}},
		{wire.StatsQuery{Queues: []string{"none"}}, wire.QueueStats{}},
		{wire.StatsQuery{Queues: []string{}}, wire.QueueStats{}},
		{wire.StatsQuery{Tenant: ours, NeedsAgent: true}, wire.QueueStats{Ready: 2, Delayed: 1, InFlight: 2}},
		{wire.StatsQuery{NeedsAgent: true}, wire.QueueStats{Ready: 3, Delayed: 1, InFlight: 2}},
		{wire.StatsQuery{Tenant: "other", NeedsAgent: true}, wire.QueueStats{Ready: 1}},
		{
			wire.StatsQuery{Tenant: ours, NeedsAgent: true, Queues: []string{"", "outbox"}},
			wire.QueueStats{Ready: 1, Delayed: 1, InFlight: 1},
		},
		{wire.StatsQuery{NeedsAgent: true, Queues: []string{"outbox"}}, wire.QueueStats{}},
	} {
		c.query.Queue = true
		if c.want.Ready > 0 {
			c.want.OldestMS = 1500
		}
		stats, err := q.Store.Stats(q.ctx, c.query)
		q.ok("stats", err)
		stats.Queue.Extra = nil
		q.same(fmt.Sprintf("jobs of %+v", c.query), stats.Queue, c.want)
	}
	for _, c := range []struct {
		queues []string
		want   string
	}{
		{nil, "default 3, other 0; 2, hook 1"},
		{[]string{""}, "default 1; 1"},
		{[]string{"slow"}, "default 1, other 0; 1"},
		{[]string{"outbox"}, "default 1; hook 1"},
		{[]string{"outbox", ""}, "default 2; 1, hook 1"},
		{[]string{"none"}, "; "},
		{[]string{}, "; "},
	} {
		stats, err := q.Store.Stats(q.ctx, wire.StatsQuery{Waiting: true, Tenant: ours, Queues: c.queues})
		q.ok("stats", err)
		tenants := each(stats.Waiting, func(t wire.WaitingTenant) string { return fmt.Sprint(t.Tenant, " ", t.InFlight) })
		subjects := each(stats.Subjects, func(s wire.WaitingSubject) string {
			return strings.TrimSpace(fmt.Sprint(s.Subject, " ", s.InFlight))
		})
		got := strings.Join(tenants, ", ") + "; " + strings.Join(subjects, ", ")
		q.same(fmt.Sprintf("who waits in %q", c.queues), got, c.want)
	}
}
