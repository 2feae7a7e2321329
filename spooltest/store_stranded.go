package spooltest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spoolhq/spool"
)

// stranded lists the ids of stranded threads, sorted.
func (s *storeTest) stranded(limit int) string {
	s.Helper()
	keys, err := s.Store.Stranded(context.Background(), limit)
	if err != nil {
		s.Fatalf("list stranded threads: %v", err)
	}
	ids := make([]string, len(keys))
	for i, key := range keys {
		ids[i] = key.String()
	}
	slices.Sort(ids)
	return strings.Join(ids, " ")
}

func testStoreStranded(s *storeTest) {
	job := func(id spool.ThreadID, run spool.RunID, due time.Duration) func(tx spool.Tx) error {
		return func(tx spool.Tx) error {
			return tx.Enqueue(spool.Job{
				Tenant: spool.DefaultTenant, ThreadID: id, RunID: run, Agent: "a", DueAt: tx.Now().Add(due),
			})
		}
	}
	none := func(spool.Tx) error { return nil }
	for _, c := range []struct {
		id    spool.ThreadID
		state spool.State
		lease time.Duration
		add   func(tx spool.Tx) error
	}{
		{"queued", spool.Queued, 0, none},
		{"running", spool.Running, 0, none},
		{"waiting", spool.WaitingForInput, 0, none},
		{"lapsed", spool.Running, -time.Second, none},
		{"lapses-now", spool.Running, 0, none},
		{"other-job", spool.Queued, 0, job("other-job", "another-run", 0)},

		{"leased", spool.Running, time.Minute, none},
		{"due-job", spool.Queued, 0, job("due-job", "r-due-job", 0)},
		{"delayed-job", spool.WaitingForInput, 0, job("delayed-job", "r-delayed-job", time.Hour)},
		{"lapsed-with-job", spool.Running, -time.Second, job("lapsed-with-job", "r-lapsed-with-job", 0)},
		{"idle", spool.Idle, 0, none},
		{"completed", spool.Completed, 0, none},
		{"cancelled", spool.Cancelled, 0, none},
		{"failed", spool.Failed, 0, none},
	} {
		s.write(thread(c.id), func(tx spool.Tx) error {
			run := spool.RunID("r-" + c.id)
			t := spool.Thread{State: c.state, RunID: run}
			if c.lease != 0 || c.id == "lapses-now" {
				t.LeaseUntil = tx.Now().Add(c.lease)
			}
			return errors.Join(tx.PutThread(t), tx.InsertRun(spool.RunRow{Run: spool.Run{ID: run, State: c.state}}), c.add(tx))
		})
	}
	// A thread of another tenant with the same ids as one that has a job.
	s.write(spool.ThreadKey{Tenant: "other", ID: "due-job"}, func(tx spool.Tx) error { return putQueued(tx, "r-due-job") })

	s.same("stranded", s.stranded(100), "default/lapsed default/lapses-now default/other-job default/queued "+
		"default/running default/waiting other/due-job")
	s.clock.Advance(time.Minute)
	s.same("stranded when another lease has lapsed", s.stranded(100), "default/lapsed default/lapses-now default/leased "+
		"default/other-job default/queued default/running default/waiting other/due-job")
}

func testStoreStrandedLimit(s *storeTest) {
	for i := range 5 {
		s.queued(thread(spool.ThreadID(fmt.Sprint("t", i))), spool.RunID(fmt.Sprint("r", i)))
	}
	s.same("number of stranded", len(strings.Fields(s.stranded(3))), 3)
}

func testStoreStrandedClaimed(s *storeTest) {
	key := thread("t")
	s.write(key, func(tx spool.Tx) error { return fill(tx, key, "r") })
	claim := func() spool.Delivery {
		taken, _, err := s.Queue.Claim(context.Background(), spool.ClaimQuery{Limit: 1, Lease: time.Minute})
		if err != nil || len(taken) != 1 {
			s.Fatalf("claim: got %v and error %v, want one job", taken, err)
		}
		return taken[0]
	}
	d := claim()
	s.same("stranded with a claimed job", s.stranded(10), "")
	s.clock.Advance(time.Hour)
	s.same("stranded with a claim that has lapsed", s.stranded(10), "")
	if err := s.Queue.Ack(context.Background(), d); err != nil {
		s.Fatal(err)
	}
	s.same("stranded when the job is done", s.stranded(10), "default/t")

	s.write(key, func(tx spool.Tx) error {
		return tx.Enqueue(spool.Job{Tenant: key.Tenant, ThreadID: key.ID, RunID: "r", Agent: "a"})
	})
	s.same("stranded with another job", s.stranded(10), "")
	if err := s.Queue.DeadLetter(context.Background(), claim(), "cause"); err != nil {
		s.Fatal(err)
	}
	s.same("stranded when the job is dead", s.stranded(10), "default/t")
}

func testStoreStrandedOtherRuns(s *storeTest) {
	// The job of an earlier run does not move the thread's present run.
	key := thread("t")
	s.write(key, func(tx spool.Tx) error { return fill(tx, key, "before") })
	s.same("stranded with a job", s.stranded(10), "")
	s.write(key, func(tx spool.Tx) error {
		r, err := tx.Run("before")
		r.State = spool.Completed
		return errors.Join(err, tx.UpdateRun(r), putQueued(tx, "now"))
	})
	s.same("stranded with an older run's job", s.stranded(10), "default/t")
}
