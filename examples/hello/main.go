// Command hello is the smallest program with a durable run: an engine over a SQLite file, a
// worker, a run and its answer. A second start of the program finds the run r1 in the file. It
// finishes the run, or prints the answer that is already there.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/sqlite"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/model/demo"
	"github.com/spoolhq/spool/wire"
)

func main() {
	ctx, stop := context.WithCancel(context.Background())
	db := must(sqlite.Open("hello.db", &sqlite.Options{Exclusive: true}))
	e := must(engine.New(db.Backend(), engine.Config{
		Models: map[string]spool.Model{"demo": demo.New(demo.Config{})}, // openai.New takes any compatible server
		Agents: []spool.Agent{{Name: "assistant", Model: "demo"}},
	}))
	worked := make(chan error, 1)
	go func() { worked <- e.Work(ctx, engine.WorkOptions{}) }()

	thread := spool.ThreadKey{Tenant: spool.DefaultTenant, ID: "hello"}
	must(e.Run(ctx, thread, wire.StartRequest{RunID: "r1", Prompt: "Hello"}))
	outcome := must(e.Await(ctx, thread, "r1"))
	fmt.Fprintln(os.Stdout, outcome.State, outcome.Text)

	stop()
	if err := <-worked; err != nil {
		panic(err)
	}
	if err := db.Close(); err != nil {
		panic(err)
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
