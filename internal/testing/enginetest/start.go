package enginetest

import (
	"context"
	"sync"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

var startTests = map[string]func(s *engineTest){
	"Fresh":          testStartFresh,
	"MaxSteps":       testStartMaxSteps,
	"Attachments":    testStartAttachments,
	"IdempotencyKey": testStartIdempotencyKey,
	"OneOfMany":      testStartOneOfMany,
	"QueueFull":      testStartQueueFull,
	"QueueFullOnce":  testStartQueueFullOnce,
}

func testStartFresh(s *engineTest) {
	e := s.engine(s.config(spooltest.NewModel(spooltest.Say("hi"))))
	r := s.startAs(e, chat, wire.StartRequest{Prompt: " hello\nyou ", RunID: "r1", ClientMessageID: "mine"})
	s.same("result", r, wire.RunResult{Accepted: true, ThreadID: "chat", RunID: "r1", State: wire.Queued})

	all := s.all(chat, "r1")
	if all.Thread.State != wire.Queued || all.Thread.RunID != "r1" || all.Thread.Title != "hello" ||
		all.Thread.Model != "m" {
		s.Errorf("thread: %+v", all.Thread)
	}
	if len(all.Runs) != 1 || all.Runs[0].State != wire.Queued || all.Runs[0].EnqueuedAt.IsZero() ||
		all.Runs[0].Agent != "a" {
		s.Errorf("runs: %+v", all.Runs)
	}
	if len(all.Messages) != 1 || all.Messages[0].ClientMessageID != "mine" || all.Messages[0].Text() != " hello\nyou " ||
		all.Messages[0].RunID != "r1" {
		s.Errorf("messages: %+v", all.Messages)
	}
	if stats := s.jobs(); stats.Ready != 1 {
		s.Errorf("queue: %+v", stats)
	}
	s.work(e)
	s.ended(wire.Completed)
	s.lines("messages", s.script(), "user  hello\nyou ", "assistant hi")
	s.lines("record", s.record(), "RUN_STARTED r1:1", "RUN_ENDED r1:1 finished")
}

func testStartMaxSteps(s *engineTest) {
	c := s.config(spooltest.NewModelFunc(func(context.Context, spool.ModelRequest) spooltest.Turn {
		return spooltest.Use(spooltest.Call{ID: spool.ToolCallID(spool.NewID("c")), Name: "look"})
	}), plain("look", "1"))
	c.Agents[0].MaxSteps = 3
	e := s.working(c)
	for i, test := range []struct{ asked, want int }{{2, 2}, {0, 3}, {10, 3}} {
		id := spool.RunID("r" + string(rune('1'+i)))
		s.startAs(e, chat, wire.StartRequest{Prompt: "x", RunID: id, StartOptions: wire.StartOptions{MaxSteps: test.asked}})
		s.ended(wire.Completed)
		if r := s.run(id); r.Steps != test.want || r.StopReason != wire.StopMaxSteps {
			s.Errorf("maxSteps %d: %d steps, %s", test.asked, r.Steps, r.StopReason)
		}
	}
}

// pixel is an image of one pixel.
const pixel = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"

func testStartAttachments(s *engineTest) {
	m := spooltest.NewModel(spooltest.Say("nice"))
	e := s.working(s.config(m))
	s.startAs(e, chat, wire.StartRequest{Prompt: "look", Attachments: []wire.Attachment{
		{URL: "https://x.test/a.png", MediaType: "image/png"}, {URL: pixel}, {URL: "data:text/csv,a", Name: "a.csv"},
	}})
	s.ended(wire.Completed)
	want := spool.Content{
		{Type: spool.PartText, Text: "look"},
		{Type: spool.PartImage, Image: "https://x.test/a.png", MIMEType: "image/png"},
		{Type: spool.PartImage, Image: pixel},
		{Type: spool.PartFile, File: "data:text/csv,a", MIMEType: "text/csv", FileName: "a.csv"},
	}
	s.same("saved", s.messagesOf(chat)[0].Content, want)
	s.same("asked", m.Requests()[0].Messages[0].Content, want)
}

func testStartIdempotencyKey(s *engineTest) {
	e := s.engine(s.config(spooltest.NewModel()))
	first := s.startAs(e, chat, wire.StartRequest{Prompt: "x", IdempotencyKey: "k"})
	results := make([]wire.RunResult, 8)
	var group sync.WaitGroup
	for i := range results {
		group.Go(func() {
			key := chat
			if i%2 == 1 {
				key.ID = "" // the client does not know the answer to its first start
			}
			var err error
			if results[i], err = e.Run(
				context.Background(), key, wire.StartRequest{Prompt: "x", IdempotencyKey: "k"},
			); err != nil {
				s.Error(err)
			}
		})
	}
	group.Wait()
	for _, r := range results {
		s.same("a repeated start", r, first)
	}
	threads, err := e.Threads(context.Background(), "acme", wire.ThreadQuery{})
	if err != nil || len(threads) != 1 {
		s.Errorf("threads: %+v, %v", threads, err)
	}
	wrong, err := e.Run(context.Background(), chat, wire.StartRequest{Prompt: "y", IdempotencyKey: "k"})
	if err != nil {
		s.Error(err)
	}
	wrong.Error = ""
	s.same("another start with the key", wrong,
		wire.RunResult{ThreadID: first.ThreadID, RunID: first.RunID, Reason: wire.ReasonKeyReused})
	other := s.startAs(e, spool.ThreadKey{Tenant: "umbrella", ID: "chat"},
		wire.StartRequest{Prompt: "x", IdempotencyKey: "k"})
	if other.RunID == first.RunID {
		s.Error("the key of another tenant was answered")
	}
}

// testStartOneOfMany makes many starts at once, with the same idempotency key and without a key.
func testStartOneOfMany(s *engineTest) {
	e := s.engine(s.config(spooltest.NewModel()))
	for _, key := range []string{"", "k"} {
		at := spool.ThreadKey{Tenant: "acme", ID: spool.ThreadID("many" + key)}
		s.keys = append(s.keys, at)
		var mu sync.Mutex
		var group sync.WaitGroup
		accepted := make(map[spool.RunID]int)
		for range 8 {
			group.Go(func() {
				r, err := e.Run(context.Background(), at, wire.StartRequest{Prompt: "x", IdempotencyKey: key})
				if err != nil {
					s.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				if r.Accepted {
					accepted[r.RunID]++
				}
			})
		}
		group.Wait()
		if len(accepted) != 1 {
			s.Errorf("key %q: %d runs were accepted", key, len(accepted))
		}
		for _, n := range accepted {
			if want := map[string]int{"": 1, "k": 8}[key]; n != want {
				s.Errorf("key %q: %d of 8 were told that it was accepted", key, n)
			}
		}
	}
}

// testStartQueueFull fills the queue: the next start is refused and changes nothing, until a worker has
// taken a job.
func testStartQueueFull(s *engineTest) {
	c := s.config(spooltest.NewModelFunc(func(context.Context, spool.ModelRequest) spooltest.Turn {
		return spooltest.Say("hi")
	}))
	c.Limits.QueueDepth = 2
	e := s.engine(c)
	start := func(key spool.ThreadKey, request wire.StartRequest) wire.RunResult {
		s.Helper()
		request.Prompt = "x"
		r, err := e.Run(context.Background(), key, request)
		if err != nil {
			s.Fatal(err)
		}
		return r
	}
	s.startAs(e, chat, wire.StartRequest{Prompt: "x", RunID: "r1", IdempotencyKey: "key"})
	if r := start(chat, wire.StartRequest{}); r.Reason != wire.ReasonActiveRun { // a refused start takes no room
		s.Errorf("a start on a busy thread: %+v", r)
	}
	// nor does one that waits for its thread
	if r := start(chat, wire.StartRequest{WhenBusy: spool.BusyEnqueue}); r.Position != 1 {
		s.Errorf("a start that waits: %+v", r)
	}
	s.startAs(e, threadKey("b"), wire.StartRequest{Prompt: "x", RunID: "r2"})
	for range 2 {
		r := start(threadKey("c"), wire.StartRequest{})
		if r.Accepted || r.Reason != wire.ReasonQueueFull || r.Error == "" || r.RetryAfter <= 0 || r.ThreadID != "c" {
			s.Errorf("a start beyond the bound: %+v", r)
		}
	}
	if s.all(threadKey("c"), "").Found {
		s.Error("a refused start made its thread")
	}
	if r := start(chat, wire.StartRequest{IdempotencyKey: "key"}); !r.Accepted || r.RunID != "r1" {
		s.Errorf("a start that was accepted before: %+v", r)
	}
	stop := s.work(e)
	s.ended(wire.Completed)
	s.until("the other run's end", func() bool { return s.threadOf(threadKey("b")).State == wire.Completed })
	stop()
	s.until("room", func() bool {
		return start(threadKey("c"), wire.StartRequest{RunID: "r3"}).Reason != wire.ReasonQueueFull
	})
	s.work(e)
	s.until("its end", func() bool { return s.threadOf(threadKey("c")).State == wire.Completed })
}

// testStartQueueFullOnce makes many starts at once: a process counts its own starts exactly.
func testStartQueueFullOnce(s *engineTest) {
	c := s.config(spooltest.NewModelFunc(func(context.Context, spool.ModelRequest) spooltest.Turn {
		return spooltest.Say("hi")
	}))
	c.Limits.QueueDepth = 5
	e := s.engine(c)
	var wg sync.WaitGroup
	var mu sync.Mutex
	accepted := 0
	for range 20 {
		wg.Go(func() {
			r, err := e.Run(context.Background(), spool.ThreadKey{Tenant: chat.Tenant}, wire.StartRequest{Prompt: "x"})
			mu.Lock()
			defer mu.Unlock()
			if err != nil || !r.Accepted && r.Reason != wire.ReasonQueueFull {
				s.Errorf("start: %+v, %v", r, err)
			}
			if r.Accepted {
				accepted++
			}
		})
	}
	wg.Wait()
	if accepted != 5 {
		s.Errorf("%d starts were accepted, want 5", accepted)
	}
}
