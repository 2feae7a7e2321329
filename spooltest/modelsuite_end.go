package spooltest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/spoolhq/spool"
)

const (
	// cancelBound is how long an answer may go on after its context has ended.
	cancelBound = 100 * time.Millisecond
	// cancelTries is how often a model may try to keep cancelBound. A busy machine delays some of the
	// attempts. A model that waits for something by itself is late in all of them.
	cancelTries = 10
	// maxEndless bounds how much of an answer without an end is read, in bytes and in time.
	maxEndless  = 64 << 20
	endlessTime = time.Minute
)

// modelSlow is a prompt to which a local model answers slowly.
func modelSlow() spool.ModelRequest {
	return spool.ModelRequest{Messages: []spool.Message{userText("slow 1000")}}
}

// cancel ends the context in the middle of an answer.
func (s modelSuite) cancel(t *testing.T) {
	s.inTime(t, func() time.Duration {
		p := s.open(t, ModelHang)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var at time.Time
		got := askModel(ctx, t, p.Model, modelSlow(), func(event spool.ModelEvent) {
			if _, ok := event.(spool.TextDelta); ok && at.IsZero() {
				at = time.Now()
				cancel()
			}
		})
		took := time.Since(at)
		if !errors.Is(got.err, context.Canceled) {
			t.Fatalf("got %v, want the context's error", got.err)
		}
		s.wantCallerGone(t, p)
		return took
	})
}

// cancelBeforeWords ends the context before the provider has sent anything.
func (s modelSuite) cancelBeforeWords(t *testing.T) {
	s.inTime(t, func() time.Duration {
		p := s.open(t, ModelHangAtOnce)
		at := time.Now().Add(50 * time.Millisecond)
		ctx, cancel := context.WithDeadline(t.Context(), at)
		defer cancel()
		got := askModel(ctx, t, p.Model, modelSlow(), nil)
		took := time.Since(at)
		if !errors.Is(got.err, context.DeadlineExceeded) {
			t.Fatalf("got %v, want the context's error", got.err)
		}
		if _, ok := errors.AsType[*spool.ModelError](got.err); ok {
			t.Errorf("the context's end is put on the provider: %v", got.err)
		}
		return took
	})
}

// inTime repeats an attempt until it takes at most cancelBound.
func (s modelSuite) inTime(t *testing.T, attempt func() time.Duration) {
	t.Helper()

	best := time.Duration(1<<63 - 1)
	for range cancelTries {
		if best = min(best, attempt()); best <= cancelBound {
			return
		}
	}
	t.Errorf("%d answers went on for %s or more after their context, want %s", cancelTries, best, cancelBound)
}

func (s modelSuite) cancelledAlready(t *testing.T) {
	p := s.open(t, ModelText)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := askModel(ctx, t, p.Model, modelHello(), nil); !errors.Is(got.err, context.Canceled) {
		t.Errorf("got %v, want the context's error", got.err)
	}
}

func (s modelSuite) stopIterating(t *testing.T) {
	p := s.open(t, ModelHang)
	for event, err := range p.Model.Stream(t.Context(), modelSlow()) {
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := event.(spool.TextDelta); ok {
			break
		}
	}
	s.wantCallerGone(t, p)
}

// hugeEvent checks that a model does not keep a line of any length in memory.
func (s modelSuite) hugeEvent(t *testing.T) {
	p := s.open(t, ModelHugeEvent)
	ctx, cancel := context.WithTimeout(t.Context(), endlessTime)
	defer cancel()
	got := askModel(ctx, t, p.Model, modelHello(), nil)
	if text := got.content.Text(); text != "Half" {
		t.Errorf("a text of %d bytes", len(text))
	}
	if err := got.mustFail(t); len(err.Error()) > maxModelError {
		t.Errorf("an error of %d bytes", len(err.Error()))
	}
	s.wantCallerGone(t, p)
}

// endlessArguments checks that a model yields the arguments as they come, so that the engine can bound
// them, or gives up.
func (s modelSuite) endlessArguments(t *testing.T) {
	p := s.open(t, ModelEndlessArguments)
	ctx, cancel := context.WithTimeout(t.Context(), endlessTime)
	defer cancel()
	read := 0
	for event, err := range p.Model.Stream(ctx, spool.ModelRequest{Messages: modelHello().Messages, Tools: modelTools()}) {
		if ctx.Err() != nil {
			t.Fatalf("the answer goes on for %s after %d bytes", endlessTime, read)
		}
		if err != nil {
			break
		}
		if delta, ok := event.(spool.ToolCallDelta); ok {
			read += len(delta.Args)
		}
		if end, ok := event.(spool.Finish); ok && end.Reason != spool.FinishLength {
			t.Fatalf("finish reason %q after %d bytes", end.Reason, read)
		}
		if read > maxEndless {
			break
		}
	}
	s.wantCallerGone(t, p)
}

// wantCallerGone waits until the provider sees that the caller has gone away.
func (s modelSuite) wantCallerGone(t *testing.T, p ModelPeer) {
	t.Helper()

	if s.features.Local {
		return
	}
	timer := time.NewTimer(10 * time.Second)
	defer timer.Stop()
	select {
	case <-p.Gone:
	case <-timer.C:
		t.Error("the request goes on")
	}
}
