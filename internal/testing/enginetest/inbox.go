package enginetest

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/internal/compare"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

var inboxTests = map[string]func(s *engineTest){
	"Threads": testInboxThreads,
	"Large":   testInboxLarge,
	"Own":     testInboxOwn,
}

// asking returns an engine with threads that each wait for an approval, a second after each other, and end with "done".
func (s *engineTest) asking(args string, owners ...string) *engine.Engine {
	s.Helper()
	m := spooltest.NewModelFunc(func(_ context.Context, r spool.ModelRequest) spooltest.Turn {
		if spooltest.StepOf(r) > 0 {
			return spooltest.Say("done")
		}
		return spooltest.Use(spooltest.Call{ID: "c1", Name: "send", Args: args})
	})
	e := s.working(s.config(m, approved("send", `"sent"`)))
	s.keys = nil
	for _, owner := range owners {
		key := of(chat.Tenant, spool.ThreadID("of-"+owner))
		s.startAs(e, key, wire.StartRequest{Prompt: "go", RunID: spool.RunID("r-" + owner), By: owner, Title: "of " + owner})
		s.until("the question of "+owner, func() bool { return s.threadOf(key).State == wire.WaitingForInput })
		<-time.After(time.Second)
	}
	return e
}

// inbox returns a page of questions, and their threads.
func (s *engineTest) inbox(ctx context.Context, e *engine.Engine, q wire.ParkQuery) ([]wire.Question, string) {
	s.Helper()
	page, err := e.Inbox(ctx, chat.Tenant, q)
	if err != nil {
		s.Fatal(err)
	}
	var threads []string
	for _, asked := range page.Questions {
		threads = append(threads, strings.TrimPrefix(string(asked.ThreadID), "of-"))
	}
	return page.Questions, strings.Join(threads, " ")
}

// testInboxThreads lists the questions of several threads. Each has what the record says, and leaves the list with its
// answer, a stop or the deletion of its thread.
func testInboxThreads(s *engineTest) {
	ctx := context.Background()
	e := s.asking(`{"to":"bob"}`, "ann", "ben", "cat", "dan")
	list, threads := s.inbox(ctx, e, wire.ParkQuery{})
	s.same("the threads", threads, "ann ben cat dan")
	first := list[0]
	var recorded wire.InputRequired
	for _, entry := range s.entriesOf(s.keys[0]) {
		if entry.Type == wire.EntryInputRequired {
			_ = json.Unmarshal(entry.Payload, &recorded)
		}
	}
	asJSON := func(v any) string {
		text, err := json.Marshal(v)
		if err != nil {
			s.Fatal(err)
		}
		return string(compare.Canonical(text))
	}
	s.same("the question", asJSON(first.InputRequired), asJSON(recorded))
	if first.Digest == "" {
		s.Errorf("the question: %+v", first)
	}
	if first.RunID != "r-ann" || first.StartedBy != "ann" || first.Owner != "ann" || first.Title != "of ann" ||
		len(first.Path) != 1 ||
		first.Agent == "" || first.Path[0] != first.Agent ||
		!first.AskedAt.Equal(s.parksOf(s.keys[0], "r-ann")[0].CreatedAt) {
		s.Errorf("what it belongs to: %+v", first)
	}
	one, err := e.Question(ctx, s.keys[0], "c1")
	s.same("the question alone", asJSON(one), asJSON(first))
	if err != nil {
		s.Error(err)
	}
	_, threads = s.inbox(ctx, e, wire.ParkQuery{StartedBy: "cat"})
	s.same("the threads of cat", threads, "cat")

	r, err := e.Respond(ctx, s.keys[0], wire.Response{ToolCallID: "c1", Approved: true, Digest: first.Digest})
	if err != nil || !r.Delivered {
		s.Errorf("the answer: %+v, %v", r, err)
	}
	_, threads = s.inbox(ctx, e, wire.ParkQuery{Order: wire.ParksByExpiry, Limit: 2})
	s.same("after an answer", threads, "ben cat")
	if _, err := e.Question(ctx, s.keys[0], "c1"); spool.CodeOf(err) != spool.NotFound {
		s.Errorf("an answered question: %v", err)
	}
	if _, err := e.Stop(ctx, s.keys[1]); err != nil {
		s.Error(err)
	}
	_, threads = s.inbox(ctx, e, wire.ParkQuery{})
	s.same("after a stop", threads, "cat dan")
	s.until("the end of the first", func() bool { return s.threadOf(s.keys[0]).State == wire.Completed })
	for _, key := range s.keys[2:] {
		if r, err := e.DeleteThread(ctx, key); err != nil || !r.Accepted {
			s.Errorf("the deletion: %+v, %v", r, err)
		}
	}
	_, threads = s.inbox(ctx, e, wire.ParkQuery{})
	s.same("after all", threads, "")
	if _, err := e.Inbox(ctx, chat.Tenant, wire.ParkQuery{Order: "size"}); spool.CodeOf(err) != spool.Invalid {
		s.Errorf("an order that there is not: %v", err)
	}
}

// testInboxLarge lists a question with large arguments: the list has their beginning, and the question alone all of
// them.
func testInboxLarge(s *engineTest) {
	ctx := context.Background()
	args := `{"text":"` + strings.Repeat("ä", 5000) + `"}`
	e := s.asking(args, "ann")
	list, _ := s.inbox(ctx, e, wire.ParkQuery{})
	preview := list[0].ArgumentsPreview
	if list[0].Arguments != nil || list[0].ArgumentsBytes != len(args) || len(preview) < 2000 || len(preview) > 2048 ||
		!strings.HasPrefix(args, preview) {
		s.Errorf("%d bytes, with %q", list[0].ArgumentsBytes, preview)
	}
	one, err := e.Question(ctx, s.keys[0], "c1")
	if err != nil || string(compare.Canonical(one.Arguments)) != string(compare.Canonical([]byte(args))) ||
		one.ArgumentsBytes != 0 || one.ArgumentsPreview != "" {
		s.Errorf("the question alone: %+v, %v", one, err)
	}
}

// testInboxOwn lists the questions for actors that see only their own threads.
func testInboxOwn(s *engineTest) {
	e := s.asking(`{}`, "ann", "ben")
	own := ownTest{s}
	for _, c := range []struct{ who, owner, want string }{
		{"ann", "", "ann"}, {"ben", "ben", "ben"}, {"ben", "ann", ""}, {"eve", "", ""}, {"", "", ""},
	} {
		if _, threads := s.inbox(own.as(c.who), e, wire.ParkQuery{Owner: c.owner}); threads != c.want {
			s.Errorf("%q lists the questions of %q: %q, want %q", c.who, c.owner, threads, c.want)
		}
	}
	if _, err := e.Question(own.as("ben"), s.keys[0], "c1"); spool.CodeOf(err) != spool.NotFound {
		s.Errorf("a question of somebody else: %v", err)
	}
	if _, err := e.Question(own.as("ann"), s.keys[0], "c1"); err != nil {
		s.Errorf("one's own question: %v", err)
	}
}
