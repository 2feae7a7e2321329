package spooltest

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// outbox is the query of a worker that delivers events.
var outbox = store.ClaimQuery{Queues: []string{"outbox"}, Agents: []string{}, Limit: 10, Lease: lease}

// event returns an event of the outbox.
func event(key string) wire.Job {
	return wire.Job{Queue: "outbox", Payload: json.RawMessage(`{"event":["` + key + `","<“”>"]}`), Key: key}
}

// publish adds events in a transaction.
func (q *queueTest) publish(key spool.ThreadKey, events ...wire.Job) {
	q.Helper()
	q.write(key, func(tx store.Tx) error { return tx.Write(store.Changes{Jobs: events}) })
}

// delivered claims the events that are due.
func (q *queueTest) delivered() []store.Delivery {
	q.Helper()
	taken, _, err := q.Store.Claim(q.ctx, outbox)
	q.ok("claim", err)
	return taken
}

// testQueueEvents delivers events at least once, to those who claim from their queue only.
func testQueueEvents(q *queueTest) {
	about := event("about")
	about.ThreadID, about.Kind = "another", "changed"
	q.publish(spool.ThreadKey{Tenant: spool.DefaultTenant}, event("a"), about)
	q.same("a worker of the default queue", q.claimed(10), "")
	taken := q.delivered()
	q.same("delivered", jobKeys(taken), "aabout")
	want := []wire.Job{event("a"), about}
	for i := range want {
		want[i].Tenant, want[i].DueAt = spool.DefaultTenant, q.clock.Now()
	}
	q.same("the events", each(taken, func(d store.Delivery) wire.Job { return d.Job }), want)
	q.ok("ack", q.Store.Ack(q.ctx, taken[1], store.Ack{Kind: store.AckDone}))

	q.clock.Advance(lease)
	taken = q.delivered()
	q.same("delivered again", jobKeys(taken), "a")
	q.same("attempt", taken[0].Attempt, 2)
	q.ok("release", q.Store.Ack(q.ctx, taken[0], store.Ack{Kind: store.AckRelease, After: time.Second}))
	q.clock.Advance(time.Second)
	taken = q.delivered()
	q.same("after a release", each(taken, func(d store.Delivery) string { return string(d.Payload) }),
		[]string{string(event("a").Payload)})
	q.ok("ack", q.Store.Ack(q.ctx, taken[0], store.Ack{Kind: store.AckDone}))
	q.clock.Advance(time.Hour)
	q.same("after the ack", len(q.delivered()), 0)
}

// testQueueEventKeys checks that an event is not added while the tenant has a job with its key.
func testQueueEventKeys(q *queueTest) {
	nobody := spool.ThreadKey{Tenant: spool.DefaultTenant}
	q.add(0, "ticket")
	twice := event("a")
	twice.Payload = json.RawMessage(`2`)
	q.publish(nobody, event("ticket"), event("a"), twice)
	q.publish(spool.ThreadKey{Tenant: "other"}, event("a"))
	taken := q.delivered()
	q.same("delivered", jobKeys(taken), "aa")
	q.same("the first", string(taken[0].Payload), string(event("a").Payload))
	q.publish(nobody, twice)
	q.same("while it is in flight", len(q.delivered()), 0)
	for _, d := range taken {
		q.ok("ack", q.Store.Ack(q.ctx, d, store.Ack{Kind: store.AckDone}))
	}
	q.publish(nobody, twice)
	q.same("afterwards", jobKeys(q.delivered()), "a")
	q.write(nobody, func(tx store.Tx) error { return tx.Write(store.Changes{CancelJobs: []string{"a"}}) })
	q.clock.Advance(lease)
	q.same("cancelled", len(q.delivered()), 0)
}

// testQueueEventsOutlive deletes the thread of events, also of a dead one.
func testQueueEventsOutlive(q *queueTest) {
	key := thread("t")
	q.add(0, "ticket")
	q.publish(key, event("dead"))
	q.ok("dead-letter", q.Store.Ack(q.ctx, q.delivered()[0], store.Ack{Kind: store.AckDead, Cause: "cause"}))
	q.publish(key, event("due"))
	q.write(key, func(tx store.Tx) error {
		return tx.Write(store.Changes{DeleteThread: true, Jobs: []wire.Job{event("deleted")}})
	})
	q.same("jobs", q.listed(wire.JobQuery{ThreadID: key.ID}), "due deleted")
	q.same("jobs of another thread", q.listed(wire.JobQuery{ThreadID: "u"}), "")

	dead := q.dead(key.Tenant, wire.JobQuery{ThreadID: key.ID})
	q.same("dead", len(dead), 1)
	want := event("dead")
	want.Tenant, want.ThreadID, want.DueAt = key.Tenant, key.ID, dead[0].DueAt
	q.same("the dead event", dead[0].Job, want)
	q.write(key, func(tx store.Tx) error { // it can be delivered again
		return tx.Write(store.Changes{Jobs: []wire.Job{dead[0].Job}, TakeDead: []int64{dead[0].JobID}})
	})
	taken := q.delivered()
	q.same("delivered", jobKeys(taken), "duedeleteddead")
	q.same("their thread", taken[0].Thread(), key)

	// An event without a thread can die and come back too.
	nobody := spool.ThreadKey{Tenant: key.Tenant}
	q.publish(nobody, event("nobody's"))
	q.ok("dead-letter", q.Store.Ack(q.ctx, q.delivered()[0], store.Ack{Kind: store.AckDead}))
	id := q.dead(key.Tenant, wire.JobQuery{})[0].JobID
	q.write(nobody, func(tx store.Tx) error { return tx.Write(store.Changes{TakeDead: []int64{id}}) })
	q.same("dead in the end", len(q.dead(key.Tenant, wire.JobQuery{})), 0)
}

// testQueueEventsRollBack checks that an event is only delivered if its transaction was committed.
func testQueueEventsRollBack(q *queueTest) {
	failure := errors.New("no")
	q.is("Update", q.Store.Update(q.ctx, thread("t"), 0, func(tx store.Tx) error {
		return errors.Join(tx.Write(store.Changes{Thread: &wire.Thread{State: wire.Idle}, Jobs: []wire.Job{event("a")}}),
			failure)
	}), failure)
	q.same("delivered", len(q.delivered()), 0)
}
