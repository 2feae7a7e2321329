package engine_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// A reader gets no frame twice if its thread is deleted while it goes over from the record to the live
// frames.
func TestDeletedThreadRepeatsNoFrames(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := newEngine(t, memory.New(nil), config(spooltest.NewModel(spooltest.Say("x"))))
		stop := work(t, e)
		start(t, e, "r1")
		ctx, cancel := context.WithCancel(t.Context())
		watch(ctx, e, nil) // so that there is a hub
		pass(time.Second)
		var lines []string
		deleted := false
		for f, err := range e.Follow(ctx, key, wire.FollowOptions{}) {
			if err != nil {
				break
			}
			lines = append(lines, line(f))
			if !deleted && strings.Contains(line(f), "RUN_ENDED") { // it has read the record from the store
				deleted = true
				deleteThread(t, e)
				pass(2 * time.Second)
			}
		}
		if !deleted || count(lines, "RUN_ENDED") > 1 {
			t.Errorf("deleted: %t, and the frames:\n%s", deleted, text(lines))
		}
		cancel()
		stop()
	})
}

// A reader of a thread that was deleted and made again without a wake-up sees the deletion, and nothing
// of the new thread, although that has a longer record.
func TestThreadMadeAgainIsToldWithoutWakes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := spooltest.NewFaulty(memory.New(nil))
		f.DropWakes(true)
		e := newEngine(t, f.Backend(), config(spooltest.NewReplayModel(spooltest.Say("x"))))
		stop := work(t, e)
		for _, id := range []spool.RunID{"r1", "r2"} {
			start(t, e, id)
			pass(3 * time.Second)
		}
		ctx, cancel := context.WithCancel(t.Context())
		seldom := config(spooltest.NewReplayModel())
		seldom.Worker.Poll = time.Minute
		got := watch(ctx, newEngine(t, f.Backend(), seldom), nil)
		pass(1500 * time.Millisecond)
		before := len(got())
		deleteThread(t, e)
		for _, id := range []spool.RunID{"r3", "r4", "r5"} { // before the hub looks
			start(t, e, id)
			pass(3 * time.Second)
		}
		pass(time.Minute)
		if l := got()[before:]; len(l) != 2 || !has(l, "THREAD_DELETED") || !has(l, "END") {
			t.Errorf("after the deletion the reader gets:\n%s", text(l))
		}
		cancel()
		stop()
	})
}

// A reader that takes its first frames slowly gets every message that people send meanwhile.
func TestMessagesAreToldToAReaderThatCatchesUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		first, second := make(chan struct{}), make(chan struct{})
		b := memory.New(nil)
		e := newEngine(t, b, config(spooltest.NewModel(
			spooltest.Turn{Text: []string{"one"}, Gate: first},
			spooltest.Turn{Text: slices.Repeat([]string{"w "}, 3000), Gate: second})))
		stop := work(t, e)
		start(t, e, "r1")
		pass(time.Second)
		ctx, cancel := context.WithCancel(t.Context())
		watch(ctx, e, nil) // so that there is a hub with frames
		pass(time.Second)
		var mu sync.Mutex
		var lines []string
		slow := make(chan struct{})
		go func() {
			for f, err := range e.Follow(ctx, key, wire.FollowOptions{}) {
				if err != nil {
					return
				}
				mu.Lock()
				if !strings.Contains(line(f), "CONTENT") {
					lines = append(lines, line(f))
				}
				mu.Unlock()
				<-slow
			}
		}()
		pass(time.Second)
		close(first)
		pass(time.Second)
		start(t, e, "r2")
		pass(time.Second)
		close(slow)
		pass(10 * time.Second)
		mu.Lock()
		if count(lines, "=MESSAGE_APPENDED") < 2 {
			t.Errorf("the message of r2 (%s) is not told:\n%s", state(t, b), text(lines))
		}
		mu.Unlock()
		cancel()
		close(second)
		pass(time.Second)
		stop()
	})
}

// stuck follows the thread, and takes no frame after the fifth until the test calls release.
func stuck(ctx context.Context, e *engine.Engine) (release func()) {
	block := make(chan struct{})
	go func() {
		n := 0
		for _, err := range e.Follow(ctx, key, wire.FollowOptions{}) {
			if err != nil {
				return
			}
			if n++; n == 5 {
				<-block
			}
		}
	}()
	return func() { close(block) }
}

