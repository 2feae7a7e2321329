package rows_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/artifact/rows"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/backend/postgres"
	"github.com/spoolhq/spool/backend/sqlite"
	"github.com/spoolhq/spool/internal/testing/pgtest"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

func newBlobs(t *testing.T, db store.Store, o *rows.Options) *rows.Blobs {
	t.Helper()
	b, err := rows.New(db, o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestMemory(t *testing.T) {
	t.Parallel()

	spooltest.TestBlobs(t, func(t *testing.T) store.Blobs {
		t.Helper()
		return newBlobs(t, memory.New(nil).Store, nil)
	})
}

func TestSQLite(t *testing.T) {
	t.Parallel()

	spooltest.TestBlobs(t, func(t *testing.T) store.Blobs {
		t.Helper()
		db, err := sqlite.Open(filepath.Join(t.TempDir(), "spool.db"), nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		return newBlobs(t, db.Backend().Store, nil)
	})
}

// template is a database that has the tables.
var template = &pgtest.Template{Prepare: func(ctx context.Context, url string) error {
	db, err := postgres.Open(ctx, url, nil)
	if err != nil {
		return err
	}
	return db.Close()
}}

func TestPostgres(t *testing.T) {
	t.Parallel()

	spooltest.TestBlobs(t, func(t *testing.T) store.Blobs {
		t.Helper()
		db, err := postgres.Open(t.Context(), pgtest.Database(t, template), nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		return newBlobs(t, db, nil)
	})
}

// left returns how many rows there are.
func left(t *testing.T, db store.Store) (n int) {
	t.Helper()
	for _, kind := range []string{"blob", "blob_upload", "blob_part"} {
		found, err := db.Rows(t.Context(), store.RowQuery{Kind: kind})
		if err != nil {
			t.Fatal(err)
		}
		n += len(found)
	}
	return n
}

const size = 700_000 // three parts

var data = bytes.Repeat([]byte("0123456789"), size/10)

// whole returns whether a key is stored. If it is, it has all data.
func whole(t *testing.T, b *rows.Blobs, key string) bool {
	t.Helper()
	r, err := b.OpenBlob(t.Context(), key)
	if spool.CodeOf(err) == spool.NotFound {
		return false
	}
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, data) {
		t.Errorf("%s has %d bytes, %v", key, len(got), err)
	}
	return true
}

// A store fails at each of the calls of a put, before and after the call has happened. The key then has all data or
// none. A process that lives leaves no rows of a put that failed, and DeleteBlob removes those of one that crashed.
func TestFaults(t *testing.T) {
	t.Parallel()

	for _, kind := range []spooltest.FaultKind{
		spooltest.FailBefore, spooltest.FailAfter, spooltest.CrashBefore, spooltest.CrashAfter, spooltest.Rerun,
	} {
		failures, stored := 0, 0
		for call := 1; ; call++ {
			backend := memory.New(nil)
			faulty := spooltest.NewFaulty(backend)
			faulty.Plan(spooltest.Fault{Call: call, Kind: kind})
			err := newBlobs(t, faulty.Backend().Store, nil).PutBlob(t.Context(), "a", bytes.NewReader(data), size)
			calls := faulty.Calls()
			b := newBlobs(t, backend.Store, nil)
			complete := whole(t, b, "a")
			if err == nil && !complete {
				t.Errorf("%v at call %d: the put has succeeded, and the key is not stored", kind, call)
			}
			if err != nil {
				failures++
			}
			if complete {
				stored++
			}
			if alive := kind == spooltest.FailBefore || kind == spooltest.FailAfter; alive && !complete &&
				left(t, backend.Store) > 0 {
				t.Errorf("%v at call %d: the put left %d rows", kind, call, left(t, backend.Store))
			}
			if err := b.DeleteBlob(t.Context(), "a"); err != nil || left(t, backend.Store) > 0 {
				t.Errorf("%v at call %d: the deletion left %d rows, %v", kind, call, left(t, backend.Store), err)
			}
			if call > calls {
				break
			}
		}
		if kind != spooltest.Rerun && failures < 4 || stored == 0 {
			t.Errorf("%v: %d puts failed, and %d were stored", kind, failures, stored)
		}
	}
}

// A store fails at each of the calls of a deletion. The next deletion removes everything.
func TestDeletionFaults(t *testing.T) {
	t.Parallel()

	for _, kind := range []spooltest.FaultKind{spooltest.FailBefore, spooltest.FailAfter} {
		for call := 1; call <= 4; call++ {
			backend := memory.New(nil)
			b := newBlobs(t, backend.Store, nil)
			if err := b.PutBlob(t.Context(), "a", bytes.NewReader(data), size); err != nil {
				t.Fatal(err)
			}
			faulty := spooltest.NewFaulty(backend)
			faulty.Plan(spooltest.Fault{Call: call, Kind: kind})
			err := newBlobs(t, faulty.Backend().Store, nil).DeleteBlob(t.Context(), "a")
			if spool.CodeOf(err) != spool.Unavailable {
				t.Errorf("%v at call %d: %v", kind, call, err)
			}
			whole(t, b, "a")
			if err := b.DeleteBlob(t.Context(), "a"); err != nil || left(t, backend.Store) > 0 {
				t.Errorf("%v at call %d: the next deletion left %d rows, %v", kind, call, left(t, backend.Store), err)
			}
		}
	}
}

// A deletion in the middle of a put wins: the put fails, and nothing is left.
func TestDeletedWhileStored(t *testing.T) {
	t.Parallel()

	backend := memory.New(nil)
	b := newBlobs(t, backend.Store, nil)
	if err := b.PutBlob(t.Context(), "a/b", bytes.NewReader(data), size); err != nil {
		t.Fatal(err)
	}
	others := left(t, backend.Store)
	reader := io.MultiReader(bytes.NewReader(data[:size-1]), deleter{t, b}, bytes.NewReader(data[size-1:]))
	if err := b.PutBlob(t.Context(), "a", reader, size); spool.CodeOf(err) != spool.Conflict {
		t.Errorf("the put: %v", err)
	}
	if n := left(t, backend.Store); n != others || whole(t, b, "a") || !whole(t, b, "a/b") {
		t.Errorf("%d rows, want %d", n, others)
	}
}

// deleter is a reader without data that deletes the key a.
type deleter struct {
	t *testing.T
	b *rows.Blobs
}

func (d deleter) Read([]byte) (int, error) {
	if err := d.b.DeleteBlob(d.t.Context(), "a"); err != nil {
		d.t.Error(err)
	}
	return 0, io.EOF
}

// A put that loses against another one of the same key succeeds, and leaves no rows.
func TestOvertaken(t *testing.T) {
	t.Parallel()

	backend := memory.New(nil)
	b := newBlobs(t, backend.Store, nil)
	overtake := func() {
		if err := b.PutBlob(t.Context(), "a", bytes.NewReader(data), size); err != nil {
			t.Error(err)
		}
	}
	reader := io.MultiReader(bytes.NewReader(data[:size-1]), funcReader(overtake), bytes.NewReader(data[size-1:]))
	if err := b.PutBlob(t.Context(), "a", reader, size); err != nil {
		t.Errorf("the put: %v", err)
	}
	if n := left(t, backend.Store); n != 4 || !whole(t, b, "a") { // the head and three parts
		t.Errorf("%d rows", n)
	}
}

type funcReader func()

func (f funcReader) Read([]byte) (int, error) {
	f()
	return 0, io.EOF
}

// A caller that goes while it puts leaves no rows.
func TestGone(t *testing.T) {
	t.Parallel()

	backend := memory.New(nil)
	b := newBlobs(t, backend.Store, nil)
	ctx, cancel := context.WithCancel(t.Context())
	reader := io.MultiReader(bytes.NewReader(data[:size-1]), funcReader(cancel), bytes.NewReader(data[size-1:]))
	if err := b.PutBlob(ctx, "a", reader, size); spool.CodeOf(err) != spool.Canceled || left(t, backend.Store) > 0 {
		t.Errorf("%d rows, %v", left(t, backend.Store), err)
	}
}

// Rows that are gone or damaged end a read with an error, after the bytes of the rows before.
func TestDamaged(t *testing.T) {
	t.Parallel()

	for value, code := range map[string]spool.Code{
		"": spool.NotFound, `"AAAA"`: spool.Internal, `{}`: spool.Internal, `null`: spool.Internal,
	} {
		backend := memory.New(nil)
		b := newBlobs(t, backend.Store, nil)
		if err := b.PutBlob(t.Context(), "a", bytes.NewReader(data), size); err != nil {
			t.Fatal(err)
		}
		parts, err := backend.Store.Rows(t.Context(), store.RowQuery{Kind: "blob_part"})
		if err != nil || len(parts) != 3 {
			t.Fatal(len(parts), err)
		}
		part := store.Row{Kind: "blob_part", Key: parts[1].Key, Version: store.AnyVersion}
		if value != "" {
			part.Value = []byte(value)
		}
		err = backend.Store.Update(t.Context(), spool.ThreadKey{}, 0, func(tx store.Tx) error {
			return tx.Write(store.Changes{Rows: []store.Row{part}})
		})
		if err != nil {
			t.Fatal(err)
		}
		r, err := b.OpenBlob(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(r); spool.CodeOf(err) != code || len(got) != 256<<10 {
			t.Errorf("%q: %d bytes, %v", value, len(got), err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestMaxBytes(t *testing.T) {
	t.Parallel()

	store := memory.New(nil).Store
	for _, c := range []struct {
		max, size int64
		code      spool.Code
	}{{5, 5, ""}, {5, 6, spool.Limit}, {0, 16<<20 + 1, spool.Limit}} {
		unread := iotest.ErrReader(errors.New("it was read"))
		if c.code == "" {
			unread = strings.NewReader("12345")
		}
		err := newBlobs(t, store, &rows.Options{MaxBytes: c.max}).PutBlob(t.Context(), "a", unread, c.size)
		if spool.CodeOf(err) != c.code {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if _, err := rows.New(store, &rows.Options{MaxBytes: -1}); spool.CodeOf(err) != spool.Invalid {
		t.Errorf("negative: %v", err)
	}
	if _, err := rows.New(nil, nil); spool.CodeOf(err) != spool.Invalid {
		t.Errorf("no store: %v", err)
	}
}

func Example() {
	backend := memory.New(nil) // or that of backend/sqlite or backend/postgres
	blobs, err := rows.New(backend.Store, &rows.Options{MaxBytes: 4 << 20})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	fmt.Println(blobs.PutBlob(ctx, "reports/4711", strings.NewReader("Sales rose."), 11))

	r, err := blobs.OpenBlob(ctx, "reports/4711")
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	text, err := io.ReadAll(r)
	fmt.Printf("%s %v\n", text, err)
	// Output:
	// <nil>
	// Sales rose. <nil>
}
