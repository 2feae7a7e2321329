package enginetest

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

var threadTests = map[string]func(s *engineTest){
	"List":          testThreadList,
	"Usage":         testThreadUsage,
	"Delete":        testThreadDelete,
	"MadeAgain":     testThreadMadeAgain,
	"DeleteRefused": testThreadDeleteRefused,
	"DeleteParked":  testThreadDeleteParked,
	"Tenants":       testThreadTenants,
	"Missing":       testThreadMissing,
}

func testThreadList(s *engineTest) {
	e := s.working(s.config(echo()))
	for _, id := range []spool.ThreadID{"a", "b", "c"} {
		s.startAs(e, spool.ThreadKey{Tenant: "acme", ID: id}, wire.StartRequest{Prompt: "of " + string(id)})
		<-time.After(time.Minute)
	}
	s.startAs(e, spool.ThreadKey{Tenant: "acme", ID: "b"}, wire.StartRequest{Prompt: "again"})
	<-time.After(time.Minute)
	names := func(q wire.ThreadQuery) (ids []string) {
		threads, err := e.Threads(context.Background(), "acme", q)
		if err != nil {
			s.Error(err)
		}
		for _, thread := range threads {
			ids = append(ids, string(thread.ID)+" "+thread.Title+" "+string(thread.State))
		}
		return ids
	}
	s.lines("threads", names(wire.ThreadQuery{}), "b of b COMPLETED", "c of c COMPLETED", "a of a COMPLETED")
	s.lines("the first", names(wire.ThreadQuery{Limit: 1}), "b of b COMPLETED")
}

func testThreadUsage(s *engineTest) {
	cached := int64(6)
	m := spooltest.NewModel(
		spooltest.Turn{Calls: []spooltest.Call{{ID: "c1", Name: "look"}}, Usage: spooltest.Tokens(10, 2)},
		spooltest.Turn{Text: []string{"x"}, Err: overloaded(), Usage: spooltest.Tokens(5, 1)},
		spooltest.Turn{
			Text:  []string{"done"},
			Usage: spool.Usage{Input: spooltest.Tokens(20, 3).Input, Output: spooltest.Tokens(20, 3).Output, CacheRead: &cached},
		},
	)
	m.Window = 1000
	e := s.working(s.config(m, plain("look", "1")))
	if _, err := e.Usage(context.Background(), chat); spool.CodeOf(err) != spool.NotFound {
		s.Errorf("no thread: %v", err)
	}
	s.start(e, "r1", "go")
	u, err := e.Usage(context.Background(), chat)
	if err != nil || u.Tokens.Lines == nil || u.Tokens.TotalTokens != 0 || u.Context.Messages != 1 {
		s.Errorf("before the first answer: %+v, %v", u, err)
	}
	s.ended(wire.Completed)
	u, err = e.Usage(context.Background(), chat)
	want := spool.TokenCount{InputTokens: 35, CachedInputTokens: 6, OutputTokens: 6, TotalTokens: 41}
	if err != nil || u.Tokens.TokenCount != want || u.Context.UsedTokens != 23 || u.Context.BudgetTokens != 750 ||
		u.Context.CompactAtTokens != 600 || u.Context.Messages != 4 || u.Model != "m" {
		s.Errorf("usage: %+v, %v", u, err)
	}
	if run := s.run("r1").TokenCount; run.TotalTokens != 41 {
		s.Errorf("the run counts %+v", run)
	}
}

