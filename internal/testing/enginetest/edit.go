package enginetest

import (
	"context"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/compare"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

var editTests = map[string]func(s *engineTest){
	"Drops":    testEditDrops,
	"Snapshot": testEditSnapshot,
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
		s.ended(wire.Completed)
	}
	client := s.watch(e, &spooltest.Client{Name: "live"}, wire.FollowOptions{})
	turn := s.messagesOf(chat)[2]
	s.startAs(e, chat, wire.StartRequest{Prompt: "2", RunID: "r-edit", EditMessageID: turn.ID})
	s.ended(wire.Completed)
	<-time.After(quiet)
	client()
	s.lines("messages", s.script(), "user one", "assistant re: one", "user 2", "assistant re: 2")
	s.lines("record", s.record()[6:], "MESSAGES_DROPPED", "RUN_STARTED r-edit:1", "RUN_ENDED r-edit:1 finished")
	entries := s.entriesOf(chat)
	if got := string(compare.Canonical(entries[6].Payload)); got != `{"fromMessageId":"`+string(turn.ID)+`"}` ||
		entries[6].RunID != "r-edit" {
		s.Errorf("the entry says %s of %s", got, entries[6].RunID)
	}
	if asked := m.Requests()[3].Messages; len(asked) != 3 {
		s.Errorf("the model was asked with %d messages", len(asked))
	}
}

// testEditSnapshot edits a turn, and the process dies before the answer. A snapshot has the new turn, and no entry that
// would drop it: its messages are those behind the edit.
func testEditSnapshot(s *engineTest) {
	gate := make(chan struct{})
	defer close(gate)
	e := s.engine(s.config(spooltest.NewModel(spooltest.Say("one"), spooltest.Turn{Text: []string{"half"}, Gate: gate},
		spooltest.Say("two"))))
	stop := s.work(e)
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	s.startAs(e, chat, wire.StartRequest{Prompt: "edited", RunID: "r2", EditMessageID: s.messagesOf(chat)[0].ID})
	s.becomes(wire.Running)
	stop()
	snap, err := e.Snapshot(context.Background(), chat, nil)
	if err != nil {
		s.Fatal(err)
	}
	if n := len(snap.Messages); n != 1 || snap.Messages[0].Text() != "edited" {
		s.Errorf("the snapshot has the messages %+v", snap.Messages)
	}
	for _, entry := range snap.ActiveEvents {
		if entry.Type == wire.EntryMessagesDropped {
			s.Errorf("the snapshot drops %s once more", entry.Payload)
		}
	}
	if len(snap.ActiveEvents) == 0 {
		s.Error("the snapshot has no entry of the run")
	}
}
