package spooltest

import (
	"strconv"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// addTo enqueues jobs in a named queue, with a microsecond between them. The first letter of a key is the
// agent.
func (q *queueTest) addTo(name string, keys ...string) {
	q.Helper()
	for _, key := range keys {
		j := job(key)
		j.Queue, j.Agent = name, key[:1]
		q.enqueue(j)
		q.clock.Advance(time.Microsecond)
	}
}

// keys claims jobs and returns their keys, separated by spaces.
func (q *queueTest) keys(query store.ClaimQuery) string {
	q.Helper()
	_, taken := q.take(query)
	keys := each(taken, func(d store.Delivery) string { return d.Key })
	return strings.Join(keys, " ")
}

// testQueueNamed claims from named queues.
func testQueueNamed(q *queueTest) {
	q.addTo("", "a1", "a2")
	q.addTo("mail", "a3", "a4")
	q.addTo("slow", "a5")
	q.addTo("mail", "a1") // the tenant has a job with this key
	q.same("no queue", q.keys(store.ClaimQuery{Limit: 9, Queues: []string{}}), "")
	q.same("an unknown queue", q.keys(store.ClaimQuery{Limit: 9, Queues: []string{"mails"}}), "")
	q.same("the default queue", q.keys(store.ClaimQuery{Limit: 1}), "a1")
	q.same("two queues", q.keys(store.ClaimQuery{Limit: 2, Queues: []string{"slow", ""}}), "a2 a5")
	_, taken := q.take(store.ClaimQuery{Limit: 1, Queues: []string{"mail"}})
	q.same("a queue", jobKeys(taken), "a3")
	q.same("its name", taken[0].Queue, "mail")
	q.same("those in flight count", q.keys(store.ClaimQuery{Limit: 9, Queues: []string{"mail"}, PerTenant: 1}), "")

	q.ok("release", q.Store.Ack(q.ctx, taken[0], store.Ack{Kind: store.AckRelease}))
	q.same("after a release", q.keys(store.ClaimQuery{Limit: 9, Queues: []string{"mail"}}), "a4 a3")
}

// testQueueNext checks that a claim that takes nothing returns when a job becomes due that it could take.
func testQueueNext(q *queueTest) {
	now := q.clock.Now()
	for i, j := range []wire.Job{
		{Key: "a", Queue: "mail", Agent: "x"}, {Key: "b", Agent: "x"}, {Key: "c", Agent: "y"},
	} {
		j.Tenant, j.ThreadID, j.RunID = spool.DefaultTenant, "t", "r"
		j.DueAt = now.Add(time.Duration(i+1) * time.Minute)
		q.enqueue(j)
	}
	for name, c := range map[string]struct {
		query store.ClaimQuery
		want  time.Time
	}{
		"the default queue": {store.ClaimQuery{}, now.Add(2 * time.Minute)},
		"another queue":     {store.ClaimQuery{Queues: []string{"mail"}}, now.Add(time.Minute)},
		"both":              {store.ClaimQuery{Queues: []string{"", "mail"}}, now.Add(time.Minute)},
		"an agent":          {store.ClaimQuery{Agents: []string{"y"}}, now.Add(3 * time.Minute)},
		"an unknown queue":  {store.ClaimQuery{Queues: []string{"x"}}, time.Time{}},
		"an unknown agent":  {store.ClaimQuery{Agents: []string{"z"}}, time.Time{}},
	} {
		c.query.Limit, c.query.Lease = 10, lease
		taken, next, err := q.Store.Claim(q.ctx, c.query)
		q.ok("claim", err)
		q.same(name, len(taken), 0)
		q.same(name+": next", next, c.want)
	}
}

// testQueueAgents checks that a worker only gets the jobs of its agents, however many other jobs are older.
func testQueueAgents(q *queueTest) {
	q.addTo("", "x1", "y1", "z1")
	q.publish(spool.ThreadKey{Tenant: spool.DefaultTenant}, wire.Job{Key: "event", Payload: []byte(`1`)})
	settle := job("w1")
	settle.Kind, settle.Agent = wire.JobSettle, "w"
	q.enqueue(settle)
	q.same("no agent", q.keys(store.ClaimQuery{Limit: 9, Agents: []string{}}), "event w1")
	q.same("an unknown agent", q.keys(store.ClaimQuery{Limit: 9, Agents: []string{"w"}}), "")
	q.same("two agents", q.keys(store.ClaimQuery{Limit: 9, Agents: []string{"z", "x"}}), "x1 z1")
	q.same("all agents", q.keys(store.ClaimQuery{Limit: 9}), "y1")

	for i := range 300 {
		q.addTo("", "y"+strconv.Itoa(i+10))
	}
	q.addTo("mail", "x2")
	q.addTo("", "x3")
	foreign := job("x4")
	foreign.Tenant, foreign.Agent = "other", "x"
	q.enqueue(foreign)
	q.same("behind many jobs", q.keys(store.ClaimQuery{Limit: 9, Agents: []string{"x"}}), "x4 x3")
	q.same("of another queue", q.keys(store.ClaimQuery{Limit: 9, Agents: []string{"x"}, Queues: []string{"mail"}}), "x2")
	q.same("no more", q.keys(store.ClaimQuery{Limit: 9, Agents: []string{"x"}, Queues: []string{"", "mail"}}), "")
}
