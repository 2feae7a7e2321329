package engine_test

import (
	"context"
	"fmt"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/model/demo"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// addMail adds an event in a transaction, and wakes the workers behind it.
func addMail(ctx context.Context, b store.Backend, key, body string) error {
	mail := wire.Job{Queue: "mail", Key: key, Payload: []byte(body)}
	err := b.Store.Update(ctx, spool.ThreadKey{Tenant: spool.DefaultTenant}, 0, func(tx store.Tx) error {
		return tx.Write(store.Changes{Jobs: []wire.Job{mail}})
	})
	if err == nil {
		b.Live.Wake(store.EventsTopic, store.WakeJobs, nil)
	}
	return err
}

// send is the handler of the queue "mail". The mail server is busy at first.
func send(_ context.Context, event store.Delivery) error {
	fmt.Printf("attempt %d of %s\n", event.Attempt, event.Payload)
	if event.Attempt == 1 {
		return &store.AckError{Ack: store.Ack{Kind: store.AckRelease, After: 10 * time.Millisecond}}
	}
	return &store.AckError{Ack: store.Ack{Kind: store.AckDead, Cause: "there is no such address"}}
}

// A worker of events hands what a transaction has added to a handler, which says what becomes of it.
func ExampleWorkOptions_events() {
	b := memory.New(nil)
	e, err := engine.New(b, engine.Config{
		Models: map[string]spool.Model{"demo": demo.New(demo.Config{})},
		Agents: []spool.Agent{{Name: "assistant", Model: "demo"}},
	})
	if err != nil {
		panic(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	worked := make(chan error, 1)
	go func() {
		worked <- e.Work(ctx, engine.WorkOptions{
			EventsOnly: true,
			Events:     map[string]func(context.Context, store.Delivery) error{"mail": send},
		})
	}()
	if err := addMail(ctx, b, "mail:1", `{"to":"ann"}`); err != nil {
		panic(err)
	}
	for {
		dead, err := e.DeadJobs(ctx, spool.DefaultTenant, wire.JobQuery{})
		if err != nil {
			panic(err)
		}
		if len(dead) > 0 {
			fmt.Println("dead:", dead[0].Cause)
			break
		}
		<-time.After(time.Millisecond)
	}
	cancel()
	if err := <-worked; err != nil {
		panic(err)
	}

	// Output:
	// attempt 1 of {"to":"ann"}
	// attempt 2 of {"to":"ann"}
	// dead: there is no such address
}