// A reader in the middle of a deleted thread's stream gets no more of it, although the new thread has a
// stream with the same id.
func TestStuckReaderGetsNothingOfTheNewThread(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := spooltest.NewFaulty(memory.New(nil))
		f.DropWakes(true)
		e := newEngine(t, f.Backend(), config(spooltest.NewModel(
			spooltest.Turn{Text: slices.Repeat([]string{"old "}, 1000)},
			spooltest.Turn{Text: slices.Repeat([]string{"new "}, 3000)})))
		seldom := config(spooltest.NewReplayModel())
		seldom.Worker.Poll = time.Minute
		reads := newEngine(t, f.Backend(), seldom)
		stop := work(t, e)
		ctx, cancel := context.WithCancel(t.Context())
		start(t, e, "r1")
		pass(10 * time.Second)
		var mu sync.Mutex
		var lines []string
		block, ended := make(chan struct{}), false
		go func() {
			for f, err := range reads.Follow(ctx, key, wire.FollowOptions{Cursor: &wire.Cursor{Stream: "r1:1"}}) {
				if err != nil {
					return
				}
				mu.Lock()
				lines = append(lines, line(f))
				n := len(lines)
				mu.Unlock()
				if n == 10 {
					<-block
				}
			}
			mu.Lock()
			ended = true
			mu.Unlock()
		}()
		pass(time.Second)
		deleteThread(t, e)
		start(t, e, "r1")
		pass(10 * time.Second)
		close(block)
		pass(time.Minute)
		mu.Lock()
		if !ended || !has(lines, "old") || has(lines, "new") {
			t.Errorf("ended: %t, and %d frames, the last of which are:\n%s", ended, len(lines),
				text(lines[max(0, len(lines)-5):]))
		}
		mu.Unlock()
		cancel()
		stop()
	})
}

// A new reader of a thread that was deleted and made again gets nothing of the old thread, also if other
// readers still have it.
func TestNewReaderGetsNothingOfTheDeletedThread(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := memory.New(nil)
		e := newEngine(t, b, config(spooltest.NewReplayModel(spooltest.Say("secret"))))
		stop := work(t, e)
		ctx, cancel := context.WithCancel(t.Context())
		start(t, e, "r1")
		release := stuck(ctx, e)
		pass(time.Second)
		deleteThread(t, e)
		pass(3 * time.Second)
		start(t, e, "r2")
		pass(time.Second)
		if got := collect(t, e, nil); has(got, "r1:1") {
			t.Errorf("a reader of the new thread (%s) gets:\n%s", state(t, b), text(got))
		}
		release()
		cancel()
		stop()
	})
}

// A reader of a deleted thread that takes no frames does not keep other readers off the new thread.
func TestStuckReaderKeepsNobodyOffTheNewThread(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := newEngine(t, memory.New(nil), config(spooltest.NewReplayModel(spooltest.Say("x"))))
		stop := work(t, e)
		ctx, cancel := context.WithCancel(t.Context())
		start(t, e, "r1")
		release := stuck(ctx, e)
		pass(time.Second)
		deleteThread(t, e)
		pass(3 * time.Second)
		start(t, e, "r2")
		pass(time.Second)
		got := watch(ctx, e, nil)
		pass(time.Second)
		start(t, e, "r3")
		pass(5 * time.Second)
		if l := got(); !has(l, "r3:1") || slices.Contains(l, "END") {
			t.Errorf("a reader of the new thread:\n%s", text(l))
		}
		release()
		cancel()
		stop()
	})
}

// goneOnce returns once, for the first read after now is set, that the stream is gone.
type goneOnce struct {
	store.Live

	now *atomic.Bool
}

func (s goneOnce) Read(ctx context.Context, k store.StreamKey, after wire.Offset, limit int) (store.StreamPage, error) {
	if s.now.Swap(false) {
		return store.StreamPage{}, store.ErrStreamGone
	}
	return s.Live.Read(ctx, k, after, limit)
}

// A hub that has lost its position starts again at another one, and its clients get the state there.
func TestStateIsToldBehindALostPlace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := spooltest.NewFaulty(memory.New(nil))
		f.DropWakes(true)
		gate := make(chan struct{})
		e := newEngine(t, f.Backend(), config(spooltest.NewModel(spooltest.Turn{Text: []string{"x"}, Gate: gate})))
		stop := work(t, e)
		start(t, e, "r1")
		pass(3 * time.Second)

		var gone atomic.Bool
		b := f.Backend()
		b.Live = goneOnce{b.Live, &gone}
		seldom := config(spooltest.NewReplayModel())
		seldom.Worker.Poll = time.Minute
		ctx, cancel := context.WithCancel(t.Context())
		got := watch(ctx, newEngine(t, b, seldom), nil)
		pass(time.Second)
		gone.Store(true)
		pass(time.Minute) // the hub reads, and loses its position
		close(gate)
		pass(5 * time.Minute)
		if l := got(); gone.Load() || !has(l, "RUN_ENDED") || !has(l, "STATE_CHANGE COMPLETED") {
			t.Errorf("the stream was read: %t, and the reader gets:\n%s", !gone.Load(), text(l))
		}
		cancel()
		stop()
	})
}

