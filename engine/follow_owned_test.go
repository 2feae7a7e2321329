package engine_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

// own returns a context for a subject that sees only its own threads.
func own(ctx context.Context, subject string) context.Context {
	return engine.WithActor(ctx, wire.Actor{Subject: subject, OwnOnly: true})
}

// give changes the owner of the thread.
func give(t *testing.T, e *engine.Engine, owner string) {
	t.Helper()

	if _, err := e.UpdateThread(t.Context(), key, wire.ThreadChange{Owner: &owner}); err != nil {
		t.Fatal(err)
	}
}

// over reports whether the follower of these lines has ended in order.
func over(lines []string) bool { return slices.Contains(lines, "END") && !has(lines, "ERR ") }

// A follower that sees only its own threads ends as soon as the thread has another owner, and gets
// nothing from then on. A follower that sees all threads goes on.
func TestFollowEndsWithTheOwner(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := newEngine(t, memory.New(nil), config(spooltest.NewReplayModel(spooltest.Say("x"))))
		stop := work(t, e)
		start(t, e, "r1")
		give(t, e, "ben")
		ctx, cancel := context.WithCancel(t.Context())
		ben, all := watch(own(ctx, "ben"), e, nil), watch(ctx, e, nil)
		pass(10 * time.Second)
		before := len(ben())
		if before == 0 || over(ben()) {
			t.Errorf("its owner gets:\n%s", text(ben()))
		}
		give(t, e, "ann")
		pass(time.Millisecond)
		if l := ben()[before:]; len(l) != 1 || !over(l) {
			t.Errorf("when the thread is somebody else's, its follower gets:\n%s", text(l))
		}
		ann := watch(own(ctx, "ann"), e, nil)
		start(t, e, "r2")
		pass(10 * time.Second)
		for name, got := range map[string]func() []string{"the new owner": ann, "who sees all": all} {
			if l := got(); over(l) || !strings.Contains(text(l), "r2") {
				t.Errorf("%s gets:\n%s", name, text(l))
			}
		}
		cancel()
		stop()
	})
}

// This needs no wake-up: a follower never gets frames that were read for another owner.
func TestFollowEndsWithTheOwnerWithoutWakes(t *testing.T) {
	t.Parallel()

	for name, wakes := range map[string]bool{"None": false, "OfTheRecord": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := spooltest.NewFaulty(memory.New(nil))
				e := newEngine(t, f.Backend(), config(spooltest.NewReplayModel(spooltest.Say("x"))))
				stop := work(t, e)
				start(t, e, "r1")
				give(t, e, "ben")
				ctx, cancel := context.WithCancel(t.Context())
				ben := watch(own(ctx, "ben"), e, nil)
				pass(10 * time.Second)
				before := len(ben())
				f.DropWakes(true)
				give(t, e, "ann")
				f.DropWakes(!wakes)
				start(t, e, "r2")
				pass(10 * time.Second)
				if l := ben()[before:]; len(l) != 1 || !over(l) {
					t.Errorf("when the thread is somebody else's, its follower gets:\n%s", text(l))
				}
				cancel()
				stop()
			})
		})
	}
}

// It needs no wake-up during a step either, whose text is in no record yet.
func TestFollowEndsWithTheOwnerInAStep(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := spooltest.NewFaulty(memory.New(nil))
		more := make(chan struct{})
		e := newEngine(t, f.Backend(), config(spooltest.NewModel(
			spooltest.Turn{Text: []string{"one"}, Gate: more, Calls: []spooltest.Call{{ID: "c1", Name: "lookup"}}},
			spooltest.Say("x"))))
		stop := work(t, e)
		start(t, e, "r1")
		give(t, e, "ben")
		ctx, cancel := context.WithCancel(t.Context())
		ben, all := watch(own(ctx, "ben"), e, nil), watch(ctx, e, nil)
		pass(10 * time.Second)
		before, others := len(ben()), len(all())
		f.DropWakes(true)
		give(t, e, "ann")
		f.DropWakes(false)
		close(more)
		pass(10 * time.Second)
		if l := ben()[before:]; len(l) != 1 || !over(l) {
			t.Errorf("when the thread is somebody else's, its follower gets:\n%s", text(l))
		}
		if len(all()) == others {
			t.Error("who sees all gets nothing more")
		}
		cancel()
		stop()
	})
}

// A run stream that an owner reads ends with an error when the thread gets another owner.
func TestReadStreamEndsWithTheOwner(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		e := newEngine(t, memory.New(nil), config(spooltest.NewModel(spooltest.Turn{
			Text: []string{"one", "two"}, Gate: gate,
		})))
		stop := work(t, e)
		start(t, e, "r1")
		give(t, e, "ben")
		pass(time.Second)
		over := make(chan error, 1)
		go func() {
			var last error
			for _, err := range e.ReadStream(own(t.Context(), "ben"), key, wire.NewStreamID("r1", 1), wire.Offset{}) {
				last = err
			}
			over <- last
		}()
		pass(time.Second)
		give(t, e, "ann")
		pass(time.Second)
		select {
		case err := <-over:
			if spool.CodeOf(err) != spool.NotFound {
				t.Errorf("it ends with %v", err)
			}
		default:
			t.Error("it goes on")
		}
		close(gate)
		pass(time.Second)
		stop()
	})
}
