package enginetest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// testPublishBy publishes as several subjects, as the program and as a tool. Each event names its
// publisher, live, in the record, and in the item of a run stream.
func testPublishBy(s publishTest) {
	m := spooltest.NewReplayModel(spooltest.Use(spooltest.Call{ID: "c1", Name: "export"}), spooltest.Say("done"))
	var e *engine.Engine
	e = s.engine(s.config(m, telling("export", func(ctx context.Context, call spool.ToolCall) error {
		if err := call.Publish(ctx, "live", 1); err != nil {
			return err
		}
		if err := call.PublishDurable(ctx, "kept", 1); err != nil {
			return err
		}
		for _, durable := range []bool{false, true} {
			s.publish(e, "from-anna", "1", wire.PublishOptions{By: "anna", Durable: durable})
		}
		return nil
	})))
	s.start(e, "r1", "go")
	stop := s.watch(e, &spooltest.Client{Name: "live", FromStart: true}, wire.FollowOptions{Cursor: &wire.Cursor{}})
	s.work(e)
	s.ended(wire.Completed)
	s.publish(e, "notice", "1", wire.PublishOptions{By: strings.Repeat("<\xff", 300)})
	s.publish(e, "program", "1", wire.PublishOptions{Durable: true})
	<-time.After(quiet)

	var got []string
	for _, f := range stop() {
		switch {
		case f.Kind == wire.FrameStream && f.Item.Type == wire.ItemCustom:
			var c wire.Custom
			if err := f.Item.Decode(&c); err != nil {
				s.Fatal(err)
			}
			got = append(got, fmt.Sprintf("item %s %s/%s", c.Name, c.PublishedBy, c.PublishedByTool))
		case f.Kind == wire.FrameThread && spool.CheckEventType(string(f.Event.Type)) == nil:
			got = append(got, fmt.Sprintf("event %s %s/%s", f.Event.Type, f.Event.PublishedBy, f.Event.PublishedByTool))
		}
	}
	slices.Sort(got)
	s.lines("who published", got,
		"event from-anna anna/", "event kept /export", "event notice "+strings.Repeat("<", 33)+"/", "event program /",
		"item from-anna anna/", "item live /export")
}

// testPublishList reads the durable events of a thread page by page, over a record that has more
// entries of the engine than one page reads.
func testPublishList(s publishTest) {
	e := s.working(s.config(echo()))
	ctx := context.Background()
	if _, err := e.Events(ctx, chat, wire.EventQuery{}); spool.CodeOf(err) != spool.NotFound {
		s.Errorf("the events of no thread: %v", err)
	}
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	var want []int64
	publish := func() {
		want = append(want, s.publish(e, "note", "1", wire.PublishOptions{Durable: true}).Seq)
	}
	publish()
	s.publish(e, "live", "1", wire.PublishOptions{})
	publish()
	key := chat
	err := s.backend.Store.Update(ctx, key, 0, func(tx store.Tx) error {
		entries := make([]*wire.Entry, 2500)
		for i := range entries {
			entries[i] = &wire.Entry{Type: "HEARTBEAT", Payload: json.RawMessage("{}")}
		}
		return tx.Write(store.Changes{Entries: entries, Delta: &store.SnapshotDelta{}})
	})
	if err != nil {
		s.Fatal(err)
	}
	publish()
	for _, limit := range []int{0, 1, 2, 3, 1000} {
		var got []int64
		q := wire.EventQuery{Limit: limit}
		for pages := 0; pages == 0 || q.After > 0; pages++ {
			page, err := e.Events(ctx, chat, q)
			if err != nil || pages > 10 || limit > 0 && len(page.Events) > limit {
				s.Fatalf("page %d of %d: %+v, %v", pages, limit, page, err)
			}
			for _, event := range page.Events {
				got = append(got, event.Seq)
			}
			q.After = page.Next
		}
		s.same(fmt.Sprintf("the events, %d to a page", limit), got, want)
	}
	for _, q := range []wire.EventQuery{{After: -1}, {Limit: -1}, {Limit: 1001}} {
		if _, err := e.Events(ctx, chat, q); spool.CodeOf(err) != spool.Invalid {
			s.Errorf("%+v: %v", q, err)
		}
	}
}
