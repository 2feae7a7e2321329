package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/client"
	"github.com/spoolhq/spool/client/view"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/model/demo"
	"github.com/spoolhq/spool/server"
)

// serve returns the URL of a server with a worker, which runs until the caller calls stop.
func serve() (url string, stop func()) {
	e, err := engine.New(memory.New(nil), engine.Config{
		Models: map[string]spool.Model{"demo": demo.New(demo.Config{})},
		Agents: []engine.Agent{{Name: "assistant", Model: "demo", Tools: []spool.Tool{sendTool()}}},
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

// over reports whether a segment has ended that does not wait for an answer.
func over(f spool.Frame) bool {
	if f.Event == nil || f.Event.Type != spool.EntryRunEnded {
		return false
	}
	var end spool.RunEnded
	err := json.Unmarshal(f.Event.Payload, &end)
	return err == nil && end.Status != spool.SegmentParked
}

// A program that shows a thread takes a snapshot, follows from its position, and applies each frame to the view.
// This one also answers what the agent asks.
func ExampleClient_Follow() {
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

	snapshot, err := c.Snapshot(ctx, "t1", spool.SnapshotOptions{})
	if err != nil {
		panic(err)
	}
	shown := view.New(snapshot)
	answered := false
	for frame, err := range c.Follow(ctx, "t1", client.FollowOptions{Cursor: shown.Cursor()}) {
		if err != nil {
			panic(err) // ctx has ended, the thread is gone, or the server refuses us
		}
		if err := shown.Apply(frame); err != nil {
			panic(err)
		}
		if parks := shown.Parks(); len(parks) > 0 && !answered {
			answered = true
			fmt.Printf("%s %s?\n", parks[0].ToolName, parks[0].Arguments)
			yes := client.RespondRequest{ToolCallID: parks[0].ToolCallID, Approved: true, Digest: parks[0].Digest}
			if _, err := c.Respond(ctx, "t1", yes); err != nil {
				panic(err)
			}
		}
		if over(frame) {
			break
		}
	}
	for _, message := range shown.Messages() {
		for _, result := range message.ToolResults() {
			fmt.Println(result.ToolName, string(result.Result))
		}
	}
	// Output:
	// send {"to":"ann"}?
	// send "sent to ann"
}

// Threads reads page after page.
func ExampleClient_Threads() {
	url, stop := serve()
	defer stop()

	c, err := client.New(url, client.Options{})
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	for _, id := range []spool.ThreadID{"red", "green", "blue"} {
		if _, err := c.Run(ctx, client.RunRequest{ThreadID: id, Prompt: "Hello", Labels: map[string]string{"team": "a"}}); err != nil {
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
