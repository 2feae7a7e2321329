package enginetest

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// maxDeliveries is how many times the workers of these tests deliver a job.
const maxDeliveries = 4

// failing returns a delivery that fails, and the count of its calls.
func failing() (engine.WorkOptions, *atomic.Int64) {
	n := new(atomic.Int64)
	return engine.WorkOptions{
		MaxDeliveries: maxDeliveries,
		Deliver: func(context.Context, store.Delivery) (wire.JobResult, error) {
			n.Add(1)
			return wire.JobResult{}, spool.Errorf(spool.Unavailable, "not today")
		},
	}, n
}

// testJobMaxDeliveries counts the deliveries of a job that fails each time.
func testJobMaxDeliveries(s *engineTest) {
	e := s.engine(s.config(spooltest.NewModel()))
	o, n := failing()
	s.start(e, "r1", "go")
	s.workWith(e, o)
	s.ended(wire.Failed)
	<-time.After(time.Hour)
	if n.Load() != maxDeliveries || len(s.deadJobs()) != 1 {
		s.Errorf("%d deliveries, %d dead jobs", n.Load(), len(s.deadJobs()))
	}
}

// testJobKilledTooOften lets the worker die in each delivery. Such deliveries count, and none follows
// the last allowed one.
func testJobKilledTooOften(s *engineTest) {
	for _, died := range []int64{maxDeliveries - 1, maxDeliveries} {
		e := s.engine(s.config(spooltest.NewModel()))
		s.start(e, "", "go")
		dead := len(s.deadJobs())
		for range died {
			s.until("a delivery", func() bool {
				taken, _, err := s.backend.Store.Claim(context.Background(), store.ClaimQuery{Limit: 1, Lease: time.Second})
				return err == nil && len(taken) == 1
			})
			<-time.After(time.Second)
		}
		o, n := failing()
		stop := s.workWith(e, o)
		s.ended(wire.Failed)
		s.until("the dead job", func() bool { return len(s.deadJobs()) == dead+1 })
		stop()
		if n.Load() != maxDeliveries-died {
			s.Errorf("after %d deliveries there were %d", died, n.Load())
		}
	}
}
