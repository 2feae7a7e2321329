package spooltest

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/compare"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// putRows writes rows of a tenant.
func (s *storeTest) putRows(key spool.ThreadKey, rows ...store.Row) error {
	return s.Store.Update(context.Background(), key, 0, func(tx store.Tx) error {
		return tx.Write(store.Changes{Rows: rows})
	})
}

func (s *storeTest) rows(q store.RowQuery) []store.Row {
	s.Helper()
	rows, err := s.Store.Rows(context.Background(), q)
	s.ok("list rows", err)
	return rows
}

func (s *storeTest) rowKeys(q store.RowQuery) string {
	s.Helper()
	return compare.Spaced(s.rows(q), func(r store.Row) string { return r.Key })
}

// ours is the key of transactions for rows: they belong to no thread.
var ours = spool.ThreadKey{Tenant: spool.DefaultTenant}

// kinds selects the rows of a kind.
func kinds(kind string) store.RowQuery {
	return store.RowQuery{Tenant: spool.DefaultTenant, Kind: kind}
}

// testStoreRows inserts, replaces and removes a row.
func testStoreRows(s *storeTest) {
	s.same("none", s.rows(kinds("k")), []store.Row{})
	row := store.Row{
		Tenant: "ignored", Kind: "k", Key: "a “b”",
		Value: json.RawMessage(`{"a":[1,"<“b”>"],"n":12345678901234567890}`), ExpiresAt: s.clock.Now().Add(time.Hour),
	}
	s.ok("insert", s.putRows(ours, row))
	row.Tenant, row.Version, row.UpdatedAt = spool.DefaultTenant, s.version(row.Key), s.clock.Now()
	s.same("inserted", s.rows(kinds("k")), []store.Row{row})

	s.clock.Advance(time.Second)
	row.Value, row.ExpiresAt = json.RawMessage(`null`), time.Time{}
	s.ok("replace", s.putRows(ours, row))
	if next := s.version(row.Key); next <= 0 || next == row.Version {
		s.Errorf("the version of a replaced row is %d, after %d", next, row.Version)
	} else {
		row.Version = next
	}
	row.UpdatedAt = s.clock.Now()
	s.same("replaced", s.rows(kinds("k")), []store.Row{row})
	s.same("by its key", s.rows(store.RowQuery{Tenant: spool.DefaultTenant, Kind: "k", Key: row.Key}), []store.Row{row})
	s.same("by another key", s.rows(store.RowQuery{Tenant: spool.DefaultTenant, Kind: "k", Key: "a"}), []store.Row{})
	s.same("of another kind", s.rows(kinds("l")), []store.Row{})

	row.Value = nil
	s.ok("remove", s.putRows(ours, row))
	s.same("removed", s.rows(kinds("k")), []store.Row{})
}

// testStoreRowsCompare writes rows with versions that are right and wrong.
func testStoreRowsCompare(s *storeTest) {
	one, none := json.RawMessage(`1`), json.RawMessage(nil)
	s.ok("insert", s.putRows(ours, store.Row{Kind: "k", Key: "a", Value: one}))
	first := s.version("a")
	for name, row := range map[string]store.Row{
		"insert again":      {Key: "a", Value: one},
		"replace the next":  {Key: "a", Value: one, Version: first + 1},
		"remove the next":   {Key: "a", Value: none, Version: first + 1},
		"replace no row":    {Key: "b", Value: one, Version: 1},
		"remove no row":     {Key: "b", Value: none, Version: 1},
		"remove as if none": {Key: "a", Value: none},
	} {
		row.Kind = "k"
		s.is(name, s.putRows(ours, row), store.ErrRowChanged)
		// With another row that could be written.
		s.is(name+", the second", s.putRows(ours, store.Row{Kind: "k", Key: "c", Value: one}, row), store.ErrRowChanged)
	}
	s.same("what is there", s.rowKeys(kinds("k")), "a")
	s.same("its version", s.version("a"), first)

	whatever := store.Row{Kind: "k", Key: "a", Value: one, Version: store.AnyVersion}
	s.ok("replace any", s.putRows(ours, whatever))
	s.is("replace what was replaced", s.putRows(ours, store.Row{Kind: "k", Key: "a", Value: one, Version: first}),
		store.ErrRowChanged)
	whatever.Key = "b"
	s.ok("insert any", s.putRows(ours, whatever))
	whatever.Value = none
	s.ok("remove any", s.putRows(ours, whatever))
	s.ok("remove any again", s.putRows(ours, whatever))
	s.same("what is left", s.rowKeys(kinds("k")), "a")
	s.ok("insert what was removed", s.putRows(ours, store.Row{Kind: "k", Key: "b", Value: one}))

	// A transaction sees what it has written.
	s.ok("twice", s.putRows(ours,
		store.Row{Kind: "k", Key: "d", Value: one}, store.Row{Kind: "k", Key: "d", Value: one, Version: store.AnyVersion}))
	s.ok("with the version after two writes",
		s.putRows(ours, store.Row{Kind: "k", Key: "d", Value: one, Version: s.version("d")}))
	s.is("insert twice", s.putRows(ours,
		store.Row{Kind: "k", Key: "e", Value: one}, store.Row{Kind: "k", Key: "e", Value: one}), store.ErrRowChanged)
	s.ok("remove and insert", s.putRows(ours,
		store.Row{Kind: "k", Key: "d", Version: store.AnyVersion}, store.Row{Kind: "k", Key: "d", Value: one}))
	s.same("what is there in the end", s.rowKeys(kinds("k")), "a b d")
}

