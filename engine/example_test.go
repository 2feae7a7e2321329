package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/model/demo"
	"github.com/spoolhq/spool/tool"
	"github.com/spoolhq/spool/wire"
)

var hello = spool.ThreadKey{Tenant: spool.DefaultTenant, ID: "hello"}

// openExample returns an engine over a backend in memory, with the demo model and a tool that needs an
// approval. A program would take sqlite.Open(...).Backend() instead.
func openExample(change ...func(*engine.Config)) *engine.Engine {
	type in struct {
		To string `json:"to"`
	}
	send := tool.New("send", "Sends an email.", func(_ context.Context, in in) (string, error) {
		return "sent to " + in.To, nil
	})
	send.Approval = spool.AlwaysApprove

	config := engine.Config{
		Models: map[string]spool.Model{"demo": demo.New(demo.Config{})},
		Agents: []spool.Agent{{Name: "assistant", Model: "demo", Tools: []spool.Tool{send}}},
	}
	for _, fn := range change {
		fn(&config)
	}
	e, err := engine.New(memory.New(nil), config)
	if err != nil {
		panic(err)
	}
	return e
}

// working executes jobs in the background until the caller calls stop.
func working(e *engine.Engine) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- e.Work(ctx, engine.WorkOptions{}) }()
	return func() {
		cancel()
		if err := <-done; err != nil {
			panic(err)
		}
	}
}

// segments follows the thread until n segments of its runs have ended.
func segments(e *engine.Engine, key spool.ThreadKey, n int) {
	for entry, err := range e.FollowRecord(context.Background(), key, 0) {
		if err != nil {
			panic(err)
		}
		if entry.Type == wire.EntryRunEnded {
			n--
		}
		if n == 0 {
			return
		}
	}
}

