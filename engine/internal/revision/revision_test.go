package revision_test

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/engine/internal/revision"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// counted counts the reads and writes of a store.
type counted struct {
	store.Store

	mu    sync.Mutex
	calls int
}

func (c *counted) Rows(ctx context.Context, q store.RowQuery) ([]store.Row, error) {
	c.count()
	return c.Store.Rows(ctx, q)
}

func (c *counted) Update(ctx context.Context, key spool.ThreadKey, fence int64, fn func(tx store.Tx) error) error {
	c.count()
	return c.Store.Update(ctx, key, fence, fn)
}

func (c *counted) count() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls++
}

func content(agent, instructions string) wire.AgentContent {
	return wire.AgentContent{
		Name: agent, Instructions: instructions, Model: wire.ModelContent{Name: "m"}, Tools: []wire.ToolContent{{Name: "t"}},
		MaxSteps: 1,
	}
}

// TestKeepOnce keeps one revision in many processes at once.
func TestKeepOnce(t *testing.T) {
	t.Parallel()

	db := memory.New(nil).Store
	kept := func() (versions []int64) {
		var keepers sync.WaitGroup
		for range 16 {
			keepers.Go(func() {
				r := &revision.Revisions{Store: db}
				if err := r.Keep(t.Context(), content("a", "Be kind.")); err != nil {
					t.Error(err)
				}
			})
		}
		keepers.Wait()
		for _, kind := range []string{"agent_revision", "agent_revision_list"} {
			rows, err := db.Rows(t.Context(), store.RowQuery{Kind: kind})
			if err != nil || len(rows) != 1 {
				t.Fatalf("the rows of %s are %+v, %v", kind, rows, err)
			}
			versions = append(versions, rows[0].Version)
		}
		return versions
	}
	if first, again := kept(), kept(); !slices.Equal(first, again) {
		t.Errorf("the rows have the versions %d, and %d after the processes have come again", first, again)
	}
}

// TestKeepCached reads and writes once per process.
func TestKeepCached(t *testing.T) {
	t.Parallel()

	store := &counted{Store: memory.New(nil).Store}
	r, c := &revision.Revisions{Store: store}, content("a", "Be kind.")
	if r.Kept(c.Revision()) {
		t.Error("a revision is kept before Keep")
	}
	for range 3 {
		if err := r.Keep(t.Context(), c); err != nil || !r.Kept(c.Revision()) {
			t.Fatal(err)
		}
	}
	if store.calls != 2 {
		t.Errorf("the first process made %d calls, want a read and a write", store.calls)
	}
	other := &revision.Revisions{Store: store}
	for range 3 {
		if err := other.Keep(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	if store.calls != 3 {
		t.Errorf("the second process made %d calls, want a read", store.calls-2)
	}
	for range 3 {
		if got, err := other.Content(t.Context(), c.Revision()); err != nil || got.Revision() != c.Revision() {
			t.Fatal(got, err)
		}
	}
	if store.calls != 4 {
		t.Errorf("the content was read %d times", store.calls-3)
	}
	if _, err := other.Content(t.Context(), "rev_none"); spool.CodeOf(err) != spool.NotFound {
		t.Errorf("an unknown revision: %v", err)
	}
	if _, err := other.Get(t.Context(), ""); spool.CodeOf(err) != spool.NotFound {
		t.Errorf("the empty revision: %v", err)
	}
}

// TestKeepFails forgets nothing that a store has not said.
func TestKeepFails(t *testing.T) {
	t.Parallel()

	f := spooltest.NewFaulty(memory.New(nil))
	f.Plan(spooltest.Fault{Call: 2, Kind: spooltest.FailBefore})
	r, c := &revision.Revisions{Store: f.Backend().Store}, content("a", "Be kind.")
	if err := r.Keep(t.Context(), c); spool.CodeOf(err) != spool.Unavailable || r.Kept(c.Revision()) {
		t.Errorf("keep in a store that fails: %v", err)
	}
	if err := r.Keep(t.Context(), c); err != nil || !r.Kept(c.Revision()) {
		t.Errorf("keep again: %v", err)
	}
}

// TestFind finds a revision by the beginning of its id.
func TestFind(t *testing.T) {
	t.Parallel()

	r, c := &revision.Revisions{Store: memory.New(nil).Store}, content("a", "Be kind.")
	for _, c := range []wire.AgentContent{c, content("b", "Be kind.")} {
		if err := r.Keep(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	id := c.Revision()
	for length, want := range map[int]spool.Code{len(id): "", 12: "", 40: "", 11: spool.NotFound, 4: spool.NotFound} {
		got, err := r.Find(t.Context(), id[:length])
		if spool.CodeOf(err) != want || err == nil && (got.ID != id || got.Agent.Name != "a") {
			t.Errorf("the first %d characters: %+v, %v", length, got, err)
		}
	}
	// two ids with the same beginning
	err := r.Store.Update(t.Context(), spool.ThreadKey{}, 0, func(tx store.Tx) error {
		return tx.Write(store.Changes{
			Rows: []store.Row{{Kind: "agent_revision", Key: string(id[:20]) + "-", Value: []byte(`{}`)}},
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Find(t.Context(), id[:12]); spool.CodeOf(err) != spool.Conflict {
		t.Errorf("a beginning of two: %v", err)
	}
	if _, err := r.Find(t.Context(), id[:len(id)-1]+"z"); spool.CodeOf(err) != spool.NotFound {
		t.Errorf("an id that is not there: %v", err)
	}
}

// TestList lists agents whose names begin with each other, page by page.
func TestList(t *testing.T) {
	t.Parallel()

	clock := spooltest.NewClock()
	r := &revision.Revisions{Store: memory.New(&memory.Options{Clock: clock}).Store}
	for i := range 3 {
		for _, agent := range []string{"a", "a.b", "ab", "a-b"} {
			if err := r.Keep(t.Context(), content(agent, strconv.Itoa(i))); err != nil {
				t.Fatal(err)
			}
		}
		clock.Advance(time.Hour)
	}
	line := func(s wire.RevisionSummary) string {
		got, err := r.Get(t.Context(), s.ID)
		if err != nil || !got.FirstUsedAt.Equal(s.FirstUsedAt) || s.Model != "m" || s.Tools != 1 {
			t.Errorf("%+v is %+v, %v", s, got, err)
		}
		return s.Agent + " " + got.Agent.Instructions
	}
	for agent, want := range map[string][]string{
		"":     {"a-b 2", "a-b 1", "a-b 0", "a.b 2", "a.b 1", "a.b 0", "a 2", "a 1", "a 0", "ab 2", "ab 1", "ab 0"},
		"a":    {"a 2", "a 1", "a 0"},
		"ab":   {"ab 2", "ab 1", "ab 0"},
		"none": nil,
	} {
		var lines []string
		q := wire.RevisionQuery{Agent: agent, Limit: 2}
		for {
			page, err := r.List(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range page {
				lines = append(lines, line(s))
				q.After = s.Mark
			}
			if len(page) < q.Limit {
				break
			}
		}
		if diff := cmp.Diff(want, lines); diff != "" {
			t.Errorf("agent %q (-want +got):\n%s", agent, diff)
		}
	}
}
