// Package relay pushes jobs to another process that executes them. A worker claims them from the outbox, and
// each becomes an HTTP POST that is signed by Standard Webhooks.
//
//	r, err := relay.New(relay.Config{URL: "https://queue.example.com/in", Secrets: []string{os.Getenv("PUSH_SECRET")}})
//	...
//	err = e.Work(ctx, engine.WorkOptions{Deliver: r.Deliver})
//
// The receiver is a queue that forwards the body, or the consumer endpoint itself. The worker does the rest:
// it delivers failed jobs again, jobs that keep failing die and fail their runs, and a shutdown releases
// unfinished jobs. A push whose answer was lost is repeated, so a receiver may get a job twice. That is
// harmless: a job is a ticket, which does nothing the second time.
package relay
