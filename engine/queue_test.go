package engine_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// workWith works with options until the returned function is called.
func workWith(t *testing.T, e *engine.Engine, o engine.WorkOptions) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- e.Work(ctx, o) }()
	return func() {
		t.Helper()
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// The tickets of an agent's runs are in its queue, each of them: of the start, of a hand-back, of an
// answer, and the expiry of a park. A worker of another queue takes none.
func TestRunsOfAQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := memory.New(nil)
		c := config(
			spooltest.NewModel(openTurn("x"), spooltest.Use(spooltest.Call{ID: "c1", Name: "send", Args: "{}"}),
				spooltest.Say("sent")),
			sendTool(),
		)
		c.Agents[0].Queue = "slow"
		e := newEngine(t, b, c)
		queued := func(when string, want wire.JobKind) {
			t.Helper()
			jobs, err := b.Store.Jobs(t.Context(), wire.JobQuery{Tenant: key.Tenant})
			if err != nil || len(jobs) != 1 || jobs[0].Queue != "slow" || jobs[0].Kind != want {
				t.Errorf("%s the jobs are %+v, %v", when, jobs, err)
			}
		}
		start(t, e, "r1")
		stop := work(t, e)
		pass(time.Minute)
		if got := state(t, b); got != wire.Queued {
			t.Fatalf("with a worker of the default queue, the thread is %s", got)
		}
		stop()
		queued("after the start,", wire.JobStart)

		slow := engine.WorkOptions{Queues: []string{"slow"}}
		stop = workWith(t, e, slow)
		pass(time.Second)
		stop()
		queued("after the end of its worker,", wire.JobHandBack)

		stop = workWith(t, e, slow)
		pass(time.Second)
		stop()
		queued("while it waits for an answer,", wire.JobExpiry)
		approve(t, e, "c1")
		queued("after the answer,", wire.JobResume)

		stop = workWith(t, e, slow)
		pass(time.Second)
		if got := state(t, b); got != wire.Completed {
			t.Errorf("the thread is %s", got)
		}
		stop()
	})
}

// A name that no queue of an agent can have is refused.
func TestBadQueueOfAnAgent(t *testing.T) {
	t.Parallel()
	c := config(spooltest.NewModel())
	for queue, want := range map[string]string{
		"a b":         `Queue may only have letters, digits and the characters . _ : -`,
		"spool.ticks": `Queue must not begin with "spool.", as the engine's own queues do`,
	} {
		c.Agents[0].Queue = queue
		_, err := engine.New(memory.New(nil), c)
		if want = `Config.Agents: agent "a": ` + want; spool.CodeOf(err) != spool.Invalid || spool.MessageOf(err) != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	c.Agents[0].Queue = "spooled"
	if _, err := engine.New(memory.New(nil), c); err != nil {
		t.Error(err)
	}
}

// An event of the outbox comes to its handler beside the runs. A dead event comes again after a redrive,
// also if it has no thread, and the audit log has the redrive.
func TestEventsOfTheOutbox(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := memory.New(nil)
		e := newEngine(t, b, config(spooltest.NewModel(spooltest.Say("hello"))))
		start(t, e, "r1")
		mail := wire.Job{Queue: "mail", Key: "mail:1", Payload: []byte(`{"to":"ann"}`)}
		err := b.Store.Update(t.Context(), spool.ThreadKey{Tenant: key.Tenant}, 0, func(tx store.Tx) error {
			return tx.Write(store.Changes{Jobs: []wire.Job{mail}})
		})
		if err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var sent []string
		fails := true
		stop := workWith(t, e, engine.WorkOptions{
			MaxDeliveries: 2, Events: map[string]func(
				context.Context, store.Delivery,
			) error{"mail": func(_ context.Context, d store.Delivery) error {
				mu.Lock()
				defer mu.Unlock()
				if fails {
					return spool.Errorf(spool.Unavailable, "the mail server is away")
				}
				sent = append(sent, string(d.Payload))
				return nil
			}},
		})
		defer stop()
		pass(time.Minute)
		if got := state(t, b); got != wire.Completed {
			t.Errorf("the thread is %s", got)
		}
		dead, err := e.DeadJobs(t.Context(), key.Tenant, wire.JobQuery{})
		if err != nil || len(dead) != 1 || dead[0].Cause != "the mail server is away" {
			t.Fatalf("the dead jobs are %+v, %v", dead, err)
		}

		mu.Lock()
		fails = false
		mu.Unlock()
		r, err := e.Redrive(t.Context(), key.Tenant, dead[0].JobID)
		if err != nil || !r.Accepted || r.RunID != "" {
			t.Errorf("a redrive is %+v, %v", r, err)
		}
		pass(time.Second)
		mu.Lock()
		defer mu.Unlock()
		if !slices.Equal(sent, []string{`{"to":"ann"}`}) {
			t.Errorf("sent are %q", sent)
		}
		if r, err := e.Redrive(t.Context(), key.Tenant, dead[0].JobID); err != nil || r.Reason != wire.ReasonNotFound {
			t.Errorf("a second redrive is %+v, %v", r, err)
		}
		audit, err := e.Audit(t.Context(), key.Tenant, wire.AuditQuery{Action: wire.AuditRedrive})
		if err != nil || len(audit) != 1 || audit[0].JobID != dead[0].JobID {
			t.Errorf("the audit log has %+v, %v", audit, err)
		}
	})
}

// HandleJob has no handler for an event.
func TestHandleJobRefusesAnEvent(t *testing.T) {
	t.Parallel()
	e := newEngine(t, memory.New(nil), config(spooltest.NewModel()))
	_, err := e.HandleJob(t.Context(), wire.Job{Tenant: key.Tenant, Queue: "mail", Payload: []byte("1")})
	if spool.CodeOf(err) != spool.Invalid {
		t.Error(err)
	}
}