// encoded returns a result as clients get it.
func encoded(v any, err error) string {
	if err != nil {
		return err.Error()
	}
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// Start a run, and read its answer as it comes.
func Example() {
	e := openExample()
	defer working(e)()
	ctx := context.Background()

	started, err := e.Run(ctx, hello, wire.StartRequest{Prompt: "Good morning"})
	if err != nil {
		panic(err)
	}
	fmt.Println(started.Accepted, started.State)

	for frame, err := range e.Follow(ctx, hello, wire.FollowOptions{}) {
		if err != nil {
			panic(err)
		}
		if frame.Event != nil && frame.Event.Type == wire.EntryRunEnded {
			break
		}
	}
	snapshot, err := e.Snapshot(ctx, hello, nil)
	if err != nil {
		panic(err)
	}
	for _, m := range snapshot.Messages {
		fmt.Printf("%s: %.52s\n", m.Role, m.Text())
	}
	// Output:
	// true QUEUED
	// user: Good morning
	// assistant: (demo model, not a language model) You said: Good mo
}

// Start a run, and wait for its answer.
func ExampleEngine_Await() {
	e := openExample()
	defer working(e)()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

	if _, err := e.Run(ctx, hello, wire.StartRequest{RunID: "r1", Prompt: "Good morning"}); err != nil {
		panic(err)
	}
	outcome, err := e.Await(ctx, hello, "r1")
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s: %.52s\n", outcome.State, outcome.Text)
	fmt.Println(len(outcome.Parks), "calls wait for an answer")
	// Output:
	// COMPLETED: (demo model, not a language model) You said: Good mo
	// 0 calls wait for an answer
}

// A refusal is a result with a reason, not an error.
func ExampleEngine_Run_refused() {
	e := openExample() // without a worker, the first run stays queued
	ctx := context.Background()

	_, _ = e.Run(ctx, hello, wire.StartRequest{Prompt: "one"})
	fmt.Println(encoded(e.Run(ctx, hello, wire.StartRequest{Prompt: "two"})))
	_, err := e.Run(ctx, hello, wire.StartRequest{})
	fmt.Println(spool.CodeOf(err), err)
	// Output:
	// {"accepted":false,"threadId":"hello","reason":"active_run","error":"Thread has an active run"}
	// invalid prompt is required
}

// An edit replaces a turn of the user, and everything after it.
func ExampleEngine_Run_edit() {
	e := openExample()
	defer working(e)()
	ctx := context.Background()

	_, _ = e.Run(ctx, hello, wire.StartRequest{Prompt: "Helo"})
	segments(e, hello, 1)
	before, _ := e.Snapshot(ctx, hello, nil)

	_, _ = e.Run(ctx, hello, wire.StartRequest{Prompt: "Hello", EditMessageID: before.Messages[0].ID})
	segments(e, hello, 2)
	after, _ := e.Snapshot(ctx, hello, nil)
	fmt.Println(len(before.Messages), before.Messages[0].Text())
	fmt.Println(len(after.Messages), after.Messages[0].Text())
	// Output:
	// 2 Helo
	// 2 Hello
}

// The messages that an edit replaces become a branch. RestoreBranch shows them again, and the messages in
// their place become a branch in turn.
func ExampleEngine_RestoreBranch() {
	e := openExample()
	defer working(e)()
	ctx := context.Background()
	show := func() {
		now, _ := e.Snapshot(ctx, hello, nil)
		fmt.Println(now.Messages[0].Text())
	}

	_, _ = e.Run(ctx, hello, wire.StartRequest{Prompt: "Paris"})
	segments(e, hello, 1)
	before, _ := e.Snapshot(ctx, hello, nil)
	_, _ = e.Run(ctx, hello, wire.StartRequest{Prompt: "Rome", EditMessageID: before.Messages[0].ID})
	segments(e, hello, 2)
	show()

	branches, _ := e.Branches(ctx, hello)
	fmt.Println(len(branches), branches[0].Preview, branches[0].MessageCount)
	back, _ := e.RestoreBranch(ctx, hello, branches[0].ID)
	show()
	_, _ = e.RestoreBranch(ctx, hello, back.DroppedBranchID)
	show()
	fmt.Println(encoded(e.RestoreBranch(ctx, hello, 99)))
	// Output:
	// Rome
	// 1 Paris 2
	// Paris
	// Rome
	// {"accepted":false,"branchId":99,"reason":"not_found","error":"Branch not found"}
}

// A call that needs an approval parks its run. The first answer counts.
func ExampleEngine_Respond() {
	e := openExample()
	defer working(e)()
	ctx := context.Background()

	_, _ = e.Run(ctx, hello, wire.StartRequest{Prompt: `use send with {"to":"ann@example.com"}`})
	segments(e, hello, 1)

	var asked wire.InputRequired
	parked, _ := e.Snapshot(ctx, hello, nil)
	for _, entry := range parked.ActiveEvents {
		if entry.Type == wire.EntryInputRequired {
			_ = json.Unmarshal(entry.Payload, &asked)
		}
	}
	fmt.Println(asked.Reason, asked.ToolName, string(asked.Arguments))

	answer := wire.Response{ToolCallID: asked.ToolCallID, Approved: true, By: "ann"}
	fmt.Println(encoded(e.Respond(ctx, hello, answer)))
	segments(e, hello, 2)
	fmt.Println(encoded(e.Respond(ctx, hello, answer)))

	done, _ := e.Snapshot(ctx, hello, nil)
	fmt.Println(string(done.Messages[2].ToolResults()[0].Result))
	// Output:
	// approval send {"to":"ann@example.com"}
	// {"delivered":true}
	// {"delivered":false,"reason":"no_park","error":"No matching pending input request"}
	// "sent to ann@example.com"
}

// A run whose budget is used up can wait until a person raises it.
func ExampleEngine_Respond_budget() {
	e := openExample(func(c *engine.Config) {
		c.Agents[0].Budget = spool.Budget{Tokens: 50, ToolCalls: 20}
		c.Agents[0].OnBudget = spool.BudgetPark
	})
	defer working(e)()
	ctx := context.Background()

	_, _ = e.Run(ctx, hello, wire.StartRequest{Prompt: "Good morning"})
	segments(e, hello, 1)

	var asked wire.InputRequired
	parked, _ := e.Snapshot(ctx, hello, nil)
	for _, entry := range parked.ActiveEvents {
		if entry.Type == wire.EntryInputRequired {
			_ = json.Unmarshal(entry.Payload, &asked)
		}
	}
	fmt.Println(asked.About, string(asked.Arguments))

	more := wire.Response{ToolCallID: asked.ToolCallID, Approved: true, Payload: json.RawMessage(`{"tokenBudget": 5000}`)}
	fmt.Println(encoded(e.Respond(ctx, hello, more)))
	segments(e, hello, 2)

	done, _ := e.Snapshot(ctx, hello, nil)
	fmt.Println(done.Runs[0].State, done.Runs[0].StopReason)
	// Output:
	// budget_reached {"exhausted":"token_budget","spent":{"tokenBudget":0,"toolCallBudget":0},"budget":{"tokenBudget":50,"toolCallBudget":20}}
	// {"delivered":true}
	// COMPLETED completed
}

// An agent gives parts of its work to nested runs, each with an agent of its own.
func ExampleSpawn() {
	ready := func(name string) spool.Tool {
		return tool.New(name, "Does it.", func(context.Context, struct{}) (string, error) { return name + ": done", nil })
	}
	search, read, book, pay := ready("search"), ready("read"), ready("book"), ready("pay")

	assistant := spool.Agent{
		Name: "assistant", Model: "large",
		Spawn: &spool.Spawn{Profiles: map[string]spool.Profile{
			"researcher": {
				Description:  "Finds things out. Give it a question and what is known already.",
				Instructions: "Answer with facts and their sources.",
				Model:        "small", Tools: []spool.Tool{search, read},
			},
			"clerk": {Description: "Books and pays.", Tools: []spool.Tool{book, pay}},
		}},
	}
	e := openExample(func(c *engine.Config) {
		c.Models = map[string]spool.Model{"large": demo.New(demo.Config{}), "small": demo.New(demo.Config{})}
		c.Agents = []spool.Agent{assistant}
	})
	defer working(e)()

	_, _ = e.Run(context.Background(), hello, wire.StartRequest{Prompt: "ask researcher to use search with {}"})
	segments(e, hello, 1)

	done, _ := e.Snapshot(context.Background(), hello, nil)
	for _, r := range done.Runs {
		fmt.Println(r.Agent, r.Depth, r.Model, r.State)
	}
	// Output:
	// researcher 1 small COMPLETED
	// assistant 0 large COMPLETED
}

// An accepted stop is durable. A run without a worker ends at once.
func ExampleEngine_Stop() {
	e := openExample()
	ctx := context.Background()

	_, _ = e.Run(ctx, hello, wire.StartRequest{Prompt: "Hello"})
	fmt.Println(encoded(e.Stop(ctx, hello)))
	fmt.Println(encoded(e.Stop(ctx, hello)))
	// Output:
	// {"accepted":true}
	// {"accepted":false,"reason":"not_active","error":"Cannot stop thread in state CANCELLED"}
}

// A queue of your own delivers jobs to HandleJob, and gives dead jobs to HandleDeadJob. A job may be
// delivered twice: the second time it does nothing.
func ExampleEngine_HandleJob() {
	e := openExample()
	ctx := context.Background()
	started, _ := e.Run(ctx, hello, wire.StartRequest{Prompt: "Hello"})

	job := wire.Job{Tenant: hello.Tenant, ThreadID: started.ThreadID, RunID: started.RunID, Agent: "gardener"}
	_, err := e.HandleJob(ctx, job)
	fmt.Println(errors.Is(err, wire.ErrUnknownAgent)) // the queue keeps the job

	job.Agent = "assistant"
	result, err := e.HandleJob(ctx, job)
	fmt.Println(result.Accepted, err)
	result, err = e.HandleJob(ctx, job)
	fmt.Println(result.Accepted, result.Reason, err)
	// Output:
	// true
	// true <nil>
	// true the run has ended <nil>
}

// A job that the queue gave up fails its run, so that nothing waits for ever.
func ExampleEngine_HandleDeadJob() {
	e := openExample()
	ctx := context.Background()
	started, _ := e.Run(ctx, hello, wire.StartRequest{Prompt: "Hello"})

	job := wire.Job{Tenant: hello.Tenant, ThreadID: started.ThreadID, RunID: started.RunID, Agent: "assistant"}
	if err := e.HandleDeadJob(ctx, job, 20, "no worker took it"); err != nil {
		panic(err)
	}
	snapshot, _ := e.Snapshot(ctx, hello, nil)
	fmt.Println(snapshot.Runs[0].State, snapshot.Runs[0].StopReason)
	// Output:
	// FAILED failed
}

// SSE returns a header and a body, which any HTTP framework can send.
func ExampleEngine_SSE() {
	e := openExample()
	defer working(e)()
	_, _ = e.Run(context.Background(), hello, wire.StartRequest{Prompt: "Hello", RunID: "r1"})
	segments(e, hello, 1)

	events := func(w http.ResponseWriter, r *http.Request) {
		stream, err := e.SSE(r.Context(), hello, wire.SSEOptions{Cursor: r.Header.Get("Last-Event-ID")})
		if err != nil {
			http.Error(w, spool.MessageOf(err), http.StatusNotFound)
			return
		}
		maps.Copy(w.Header(), stream.Header)
		for chunk, err := range stream.Chunks() {
			if err != nil {
				return // the client is gone
			}
			if _, err := w.Write(chunk); err != nil {
				return
			}
			_ = http.NewResponseController(w).Flush()
		}
	}

	e.Close() // ends streams, so that the example does
	w := httptest.NewRecorder()
	events(w, httptest.NewRequest(http.MethodGet, "/events", http.NoBody))
	fmt.Println(w.Code, w.Header().Get("Content-Type"))
	// Output:
	// 200 text/event-stream; charset=utf-8
}

// An event stream is also an io.Reader.
func ExampleEventStream_Read() {
	e := openExample()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	_, _ = e.Run(ctx, hello, wire.StartRequest{Prompt: "Hello"})

	stream, err := e.SSE(ctx, hello, wire.SSEOptions{Retry: 2 * time.Second})
	if err != nil {
		panic(err)
	}
	defer stream.Close()
	first := make([]byte, len("retry: 2000\n"))
	_, err = io.ReadFull(stream, first)
	fmt.Printf("%q %v\n", first, err)
	// Output:
	// "retry: 2000\n" <nil>
}

// FollowFrame encodes a frame for a transport of your own. The cursor moves with it.
func ExampleFollowFrame() {
	at := wire.Cursor{Seq: 3, Stream: "r1:1", Offset: wire.Offset{Fence: 1, N: 9}}
	entry := wire.NewEntry(wire.EntryInputExpired, "r1", wire.InputExpired{ToolCallID: "call_1"})
	entry.ThreadID, entry.Seq, entry.CreatedAt = "hello", 4, time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC)

	fmt.Print(string(engine.FollowFrame(wire.Frame{Kind: wire.FrameThread, Event: entry}, &at)))
	fmt.Println(at)
	// Output:
	// id: 4 r1:1 1-9
	// data: {"kind":"thread","event":{"threadId":"hello","seq":4,"type":"INPUT_EXPIRED","payload":{"toolCallId":"call_1"},"createdAt":"2025-01-02T03:04:05Z","runId":"r1"}}
	//
	// 4 r1:1 1-9
}