func testThreadDelete(s *engineTest) {
	e := s.working(s.config(echo()))
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	frames := make(chan []wire.Frame)
	go func() {
		var got []wire.Frame
		for f, err := range e.Follow(context.Background(), chat, wire.FollowOptions{}) {
			if err != nil {
				s.Errorf("follow: %v", err)
				break
			}
			got = append(got, f)
		}
		frames <- got
	}()
	<-time.After(time.Second)
	r, err := e.DeleteThread(context.Background(), chat)
	if err != nil || !r.Accepted {
		s.Fatalf("delete: %+v, %v", r, err)
	}
	got := receive(s, frames, bubbleWait, "the end of the frames")
	if last := got[len(got)-1]; last.Cursor != nil || last.Event.Type != wire.NoticeThreadDeleted {
		s.Errorf("the last frame is %s", frameLine(last))
	}
	if all := s.all(chat, "r1"); all.Found || len(all.Messages)+len(all.Entries)+len(all.Runs) > 0 {
		s.Errorf("after the deletion: %+v", all)
	}
	if _, err := e.Snapshot(context.Background(), chat, nil); spool.CodeOf(err) != spool.NotFound {
		s.Errorf("snapshot: %v", err)
	}
	_, err = s.backend.Live.Read(context.Background(), store.StreamKey{Thread: chat, ID: "r1:1"}, wire.Offset{}, 0)
	if !errors.Is(err, store.ErrStreamGone) {
		s.Errorf("the stream: %v", err)
	}
	if r, err := e.DeleteThread(context.Background(), chat); err != nil || r.Accepted || r.Reason != wire.ReasonNotFound ||
		r.Error != "Thread not found" {
		s.Errorf("delete again: %+v, %v", r, err)
	}
	s.history.Starts = nil
	s.start(e, "r1", "anew") // nothing of the old thread is left, and even the run id is free
	s.ended(wire.Completed)
	s.lines("messages", s.script(), "user anew", "assistant re: anew")
}

// testThreadMadeAgain has a slow reader of a thread that is deleted and created again.
func testThreadMadeAgain(s *engineTest) {
	e := s.working(s.config(echo()))
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	old, err := e.Thread(context.Background(), chat)
	if err != nil {
		s.Fatal(err)
	}
	read := make(chan struct{})
	frames := make(chan []wire.Frame, 1)
	go func() {
		var got []wire.Frame
		for f, err := range e.Follow(context.Background(), chat, wire.FollowOptions{CreatedAt: old.CreatedAt}) {
			if err != nil {
				s.Errorf("follow: %v", err)
				break
			}
			got = append(got, f)
			<-read
		}
		frames <- got
	}()
	<-time.After(time.Second)
	if r, err := e.DeleteThread(context.Background(), chat); err != nil || !r.Accepted {
		s.Fatalf("delete: %+v, %v", r, err)
	}
	s.history.Starts = nil
	for _, id := range []spool.RunID{"r1", "r2"} {
		s.start(e, id, "anew")
		s.ended(wire.Completed)
	}
	close(read)
	select {
	case got := <-frames:
		for _, f := range got {
			if text := frameLine(f); strings.Contains(text, "anew") || strings.Contains(text, "r2") {
				s.Errorf("a reader of the old thread gets %s", text)
			}
		}
	case <-time.After(time.Minute):
		s.Error("a reader of the old thread has no end")
	}
	for f, err := range e.Follow(context.Background(), chat, wire.FollowOptions{CreatedAt: old.CreatedAt}) {
		if spool.CodeOf(err) != spool.NotFound {
			s.Errorf("following the old thread: %s, %v", frameLine(f), err)
		}
		break
	}
}

func testThreadDeleteRefused(s *engineTest) {
	gate := make(chan struct{})
	e := s.engine(s.config(spooltest.NewModel(spooltest.Turn{Text: []string{"x"}, Gate: gate})))
	refused := func(what string) {
		s.Helper()
		r, err := e.DeleteThread(context.Background(), chat)
		if err != nil || r.Accepted || r.Reason != wire.ReasonActiveRun ||
			r.Error != "Thread has an active run — stop it before deleting" {
			s.Errorf("%s: %+v, %v", what, r, err)
		}
	}
	s.start(e, "r1", "go")
	refused("queued")
	s.work(e)
	s.becomes(wire.Running)
	refused("running")
	close(gate)
	s.ended(wire.Completed)
}

