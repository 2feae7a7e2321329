package worker

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool/engine/internal/slots"
	"github.com/spoolhq/spool/internal/inprocess"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// A worker claims the ticket that it is told of if it would be the next to claim it, and leaves others to the queue. A
// wake-up during the claim makes it poll behind the claim.
func TestWorkersAreToldOfTickets(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		c := b.config()
		live, gate := inprocess.NewLive(0), make(chan bool)
		c.Live, c.Poll = live, time.Hour
		c.ClaimTicket = func(_ context.Context, j wire.Job) (store.Delivery, Handle, error) {
			b.note("claim " + j.Key + " of " + j.Subject)
			if claimed := <-gate; !claimed {
				return store.Delivery{}, nil, nil
			}
			return store.Delivery{Job: j}, c.Handle, nil
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- Run(ctx, c, slots.Options{Concurrency: 1}) }()
		tell := func(j wire.Job) { live.Wake(store.JobsTopic, store.WakeJobs, store.TicketNotice(j)) }
		of := func(key, agent, queue string) wire.Job {
			j := ticket(key, agent, queue)
			j.Tenant, j.Kind, j.Subject = acme, wire.JobStart, "ann"
			return j
		}
		pass(time.Second)

		for _, other := range []wire.Job{of("o1", "b", ""), of("o2", "a", "fast"), {Tenant: acme, Key: "o3", RunID: "o3", Agent: "a", Kind: wire.JobSettle}} {
			tell(other)
		}
		live.Wake(store.JobsTopic, store.WakeJobs, []byte("no ticket"))
		same(t, "what is not for the worker", b.noted(), nil)

		tell(of("r1", "a", ""))
		tell(of("r2", "a", "")) // the only slot is taken
		same(t, "a ticket for the worker", b.noted(), []string{"claim r1 of ann"})
		b.put(ticket("r3", "a", ""))
		live.Wake(store.JobsTopic, store.WakeJobs, nil)
		same(t, "a wake-up during the claim", b.noted(), nil)
		gate <- true
		synctest.Wait()
		same(t, "behind the claim", b.noted(), []string{"run r1", "run r3"})

		tell(of("r4", "a", ""))
		gate <- false
		b.put(ticket("r5", "a", ""))
		live.Wake(store.JobsTopic, store.WakeJobs, nil)
		same(t, "a ticket that another worker has", b.noted(), []string{"claim r4 of ann", "run r5"})

		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		tell(of("r6", "a", ""))
		same(t, "after the end", b.noted(), nil)
	})
}
