package enginetest

import (
	"context"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/internal/compare"
	"github.com/spoolhq/spool/spooltest"
)

var editTests = map[string]func(s *engineTest){
	"Drops":   testEditDrops,
	"Refused": testEditRefused,
	"Active":  testEditActive,
}

// echo returns a model that repeats the last turn.
func echo() *spooltest.Model {
	return spooltest.NewModelFunc(func(_ context.Context, r spool.ModelRequest) spooltest.Turn {
		return spooltest.Say("re: ", r.Messages[len(r.Messages)-1].Text())
	})
}

func testEditDrops(s *engineTest) {
	m := echo()
	e := s.working(s.config(m))
	for _, prompt := range []string{"one", "two", "three"} {
		s.start(e, spool.RunID("r-"+prompt), prompt)
		s.ended(spool.Completed)
	}
	client := s.watch(e, &spooltest.Client{Name: "live"}, engine.FollowOptions{})
	turn := s.messagesOf(chat)[2]
	s.startAs(e, chat, engine.StartRequest{Prompt: "2", RunID: "r-edit", EditMessageID: turn.ID})
	s.ended(spool.Completed)
	<-time.After(quiet)
	client()
	s.lines("messages", s.script(), "user one", "assistant re: one", "user 2", "assistant re: 2")
	s.lines("record", s.record()[6:], "MESSAGES_DROPPED", "RUN_STARTED r-edit:1", "RUN_ENDED r-edit:1 finished")
	entries := s.entriesOf(chat)
	if got := string(compare.Canonical(entries[6].Payload)); got != `{"fromMessageId":"`+string(turn.ID)+`"}` || entries[6].RunID != "r-edit" {
		s.Errorf("the entry says %s of %s", got, entries[6].RunID)
	}
	if asked := m.Requests()[3].Messages; len(asked) != 3 {
		s.Errorf("the model was asked with %d messages", len(asked))
	}
}

func testEditRefused(s *engineTest) {
	e := s.working(s.config(echo()))
	edit := func(key spool.ThreadKey, id spool.MessageID, reason, text string) {
		s.Helper()
		r, err := e.Run(context.Background(), key, engine.StartRequest{Prompt: "x", EditMessageID: id})
		if err != nil || r.Accepted || r.Reason != reason || r.Error != text {
			s.Errorf("edit %s: %+v, %v", id, r, err)
		}
	}
	edit(chat, "m1", engine.ReasonNotFound, "Message not found")
	if s.all(chat, "").Found {
		s.Error("a refused start made its thread")
	}
	s.start(e, "r1", "one")
	s.ended(spool.Completed)
	before := s.all(chat, "r1")
	edit(chat, "m1", engine.ReasonNotFound, "Message not found")
	edit(chat, before.Messages[1].ID, engine.ReasonNotEditable, "Only a user message can be edited")
	other := spool.ThreadKey{Tenant: "acme", ID: "other"}
	s.startAs(e, other, engine.StartRequest{Prompt: "x"})
	s.until("the other run", func() bool { return s.threadOf(other).State.Terminal() })
	edit(other, before.Messages[0].ID, engine.ReasonNotFound, "Message not found")
	s.same("the thread", s.all(chat, "r1"), before)
}

func testEditActive(s *engineTest) {
	e := s.engine(s.config(echo()))
	s.start(e, "r1", "one")
	before := s.all(chat, "r1")
	r, err := e.Run(context.Background(), chat, engine.StartRequest{Prompt: "x", EditMessageID: before.Messages[0].ID})
	if err != nil || r.Accepted || r.Reason != engine.ReasonActiveRun {
		s.Errorf("edit: %+v, %v", r, err)
	}
	s.same("the thread", s.all(chat, "r1"), before)
	s.stop(e)
	s.startAs(e, chat, engine.StartRequest{Prompt: "two", RunID: "r2", EditMessageID: before.Messages[0].ID})
	s.lines("messages", s.script(), "user two")
}
