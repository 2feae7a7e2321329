// Package relay pushes jobs to where they are carried out: a worker claims them from the
// outbox, and each becomes an HTTP POST that is signed as Standard Webhooks describes it.
//
//	r, err := relay.New(relay.Config{URL: "https://queue.example.com/in", Secrets: []string{os.Getenv("PUSH_SECRET")}})
//	...
//	err = e.Work(ctx, engine.WorkOptions{Deliver: r.Deliver})
//
// The receiver is a queue that passes the body on, or the consumer endpoint itself. All else
// is the worker's: jobs that failed are delivered again, those that keep failing are dead and
// fail their runs, and a shutdown gives back what is on its way. A push whose answer got lost
// is made again, so that a receiver may have a job twice. That is harmless, as a job is a
// ticket, which does nothing the second time.
package relay
