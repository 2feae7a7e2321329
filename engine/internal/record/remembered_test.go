package record

import (
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// counted counts the reads of a view.
type counted struct {
	store.View

	reads int
}

func (c *counted) Thread() (wire.Thread, error) {
	c.reads++
	return c.View.Thread()
}

func (c *counted) Runs(q wire.RunQuery) ([]store.RunRow, error) {
	c.reads++
	return c.View.Runs(q)
}

func (c *counted) Entries(q store.EntryQuery) ([]wire.Entry, error) {
	c.reads++
	return c.View.Entries(q)
}

// A view reads a row once, also one that does not exist, and keeps no list. What a caller does to its copy, the next
// one does not see.
func TestRemembering(t *testing.T) {
	t.Parallel()

	db, key := memory.New(nil).Store, spool.ThreadKey{Tenant: "acme", ID: "t"}
	err := db.Update(t.Context(), key, 0, func(tx store.Tx) error {
		return tx.Write(store.Changes{
			Thread: &wire.Thread{Tenant: key.Tenant, ID: key.ID, State: wire.Running, RunID: "r1"},
			NewRuns: []store.RunRow{{Run: wire.Run{
				Tenant: key.Tenant, ThreadID: key.ID, ID: "r1", Agent: "a", State: wire.Running,
			}}},
			Entries: []*wire.Entry{
				wire.NewEntry(wire.EntryRunStarted, "r1", wire.RunStarted{RunID: "r1"}),
				wire.NewEntry(wire.EntryRunStarted, "r1", wire.RunStarted{RunID: "r1"}),
			},
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	err = db.View(t.Context(), key, func(inner store.View) error {
		c := &counted{View: inner}
		v := Remembering(c)
		for what, read := range map[string]func() (rows int, err error){
			"the thread": func() (int, error) {
				thread, err := v.Thread()
				if thread.ID != key.ID {
					t.Errorf("the thread is %+v", thread)
				}
				return 1, err
			},
			"a run": func() (int, error) {
				runs, err := v.Runs(wire.RunQuery{ID: "r1", Whole: true})
				for i := range runs {
					if runs[i].Agent != "a" {
						t.Errorf("the run is %+v", runs[i])
					}
					runs[i].Agent = "changed"
				}
				return len(runs), err
			},
			"no run": func() (int, error) {
				runs, err := v.Runs(wire.RunQuery{ID: "r2", Whole: true})
				return 1 + len(runs), err
			},
			"the last entry": func() (int, error) {
				entries, err := v.Entries(store.EntryQuery{Last: true, Limit: 1})
				return len(entries), err
			},
		} {
			c.reads = 0
			for range 3 {
				if rows, err := read(); err != nil || rows != 1 {
					t.Errorf("%s: %d rows, %v", what, rows, err)
				}
			}
			if c.reads != 1 {
				t.Errorf("%s was read %d times", what, c.reads)
			}
		}
		c.reads = 0
		for range 2 {
			if entries, err := v.Entries(store.EntryQuery{}); err != nil || len(entries) != 2 {
				t.Errorf("%d entries, %v", len(entries), err)
			}
		}
		if c.reads != 2 {
			t.Errorf("a list was read %d times, want 2", c.reads)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