// version returns the version of a row of the default tenant, of the kind k.
func (s *storeTest) version(key string) int64 {
	s.Helper()
	rows := s.rows(store.RowQuery{Tenant: spool.DefaultTenant, Kind: "k", Key: key})
	if len(rows) != 1 {
		s.Fatalf("%d rows have the key %q", len(rows), key)
	}
	return rows[0].Version
}

// testStoreRowsAgain removes rows, or lets them expire, and creates them again, all at the same time. A version
// of the row before must not fit the new one.
func testStoreRowsAgain(s *storeTest) {
	one := json.RawMessage(`1`)
	for name, again := range map[string]struct {
		expires bool
		version int64
	}{
		"removed":      {},
		"removed, any": {version: store.AnyVersion},
		"expired":      {expires: true},
		"expired, any": {expires: true, version: store.AnyVersion},
	} {
		old := store.Row{Kind: "k", Key: name, Value: one}
		if again.expires {
			old.ExpiresAt = s.clock.Now().Add(time.Second)
		}
		s.ok("insert", s.putRows(ours, old))
		old.Version, old.ExpiresAt = s.version(name), time.Time{}
		if again.expires {
			s.clock.Advance(time.Second)
		} else {
			s.ok("remove", s.putRows(ours, store.Row{Kind: "k", Key: name, Version: old.Version}))
		}
		s.ok("create again", s.putRows(ours, store.Row{Kind: "k", Key: name, Value: one, Version: again.version}))
		s.is("replace the row that is gone: "+name, s.putRows(ours, old), store.ErrRowChanged)
		old.Value = nil
		s.is("remove the row that is gone: "+name, s.putRows(ours, old), store.ErrRowChanged)
	}
}

// testStoreRowsExpire checks that an expired row is as if it did not exist.
func testStoreRowsExpire(s *storeTest) {
	row := store.Row{Kind: "k", Key: "a", Value: json.RawMessage(`1`), ExpiresAt: s.clock.Now().Add(time.Minute)}
	s.ok("insert", s.putRows(ours, row))
	created := s.version("a")
	s.clock.Advance(time.Minute - time.Microsecond)
	s.same("just before", s.rowKeys(kinds("k")), "a")
	s.is("insert just before", s.putRows(ours, row), store.ErrRowChanged)
	s.clock.Advance(time.Microsecond)
	s.same("expired", s.rowKeys(kinds("k")), "")
	row.Version = created
	s.is("replace the expired row", s.putRows(ours, row), store.ErrRowChanged)
	row.Version, row.ExpiresAt = 0, time.Time{}
	s.ok("insert over the expired row", s.putRows(ours, row))
	s.clock.Advance(1000 * time.Hour)
	s.same("a row that does not expire", s.rowKeys(kinds("k")), "a")
}

func testStoreRowsPages(s *storeTest) {
	for _, key := range []string{"c", "a", "e", "b", "d"} {
		s.ok("insert", s.putRows(ours, store.Row{Kind: "k", Key: key, Value: json.RawMessage(`1`)}))
	}
	s.ok("insert", s.putRows(ours, store.Row{Kind: "l", Key: "b", Value: json.RawMessage(`1`)}))
	for size := 1; size <= 6; size++ {
		got, query := "", kinds("k")
		query.Limit = size
		for range 6 {
			for _, r := range s.rows(query) {
				got, query.After = got+r.Key, r.Key
			}
		}
		s.same("pages of "+strconv.Itoa(size), got, "abcde")
	}
	s.same("after a key that is not there", s.rowKeys(store.RowQuery{Tenant: ours.Tenant, Kind: "k", After: "bb"}),
		"c d e")
	s.same("of the other kind", s.rowKeys(kinds("l")), "b")
}