// A settle hook gets the end of each run, however the run ends.
func ExampleConfig_onSettle() {
	e := openExample(func(c *engine.Config) {
		c.OnSettle = func(_ context.Context, s wire.Settlement) error {
			fmt.Println(s.Thread, s.State, s.StopReason, s.Steps)
			return nil
		}
	})
	defer working(e)()
	_, _ = e.Run(context.Background(), hello, wire.StartRequest{Prompt: "Hello"})
	segments(e, hello, 1)
	// Output:
	// default/hello COMPLETED completed 1
}

// A tool publishes its progress, and writes a receipt into the record.
func ExampleEngine_PublishEvent() {
	export := spool.Tool{
		ToolSpec: spool.ToolSpec{Name: "export"},
		Call: func(ctx context.Context, call spool.ToolCall) (json.RawMessage, error) {
			if err := call.Publish(ctx, "progress", map[string]int{"percent": 50}); err != nil {
				return nil, err
			}
			return nil, call.PublishDurable(ctx, "receipt", map[string]int{"cents": 500})
		},
	}
	e := openExample(func(c *engine.Config) { c.Agents[0].Tools = []spool.Tool{export} })
	defer working(e)()
	ctx := context.Background()
	if _, err := e.Run(ctx, hello, wire.StartRequest{Prompt: "use export with {}"}); err != nil {
		panic(err)
	}
	for entry, err := range e.FollowRecord(ctx, hello, 0) {
		if err != nil {
			panic(err)
		}
		if entry.Type == "receipt" {
			fmt.Println(entry.Seq, string(entry.Payload))
		}
		if entry.Type == wire.EntryRunEnded {
			break
		}
	}
	thanks, err := e.PublishEvent(ctx, hello, "thanks", "Ann", wire.PublishOptions{Durable: true})
	fmt.Println(thanks.Seq, string(thanks.Payload), err)
	// Output:
	// 2 {"cents":500}
	// 4 "Ann" <nil>
}

func ExampleConfig_attachments() {
	e := openExample(func(c *engine.Config) {
		c.Attachments = option.Attachments{Fetch: true, MaxBytes: 2 << 20}
	})
	_, err := e.Run(context.Background(), hello, wire.StartRequest{
		Prompt: "What is this?", Attachments: []wire.Attachment{{URL: "http://localhost/cat.png"}},
	})
	fmt.Println(err)
	// Output: attachments[0].url names a host that is not allowed
}
