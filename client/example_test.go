package client_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/client"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/model/demo"
	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/wire"
)

// serve returns the URL of a server with a worker, which runs until the caller calls stop.
func serve() (url string, stop func()) {
	e, err := engine.New(memory.New(nil), engine.Config{
		Models: map[string]spool.Model{"demo": demo.New(demo.Config{})},
		Agents: []spool.Agent{{Name: "assistant", Model: "demo", Tools: []spool.Tool{sendTool()}}},
		Log:    slog.New(slog.DiscardHandler),
	})
	if err != nil {
		panic(err)
	}
	surface, err := server.New(e, server.Config{Insecure: true})
	if err != nil {
		panic(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- e.Work(ctx, engine.WorkOptions{}) }()
	listening := httptest.NewServer(surface)
	return listening.URL, func() {
		cancel()
		e.Close()
		listening.Close()
		if err := <-done; err != nil {
			panic(err)
		}
	}
}

// A start returns when the server has stored the run. Await waits for its end, over restarts of the server.
func ExampleClient_Await() {
	url, stop := serve()
	defer stop()

	c, err := client.New(url, client.Options{Token: client.StaticToken("my-token")})
	if err != nil {
		panic(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

	started, err := c.Run(ctx, client.RunRequest{ThreadID: "t1", Prompt: "Good morning", IdempotencyKey: "mail-17"})
	if err != nil {
		panic(err)
	}
	if !started.Accepted {
		fmt.Println("refused:", started.Reason)
		return
	}
	outcome, err := c.Await(ctx, started.RunID)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s: %.52s\n", outcome.State, outcome.Text)
	// Output:
	// COMPLETED: (demo model, not a language model) You said: Good mo
}

// Watch yields what a user sees of a thread, after each change. This program also answers what the agent asks.
func ExampleClient_Watch() {
	url, stop := serve()
	defer stop()

	c, err := client.New(url, client.Options{})
	if err != nil {
		panic(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if _, err := c.Run(ctx, client.RunRequest{ThreadID: "t1", Prompt: `use send with {"to":"ann"}`}); err != nil {
		panic(err)
	}

	answered := false
	for shown, err := range c.Watch(ctx, "t1", client.WatchOptions{}) {
		if err != nil {
			panic(err) // ctx has ended, the thread is gone, or the server refuses us
		}
		if parks := shown.Parks(); len(parks) > 0 && !answered {
			answered = true
			fmt.Printf("%s %s?\n", parks[0].ToolName, parks[0].Arguments)
			yes := client.RespondRequest{ToolCallID: parks[0].ToolCallID, Approved: true, Digest: parks[0].Digest}
			if _, err := c.Respond(ctx, "t1", yes); err != nil {
				panic(err)
			}
		}
		if shown.Settled() && shown.State().Terminal() {
			for _, message := range shown.Messages() {
				for _, result := range message.ToolResults() {
					fmt.Println(result.ToolName, string(result.Result))
				}
			}
			break
		}
	}
	// Output:
	// send {"to":"ann"}?
	// send "sent to ann"
}

// Follow yields the frames themselves. A program that keeps the cursor goes on after the last frame that it has seen.
func ExampleClient_Follow() {
	url, stop := serve()
	defer stop()

	c, err := client.New(url, client.Options{})
	if err != nil {
		panic(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if _, err := c.Run(ctx, client.RunRequest{ThreadID: "t1", Prompt: "Good morning"}); err != nil {
		panic(err)
	}

	cursor := &wire.Cursor{}
	for frame, err := range c.Follow(ctx, "t1", client.FollowOptions{Cursor: cursor}) {
		if err != nil {
			panic(err)
		}
		if frame.Cursor != nil {
			cursor = frame.Cursor // write it down, to go on in another process
		}
		if e := frame.Event; e != nil && e.Seq > 0 {
			fmt.Println(e.Seq, e.Type)
		}
		if e := frame.Event; e != nil && e.Type == wire.EntryRunEnded {
			break
		}
	}
	fmt.Println("go on after", cursor.Seq)
	// Output:
	// 1 RUN_STARTED
	// 2 RUN_ENDED
	// go on after 2
}

// Threads reads page after page.
func ExampleClient_Threads() {
	url, stop := serve()
	defer stop()

	c, err := client.New(url, client.Options{})
	if err != nil {
		panic(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, id := range []spool.ThreadID{"red", "green", "blue"} {
		started, err := c.Run(ctx, client.RunRequest{ThreadID: id, Prompt: "Hello", Labels: map[string]string{"team": "a"}})
		if err != nil {
			panic(err)
		}
		if _, err := c.Await(ctx, started.RunID); err != nil { // a thread that changes moves in the list
			panic(err)
		}
	}
	n := 0
	for thread, err := range c.Threads(ctx, client.ThreadFilter{Labels: map[string]string{"team": "a"}, PageSize: 2}) {
		if err != nil {
			panic(err)
		}
		if thread.Title == "Hello" {
			n++
		}
	}
	fmt.Println(n, "threads")

	_, err = c.Usage(ctx, "yellow")
	fmt.Println(spool.CodeOf(err), client.StatusOf(err), spool.MessageOf(err))
	// Output:
	// 3 threads
	// not_found 404 Thread not found
}