// A reader that has just begun gets a live event once, also if it is slow to ask for its next frame, if
// the hub has sent nothing before, and if the store has what came after the event.
func TestLiveEventReachesAReaderThatHasJustBegun(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		begun  bool  // published when the reader has its position, otherwise at its first frame
		behind bool  // the reader comes with the cursor of the last entry
		then   bool  // an entry and a run follow before the reader goes on
		alone  bool  // the reader is the first one of the thread
		others int64 // live events before that
	}{
		{name: "FirstFrame"},
		{name: "Begun", begun: true},
		{name: "BehindTheRecord", behind: true},
		{name: "BegunBehindTheRecord", begun: true, behind: true},
		{name: "ThenMore", then: true},
		{name: "ThenMoreBehindTheRecord", then: true, behind: true},
		{name: "Alone", alone: true},
		{name: "AloneBehindTheRecord", alone: true, behind: true},
		{name: "AloneThenMore", alone: true, then: true},
		{name: "AloneThenMoreBehindTheRecord", alone: true, then: true, behind: true, begun: true},
		{name: "NotTheFirst", others: 2, then: true},
		{name: "NotTheFirstBehindTheRecord", others: 2, behind: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				e := newEngine(t, memory.New(nil), config(spooltest.NewReplayModel(spooltest.Say("x"))))
				stop := work(t, e)
				defer stop()
				start(t, e, "r1")
				pass(time.Second)
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				publish := func(kind string, durable bool) {
					if _, err := e.PublishEvent(ctx, key, kind, 1, wire.PublishOptions{Durable: durable}); err != nil {
						t.Error(err)
					}
					pass(time.Second) // the hub passes it on
				}
				if !c.alone {
					watch(ctx, e, nil)
					pass(time.Second)
				}
				for range c.others {
					publish("before", false)
				}
				goOn := func() {
					publish("ping", false)
					if c.then {
						publish("note", true)
						start(t, e, "r2")
						pass(time.Second)
					}
				}
				o := wire.FollowOptions{}
				if c.behind {
					o.Cursor = &wire.Cursor{Seq: snapshot(t, e).LastEventSeq}
				}
				quiet := time.AfterFunc(30*time.Second, cancel)
				defer quiet.Stop()
				follower, err := e.FollowFormed(ctx, key, o, noMessages{})
				if err != nil {
					t.Fatal(err)
				}
				if c.begun {
					goOn()
				}
				var lines []string
				for frames, err := range follower.Frames(ctx, 0) {
					if err != nil {
						break
					}
					first := len(lines) == 0
					for _, f := range frames {
						lines = append(lines, line(f.Frame))
					}
					if first && !c.begun {
						goOn()
					}
				}
				if count(lines, "=ping") != 1 || has(lines, "=before") || c.then && count(lines, "=note") != 1 {
					t.Errorf("the reader is told:\n%s", text(lines))
				}
			})
		})
	}
}

// noMessages is a form of snapshots without their messages.
type noMessages struct{}

// AppendMessage implements [engine.SnapshotForm].
func (noMessages) AppendMessage(b []byte, _ spool.Message) ([]byte, wire.SnapshotForm, error) {
	return b, noMessages{}, nil
}

// Finish implements [engine.SnapshotForm].
func (noMessages) Finish(*wire.Snapshot) (shared any, size int64, err error) { return nil, 0, nil }

// A closed follower yields nothing, and may be closed again.
func TestFollowFormedClose(t *testing.T) {
	t.Parallel()
	e := newEngine(t, memory.New(nil), config(spooltest.NewModel()))
	if _, err := e.FollowFormed(
		t.Context(), key, wire.FollowOptions{}, noMessages{},
	); spool.CodeOf(err) != spool.NotFound {
		t.Errorf("follow a thread that does not exist: %v", err)
	}
	start(t, e, "r1")
	follower, err := e.FollowFormed(t.Context(), key, wire.FollowOptions{}, noMessages{})
	if err != nil {
		t.Fatal(err)
	}
	follower.Close()
	follower.Close()
	for frames, err := range follower.Frames(t.Context(), 0) {
		t.Errorf("got %v, %v", frames, err)
	}
}
