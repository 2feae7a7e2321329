package enginetest

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// forkTest is the fixture of the cases about forks.
type forkTest struct{ *engineTest }

var forkTests = map[string]func(s forkTest){
	"GoesOn":    testForkGoesOn,
	"Whole":     testForkWhole,
	"Summary":   testForkSummary,
	"Provider":  testForkProvider,
	"Refused":   testForkRefused,
	"Own":       testForkOwn,
	"Artifacts": testForkArtifacts,
}

var forkedChat = spool.ThreadKey{Tenant: chat.Tenant, ID: "forked"}

// fork forks the thread at a version, which must be accepted, and returns how many messages the new thread has.
func (s forkTest) fork(e *engine.Engine, version int64) int {
	s.Helper()
	r, err := e.Fork(context.Background(), chat, wire.ForkRequest{Version: version, NewThreadID: forkedChat.ID})
	if err != nil || !r.Accepted || r.ThreadID != forkedChat.ID || r.Reason != "" {
		s.Fatalf("fork at %d: %+v, %v", version, r, err)
	}
	return r.Messages
}

// versionWith returns the first version whose snapshot has so many messages.
func (s forkTest) versionWith(e *engine.Engine, messages int) int64 {
	s.Helper()
	for version := int64(1); ; version++ {
		snap, err := e.SnapshotAt(context.Background(), chat, version)
		if err != nil {
			s.Fatal(err)
		}
		if len(snap.Messages) == messages {
			return version
		}
	}
}

// texts returns the role and text of each message of a thread.
func (s forkTest) texts(key spool.ThreadKey) (lines []string) {
	s.Helper()
	for _, m := range s.messagesOf(key) {
		lines = append(lines, string(m.Role)+" "+m.Text())
	}
	return lines
}

// testForkGoesOn forks a thread behind its first answer, and goes on with the new one.
func testForkGoesOn(s forkTest) {
	e := s.working(s.config(echo()))
	s.startAs(e, chat, wire.StartRequest{
		Prompt: "one", RunID: "r1", Title: "Numbers", Labels: map[string]string{"k": "v"}, By: "ann",
	})
	s.ended(wire.Completed)
	s.start(e, "r2", "two")
	s.ended(wire.Completed)
	before := s.all(chat, "r1")
	if n := s.fork(e, s.versionWith(e, 2)); n != 2 {
		s.Errorf("the fork has %d messages", n)
	}
	forked := s.all(forkedChat, "")
	if t := forked.Thread; t.State != wire.Idle || t.Title != "Numbers" || t.Labels["k"] != "v" ||
		t.Model != before.Thread.Model || t.Owner != "" {
		s.Errorf("the new thread is %+v", t)
	}
	if len(forked.Runs) > 0 || len(forked.Entries) > 0 || forked.Messages[0].ID == before.Messages[0].ID {
		s.Errorf("the new thread has %d runs, %d entries and the message %s", len(forked.Runs), len(forked.Entries),
			forked.Messages[0].ID)
	}
	s.startAs(e, forkedChat, wire.StartRequest{Prompt: "three", RunID: "r3"})
	s.until("the end of the new run", func() bool { return s.threadOf(forkedChat).State == wire.Completed })
	s.lines("the new thread", s.texts(forkedChat), "user one", "assistant re: one", "user three", "assistant re: three")
	s.same("the thread", s.all(chat, "r1"), before)
	snap, err := e.SnapshotAt(context.Background(), forkedChat, 1)
	if err != nil || len(snap.Messages) != 2 || len(snap.Runs) != 0 || snap.Thread.State != wire.Idle {
		s.Errorf("version 1 of the new thread: %+v, %v", snap, err)
	}
}

