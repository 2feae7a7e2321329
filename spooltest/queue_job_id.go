package spooltest

import (
	"fmt"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// testQueueJobIDs checks the ids that a tenant sees of its own jobs. They must not reveal how many
// other jobs came between them, because those may be another tenant's.
func testQueueJobIDs(q *queueTest) {
	const most = 12
	var ids []int64
	for i := range most {
		q.add(0, fmt.Sprint("key", i))
		d := q.claimOne()
		ids = append(ids, d.JobID)
		q.ok("dead-letter", q.Store.Ack(q.ctx, d, store.Ack{Kind: store.AckDead, Cause: "cause"}))
	}
	for range most {
		q.write(thread("t"), func(tx store.Tx) error {
			return tx.Write(store.Changes{Dead: []wire.QueuedJob{{Job: job(""), Attempts: 1, Cause: "cause"}}})
		})
	}
	for _, d := range q.dead(spool.DefaultTenant, wire.JobQuery{}) {
		if !slices.Contains(ids, d.JobID) {
			ids = append(ids, d.JobID)
		}
	}
	if len(ids) != 2*most {
		q.Fatalf("%d jobs have %d ids: %d", 2*most, len(ids), ids)
	}
	slices.Sort(ids)
	first, last := ids[0], ids[len(ids)-1]
	if first <= 0 || last >= 1<<53 {
		q.Errorf("the ids from %d to %d are not above zero and exact in JavaScript", first, last)
	}
	if last-first < 2*int64(len(ids)) {
		q.Errorf("the ids %d seem to be counted", ids)
	}
}
