package nats_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	natsgo "github.com/nats-io/nats.go"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/backend/nats"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/model/demo"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// process makes the engine of one process. Others have the same store and the same NATS.
func process(db store.Store, conn *natsgo.Conn, config engine.Config) (e *engine.Engine, end func(), err error) {
	live, err := nats.NewLive(conn, nil)
	if err != nil {
		return nil, nil, err
	}
	e, err = engine.New(store.Backend{Store: db, Live: live, Shared: true}, config)
	if err != nil {
		return nil, nil, err
	}
	return e, func() { e.Close(); live.Stop() }, nil
}

// dispatch sends the jobs of the store to NATS, and executes none.
func dispatch(ctx context.Context, e *engine.Engine, conn *natsgo.Conn) error {
	tickets, err := nats.NewTickets(conn, &nats.TicketOptions{Direct: e.HandleJob})
	if err != nil {
		return err
	}
	return e.Work(ctx, engine.WorkOptions{Deliver: tickets.Deliver})
}

// execute executes the jobs that come from NATS.
func execute(ctx context.Context, e *engine.Engine, conn *natsgo.Conn) error {
	tickets, err := nats.NewTickets(conn, nil)
	if err != nil {
		return err
	}
	return tickets.Consume(ctx, e, nats.ConsumeOptions{Concurrency: 32})
}

// A front takes a prompt and shows what happens. A worker executes the run. Here both are in one process, with
// a NATS server of their own.
func Example() {
	url, stop := startServer()
	defer stop()
	db := memory.New(nil).Store // of several processes it would be a database
	config := engine.Config{
		Agents: []spool.Agent{{Name: "assistant", Model: "demo"}},
		Models: map[string]spool.Model{"demo": demo.New(demo.Config{})},
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 2)
	engines := make([]*engine.Engine, 2)
	for i, job := range []func(context.Context, *engine.Engine, *natsgo.Conn) error{dispatch, execute} {
		conn := must(nats.Connect(url))
		defer conn.Close()
		e, end, err := process(db, conn, config)
		if err != nil {
			panic(err)
		}
		defer end()
		engines[i] = e
		go func() { done <- job(ctx, e, conn) }()
	}

	front, key := engines[0], spool.ThreadKey{Tenant: spool.DefaultTenant, ID: "t1"}
	started := must(front.Run(ctx, key, wire.StartRequest{Prompt: "Hello"}))
	fmt.Println("started:", started.Accepted)
	for entry, err := range front.FollowRecord(ctx, key, 0) {
		if err != nil {
			panic(err)
		}
		if entry.Seq > 0 {
			fmt.Println(entry.Seq, entry.Type)
		}
		if entry.Type == wire.EntryRunEnded {
			break
		}
	}
	cancel()
	fmt.Println(<-done, <-done)
	// Output:
	// started: true
	// 1 RUN_STARTED
	// 2 RUN_ENDED
	// <nil> <nil>
}

// startServer starts a NATS server within the program.
func startServer() (url string, stop func()) {
	dir := must(os.MkdirTemp("", "nats"))
	s := must(server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: dir, NoLog: true, NoSigs: true,
	}))
	s.Start()
	if !s.ReadyForConnections(time.Minute) {
		panic("the server does not start")
	}
	return s.ClientURL(), func() {
		s.Shutdown()
		s.WaitForShutdown()
		_ = os.RemoveAll(dir)
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