func testThreadDeleteParked(s *engineTest) {
	e := s.working(s.config(sending(), approved("send", "1")))
	s.start(e, "r1", "go")
	s.becomes(wire.WaitingForInput)
	if r, err := e.DeleteThread(context.Background(), chat); err != nil || !r.Accepted {
		s.Fatalf("delete: %+v, %v", r, err)
	}
	<-time.After(20 * time.Minute)
	stats := s.jobs()
	if stats.Ready+stats.Delayed+stats.InFlight+stats.Dead != 0 {
		s.Errorf("queue: %+v", stats)
	}
}

// testThreadTenants has two tenants that use the same ids.
func testThreadTenants(s *engineTest) {
	other := spool.ThreadKey{Tenant: "umbrella", ID: chat.ID}
	e := s.working(s.config(spooltest.NewModelFunc(func(_ context.Context, r spool.ModelRequest) spooltest.Turn {
		if spooltest.StepOf(r) > 0 {
			return spooltest.Say("done")
		}
		return spooltest.Turn{Text: []string{"of " + r.Messages[0].Text()}, Calls: []spooltest.Call{{ID: "c1", Name: "send"}}}
	}), approved("send", "1")))
	s.startAs(e, chat, wire.StartRequest{Prompt: "acme", RunID: "r1"})
	s.startAs(e, other, wire.StartRequest{Prompt: "umbrella", RunID: "r1"})
	for _, key := range []spool.ThreadKey{chat, other} {
		s.until("the park", func() bool { return s.threadOf(key).State == wire.WaitingForInput })
	}
	s.answer(e, "c1", true, "")
	s.ended(wire.Completed)
	if got := s.all(other, "r1"); got.Thread.State != wire.WaitingForInput || got.Parks[0].State != wire.ParkOpen {
		s.Errorf("the other tenant's thread: %+v", got.Thread)
	}
	for key, want := range map[spool.ThreadKey]wire.State{chat: wire.Completed, other: wire.WaitingForInput} {
		if thread, err := e.Thread(context.Background(), key); err != nil || thread.Tenant != key.Tenant ||
			thread.State != want {
			s.Errorf("the thread %s: %+v, %v", key, thread, err)
		}
	}
	for _, key := range []spool.ThreadKey{chat, other} {
		snap, err := e.Snapshot(context.Background(), key, nil)
		if err != nil || snap.Messages[1].Text() != "of "+string(key.Tenant) {
			s.Errorf("the snapshot of %s: %+v, %v", key, snap, err)
		}
	}
	if r, err := e.DeleteThread(context.Background(), chat); err != nil || !r.Accepted {
		s.Errorf("delete: %+v, %v", r, err)
	}
	if !s.all(other, "r1").Found {
		s.Error("the other tenant's thread went with it")
	}
	page, err := s.backend.Live.Read(context.Background(), store.StreamKey{Thread: other, ID: "r1:1"}, wire.Offset{}, 0)
	if err != nil || len(page.Items) == 0 {
		s.Errorf("the other tenant's stream: %v", err)
	}
}

func testThreadMissing(s *engineTest) {
	e := s.engine(s.config(echo()))
	if _, err := e.Thread(context.Background(), chat); spool.CodeOf(err) != spool.NotFound {
		s.Errorf("thread: %v", err)
	}
	if _, err := e.Snapshot(context.Background(), chat, nil); spool.CodeOf(err) != spool.NotFound {
		s.Errorf("snapshot: %v", err)
	}
	if _, err := e.SSE(context.Background(), chat, wire.SSEOptions{}); spool.CodeOf(err) != spool.NotFound {
		s.Errorf("sse: %v", err)
	}
	for _, err := range e.Follow(context.Background(), chat, wire.FollowOptions{}) {
		if spool.CodeOf(err) != spool.NotFound {
			s.Errorf("follow: %v", err)
		}
	}
	for _, err := range e.FollowRecord(context.Background(), chat, 0) {
		if spool.CodeOf(err) != spool.NotFound {
			s.Errorf("follow record: %v", err)
		}
	}
	for _, err := range e.ReadStream(context.Background(), chat, "r1:1", wire.Offset{}) {
		if !errors.Is(err, store.ErrStreamGone) {
			s.Errorf("read stream: %v", err)
		}
	}
}