// testForkWhole forks at each version of a run with a nested one that waits for an answer. The new thread ends where no
// call waits, and has the messages of the main agent only.
func testForkWhole(s forkTest) {
	n := nestedTest(s)
	e := s.working(n.treeConfig(mailing(), plain("look", `"seen"`), approved("send", `"sent"`)))
	s.start(e, "r1", "go")
	s.becomes(wire.WaitingForInput)
	n.answerAs(e, "mail:send", true)
	s.ended(wire.Completed)
	sizes := make(map[int]bool)
	for version := int64(1); ; version++ {
		if _, err := e.SnapshotAt(context.Background(), chat, version); spool.CodeOf(err) == spool.Invalid {
			break
		}
		got := s.fork(e, version)
		forked := s.messagesOf(forkedChat)
		calls := 0
		for _, m := range forked {
			calls += len(m.ToolCalls()) - len(m.ToolResults())
			if m.AgentID != "" {
				s.Errorf("version %d: the new thread has a message of %s", version, m.AgentID)
			}
		}
		if calls != 0 || len(forked) != got {
			s.Errorf("version %d: %d messages with %d calls that wait, want %d", version, len(forked), calls, got)
		}
		sizes[got] = true
		if _, err := e.DeleteThread(context.Background(), forkedChat); err != nil {
			s.Fatal(err)
		}
	}
	s.same("the numbers of messages", sizes, map[int]bool{1: true, 4: true, 5: true})
}

// testForkSummary forks a thread with a summary. The new one names its own message as the last that the summary covers.
func testForkSummary(s forkTest) {
	key := chat
	err := s.backend.Store.Update(context.Background(), key, 0, func(tx store.Tx) error {
		return tx.Write(store.Changes{
			Thread: &wire.Thread{Tenant: key.Tenant, ID: key.ID, State: wire.Idle},
			Messages: []*spool.Message{
				{ID: "m1", Role: spool.RoleUser, Content: spool.TextContent("one")},
				{ID: "m2", Role: spool.RoleAssistant, Content: spool.TextContent("two")},
				{
					ID: "m3", Role: spool.RoleSystem,
					Content: spool.Content{{Type: spool.PartSummary, Text: "short", ThroughMessageID: "m2"}},
				},
			},
			Entries: []*wire.Entry{
				wire.NewEntry(wire.EntryContextCompacted, "", wire.ContextCompacted{SummarizedMessages: 2, MessageID: "m3"}),
			},
		})
	})
	if err != nil {
		s.Fatal(err)
	}
	s.fork(s.engine(s.config(echo())), 0) // nobody has written deltas
	s.keys = append(s.keys, forkedChat)
	all := s.messagesOf(forkedChat)
	if part, ok := all[2].Content.Summary(); !ok || part.ThroughMessageID != all[1].ID || part.Text != "short" {
		s.Errorf("the summary is %+v, and the message before it %s", all[2].Content, all[1].ID)
	}
}

// testForkProvider forks a thread whose messages have data of their model's provider. The new thread has the same data,
// because its next model call gives them back.
func testForkProvider(s forkTest) {
	const sealed = `{"seal":{"model":"m","data":"abc"}}`
	err := s.backend.Store.Update(context.Background(), chat, 0, func(tx store.Tx) error {
		return tx.Write(store.Changes{
			Thread: &wire.Thread{Tenant: chat.Tenant, ID: chat.ID, State: wire.Idle},
			Messages: []*spool.Message{
				{ID: "m1", Role: spool.RoleUser, Content: spool.TextContent("one")},
				{
					ID: "m2", Role: spool.RoleAssistant,
					Content: spool.Content{{Type: spool.PartText, Text: "two", Provider: []byte(sealed)}},
				},
			},
		})
	})
	if err != nil {
		s.Fatal(err)
	}
	s.fork(s.engine(s.config(echo())), 0) // nobody has written deltas
	s.keys = append(s.keys, forkedChat)
	if got := s.messagesOf(forkedChat)[1].Content[0].Provider; string(got) != sealed {
		s.Errorf("the message of the new thread has the data %q, want %s", got, sealed)
	}
}

