package enginetest

import (
	"context"
	"strings"
	"time"

	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

// testMixedElsewhere has two nested runs side by side, one of which has saved a step, and a client of a process that
// cannot read the run stream. Its snapshot lacks what the other agents have said. So it gets a new snapshot when it
// comes to a process that can read the stream.
func testMixedElsewhere(s nestedTest) {
	gate := make(chan struct{})
	m := casting(map[string][]spooltest.Turn{
		"go": {
			{Text: []string{"plan "}, Calls: []spooltest.Call{spawn("c1", "helper", "short"), spawn("c2", "helper", "long")}},
			spooltest.Say("end"),
		},
		"short": {
			{Text: []string{"looks "}, Calls: []spooltest.Call{{ID: "c1", Name: "look"}}},
			{Text: []string{"waits "}, Gate: gate},
		},
		"long": {{Text: []string{"half "}, Gate: gate}},
	})
	c := s.treeConfig(m, plain("look", "1"))
	c.Stream.FlushEvery = -1
	e := s.engine(c)
	s.start(e, "r1", "go")
	s.work(e)
	s.until("the step that is saved", func() bool { return s.nested()["short"].Steps == 1 })
	<-time.After(time.Second)

	b := s.join()
	b.Live = ownStreams{newLive(), b.Live}
	elsewhere := s.over(b, c)
	snap, err := elsewhere.Snapshot(context.Background(), chat, nil)
	if err != nil {
		s.Fatal(err)
	}
	at := snap.Cursor()
	if snap.Stream == nil || len(snap.Stream.Items) > 0 || snapshotText(snap) != "looks " {
		s.Fatalf("the snapshot of the other process: %+v shows %q", snap.Stream, snapshotText(snap))
	}
	follow := func(name string, e *engine.Engine) (stop func() []wire.Frame) {
		return s.watch(e, &spooltest.Client{Name: name}, wire.FollowOptions{Cursor: &at})
	}
	stays, comes := follow("stays", elsewhere), follow("comes", e)
	<-time.After(quiet)
	close(gate)
	s.ended(wire.Completed)
	<-time.After(quiet)
	frames := comes()
	if len(frames) == 0 || frames[0].Kind != wire.FrameSnapshot {
		s.Fatalf("the client that comes gets %v", frameLines(frames))
	}
	var said []string
	for _, item := range frames[0].Snapshot.Stream.Items {
		said = append(said, string(item.Data))
	}
	for _, text := range []string{"plan ", "waits ", "half "} {
		if !strings.Contains(strings.Join(said, " "), text) {
			s.Errorf("the snapshot of the client that comes lacks %q", text)
		}
	}
	snapshots := 0
	for _, f := range stays() {
		if f.Kind == wire.FrameSnapshot {
			snapshots++
		}
	}
	if snapshots == 0 || snapshots > 6 {
		s.Errorf("the client that stays gets %d snapshots", snapshots)
	}
}
