package sqlite_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/sqlite"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/internal/testing/enginetest"
	"github.com/spoolhq/spool/internal/testing/testwait"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// host is a host with a table in a file.
type host struct{ db *sqlite.DB }

func newHost(t *testing.T, db *sqlite.DB) host {
	t.Helper()
	err := db.Transact(t.Context(), func(tx *sqlite.Transaction) error {
		_, err := tx.ExecContext(t.Context(), "CREATE TABLE IF NOT EXISTS app_number (n INTEGER PRIMARY KEY) STRICT")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return host{db}
}

// Transact implements [spooltest.Host].
func (h host) Transact(ctx context.Context, fn func(tx spooltest.HostTx) error) error {
	return h.db.Transact(ctx, func(tx *sqlite.Transaction) error {
		return fn(spooltest.HostTx{HostTx: sqlite.Tx(tx), Insert: func(n int) error {
			_, err := tx.ExecContext(ctx, "INSERT INTO app_number VALUES (?)", n)
			return err
		}})
	})
}

// Numbers implements [spooltest.Host].
func (h host) Numbers(ctx context.Context) (all []int, err error) {
	err = h.db.Read(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, "SELECT n FROM app_number ORDER BY n")
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var n int
			if err := rows.Scan(&n); err != nil {
				return err
			}
			all = append(all, n)
		}
		return rows.Err()
	})
	return all, err
}

func TestHost(t *testing.T) {
	t.Parallel()
	enginetest.TestHost(t, func(t *testing.T) (store.Backend, spooltest.Host) {
		t.Helper()
		db := open(t, filepath.Join(t.TempDir(), "spool.db"), &sqlite.Options{Exclusive: true})
		return db.Backend(), newHost(t, db)
	})
}

// TestStoreInTransact runs the suite with all updates in transactions of a host.
func TestStoreInTransact(t *testing.T) {
	t.Parallel()
	opened := opener(t)
	spooltest.TestStore(t, func(t *testing.T, clock store.Clock) store.Backend {
		t.Helper()
		b := opened(t, clock)
		db, _ := b.Store.(*sqlite.DB)
		b.Store = spooltest.Hosted(db, host{db})
		return b
	}, features)
}

// hostDB opens a new file.
func hostDB(t *testing.T) *sqlite.DB {
	t.Helper()
	return open(t, filepath.Join(t.TempDir(), "spool.db"), nil)
}

