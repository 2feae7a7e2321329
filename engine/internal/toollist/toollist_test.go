package toollist_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/engine/internal/toollist"
	"github.com/spoolhq/spool/store"
)

// clock is a clock that a test moves.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

// failing fails its updates.
type failing struct{ store.Store }

func (failing) Update(context.Context, spool.ThreadKey, int64, func(store.Tx) error) error {
	return spool.Errorf(spool.Unavailable, "the disk is full")
}

func lists(db store.Store) (*toollist.Lists, *bytes.Buffer) {
	log := new(bytes.Buffer)
	return &toollist.Lists{Store: db, Log: slog.New(slog.NewTextHandler(log, nil))}, log
}

func keep(t *testing.T, l *toollist.Lists, source, list string) (id, before string) {
	t.Helper()

	id, before, err := l.Keep(t.Context(), source, json.RawMessage(list))
	if err != nil {
		t.Fatal(err)
	}
	return id, before
}

// TestBefore changes the list of a source, also from another process.
func TestBefore(t *testing.T) {
	t.Parallel()

	store := memory.New(nil).Store
	l, _ := lists(store)
	first, before := keep(t, l, "shop", `["a"]`)
	if before != "" {
		t.Errorf("before the first one was %s", before)
	}
	if id, before := keep(t, l, "shop", `["a"]`); id != first || before != "" {
		t.Errorf("the same list: %s, %s", id, before)
	}
	if _, before := keep(t, l, "other", `["a"]`); before != "" {
		t.Errorf("another source had %s", before)
	}
	l, _ = lists(store)
	second, before := keep(t, l, "shop", `["b"]`)
	if before != first {
		t.Errorf("before the second one was %s", before)
	}
	if _, before := keep(t, l, "shop", `["a"]`); before != "" { // servers behind a balancer differ during an upgrade
		t.Errorf("a list of late is new after %s", before)
	}
	if _, before := keep(t, l, "other", `["b"]`); before != first {
		t.Errorf("the list of another source is new after %s", before)
	}
	if list, err := l.Get(t.Context(), second); err != nil || string(list) != `["b"]` {
		t.Errorf("got %s, %v", list, err)
	}
}

// TestNewLists has a source with another list for each run.
func TestNewLists(t *testing.T) {
	t.Parallel()

	c := &clock{time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)}
	l, _ := lists(memory.New(&memory.Options{Clock: c}).Store)
	for i := range 200 {
		keep(t, l, "shop", fmt.Sprintf(`["%d"]`, i))
	}
	_, _, err := l.Keep(t.Context(), "shop", json.RawMessage(`["more"]`))
	if spool.CodeOf(err) != spool.Limit ||
		!strings.Contains(spool.MessageOf(err), "the tools of shop changed too often today") {
		t.Errorf("got %v", err)
	}
	keep(t, l, "shop", `["7"]`)
	keep(t, l, "other", `["more of another"]`)
	c.now = c.now.Add(12 * time.Hour)
	keep(t, l, "shop", `["more"]`)

	large := func(i int) json.RawMessage {
		return json.RawMessage(fmt.Sprintf(`["%d%s"]`, i, strings.Repeat("a", 4<<20-100)))
	}
	for i := range 8 {
		if _, _, err := l.Keep(t.Context(), "large", large(i)); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := l.Keep(t.Context(), "large", large(8)); spool.CodeOf(err) != spool.Limit {
		t.Errorf("got %v", err)
	}
}

// TestRenewalFails cannot note that a list is in use. The run needs only the list.
func TestRenewalFails(t *testing.T) {
	t.Parallel()

	c := &clock{time.Now().Add(-48 * time.Hour)}
	store := memory.New(&memory.Options{Clock: c}).Store
	l, _ := lists(store)
	id, _ := keep(t, l, "shop", `["a"]`)
	l, log := lists(failing{store})
	for range 2 {
		if list, err := l.Get(t.Context(), id); err != nil || string(list) != `["a"]` {
			t.Errorf("got %s, %v", list, err)
		}
	}
	if !strings.Contains(log.String(), "could not be noted") || !strings.Contains(log.String(), "the disk is full") {
		t.Errorf("the log is %s", log)
	}
}
