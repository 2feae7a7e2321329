package spooltest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

func testStoreEntryRoundTrip(s *storeTest) {
	key := thread("t")
	full := wire.Entry{
		Type: wire.EntryRunStarted, RunID: "r", Payload: json.RawMessage(`{"a":"<“b”>","n":12345678901234567890}`),
		Stream: "r:1", After: wire.Offset{Fence: 2, N: 3}, Published: true, PublishedBy: "anna", PublishedByTool: "export",
	}
	plain := wire.Entry{Type: "OWN", Payload: json.RawMessage(`null`)}
	s.write(key, func(tx store.Tx) error {
		err := tx.Write(store.Changes{
			Thread:  &wire.Thread{State: wire.Idle},
			Entries: []*wire.Entry{&full, &plain},
		})
		for i, e := range []wire.Entry{full, plain} {
			s.same("what was set", wire.Entry{ThreadID: e.ThreadID, Seq: e.Seq, CreatedAt: e.CreatedAt},
				wire.Entry{ThreadID: "t", Seq: int64(i + 1), CreatedAt: tx.Now()})
		}
		return err
	})
	c := s.all(key, "")
	s.same("entries", c.Entries, []wire.Entry{full, plain})
	s.same("LastSeq", c.Thread.LastSeq, int64(2))
}

// testStoreEntryQuery compares every combination of a query's fields with the result of a plain loop.
func testStoreEntryQuery(s *storeTest) {
	key := thread("t")
	types, runs := []wire.EntryType{"A", "B", "C"}, []spool.RunID{"r1", "r2", ""}
	s.write(key, func(tx store.Tx) error {
		err := tx.Write(store.Changes{Thread: &wire.Thread{State: wire.Idle}})
		for i := range 18 {
			err = errors.Join(err, tx.Write(store.Changes{Entries: []*wire.Entry{wire.NewEntry(types[i%3], runs[i/2%3], i)}}))
		}
		return err
	})
	s.queued(thread("other"), "r1")
	s.write(thread("other"), func(tx store.Tx) error {
		return tx.Write(store.Changes{Entries: []*wire.Entry{wire.NewEntry("A", "r1", nil)}})
	})
	all := s.all(key, "").Entries
	s.same("number of entries", len(all), 18)

	for _, after := range []int64{0, 1, 9, 17, 18, 99} {
		for _, run := range []spool.RunID{"", "r1", "r2", "unknown"} {
			for _, kind := range []wire.EntryType{"", "A", "C", "UNKNOWN"} {
				for _, last := range []bool{false, true} {
					s.entries(key, all, store.EntryQuery{After: after, Run: run, Type: kind, Last: last})
				}
			}
		}
	}
}

// entries checks a query with several limits.
func (s *storeTest) entries(key spool.ThreadKey, all []wire.Entry, q store.EntryQuery) {
	s.Helper()
	var selected []wire.Entry
	for _, e := range all {
		if e.Seq > q.After && (q.Run == "" || e.RunID == q.Run) && (q.Type == "" || e.Type == q.Type) {
			selected = append(selected, e)
		}
	}
	if q.Last {
		slices.Reverse(selected)
	}
	s.read(key, func(v store.View) error {
		for _, q.Limit = range []int{0, 1, 2, 100} {
			want := selected
			if q.Limit > 0 && q.Limit < len(want) {
				want = want[:q.Limit]
			}
			got, err := v.Entries(q)
			if err != nil {
				return err
			}
			s.same(fmt.Sprintf("entries of %+v", q), got, want)
		}
		return nil
	})
}

func testStoreSeqFollowsOn(s *storeTest) {
	key := thread("t")
	s.write(key, func(tx store.Tx) error { return tx.Write(store.Changes{Thread: &wire.Thread{State: wire.Idle}}) })
	failure := errors.New("no")
	want := int64(0)
	for round := range 6 {
		s.clock.Advance(time.Second)
		err := s.Store.Update(s.Context(), key, 0, func(tx store.Tx) error {
			first, second := wire.NewEntry("A", "", nil), wire.NewEntry("A", "", nil)
			err := errors.Join(tx.Write(store.Changes{Entries: []*wire.Entry{first, second}}), tx.Write(store.Changes{}))
			s.same("numbers", []int64{first.Seq, second.Seq}, []int64{want + 1, want + 2})
			t, _ := tx.Thread()
			s.same("LastSeq in the transaction", t.LastSeq, want+2)
			if round%2 == 1 { // the numbers of a failed transaction are used again
				return failure
			}
			return err
		})
		switch {
		case round%2 == 1:
			s.is("Update", err, failure)
		case err != nil:
			s.Fatal(err)
		default:
			want += 2
		}
	}
	s.gapFree(key, want)
}

// gapFree checks that a record has the numbers from 1 to last.
func (s *storeTest) gapFree(key spool.ThreadKey, last int64) {
	s.Helper()
	c := s.all(key, "")
	s.same("LastSeq", c.Thread.LastSeq, last)
	s.same("number of entries", int64(len(c.Entries)), last)
	for i, e := range c.Entries {
		if e.Seq != int64(i+1) {
			s.Fatalf("entry %d has seq %d", i+1, e.Seq)
		}
	}
}
