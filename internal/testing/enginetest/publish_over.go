package enginetest

import (
	"context"
	"errors"
	"time"

	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

// testPublishStreamOver publishes for a run whose stream has ended while its thread is still RUNNING:
// the worker was paused, and a stop has closed its segment and waits for the settle hook. The hook
// publishes, and so does the worker, which has not noticed yet. Their events come after the end of the
// segment.
func testPublishStreamOver(s publishTest) {
	asleep, backend := s.newStall()
	m := spooltest.NewModel(spooltest.Turn{Before: func(ctx context.Context) error {
		asleep.pause()
		<-ctx.Done()
		return ctx.Err()
	}})
	c := s.config(m)
	worker := s.over(backend, c)
	s.start(worker, "r1", "go")
	s.work(worker)
	s.until("the question", func() bool { return m.Asked() == 1 })
	<-time.After(time.Minute)

	var other *engine.Engine
	var state wire.State
	c.OnSettle = func(ctx context.Context, settled wire.Settlement) error {
		state = s.thread().State
		_, err := other.PublishEvent(ctx, settled.Thread, "billed", 7, wire.PublishOptions{Durable: true})
		asleep.wake()
		_, late := worker.PublishEvent(ctx, settled.Thread, "late", 8, wire.PublishOptions{Durable: true})
		return errors.Join(err, late)
	}
	other = s.engine(c)
	stop := s.watch(other, &spooltest.Client{Name: "live", FromStart: true}, wire.FollowOptions{Cursor: &wire.Cursor{}})
	s.stop(other)
	s.work(other)
	s.ended(wire.Cancelled)
	<-time.After(quiet)
	frames := stop()
	s.same("the state while the hook ran", state, wire.Running)
	s.lines("record", s.record(), "RUN_STARTED r1:1", "RUN_ENDED r1:1 lost", "billed", "late")
	s.lines("replayed", published(s.collect(other, chat, wire.FollowOptions{Cursor: &wire.Cursor{}})),
		published(frames)...)
}
