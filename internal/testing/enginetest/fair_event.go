package enginetest

import (
	"context"
	"encoding/json"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// backlog adds due events of a tenant, by turns of two subjects, to a queue from which no worker claims.
func (s fairTest) backlog(tenant spool.Tenant, n int) {
	s.Helper()
	events := make([]wire.Job, n)
	for i := range events {
		events[i] = wire.Job{Queue: "hung", Subject: []string{"one", "two"}[i%2], Payload: json.RawMessage(`{}`)}
	}
	err := s.backend.Store.Update(context.Background(), spool.ThreadKey{Tenant: tenant}, 0,
		func(tx store.Tx) error { return tx.Write(store.Changes{Jobs: events}) })
	if err != nil {
		s.Fatal(err)
	}
}

// testFairBesideEvents has backlogs of events that nobody delivers. They refuse no start, and no run makes room for
// them: neither for those of its own tenant nor for those of another one.
func testFairBesideEvents(s fairTest) {
	w := newWalkers()
	c := s.config(w, plain("look", `"seen"`))
	c.Limits.QueueDepth, c.Limits.TenantDepth = 3, 2
	e := s.engine(c)
	for _, tenant := range []spool.Tenant{"acme", "other"} {
		s.backlog(tenant, 20)
	}
	walks := s.startWalks(e, "acme", 2)
	r, err := e.Run(context.Background(), spool.ThreadKey{Tenant: "acme"}, wire.StartRequest{Prompt: "x"})
	if err != nil || r.Reason != wire.ReasonQueueFull {
		s.Errorf("a start beside two that wait: %+v, %v", r, err)
	}
	s.workWith(e, engine.WorkOptions{Concurrency: 1})
	if times := s.arrived(w, walks); times > 0 {
		s.Errorf("runs were handed back %d times, want none", times)
	}
	if n := s.jobs().Ready; n != 40 {
		s.Errorf("%d jobs are ready, want the events", n)
	}
}