// testStoreRowsApart gives two tenants and the installation rows with the same names.
func testStoreRowsApart(s *storeTest) {
	tenants := []spool.Tenant{spool.DefaultTenant, "other", ""}
	for i, tenant := range tenants {
		value := json.RawMessage(strconv.Itoa(i))
		s.ok("insert", s.putRows(spool.ThreadKey{Tenant: tenant}, store.Row{Kind: "k", Key: "a", Value: value}))
	}
	for i, tenant := range tenants {
		rows := s.rows(store.RowQuery{Tenant: tenant, Kind: "k"})
		s.same("rows of "+string(tenant), each(rows,
			func(r store.Row) string { return string(r.Tenant) + " " + string(r.Value) }),
			[]string{string(tenant) + " " + strconv.Itoa(i)})
	}
	s.ok("remove", s.putRows(ours, store.Row{Kind: "k", Key: "a", Version: s.version("a")}))
	s.same("of the other tenant", s.rowKeys(store.RowQuery{Tenant: "other", Kind: "k"}), "a")
	s.same("of the installation", s.rowKeys(store.RowQuery{Kind: "k"}), "a")
}

// testStoreRowsWithThread checks that rows and a thread's changes are written together or not at all.
func testStoreRowsWithThread(s *storeTest) {
	key := thread("t")
	row := store.Row{Kind: "k", Key: "a", Value: json.RawMessage(`1`)}
	update := func(fail error) error {
		return s.Store.Update(context.Background(), key, 0, func(tx store.Tx) error {
			return errors.Join(tx.Write(store.Changes{
				Thread: &wire.Thread{State: wire.Idle}, Entries: []*wire.Entry{wire.NewEntry("A", "", nil)}, Rows: []store.Row{row},
			}), fail)
		})
	}
	failure := errors.New("no")
	s.is("Update", update(failure), failure)
	s.same("the thread", s.all(key, "").Found, false)
	s.same("the rows", s.rowKeys(kinds("k")), "")
	s.ok("update", update(nil))
	s.gapFree(key, 1)
	s.same("the rows", s.rowKeys(kinds("k")), "a")
	s.is("Update", update(nil), store.ErrRowChanged)
	s.gapFree(key, 1)
	s.write(key, func(tx store.Tx) error { return tx.Write(store.Changes{DeleteThread: true}) })
	s.same("the rows after the thread", s.rowKeys(kinds("k")), "a")
}

// testStoreRowsRace counts with compare-and-set. Each writer must have counted once, and the writes of those
// that were too late must have failed.
func testStoreRowsRace(s *storeTest) {
	count := func(i int) error {
		for {
			rows, err := s.Store.Rows(context.Background(), kinds("k"))
			if err != nil {
				return err
			}
			row, n := store.Row{Kind: "k", Key: "a"}, 0
			if len(rows) > 0 {
				row = rows[0]
				if err := json.Unmarshal(row.Value, &n); err != nil {
					return err
				}
			}
			row.Value = json.RawMessage(strconv.Itoa(n + 1))
			// Half of the writers write on threads, which a store need not lock against each other.
			key := ours
			if i%2 == 0 {
				key.ID = spool.ThreadID("t" + strconv.Itoa(i))
			}
			if err := s.putRows(key, row); !errors.Is(err, store.ErrRowChanged) {
				return err
			}
		}
	}
	s.ok("count", errors.Join(race(count)...))
	rows := s.rows(kinds("k"))
	s.same("the count", string(rows[0].Value), strconv.Itoa(racers))
}

// testStoreRowsPruned removes expired rows of all tenants, the first expired first.
func testStoreRowsPruned(s *storeTest) {
	first := s.clock.Now()
	for i, tenant := range []spool.Tenant{"", spool.DefaultTenant, "other"} {
		for n := range 2 {
			row := store.Row{Kind: "k", Key: strconv.Itoa(n), Value: json.RawMessage(`1`)}
			row.ExpiresAt = first.Add(time.Duration(1+2*i+n) * time.Second)
			s.ok("insert", s.putRows(spool.ThreadKey{Tenant: tenant}, row))
		}
	}
	s.ok("insert", s.putRows(ours, store.Row{Kind: "k", Key: "kept", Value: json.RawMessage(`1`)}))
	prune := func(before time.Time, limit int) int {
		s.Helper()
		n, err := s.Store.Prune(context.Background(), store.PruneQuery{Kind: store.PruneRows, Before: before, Limit: limit})
		s.ok("prune", err)
		return n
	}
	s.same("nothing has expired", prune(time.Time{}, 0), 0)
	s.same("nothing has expired, before later", prune(first.Add(time.Hour), 0), 0)
	s.clock.Advance(5 * time.Second) // five of six have expired
	s.same("those before", prune(first.Add(2*time.Second), 0), 1)
	s.same("the oldest two", prune(time.Time{}, 2), 2)
	s.same("the same again", prune(first.Add(4*time.Second), 0), 0)
	s.same("the rest", prune(time.Time{}, 0), 2)
	s.same("of the other tenant", s.rowKeys(store.RowQuery{Tenant: "other", Kind: "k"}), "1")
	s.same("ours", s.rowKeys(kinds("k")), "kept")
}
