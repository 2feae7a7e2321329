package form

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

func TestNextThread(t *testing.T) {
	t.Parallel()
	key := spool.ThreadKey{Tenant: "acme", ID: "c"}
	now := time.Date(2026, 11, 23, 20, 0, 0, 0, time.UTC)
	const micro = time.Microsecond
	old := wire.Thread{
		Tenant: "acme", ID: "c", State: wire.Idle, Title: "a", LastSeq: 7, CreatedAt: now.Add(-2 * time.Hour),
		UpdatedAt: now.Add(-time.Hour),
	}
	with := func(change func(t *wire.Thread)) wire.Thread {
		next := old
		change(&next)
		return next
	}
	for name, c := range map[string]struct {
		old    wire.Thread
		exists bool
		next   wire.Thread
		want   wire.Thread
	}{
		"Nothing new": {old, true, old, old},
		"Renamed": {
			old, true, with(func(t *wire.Thread) { t.Title = "b" }),
			with(func(t *wire.Thread) { t.Title, t.UpdatedAt = "b", now }),
		},
		"Only the lease": {
			old, true, with(func(t *wire.Thread) { t.LeaseUntil = now.Add(micro + 1) }),
			with(func(t *wire.Thread) { t.LeaseUntil = now.Add(micro) }),
		},
		"What a writer does not choose": {
			old, true, with(func(t *wire.Thread) {
				t.Tenant, t.ID, t.LastSeq, t.CreatedAt, t.UpdatedAt = "x", "x", 1, now, now
			}), old,
		},
		"New": {
			wire.Thread{LastSeq: 7},
			false,
			wire.Thread{State: wire.Queued},
			wire.Thread{Tenant: "acme", ID: "c", State: wire.Queued, LastSeq: 7, CreatedAt: now, UpdatedAt: now},
		},
		"New with its time": {
			wire.Thread{},
			false,
			wire.Thread{CreatedAt: old.CreatedAt.Add(1)},
			wire.Thread{Tenant: "acme", ID: "c", CreatedAt: old.CreatedAt, UpdatedAt: now},
		},
	} {
		if diff := cmp.Diff(c.want, NextThread(key, c.old, c.exists, c.next, now)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestTimes(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 23, 20, 0, 0, 1234, time.UTC)
	if got := FromMicros(Micros(at)); !got.Equal(at.Truncate(time.Microsecond)) || got.Location() != time.UTC {
		t.Errorf("%s is read as %s", at, got)
	}
	if Micros(time.Time{}) != 0 || !FromMicros(0).IsZero() {
		t.Error("the zero time is not stored as 0")
	}
	for after, want := range map[time.Duration]bool{-1: false, 0: false, 1: true} { // is the stored time before at?
		stored := FromMicros(Micros(at))
		if got := Micros(stored) < Micros(RoundedUp(stored.Add(after))); got != want {
			t.Errorf("%s before one that is %s later: %t", stored, after, got)
		}
	}
}

func TestSizes(t *testing.T) {
	t.Parallel()
	content := []byte("1234")
	if user, tool := MessageSize(spool.RoleUser, content),
		MessageSize(spool.RoleTool, content); user != 260 || tool != 264 {
		t.Errorf("the sizes are %d and %d", user, tool)
	}
	for _, c := range []struct {
		growth int64
		ended  bool
		want   bool
	}{
		{0, false, false},
		{0, true, false},
		{1, true, true},
		{-1, true, true},
		{1, false, false},
		{sizeLag - 1, false, false},
		{sizeLag, false, true},
		{1 - sizeLag, false, false},
		{-sizeLag, false, true},
	} {
		if got := SumsSize(c.growth, c.ended); got != c.want {
			t.Errorf("growth of %d, ended %t: %t", c.growth, c.ended, got)
		}
	}
}
