package thread

import (
	"context"
	"errors"
	"testing"

	"github.com/spoolhq/spool"
)

// lateStore fails the commit, and no change before it, as a store does that sends its changes with the
// commit.
type lateStore struct {
	spool.Store

	err error
}

func (s lateStore) Update(ctx context.Context, key spool.ThreadKey, fence int64, fn func(tx spool.Tx) error) error {
	var failed error
	err := s.Store.Update(ctx, key, fence, func(tx spool.Tx) error {
		if failed = fn(tx); failed == nil {
			failed = s.err
		}
		return failed
	})
	return err
}

// A start and a redrive are refused in the same way, whether the store finds the conflicting run with the
// change or with the commit.
func TestRefusalOfALateError(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		err    error
		reason string
	}{
		{&spool.Error{Code: spool.Conflict, Message: "of the driver", Err: spool.ErrRunIDUsed}, spool.ReasonRunIDUsed},
		{spool.ErrActiveRun, spool.ReasonActiveRun},
		{spool.ErrStartKeyUsed, spool.ReasonActiveRun},
	} {
		s := newScene(t)
		prompt := s.store
		s.store = lateStore{prompt, test.err}
		if got, want := s.start("r", ""), "refused: "+test.reason; got != want {
			t.Errorf("a start that fails with %q: %s, want %s", test.err, got, want)
		}
		s.store = prompt
		if got := s.start("r", ""); got != "position 0" {
			t.Errorf("a start after one that failed late: %s", got)
		}
	}
}

// An id that is used by a run of another thread refuses a start.
func TestRefusalOfAUsedID(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.check(s.store.Update(t.Context(), spool.ThreadKey{Tenant: chat.Tenant, ID: "other"}, 0, func(tx spool.Tx) error {
		return tx.Write(spool.Changes{
			Thread:  &spool.Thread{Tenant: chat.Tenant, ID: "other", State: spool.Idle},
			NewRuns: []spool.RunRow{{Run: spool.Run{Tenant: chat.Tenant, ID: "r", ThreadID: "other", State: spool.Completed}}},
		})
	}))
	if got, want := s.start("r", ""), "refused: "+spool.ReasonRunIDUsed; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// Other errors of the store are no refusals.
func TestRefusalKeepsOtherErrors(t *testing.T) {
	t.Parallel()
	for _, err := range []error{nil, ErrUnchanged, spool.ErrFenced, spool.ErrMessageIDUsed, Refuse("r", "t")} {
		if got := Refusal(err); !errors.Is(got, err) || got != err { //nolint:errorlint // the very same error
			t.Errorf("%v becomes %v", err, got)
		}
	}
}
