package enginetest

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

var hostStateTests = map[string]func(s *engineTest){
	"Reaches": testHostStateReaches,
	"Refused": testHostStateRefused,
}

// testHostStateReaches gives a state to a run that waits for its thread, parks, and continues in
// another process. Each tool call, each question for an approval and the settle hook gets the state,
// and each run has its own.
func testHostStateReaches(s *engineTest) {
	var mu sync.Mutex
	got := make(map[string]string)
	note := func(who string, run spool.RunID, state json.RawMessage) {
		mu.Lock()
		defer mu.Unlock()
		got[who+" of "+string(run)] = string(state)
	}
	look := telling("look", func(_ context.Context, call spool.ToolCall) error {
		note("look", call.RunID, call.HostState)
		return nil
	})
	send := telling("send", func(_ context.Context, call spool.ToolCall) error {
		note("send", call.RunID, call.HostState)
		return nil
	})
	send.Approval = func(_ context.Context, call spool.ToolCall) (bool, error) {
		note("approval", call.RunID, call.HostState)
		return true, nil
	}
	c := s.config(
		spooltest.NewReplayModel(spooltest.Use(spooltest.Call{ID: "c1", Name: "look"}),
			spooltest.Use(spooltest.Call{ID: "c2", Name: "send"}), spooltest.Say("done")),
		look, send,
	)
	c.OnSettle = func(_ context.Context, settled wire.Settlement) error {
		note("settlement", settled.RunID, settled.HostState)
		return nil
	}
	first := s.engine(c)
	stop := s.work(first)
	s.startAs(first, chat, wire.StartRequest{Prompt: "go", RunID: "r1", HostState: json.RawMessage(`{"n":1}`)})
	s.becomes(wire.WaitingForInput)
	s.startAs(first, chat, wire.StartRequest{
		Prompt: "go", RunID: "r2", HostState: json.RawMessage(`{"n":2}`), WhenBusy: spool.BusyEnqueue,
	})
	stop()

	second := s.working(c)
	s.answer(second, "c2", true, "")
	s.until("the second run's park", func() bool { return s.run("r2").State == wire.WaitingForInput })
	s.view(func(v store.View) error {
		parks, err := v.Parks("r2") // ids of calls differ within a thread
		s.answer(second, parks[0].ToolCallID, true, "")
		return err
	})
	s.until("the end", func() bool { return s.run("r2").State.Terminal() })
	<-time.After(time.Second)
	want := make(map[string]string)
	for run, state := range map[string]string{"r1": `{"n":1}`, "r2": `{"n":2}`} {
		for _, who := range []string{"look", "approval", "send", "settlement"} {
			want[who+" of "+run] = state
		}
	}
	mu.Lock()
	defer mu.Unlock()
	s.same("who got what", got, want)
}

func testHostStateRefused(s *engineTest) {
	e := s.engine(s.config(echo()))
	_, err := e.Run(context.Background(), chat, wire.StartRequest{Prompt: "go", HostState: json.RawMessage(`[1]`)})
	if spool.CodeOf(err) != spool.Invalid {
		s.Errorf("a start with a state that is no object: %v", err)
	}
	if _, err := e.Snapshot(context.Background(), chat, nil); spool.CodeOf(err) != spool.NotFound {
		s.Errorf("the refused start has made a thread: %v", err)
	}
}
