package spooltest

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// testQueueJobsOf compares combinations of a query's fields with the result of a plain loop.
func testQueueJobsOf(q *queueTest) {
	begin := q.clock.Now()
	threads, queues := []spool.ThreadID{"t", "u"}, []string{"outbox", "", "mail"}
	for i := range 36 {
		e := event(strconv.Itoa(i))
		e.ThreadID, e.Queue, e.Subject = threads[i%2], queues[i/2%3], []string{"x", "y"}[i/6%2]
		q.publish(spool.ThreadKey{Tenant: spool.DefaultTenant}, e)
		q.clock.Advance(time.Millisecond)
	}
	foreign := event("foreign")
	foreign.ThreadID, foreign.Subject, foreign.DueAt = "t", "x", begin.Add(time.Hour)
	q.publish(spool.ThreadKey{Tenant: "other"}, foreign)
	all := q.jobs(spool.DefaultTenant, wire.JobQuery{})
	q.same("number of jobs", len(all), 36)
	for _, thread := range []spool.ThreadID{"", "t", "none"} {
		for _, queue := range []*string{nil, new(""), new("outbox"), new("none")} {
			for _, subject := range []string{"", "x", "none"} {
				for _, since := range []time.Duration{0, 12 * time.Millisecond, 12*time.Millisecond + 1, time.Hour} {
					query := wire.JobQuery{ThreadID: thread, Queue: queue, Subject: subject, DueSince: begin.Add(since)}
					q.sameJobs(query, all)
					query.Limit, query.DueBefore = 3, begin.Add(30*time.Millisecond)
					q.sameJobs(query, all)
				}
			}
		}
	}

	// Dead jobs have a queue and a subject, too, and no time at which they were first due.
	for _, d := range q.delivered()[:3] {
		q.ok("dead-letter", q.Store.Ack(q.ctx, d, store.Ack{Kind: store.AckDead, Cause: "cause"}))
		q.clock.Advance(time.Second)
	}
	later := q.clock.Now().Add(time.Hour)
	q.same("dead", q.deadKeys(wire.JobQuery{Queue: new("outbox"), Subject: "x", DueSince: later}), "10")
	q.same("dead of the thread", q.deadKeys(wire.JobQuery{ThreadID: "u", Queue: new("outbox"), Subject: "x"}), "1")
	q.same("dead of another subject", q.deadKeys(wire.JobQuery{Queue: new("outbox"), Subject: "y"}), "6")
	q.same("dead of the default queue", q.deadKeys(wire.JobQuery{Queue: new("")}), "")
}

// sameJobs checks that a query lists those of all jobs that it does not leave out.
func (q *queueTest) sameJobs(query wire.JobQuery, all []wire.QueuedJob) {
	q.Helper()
	var want []string
	for _, j := range all {
		if (query.ThreadID == "" || j.ThreadID == query.ThreadID) && (query.Queue == nil || j.Queue == *query.Queue) &&
			(query.Subject == "" || j.Subject == query.Subject) && !j.FirstDue.Before(query.DueSince) &&
			(query.DueBefore.IsZero() || j.FirstDue.Before(query.DueBefore)) && (query.Limit == 0 || len(want) < query.Limit) {
			want = append(want, j.Key)
		}
	}
	q.same(fmt.Sprintf("jobs of %+v", query), q.listed(query), strings.Join(want, " "))
}
