package spooltest

import (
	"fmt"
	"slices"

	"github.com/spoolhq/spool"
)

// testQueueJobIDs looks at the ids that a tenant sees of its own jobs. They must not tell how
// many jobs came between them, which may be another tenant's.
func testQueueJobIDs(q *queueTest) {
	const most = 12
	var ids []int64
	for i := range most {
		q.add(0, fmt.Sprint("key", i))
		d := q.claimOne()
		ids = append(ids, d.JobID)
		q.ok("bury", q.Queue.Bury(q.ctx, d, "cause"))
	}
	for range most {
		q.write(thread("t"), func(tx spool.Tx) error { return tx.AddDead(job(""), 1, "cause") })
	}
	for _, d := range q.dead(spool.DefaultTenant, 2*most) {
		if !slices.Contains(ids, d.JobID) {
			ids = append(ids, d.JobID)
		}
	}
	if len(ids) != 2*most {
		q.Fatalf("%d jobs have %d ids: %d", 2*most, len(ids), ids)
	}
	slices.Sort(ids)
	for i, id := range ids {
		switch {
		case id <= 0 || id >= 1<<53:
			q.Errorf("the id %d is not above zero and exact in JavaScript", id)
		case i > 0 && id-ids[i-1] < 1_000_000:
			q.Errorf("the ids %d and %d are so close that they seem to be counted", ids[i-1], id)
		}
	}
}
