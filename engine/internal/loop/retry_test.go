package loop

import (
	"errors"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/calls"
	"github.com/spoolhq/spool/engine/internal/chat"
	"github.com/spoolhq/spool/internal/testing/stage"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// A failed step is tried again later, or ends the run.
func TestFailed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		attempts int
		most     time.Duration // that a provider may ask for; an hour if it is zero
		err      error
		state    wire.State
		least    time.Duration // at most a quarter more
		counted  int
	}{
		"first":     {err: stage.ErrDown, state: wire.Queued, least: time.Second, counted: 1},
		"second":    {attempts: 1, err: stage.ErrDown, state: wire.Queued, least: 2 * time.Second, counted: 2},
		"last":      {attempts: 2, err: stage.ErrDown, state: wire.Failed, counted: 3},
		"permanent": {err: stage.ErrKey, state: wire.Failed, counted: 1},
		"asked to wait": {
			err: &spool.ModelError{Status: 429, After: 30 * time.Second}, state: wire.Queued, least: 30 * time.Second,
			counted: 1,
		},
		"asked to wait briefly": {
			attempts: 1, err: &spool.ModelError{Status: 429, After: time.Millisecond}, state: wire.Queued,
			least: 2 * time.Second, counted: 2,
		},
		"asked to wait long": {err: spool.RetryAfter(24 * time.Hour), state: wire.Queued, least: time.Hour, counted: 1},
		"no money": {
			err: &spool.ModelError{Status: 429, NoRetry: true, Message: "no money"}, state: wire.Failed, counted: 1,
		},
		"invalid": {err: spool.Errorf(spool.Invalid, "no such thing"), state: wire.Failed, counted: 1},
		"model asks to wait": {
			err: spool.RetryAfter(40 * time.Second), state: wire.Queued, least: 40 * time.Second, counted: 1,
		},
		"asked to wait too long": {
			most: 7 * time.Second, err: &spool.ModelError{Status: 429, After: time.Minute}, state: wire.Queued,
			least: 7 * time.Second, counted: 1,
		},
		"own wait is longer": {
			attempts: 1, most: time.Second, err: &spool.ModelError{Status: 429, After: time.Minute}, state: wire.Queued,
			least: 2 * time.Second, counted: 2,
		},
		"nested run's third": {
			err: &calls.AttemptError{Attempts: 3, Err: stage.ErrDown}, state: wire.Queued, least: 4 * time.Second,
		},
		"nested run, at once": {err: &calls.AttemptError{Err: stage.ErrDown}, state: wire.Queued},
	} {
		s := newScene(t, spool.Agent{}, store.RunRow{Run: wire.Run{Attempts: c.attempts}})
		if c.most > 0 {
			s.Host().Rules.Retry.AfterMax = c.most
		}
		var cause error = &chat.CutOffError{Err: c.err}
		if errors.As(c.err, new(*calls.AttemptError)) {
			cause = c.err
		}
		s.Check(s.Failed(t.Context(), cause))
		run := s.Saved()
		if run.State != c.state || run.Attempts != c.counted ||
			(run.StopReason == wire.StopFailed) != (c.state == wire.Failed) {
			t.Errorf("%s: %s with %d attempts, %s", name, run.State, run.Attempts, run.StopReason)
		}
		if c.state == wire.Failed {
			if len(s.Rows.Rows.Jobs) != 0 || run.Error != failureText(c.err) {
				t.Errorf("%s: %d jobs, %q", name, len(s.Rows.Rows.Jobs), run.Error)
			}
			continue
		}
		wait := s.Rows.Rows.Jobs[0].DueAt.Sub(stage.Noon)
		if wait < c.least || wait > c.least+c.least/4 || s.Screen.Woken != 1 {
			t.Errorf("%s: it waits %s, want at least %s; workers were woken %d times", name, wait, c.least, s.Screen.Woken)
		}
	}
}

// A step that fails after the run was stopped ends the run as stopped.
func TestFailedStopped(t *testing.T) {
	t.Parallel()
	s := newScene(t, spool.Agent{}, store.RunRow{RunState: store.RunState{StopAt: stage.Noon}})
	s.Check(s.Failed(t.Context(), stage.ErrKey))
	if run := s.Saved(); run.State != wire.Cancelled || run.Attempts != 0 {
		t.Errorf("the run is %s", run.State)
	}
}

// A nested run counts its own attempts. After the last one, the run that spawned it goes on.
func TestNestedFailed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		attempts int
		err      error
		stop     bool
		state    wire.State
		again    int // the number of the attempt that the segment ends with
	}{
		"first":     {err: stage.ErrDown, state: wire.Running, again: 1},
		"last":      {attempts: 2, err: stage.ErrDown, state: wire.Failed},
		"permanent": {err: stage.ErrKey, state: wire.Failed},
		"stopped":   {err: stage.ErrDown, stop: true, state: wire.Cancelled},
	} {
		root := store.RunRow{}
		if c.stop {
			root.StopAt = stage.Noon
		}
		s := newScene(t, spool.Agent{Spawn: &spool.Spawn{Open: true}},
			root).nested(store.RunRow{Run: wire.Run{Attempts: c.attempts}})
		err := s.fail(t.Context(), &chat.CutOffError{Err: c.err})
		again, _ := errors.AsType[*calls.AttemptError](err)
		if run := s.Saved(); run.State != c.state || (again == nil) != (c.again == 0) {
			t.Errorf("%s: %s, %v", name, run.State, err)
		}
		if again != nil && (again.Attempts != c.again || errors.As(err, new(*chat.CutOffError))) {
			t.Errorf("%s: the segment ends with %+v", name, again)
		}
		if n := len(s.Rows.Rows.Usage); n != 1 {
			t.Errorf("%s: the ledger has %d rows", name, n)
		}
	}
}

// An interrupted answer is charged, except one that the run asks for again.
func TestChargeCutOff(t *testing.T) {
	t.Parallel()
	resumable := &store.ResumableAnswer{}
	for name, c := range map[string]struct {
		err    error
		again  bool
		resume *store.ResumableAnswer
		want   int
	}{
		"cut off":             {err: &chat.CutOffError{Err: stage.ErrDown}, again: true, want: 1},
		"cut off for good":    {err: &chat.CutOffError{Err: stage.ErrDown}, resume: resumable, want: 1},
		"no point was saved":  {err: &chat.CutOffError{Err: stage.ErrDown}, again: true, resume: resumable, want: 1},
		"model was not asked": {err: stage.ErrDown},
	} {
		s := newScene(t, spool.Agent{}, store.RunRow{RunState: store.RunState{Resume: c.resume}})
		tx := s.Tx()
		s.Check(chargeCutOff(tx, c.err, wire.OutcomeError, c.again))
		if n := len(s.Rows.Rows.Usage); n != c.want || c.want > 0 && tx.Run.Resume != nil {
			t.Errorf("%s: the ledger has %d rows", name, n)
		}
	}
}
