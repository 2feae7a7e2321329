package enginetest

import (
	"context"
	"encoding/json"
	"time"

	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

// meanwhile stops a second run before a worker takes it, while a client still reads the record before
// it. Then it publishes an event. Followers that had caught up got the state of the thread at a
// position before the one at which this client will join the ring.
func (s followTest) meanwhile(e *engine.Engine) {
	s.Helper()
	s.start(e, "r2", "go on")
	s.stop(e)
	s.until("the end of the second run", func() bool { return s.run("r2").State == wire.Cancelled })
	<-time.After(quiet)
	if _, err := e.PublishEvent(context.Background(), chat, "receipt", 1, wire.PublishOptions{Durable: true}); err != nil {
		s.Error(err)
	}
	<-time.After(quiet)
}

// oneRun returns an engine without a worker, after a completed run.
func (s followTest) oneRun() *engine.Engine {
	s.Helper()
	e := s.engine(s.config(spooltest.NewModel(spooltest.Say("hi"))))
	stop := s.work(e)
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	<-time.After(quiet)
	stop()
	return e
}

// stateOf returns the state in a notice, or last if the entry is not such a notice.
func stateOf(e *wire.Entry, last wire.State) wire.State {
	var p wire.StateChange
	if e == nil || e.Type != wire.NoticeStateChange || json.Unmarshal(e.Payload, &p) != nil {
		return last
	}
	return p.State
}

// testFollowSlowWalk has a client that reads the record so slowly that the thread's state changes
// meanwhile. The client must get the new state when it has caught up.
func testFollowSlowWalk(s followTest) {
	e := s.oneRun()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var told wire.State
	receipt, first := false, true
	for f, err := range e.Follow(ctx, chat, wire.FollowOptions{Cursor: &wire.Cursor{Seq: 1}}) {
		if err != nil {
			break
		}
		if first {
			s.meanwhile(e)
			time.AfterFunc(quiet, cancel)
			first = false
		}
		if told = stateOf(f.Event, told); f.Event != nil && f.Event.Type == "receipt" {
			receipt = true
		}
	}
	if told != wire.Cancelled || !receipt {
		s.Errorf("the client takes the thread for %s, and has read to the end: %t", told, receipt)
	}
}

// testFollowSlowWalkRecord does the same as testFollowSlowWalk for a client that follows only the
// record.
func testFollowSlowWalkRecord(s followTest) {
	e := s.oneRun()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var told wire.State
	receipt, first := false, true
	for entry, err := range e.FollowRecord(ctx, chat, 1) {
		if err != nil {
			break
		}
		if first {
			s.meanwhile(e)
			time.AfterFunc(quiet, cancel)
			first = false
		}
		told, receipt = stateOf(&entry, told), receipt || entry.Type == "receipt"
	}
	if told != wire.Cancelled || !receipt {
		s.Errorf("the client takes the thread for %s, and has read to the end: %t", told, receipt)
	}
}