// What a host writes comes back, also by a prepared statement.
func TestHostValues(t *testing.T) {
	t.Parallel()
	db, ctx := hostDB(t), t.Context()
	at := time.Date(2026, 1, 2, 3, 4, 5, 678900000, time.FixedZone("", 3600))
	long := strings.Repeat("x", 100_000)
	err := db.Transact(ctx, func(tx *sqlite.Transaction) error {
		_, err := tx.ExecContext(ctx,
			`CREATE TABLE app_value (id INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT, whole INTEGER, fraction REAL, data BLOB, yes BOOLEAN, at TIMESTAMP, day DATE);
			CREATE INDEX app_value_text ON app_value (text); CREATE VIEW app_texts AS SELECT text FROM app_value`)
		if err != nil {
			return err
		}
		stmt, err := tx.PrepareContext(ctx,
			"INSERT INTO app_value (text, whole, fraction, data, yes, at, day) VALUES (?, ?, ?, ?, ?, ?, '2026-01-02')")
		if err != nil {
			return err
		}
		defer stmt.Close()
		for _, data := range [][]byte{{0, 1, 0}, {}} {
			result, err := stmt.ExecContext(ctx, "what?"+long, int64(math.MaxInt64), 0.25, data, true, at)
			if err != nil {
				return err
			}
			id, _ := result.LastInsertId()
			if n, _ := result.RowsAffected(); n != 1 || id == 0 {
				t.Errorf("%d rows, id %d", n, id)
			}
		}
		_, err = tx.ExecContext(ctx, "UPDATE app_value SET text = 'why? ' || ? WHERE id = 2 AND text LIKE 'what?%'", "so")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	type value struct {
		ID       int
		Text     string
		Whole    int64
		Fraction float64
		Data     []byte
		Yes      bool
		At, Day  time.Time
		None     sql.NullString
	}
	var got []value
	err = db.Read(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx,
			"SELECT id, text, whole, fraction, data, yes, at, day, NULL FROM app_value ORDER BY id")
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var v value
			if err := rows.Scan(&v.ID, &v.Text, &v.Whole, &v.Fraction, &v.Data, &v.Yes, &v.At, &v.Day, &v.None); err != nil {
				return err
			}
			got = append(got, v)
			if err := tx.QueryRowContext(ctx, "SELECT text FROM app_texts LIMIT ?", 1).Scan(&v.Text); err != nil {
				return err // a query while the rows of another one are read
			}
		}
		return rows.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	day := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	want := []value{
		{1, "what?" + long, math.MaxInt64, 0.25, []byte{0, 1, 0}, true, at.UTC(), day, sql.NullString{}},
		{2, "why? so", math.MaxInt64, 0.25, []byte{}, true, at.UTC(), day, sql.NullString{}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// A host cannot reach what is Spool's, nor end the writer's transaction.
func TestHostRules(t *testing.T) {
	t.Parallel()
	db, ctx := hostDB(t), t.Context()
	h := newHost(t, db)
	for _, statement := range []string{
		"INSERT INTO thread (tenant, id) VALUES ('a', 'b')", "UPDATE run SET state = 'COMPLETED'", "DELETE FROM job",
		"SELECT * FROM message", "SELECT count(*) FROM Message",
		"SELECT n FROM app_number WHERE n IN (SELECT fence FROM thread)",
		"INSERT INTO app_number SELECT last_seq FROM thread", "DROP TABLE thread", "ALTER TABLE run ADD COLUMN mine TEXT",
		"CREATE TABLE orders (id INTEGER)", "CREATE INDEX app_index ON run (id)", "CREATE INDEX mine ON app_number (n)",
		"CREATE TRIGGER app_trigger AFTER INSERT ON run BEGIN SELECT 1; END", "CREATE VIEW mine AS SELECT 1",
		"CREATE TEMP TABLE app_temp (id INTEGER)", "COMMIT", "ROLLBACK", "BEGIN", "SAVEPOINT mine", "RELEASE op",
		"END; COMMIT", "PRAGMA synchronous = OFF", "PRAGMA application_id", "ATTACH ':memory:' AS other", "ANALYZE", "VACUUM",
		"SELECT load_extension('x')", "UPDATE sqlite_schema SET name = 'x'", "SELECT data FROM sqlite_dbpage",
		"UPDATE sqlite_dbpage SET data = data", "SELECT name FROM dbstat", "nonsense", "SELECT ?", "SELECT 1; SELECT 2",
	} {
		err := h.db.Transact(ctx, func(tx *sqlite.Transaction) error {
			if err := tx.QueryRowContext(ctx, statement).Scan(new(any)); spool.CodeOf(err) != spool.Invalid {
				t.Errorf("%s: %v", statement, err)
			}
			if _, err := tx.ExecContext(ctx, statement); spool.CodeOf(err) != spool.Invalid &&
				!strings.HasPrefix(statement, "SELECT 1;") {
				t.Errorf("%s: executed with the error %v", statement, err)
			}
			_, err := tx.ExecContext(ctx, "INSERT INTO app_number SELECT coalesce(max(n), 0) + 1 FROM app_number")
			return err
		})
		if err != nil {
			t.Fatalf("after %s: %v", statement, err)
		}
	}
	// a trigger of the host's table is a host's statement too
	err := db.Transact(ctx, func(tx *sqlite.Transaction) error {
		_, err := tx.ExecContext(ctx, "CREATE TRIGGER app_trigger AFTER INSERT ON app_number BEGIN DELETE FROM job; END")
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO app_number VALUES (1000)"); spool.CodeOf(err) != spool.Invalid {
			t.Errorf("a trigger: %v", err)
		}
		return errHost
	})
	if !errors.Is(err, errHost) {
		t.Error(err)
	}
	err = db.Transact(ctx, func(tx *sqlite.Transaction) error {
		if _, err := tx.ExecContext(ctx, "INSERT INTO app_number VALUES (1)"); spool.CodeOf(err) != spool.Conflict {
			t.Errorf("a used number: %v", err)
		}
		if _, err := tx.ExecContext(ctx, "SELECT :name", sql.Named("name", 1)); spool.CodeOf(err) != spool.Invalid {
			t.Errorf("a named value: %v", err)
		}
		_, err := tx.ExecContext(ctx, "DELETE FROM app_number WHERE n > 3")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	err = db.Read(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM app_number")
		return err
	})
	if spool.CodeOf(err) != spool.Invalid {
		t.Errorf("a write in Read: %v", err)
	}
	if got, err := h.Numbers(ctx); err != nil || len(got) != 3 {
		t.Errorf("%v, %v", got, err)
	}
}

// A host's table cannot get a name that Spool may use one day, and nothing of such a transaction is left.
func TestHostRename(t *testing.T) {
	t.Parallel()
	db, ctx := hostDB(t), t.Context()
	h := newHost(t, db)
	for _, rename := range []string{
		"ALTER TABLE app_number RENAME TO orders", "alter table app_number /**/ Rename To [app]",
	} {
		err := db.Transact(ctx, func(tx *sqlite.Transaction) error {
			if _, err := tx.ExecContext(ctx, rename); spool.CodeOf(err) != spool.Invalid {
				t.Errorf("%s: %v", rename, err)
			}
			return nil
		})
		if spool.CodeOf(err) != spool.Invalid {
			t.Errorf("after %s: %v", rename, err)
		}
		if _, err := h.Numbers(ctx); err != nil {
			t.Errorf("after %s: %v", rename, err)
		}
	}
	err := db.Transact(ctx, func(tx *sqlite.Transaction) error {
		if _, err := tx.ExecContext(ctx, "ALTER TABLE app_number RENAME COLUMN n TO m"); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "ALTER TABLE app_number RENAME TO app_numbers; INSERT INTO app_numbers VALUES (1)")
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

var errHost = errors.New("the host has another idea")

// The function must leave the end of the transaction to Transact.
func TestHostEnds(t *testing.T) {
	t.Parallel()
	db, ctx := hostDB(t), t.Context()
	h := newHost(t, db)
	var late *sqlite.Transaction
	for name, end := range map[string]func(tx *sqlite.Transaction) error{
		"commit":   func(tx *sqlite.Transaction) error { return tx.Commit() },
		"rollback": func(tx *sqlite.Transaction) error { return tx.Rollback() },
	} {
		err := db.Transact(ctx, func(tx *sqlite.Transaction) error {
			if _, err := tx.ExecContext(ctx, "INSERT INTO app_number VALUES (1)"); err != nil {
				return err
			}
			late = tx
			return end(tx)
		})
		if spool.CodeOf(err) != spool.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := late.ExecContext(ctx, "SELECT 1"); !errors.Is(err, sql.ErrTxDone) {
		t.Errorf("a late statement: %v", err)
	}
	err := sqlite.Tx(late).Update(ctx, spool.ThreadKey{Tenant: "a", ID: "t"}, func(store.Tx) error { return nil })
	if !errors.Is(err, sql.ErrTxDone) {
		t.Errorf("a late update: %v", err)
	}
	if got, err := h.Numbers(ctx); err != nil || len(got) != 0 {
		t.Errorf("%v, %v", got, err)
	}
}

// A function that does not end delays other writers until its context ends.
func TestHostSlow(t *testing.T) {
	t.Parallel()
	db := hostDB(t)
	h := newHost(t, db)
	for name, hang := range map[string]func(ctx context.Context, tx *sqlite.Transaction) error{
		"statement": func(_ context.Context, tx *sqlite.Transaction) error {
			_, err := tx.ExecContext(t.Context(),
				"INSERT INTO app_number VALUES (1); INSERT INTO app_number WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n WHERE i < 0")
			return err
		},
		"function": func(ctx context.Context, tx *sqlite.Transaction) error {
			<-ctx.Done()
			testwait.For(t, updated(t, db), "an update of others while the function runs on")
			if _, err := tx.ExecContext(t.Context(), "INSERT INTO app_number VALUES (2)"); err == nil {
				t.Error("a statement after the end of the context")
			}
			return nil
		},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		begun := make(chan struct{})
		go func() {
			<-begun
			cancel()
		}()
		err := db.Transact(ctx, func(tx *sqlite.Transaction) error {
			close(begun)
			return hang(ctx, tx)
		})
		if spool.CodeOf(err) != spool.Canceled {
			t.Errorf("%s: %v", name, err)
		}
		testwait.For(t, updated(t, db), "an update after "+name)
	}
	if got, err := h.Numbers(t.Context()); err != nil || len(got) != 0 {
		t.Errorf("%v, %v", got, err)
	}
}

// updated does an update of the engine's kind, and then closes the channel.
func updated(t *testing.T, db *sqlite.DB) <-chan struct{} {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		err := db.Update(t.Context(), spool.ThreadKey{Tenant: "a", ID: "t"}, 0, func(tx store.Tx) error {
			return tx.Write(store.Changes{Thread: &wire.Thread{State: wire.Idle}})
		})
		if err != nil {
			t.Error(err)
		}
	}()
	return done
}

// Without an end of the context, the writer takes the database back after the limit.
func TestHostLimit(t *testing.T) {
	t.Parallel()
	db := hostDB(t)
	err := db.Transact(t.Context(), func(*sqlite.Transaction) error {
		testwait.For(t, updated(t, db), "an update of others while the function runs on")
		return nil
	})
	if spool.CodeOf(err) != spool.Unavailable || !strings.Contains(spool.MessageOf(err), "longer") {
		t.Errorf("got %v", err)
	}
}

// An update in the transaction that waits for another one ends at the limit. The writer goes on, and nothing of the
// transaction is left.
func TestHostUpdateLimit(t *testing.T) {
	t.Parallel()
	for name, after := range map[string]func(tx store.Tx) error{
		"Returns": func(store.Tx) error { return nil },
		"Fails":   func(store.Tx) error { return errHost },
		"Reads": func(tx store.Tx) error {
			_, err := tx.Thread()
			return err
		},
		"Writes": func(tx store.Tx) error { return tx.Write(store.Changes{Thread: &wire.Thread{State: wire.Idle}}) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := hostDB(t)
			h := newHost(t, db)
			err := h.Transact(t.Context(), func(tx spooltest.HostTx) error {
				if err := tx.Insert(1); err != nil {
					return err
				}
				err := tx.Update(t.Context(), spool.ThreadKey{Tenant: "a", ID: "h"}, func(in store.Tx) error {
					if err := in.Write(store.Changes{Thread: &wire.Thread{State: wire.Idle}}); err != nil {
						return err
					}
					testwait.For(t, updated(t, db), "an update of others while the function runs on")
					return after(in)
				})
				isTooLong(t, err)
				isTooLong(t, tx.Insert(2))
				return nil
			})
			isTooLong(t, err)
			testwait.For(t, updated(t, db), "an update after the transaction")
			if got, err := h.Numbers(t.Context()); err != nil || len(got) != 0 {
				t.Errorf("%v, %v", got, err)
			}
			err = db.View(t.Context(), spool.ThreadKey{Tenant: "a", ID: "h"}, func(v store.View) error {
				_, err := v.Thread()
				return err
			})
			if spool.CodeOf(err) != spool.NotFound {
				t.Errorf("the thread of the host: %v", err)
			}
		})
	}
}

func isTooLong(t *testing.T, err error) {
	t.Helper()
	if spool.CodeOf(err) != spool.Unavailable ||
		!strings.Contains(spool.MessageOf(err), "took longer than 5s and was rolled back") {
		t.Errorf("got the error %v", err)
	}
}

// The end of the context takes the connection from an update that runs.
func TestHostUpdateCanceled(t *testing.T) {
	t.Parallel()
	db := hostDB(t)
	ctx, cancel := context.WithCancel(t.Context())
	err := db.Transact(ctx, func(tx *sqlite.Transaction) error {
		err := sqlite.Tx(tx).Update(t.Context(), spool.ThreadKey{Tenant: "a", ID: "h"}, func(store.Tx) error {
			cancel()
			testwait.For(t, updated(t, db), "an update of others while the function runs on")
			return nil
		})
		if spool.CodeOf(err) != spool.Canceled || !strings.Contains(spool.MessageOf(err), "rolled back") {
			t.Errorf("the update: %v", err)
		}
		return nil
	})
	if spool.CodeOf(err) != spool.Canceled {
		t.Error(err)
	}
}

// A start after the end of the transaction says what has happened.
func TestHostStartLate(t *testing.T) {
	t.Parallel()
	db := hostDB(t)
	e, err := engine.New(db.Backend(), engine.Config{
		Agents: []spool.Agent{{Name: "assistant", Model: "scripted"}}, SingleProcess: true,
		Models: map[string]spool.Model{"scripted": spooltest.NewReplayModel(spooltest.Say("Hello"))},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	start := func(tx *sqlite.Transaction) error {
		_, wake, err := e.StartTx(t.Context(), sqlite.Tx(tx), spool.ThreadKey{Tenant: "a", ID: "h"},
			wire.StartRequest{Prompt: "Hello"})
		wake()
		return err
	}
	var late *sqlite.Transaction
	err = db.Transact(t.Context(), func(tx *sqlite.Transaction) error {
		late = tx
		testwait.For(t, updated(t, db), "an update of others while the function runs on")
		isTooLong(t, start(tx))
		return nil
	})
	isTooLong(t, err)
	isTooLong(t, start(late))
	if err := db.Transact(t.Context(), func(tx *sqlite.Transaction) error { late = tx; return nil }); err != nil {
		t.Fatal(err)
	}
	if err := start(late); spool.CodeOf(err) != spool.Invalid || spool.MessageOf(err) != "the transaction has ended" ||
		!errors.Is(err, sql.ErrTxDone) {
		t.Errorf("a start after the commit: %v", err)
	}
}

// While an update runs, the transaction has no other use. It refuses one at once.
func TestHostUpdateAlone(t *testing.T) {
	t.Parallel()
	db := hostDB(t)
	h, key := newHost(t, db), spool.ThreadKey{Tenant: "a", ID: "h"}
	goOn, done := make(chan struct{}), make(chan error, 1)
	err := h.Transact(t.Context(), func(tx spooltest.HostTx) error {
		err := tx.Update(t.Context(), key, func(store.Tx) error {
			if err := tx.Insert(1); spool.CodeOf(err) != spool.Invalid {
				t.Errorf("a statement: %v", err)
			}
			if err := tx.Update(t.Context(), key, func(store.Tx) error { return nil }); spool.CodeOf(err) != spool.Invalid {
				t.Errorf("a second update: %v", err)
			}
			return nil
		})
		if err != nil {
			return err
		}
		begun := make(chan struct{})
		go func() {
			done <- tx.Update(t.Context(), key, func(in store.Tx) error {
				err := in.Write(store.Changes{Thread: &wire.Thread{State: wire.Idle}})
				close(begun)
				<-goOn
				return err
			})
		}()
		<-begun
		return nil
	})
	if spool.CodeOf(err) != spool.Invalid || !strings.Contains(spool.MessageOf(err), "returned while") {
		t.Errorf("a return during an update: %v", err)
	}
	close(goOn)
	if err := testwait.For(t, done, "the update"); !errors.Is(err, sql.ErrTxDone) {
		t.Errorf("the update: %v", err)
	}
}

// The host's tables are in the backup, and do not disturb a check or a later start.
func TestHostKept(t *testing.T) {
	t.Parallel()
	dir, ctx := t.TempDir(), t.Context()
	path, copied := filepath.Join(dir, "spool.db"), filepath.Join(dir, "copy.db")
	db := open(t, path, &sqlite.Options{Exclusive: true})
	if err := newHost(t, db).Transact(ctx, func(tx spooltest.HostTx) error { return tx.Insert(7) }); err != nil {
		t.Fatal(err)
	}
	if err := sqlite.Backup(ctx, path, copied, nil); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{path, copied} {
		report, err := sqlite.Check(ctx, file)
		if err != nil || len(report.Problems) > 0 {
			t.Errorf("%v, %v", report.Problems, err)
		}
		if got, err := (host{open(t, file, &sqlite.Options{Exclusive: true})}).Numbers(ctx); err != nil ||
			len(got) != 1 || got[0] != 7 {
			t.Errorf("%v, %v", got, err)
		}
	}
}

// Nothing of Spool's has a name of a host.
func TestHostNames(t *testing.T) {
	t.Parallel()
	err := hostDB(t).Read(t.Context(), func(tx *sql.Tx) error {
		var all int
		var taken bytes.Buffer
		rows, err := tx.QueryContext(t.Context(), "SELECT name FROM sqlite_schema")
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var name string
			if err := rows.Scan(&name); err != nil {
				return err
			}
			if all++; strings.HasPrefix(strings.ToLower(name), "app_") {
				taken.WriteString(" " + name)
			}
		}
		if all < 20 || taken.Len() > 0 {
			t.Errorf("of %d names are a host's:%s", all, taken.String())
		}
		return rows.Err()
	})
	if err != nil {
		t.Error(err)
	}
}