func testForkRefused(s forkTest) {
	e := s.working(s.config(echo()))
	ctx := context.Background()
	if r, err := e.Fork(ctx, chat, wire.ForkRequest{Version: 1}); spool.CodeOf(err) != spool.NotFound {
		s.Errorf("no thread: %+v, %v", r, err)
	}
	s.start(e, "r1", "one")
	s.ended(wire.Completed)
	for _, version := range []int64{-1, 0, 99} {
		if r, err := e.Fork(ctx, chat, wire.ForkRequest{Version: version}); spool.CodeOf(err) != spool.Invalid ||
			!strings.Contains(err.Error(), "version: ") {
			s.Errorf("version %d: %+v, %v", version, r, err)
		}
	}
	if r, err := e.Fork(ctx, chat, wire.ForkRequest{Version: 1, NewThreadID: "a b"}); spool.CodeOf(err) != spool.Invalid ||
		!strings.Contains(err.Error(), "newThreadId") {
		s.Errorf("a bad id: %+v, %v", r, err)
	}
	for _, id := range []spool.ThreadID{chat.ID, forkedChat.ID} {
		if id == forkedChat.ID {
			s.fork(e, 1)
		}
		r, err := e.Fork(ctx, chat, wire.ForkRequest{Version: 1, NewThreadID: id})
		want := wire.ForkResult{ThreadID: id, Reason: wire.ReasonThreadUsed, Error: "There is a thread with this id"}
		if err != nil || r != want {
			s.Errorf("the id %s is used: %+v, %v", id, r, err)
		}
	}
	if r, err := e.Fork(ctx, chat, wire.ForkRequest{Version: 1}); err != nil || !r.Accepted || r.ThreadID == "" {
		s.Errorf("without an id: %+v, %v", r, err)
	}
}

// testForkOwn has an actor that sees only its own threads. Its fork is its own, and it cannot fork another's thread.
func testForkOwn(s forkTest) {
	e := s.working(s.config(echo()))
	s.startAs(e, chat, wire.StartRequest{Prompt: "one", RunID: "r1", By: "ann"})
	s.ended(wire.Completed)
	as := func(subject string) context.Context {
		return engine.WithActor(context.Background(), wire.Actor{Tenant: chat.Tenant, Subject: subject, OwnOnly: true})
	}
	if r, err := e.Fork(as("bob"), chat, wire.ForkRequest{Version: 1}); spool.CodeOf(err) != spool.NotFound {
		s.Errorf("another's thread: %+v, %v", r, err)
	}
	if file, err := e.Record(as("bob"), chat); spool.CodeOf(err) != spool.NotFound {
		s.Errorf("another's record: %+v, %v", file, err)
	}
	if snap, err := e.SnapshotAt(as("bob"), chat, 1); spool.CodeOf(err) != spool.NotFound {
		s.Errorf("another's snapshot: %+v, %v", snap, err)
	}
	r, err := e.Fork(as("ann"), chat, wire.ForkRequest{Version: 1, NewThreadID: forkedChat.ID})
	if err != nil || !r.Accepted || s.threadOf(forkedChat).Owner != "ann" {
		s.Errorf("her own thread: %+v, %v", r, err)
	}
}

// testForkArtifacts forks a thread whose messages name an artifact. The new one has a copy, also when the thread is
// gone.
func testForkArtifacts(s forkTest) {
	ctx := context.Background()
	c, _ := artifactUseTest(s).stores(s.config(echo()))
	e := s.working(c)
	s.start(e, "r1", "one")
	s.ended(wire.Completed)
	a, err := e.SaveArtifact(ctx, chat, spool.NewArtifact{Name: "x.txt", Data: strings.NewReader("the data")})
	if err != nil {
		s.Fatal(err)
	}
	s.startAs(e, chat, wire.StartRequest{
		Prompt: "see " + string(a.ID) + " and art_00000000000000000000000000000000", RunID: "r2",
	})
	s.ended(wire.Completed)
	s.fork(e, s.versionWith(e, 4))
	if r, err := e.DeleteThread(ctx, chat); err != nil || !r.Accepted {
		s.Fatal(r, err)
	}
	copies, err := e.Artifacts(ctx, forkedChat)
	if err != nil || len(copies) != 1 || copies[0].Name != "x.txt" {
		s.Fatalf("the copies are %+v, %v", copies, err)
	}
	want := "see " + string(copies[0].ID) + " and art_00000000000000000000000000000000"
	if got := s.messagesOf(forkedChat)[2].Text(); got != want {
		s.Errorf("the message says %q, want %q", got, want)
	}
	_, data, err := e.OpenArtifact(ctx, forkedChat, copies[0].ID)
	if err != nil {
		s.Fatal(err)
	}
	text, err := io.ReadAll(data)
	if err := errors.Join(err, data.Close()); err != nil {
		s.Fatal(err)
	}
	s.same("the data", string(text), "the data")
}
