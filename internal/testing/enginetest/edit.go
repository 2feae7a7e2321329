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
	"Drops": testEditDrops,
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
