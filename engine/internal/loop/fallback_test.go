package loop

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/active"
	"github.com/spoolhq/spool/engine/internal/calls"
	"github.com/spoolhq/spool/engine/internal/chat"
	"github.com/spoolhq/spool/internal/testing/stage"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// The failure of a model is what another one may mend. An error of the engine, or of a run that ends, is none.
func TestFailureOf(t *testing.T) {
	t.Parallel()
	over, cancel := context.WithCancel(t.Context())
	cancel()
	cut := func(err error) error { return &chat.CutOffError{Err: err} }
	for name, c := range map[string]struct {
		ctx   context.Context
		turn  chat.Turn
		err   error
		cause spool.FallbackCause // "" for no failure
		final bool
	}{
		"answer":            {turn: chat.Turn{Reason: spool.FinishStop}},
		"too long":          {turn: chat.Turn{Reason: spool.FinishLength}},
		"refuses to answer": {turn: chat.Turn{Reason: spool.FinishFilter}, cause: spool.FallbackRefused, final: true},
		"down":              {err: cut(stage.ErrDown), cause: spool.FallbackDown},
		"no connection":     {err: cut(stage.ErrDial), cause: spool.FallbackDown},
		"breaks off":        {err: cut(&spool.ModelError{Message: "no finish"}), cause: spool.FallbackDown},
		"too many requests": {err: cut(&spool.ModelError{Status: 429}), cause: spool.FallbackLimit},
		"no credit": {
			err: cut(&spool.ModelError{Status: 429, NoRetry: true}), cause: spool.FallbackLimit, final: true,
		},
		"bad key":       {err: cut(stage.ErrKey), cause: spool.FallbackRefused, final: true},
		"no such model": {err: cut(&spool.ModelError{Status: 404}), cause: spool.FallbackRefused, final: true},
		"prompt is too long": {
			err: cut(&spool.ModelError{Status: 400, ContextOverflow: true}), cause: spool.FallbackRefused, final: true,
		},
		"already charged":  {err: stage.ErrKey, cause: spool.FallbackRefused, final: true},
		"not of the model": {err: stage.ErrDial},
		"store":            {err: active.FromStore(cut(stage.ErrDown))},
		"run ends":         {ctx: over, err: cut(stage.ErrDown)},
		"refuses, run ends": {
			ctx: over, turn: chat.Turn{Reason: spool.FinishFilter}, cause: spool.FallbackRefused, final: true,
		},
		"budget has no room":   {err: &exhaustedError{reason: wire.StopTokenBudget}},
		"attachment not there": {err: spool.Errorf(spool.Invalid, "no such file")},
	} {
		ctx := t.Context()
		if c.ctx != nil {
			ctx = c.ctx
		}
		f := failureOf(ctx, c.turn, c.err)
		switch {
		case f == nil && c.cause == "":
		case f == nil || f.cause != c.cause || f.final() != c.final:
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// A run goes on with another model after as many failures as its agent says, and at once after a refusal.
func TestMovesOn(t *testing.T) {
	t.Parallel()
	failed := func(n int) *store.RunFallback { return &store.RunFallback{Attempts: n} }
	for name, c := range map[string]struct {
		cause spool.FallbackCause
		on    []spool.FallbackCause
		after int
		state store.RunState
		want  bool
	}{
		"down":                 {cause: spool.FallbackDown, want: true},
		"not on this":          {cause: spool.FallbackLimit, on: []spool.FallbackCause{spool.FallbackDown}},
		"refuses, not on this": {cause: spool.FallbackRefused, on: []spool.FallbackCause{spool.FallbackDown}},
		"first of two":         {cause: spool.FallbackDown, after: 2},
		"second of two": {
			cause: spool.FallbackDown, after: 2, state: store.RunState{Fallback: failed(1)}, want: true,
		},
		"first of two, refused": {cause: spool.FallbackRefused, after: 2, want: true},
		"answer can be asked for again": {
			cause: spool.FallbackDown, state: store.RunState{Resume: &store.ResumableAnswer{}},
		},
		"it was asked for again": {
			cause: spool.FallbackDown, state: store.RunState{Resume: &store.ResumableAnswer{}, Fallback: failed(1)}, want: true,
		},
		"again, of three": {
			cause: spool.FallbackDown, after: 3, state: store.RunState{Resume: &store.ResumableAnswer{}, Fallback: failed(1)},
		},
		"answer exists, but was refused": {
			cause: spool.FallbackRefused, state: store.RunState{Resume: &store.ResumableAnswer{}}, want: true,
		},
	} {
		s := newScene(t, spool.Agent{Fallbacks: []string{"spare"}, FallbackOn: c.on, FallbackAfter: c.after}, store.RunRow{})
		if got := s.asker.movesOn(
			store.RunRow{RunState: c.state}, &modelFailure{cause: c.cause, err: stage.ErrDown},
		); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	if s := newScene(t, spool.Agent{Fallbacks: []string{"spare"}}, store.RunRow{}); s.asker.movesOn(s.Row(), nil) {
		t.Error("an answer: the run goes on with another model")
	}
}

// A failed attempt has another one, of the same model or from the run's own on, or ends the run.
func TestFailedAttempt(t *testing.T) {
	t.Parallel()
	cut := func(err error) error { return &chat.CutOffError{Err: err} }
	spare, last := []string{"spare"}, []string{"spare", "last"}
	used := func(model string, attempts int, failed ...store.ModelFailure) *store.RunFallback {
		return &store.RunFallback{Model: model, Attempts: attempts, Failed: failed}
	}
	mDown, mGone := store.ModelFailure{Model: "m", Error: "model: down"},
		store.ModelFailure{Model: "m", Error: "model: no", Final: true}
	for name, c := range map[string]struct {
		fallbacks []string
		attempts  int
		fallback  *store.RunFallback
		err       error
		want      attempt
	}{
		"temporary": {
			err: cut(stage.ErrDown), want: attempt{again: true, counted: 1, number: 1, reason: "model: down (status 503)"},
		},
		"unknown kind": {
			err: stage.ErrDial, want: attempt{again: true, counted: 1, number: 1, reason: "Internal error"},
		},
		"asks to wait": {
			err: cut(spool.RetryAfter(1)), want: attempt{again: true, counted: 1, number: 1, reason: "Internal error"},
		},
		"second": {
			attempts: 1, err: cut(stage.ErrDown),
			want: attempt{again: true, counted: 2, number: 2, reason: "model: down (status 503)"},
		},
		"last": {
			attempts: 2, err: cut(stage.ErrDown), want: attempt{counted: 3, number: 3, reason: "model: down (status 503)"},
		},
		"permanent": {
			err: cut(stage.ErrKey), want: attempt{counted: 1, number: 1, reason: "model: bad key (status 401)"},
		},
		"no money": {
			err:  cut(&spool.ModelError{Status: 429, NoRetry: true, Message: "no money"}),
			want: attempt{counted: 1, number: 1, reason: "model: no money (status 429)"},
		},
		"invalid": {
			err: spool.Errorf(spool.Invalid, "no such thing"), want: attempt{counted: 1, number: 1, reason: "no such thing"},
		},
		"provider lost it": {
			err:  cut(&spool.ModelError{Status: 404, Gone: true, Message: "gone"}),
			want: attempt{again: true, counted: 1, number: 1, reason: "model: gone (status 404)"},
		},
		"nested run counted": {
			attempts: 1,
			err:      &calls.AttemptError{Attempts: 2, Err: stage.ErrDown},
			want:     attempt{again: true, counted: 1, number: 2, reason: "model: down (status 503)"},
		},
		"nested run moved on": {
			fallbacks: spare, fallback: used("", 1), err: &calls.AttemptError{Err: stage.ErrDown},
			want: attempt{again: true, atOnce: true, reason: "model: down (status 503)", fallback: used("", 1)},
		},
		"same model again": {
			fallbacks: spare, attempts: 1, err: cut(stage.ErrDown),
			want: attempt{again: true, counted: 1, number: 1, reason: "model: down (status 503)", fallback: used("", 1)},
		},
		"same model again, a second time": {
			fallbacks: last, fallback: used("spare", 1, mDown), err: cut(stage.ErrDown),
			want: attempt{again: true, number: 2, reason: "model: down (status 503)", fallback: used("spare", 2, mDown)},
		},
		"all down": {
			fallbacks: spare, fallback: used("spare", 0, mDown), err: cut(stage.ErrDown),
			want: attempt{again: true, counted: 1, number: 1, reason: "all models failed: m: down; spare: down (status 503)"},
		},
		"all down, last attempt": {
			fallbacks: spare, attempts: 2, fallback: used("spare", 0, mDown), err: cut(stage.ErrDown),
			want: attempt{
				counted: 3, number: 3, reason: "all models failed: m: down; spare: down (status 503)",
				fallback: used("spare", 0, mDown),
			},
		},
		"all refuse": {
			fallbacks: spare, fallback: used("spare", 0, mGone), err: cut(stage.ErrKey),
			want: attempt{
				counted: 1, number: 1, reason: "all models failed: m: no; spare: bad key (status 401)",
				fallback: used("spare", 0, mGone),
			},
		},
		"one is only down": {
			fallbacks: spare, fallback: used("spare", 0, mDown), err: cut(stage.ErrKey),
			want: attempt{again: true, counted: 1, number: 1, reason: "all models failed: m: down; spare: bad key (status 401)"},
		},
		"engine fails, with fallbacks": {
			fallbacks: spare, fallback: used("spare", 0, mDown), err: stage.ErrDial,
			want: attempt{again: true, counted: 1, number: 1, reason: "Internal error", fallback: used("spare", 0, mDown)},
		},
	} {
		s := newScene(t, spool.Agent{Fallbacks: c.fallbacks},
			store.RunRow{Run: wire.Run{Attempts: c.attempts}, RunState: store.RunState{Fallback: c.fallback}})
		got := s.failedAttempt(t.Context(), s.Row(), c.err)
		if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(attempt{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	s := newScene(t, spool.Agent{Fallbacks: spare, FallbackOn: []spool.FallbackCause{spool.FallbackLimit}}, store.RunRow{})
	if a := s.failedAttempt(t.Context(), s.Row(), cut(stage.ErrDown)); !a.again || a.counted != 1 || a.fallback != nil {
		t.Errorf("a failure that no fallback is for: %+v", a)
	}
	s.SetAgent(nil)
	if a := s.failedAttempt(t.Context(), s.Row(), errors.New("the agent is gone")); !a.again || a.counted != 1 {
		t.Errorf("a process without the agent: %+v", a)
	}
}

// A move to another model is in the run and in the record, with what the failed answer used.
func TestMoveOn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reset bool
		state wire.State
	}{"nothing was seen": {false, wire.Running}, "a part was seen": {true, wire.Queued}} {
		s := newScene(t, spool.Agent{Fallbacks: []string{"spare", "last"}}, store.RunRow{
			Run: wire.Run{Attempts: 1}, RunState: store.RunState{
				Fallback: &store.RunFallback{Model: "spare", Attempts: 2, Failed: []store.ModelFailure{{Model: "m"}}},
			},
		})
		f := failureOf(t.Context(), chat.Turn{}, &chat.CutOffError{Err: stage.ErrKey})
		s.Check(s.asker.moveOn(t.Context(), f, "last", c.reset))
		run := s.Saved()
		want := &store.RunFallback{
			Model:  "last",
			Failed: []store.ModelFailure{{Model: "m"}, {Model: "spare", Error: "model: bad key (status 401)", Final: true}},
		}
		if diff := cmp.Diff(want, run.Fallback); diff != "" || run.Attempts != 1 || run.State != c.state {
			t.Errorf("%s: %s, %d attempts (-want +got):\n%s", name, run.State, run.Attempts, diff)
		}
		if e := s.Rows.Rows.Entries[0]; e.Type != wire.EntryModelFallback ||
			string(e.Payload) !=
				`{"step":1,"from":"spare","to":"last","cause":"refused","error":"model: bad key (status 401)"}` {
			t.Errorf("%s: the record says %s %s", name, e.Type, e.Payload)
		}
		if u := s.Rows.Rows.Usage; len(u) != 1 || u[0].Outcome != wire.OutcomeError {
			t.Errorf("%s: the ledger has %+v", name, u)
		}
	}
	s := newScene(t, spool.Agent{Fallbacks: []string{"spare"}}, store.RunRow{RunState: store.RunState{StopAt: stage.Noon}})
	if err := s.asker.moveOn(
		t.Context(), &modelFailure{err: stage.ErrDown}, "spare", false,
	); !errors.Is(err, active.ErrStopped) || s.Saved().Fallback != nil {
		t.Errorf("a run that was stopped: %v", err)
	}
}
