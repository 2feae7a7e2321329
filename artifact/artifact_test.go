package artifact

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/backend/postgres"
	"github.com/spoolhq/spool/backend/sqlite"
	"github.com/spoolhq/spool/internal/testing/pgtest"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

var template = &pgtest.Template{Prepare: func(ctx context.Context, url string) error {
	db, err := postgres.Open(ctx, url, nil)
	if err != nil {
		return err
	}
	return db.Close()
}}

type closer interface {
	store.Store
	io.Closer
}

// onEach runs a test over each backend.
func onEach(t *testing.T, test func(t *testing.T, open func(t *testing.T, clock store.Clock) store.Store)) {
	t.Helper()
	for name, open := range map[string]func(t *testing.T, clock store.Clock) (closer, error){
		"Memory": func(_ *testing.T, clock store.Clock) (closer, error) {
			return memory.New(&memory.Options{Clock: clock}).Store, nil
		},
		"SQLite": func(t *testing.T, clock store.Clock) (closer, error) {
			t.Helper()
			return sqlite.Open(filepath.Join(t.TempDir(), "spool.db"), &sqlite.Options{Clock: clock})
		},
		"Postgres": func(t *testing.T, clock store.Clock) (closer, error) {
			t.Helper()
			return postgres.Open(t.Context(), pgtest.Database(t, template), &postgres.Options{Clock: clock})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, func(t *testing.T, clock store.Clock) store.Store {
				t.Helper()
				store, err := open(t, clock)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = store.Close() })
				return store
			})
		})
	}
}

// world is a store of artifacts and what it stands on.
type world struct {
	*testing.T
	*Store

	rows  store.Store
	data  *memoryBlobs
	clock *spooltest.Clock
}

func newWorld(t *testing.T, open func(t *testing.T, clock store.Clock) store.Store, o *Options) *world {
	t.Helper()
	w := &world{T: t, data: newBlobs(t), clock: spooltest.NewClock()}
	w.rows = open(t, w.clock)
	w.Store = w.other(o)
	return w
}

func onMemory(_ *testing.T, clock store.Clock) store.Store {
	return memory.New(&memory.Options{Clock: clock}).Store
}

// other returns the store of another process.
func (w *world) other(o *Options) *Store {
	w.Helper()
	s, err := New(w.rows, w.data, o)
	if err != nil {
		w.Fatal(err)
	}
	return s
}

var (
	chat  = spool.ThreadKey{Tenant: "acme", ID: "chat"}
	other = spool.ThreadKey{Tenant: "acme", ID: "other"}
)

// make makes a thread.
func (w *world) make(key spool.ThreadKey) {
	w.Helper()
	err := w.rows.Update(context.Background(), key, 0, func(tx store.Tx) error {
		return tx.Write(store.Changes{Thread: &wire.Thread{Tenant: key.Tenant, ID: key.ID, State: wire.Idle}})
	})
	if err != nil {
		w.Fatal(err)
	}
}

// delete deletes a thread as an engine does. It does not remove the data if it crashes.
func (w *world) delete(key spool.ThreadKey, crash bool) {
	w.Helper()
	rows, remove := w.RetireArtifacts(key)
	err := w.rows.Update(context.Background(), key, 0, func(tx store.Tx) error {
		return tx.Write(store.Changes{DeleteThread: true, Rows: rows})
	})
	if err == nil && !crash {
		err = remove(context.Background())
	}
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) save(key spool.ThreadKey, text string) spool.Artifact {
	w.Helper()
	a, err := saveText(w.Store, key, text)
	if err != nil {
		w.Fatal(err)
	}
	return a
}

func saveText(s *Store, key spool.ThreadKey, text string) (spool.Artifact, error) {
	return s.SaveArtifact(context.Background(), key,
		spool.NewArtifact{Key: "k", MediaType: "text/plain", Data: strings.NewReader(text)})
}

func (w *world) sweep() {
	w.Helper()
	if err := w.Sweep(context.Background()); err != nil {
		w.Fatal(err)
	}
}

// texts returns the data of the thread's artifacts.
func (w *world) texts(key spool.ThreadKey) string {
	w.Helper()
	all, err := w.Artifacts(context.Background(), key)
	if err != nil {
		w.Fatal(err)
	}
	var texts []string
	for _, a := range all {
		got, data, err := w.OpenArtifact(context.Background(), key, a.ID)
		if err != nil || got != a {
			w.Fatalf("open %+v: %+v, %v", a, got, err)
		}
		text, err := io.ReadAll(data)
		if err != nil {
			w.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	slices.Sort(texts)
	return strings.Join(texts, " ")
}

// agrees checks that the rows of a tenant agree with each other and with the data, if nothing is under way.
func (w *world) agrees(tenant spool.Tenant) {
	w.Helper()
	ctx := context.Background()
	references, keys, bytes := make(map[string]int), []string{}, int64(0)
	err := each(ctx, w.Store, tenant, kindArtifact, func(r row[artifactRow]) error {
		references[r.Value.Sum+" "+r.Value.Generation]++
		thread, err := read[threadRow](ctx, w.Store, tenant, kindThread, strings.Split(r.Key, "/")[0])
		if err != nil || !strings.HasPrefix(r.Key, epochKey(thread.Key, thread.Value.Epoch)) {
			w.Errorf("the artifact %s has no thread: %v", r.Key, err)
		}
		return err
	})
	if err != nil {
		w.Fatal(err)
	}
	err = each(ctx, w.Store, tenant, kindBlob, func(r row[blobRow]) error {
		if n := references[r.Key+" "+r.Value.Generation]; n == 0 || n != r.Value.References {
			w.Errorf("a blob says %d references, but there are %d", r.Value.References, n)
		}
		delete(references, r.Key+" "+r.Value.Generation)
		keys = append(keys, blobKey(tenant, r.Key, r.Value.Generation))
		bytes += r.Value.Size
		return nil
	})
	slices.Sort(keys)
	if err != nil || len(references) > 0 {
		w.Errorf("artifacts without data: %v, %v", references, err)
	}
	if stored := w.data.keys(); !slices.Equal(stored, keys) {
		w.Errorf("stored are %q, want %q", stored, keys)
	}
	if n, err := w.Bytes(ctx, tenant); err != nil || n != bytes {
		w.Errorf("the account says %d bytes, %v, want %d", n, err, bytes)
	}
	for _, kind := range []string{kindUpload, kindGarbage} {
		if rows, err := w.rows.Rows(ctx, store.RowQuery{Tenant: tenant, Kind: kind}); err != nil || len(rows) > 0 {
			w.Errorf("left over: %d %s, %v", len(rows), kind, err)
		}
	}
}

// empty checks that the tenant has nothing.
func (w *world) empty(tenant spool.Tenant) {
	w.Helper()
	w.agrees(tenant)
	for _, kind := range []string{kindArtifact, kindBlob, kindThread, kindCheck} {
		if rows, err := w.rows.Rows(context.Background(), store.RowQuery{Tenant: tenant, Kind: kind}); err != nil ||
			len(rows) > 0 {
			w.Errorf("left over: %d %s, %v", len(rows), kind, err)
		}
	}
}

func TestStore(t *testing.T) {
	t.Parallel()

	onEach(t, func(t *testing.T, open func(t *testing.T, clock store.Clock) store.Store) {
		t.Helper()
		spooltest.TestArtifactStore(t, func(t *testing.T) store.ArtifactStore {
			t.Helper()
			return newWorld(t, open, nil).Store
		})
	})
}

// Two processes save at the same time. Exactly as many artifacts fit as the quota says.
func TestQuota(t *testing.T) {
	t.Parallel()

	onEach(t, func(t *testing.T, open func(t *testing.T, clock store.Clock) store.Store) {
		t.Helper()
		w := newWorld(t, open, &Options{Quota: 59})
		stores := []*Store{w.Store, w.other(&Options{Quota: 59})}
		var saved atomic.Int32
		var group sync.WaitGroup
		for i := range 16 {
			group.Go(func() {
				_, err := saveText(stores[i%2], spool.ThreadKey{Tenant: "acme", ID: spool.ThreadID(fmt.Sprint("t", i%3))},
					fmt.Sprintf("number %04d", i))
				switch {
				case err == nil:
					saved.Add(1)
				case spool.CodeOf(err) != spool.StorageFull:
					t.Error(err)
				}
			})
		}
		group.Wait()
		if n := saved.Load(); n != 5 {
			t.Errorf("%d artifacts of 11 bytes fit into 59", n)
		}
		w.agrees("acme")
		if _, err := saveText(w.Store, chat, "12345"); spool.CodeOf(err) != spool.StorageFull ||
			spool.MessageOf(err) !=
				"the artifacts of the tenant have 55 of at most 59 bytes, and 5 more have no room: delete threads to make room" {
			t.Errorf("got %v", err)
		}
		w.agrees("acme")
		w.save(spool.ThreadKey{Tenant: "umbrella", ID: "chat"}, "12345")
		for i := range 3 {
			w.delete(spool.ThreadKey{Tenant: "acme", ID: spool.ThreadID(fmt.Sprint("t", i))}, false)
		}
		w.data.all = nil // the other tenant's
		w.empty("acme")
	})
}

// Many goroutines save the same data in several threads. They are stored once, and count once.
func TestSameData(t *testing.T) {
	t.Parallel()

	onEach(t, func(t *testing.T, open func(t *testing.T, clock store.Clock) store.Store) {
		t.Helper()
		w := newWorld(t, open, &Options{Quota: 5})
		var group sync.WaitGroup
		for i := range 12 {
			group.Go(func() {
				if _, err := saveText(
					w.Store, spool.ThreadKey{Tenant: "acme", ID: spool.ThreadID(fmt.Sprint("t", i%4))}, "12345",
				); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		w.agrees("acme")
		for i := range 4 {
			if n := len(w.data.keys()); n != 1 {
				t.Errorf("%d blobs", n)
			}
			w.delete(spool.ThreadKey{Tenant: "acme", ID: spool.ThreadID(fmt.Sprint("t", i))}, false)
		}
		w.empty("acme")
	})
}

// Two processes upload the same data at once. One upload is thrown away.
func TestSameDataTwice(t *testing.T) {
	t.Parallel()

	w := newWorld(t, onMemory, &Options{Quota: 10})
	second := w.other(nil)
	w.data.before = func(string) {
		w.data.before = func(string) {}
		if _, err := saveText(second, other, "12345"); err != nil {
			t.Error(err)
		}
	}
	w.save(chat, "12345")
	w.agrees("acme")
	if n, err := w.Bytes(t.Context(), "acme"); n != 5 || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
}

// A sweep takes an upload for abandoned that is only slow. The save uploads the data again.
func TestSlowUpload(t *testing.T) {
	t.Parallel()

	w := newWorld(t, onMemory, nil)
	puts := 0
	w.data.before = func(method string) {
		if method == "put" {
			if puts++; puts == 1 {
				w.clock.Advance(2 * time.Hour)
				w.sweep()
				w.empty("acme")
			}
		}
	}
	w.save(chat, "12345")
	if got := w.texts(chat); got != "12345" || puts != 2 {
		t.Errorf("the thread has %q after %d uploads", got, puts)
	}
	w.agrees("acme")
}

// A process dies after it has deleted the thread. The thread is made again before a sweep.
func TestMadeAgain(t *testing.T) {
	t.Parallel()

	onEach(t, func(t *testing.T, open func(t *testing.T, clock store.Clock) store.Store) {
		t.Helper()
		w := newWorld(t, open, nil)
		w.make(chat)
		for i := range 70 { // more than one transaction removes
			w.save(chat, fmt.Sprint("old ", i))
		}
		w.delete(chat, true)
		if got := w.texts(chat); got != "" {
			t.Errorf("the deleted thread has %q", got)
		}
		w.make(chat)
		w.save(chat, "old 1")
		w.save(chat, "new")
		w.sweep()
		if got := w.texts(chat); got != "new old 1" {
			t.Errorf("the new thread has %q", got)
		}
		w.agrees("acme")
		w.clock.Advance(2 * time.Hour)
		w.sweep()
		if got := w.texts(chat); got != "new old 1" {
			t.Errorf("after two hours, the new thread has %q", got)
		}
		w.delete(chat, true)
		w.sweep()
		w.empty("acme")
	})
}

// A start saves its attachments before its thread exists. A sweep removes those of a start that did not happen.
func TestSweepThreads(t *testing.T) {
	t.Parallel()

	onEach(t, func(t *testing.T, open func(t *testing.T, clock store.Clock) store.Store) {
		t.Helper()
		w := newWorld(t, open, nil)
		w.save(chat, "a")
		w.save(other, "b")
		w.clock.Advance(59 * time.Minute)
		w.save(other, "b") // a start tries again
		w.sweep()
		w.make(chat)
		w.clock.Advance(2 * time.Minute)
		w.sweep()
		if got := w.texts(chat) + ", " + w.texts(other); got != "a, b" {
			t.Errorf("the threads have %q", got)
		}
		w.clock.Advance(time.Hour)
		w.sweep()
		if got := w.texts(chat) + ", " + w.texts(other); got != "a, " {
			t.Errorf("the threads have %q in the end", got)
		}
		w.agrees("acme")
	})
}

func TestData(t *testing.T) {
	t.Parallel()

	dir := t.TempDir()
	w := newWorld(t, onMemory, &Options{MaxBytes: 1 << 20, TempDir: dir})
	for _, size := range []int{0, memoryBytes - 1, memoryBytes, memoryBytes + 1, 1 << 20} {
		text := strings.Repeat("x", size)
		if a := w.save(chat, text); a.Size != int64(size) {
			t.Errorf("%d bytes have the size %d", size, a.Size)
		}
	}
	if got := len(w.texts(chat)); got != 3*memoryBytes+1<<20+3 && got != 3*memoryBytes+1<<20+4 {
		t.Errorf("%d bytes", got)
	}
	w.agrees("acme")
	if _, err := saveText(w.Store, chat, strings.Repeat("x", 1<<20+1)); spool.CodeOf(err) != spool.Limit {
		t.Errorf("too large: %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%d files are left, %v", len(left), err)
	}
	gone := w.other(&Options{TempDir: filepath.Join(dir, "none")})
	if _, err := saveText(gone, chat, strings.Repeat("y", memoryBytes)); spool.CodeOf(err) != spool.Unavailable ||
		strings.Contains(spool.MessageOf(err), dir) {
		t.Errorf("without a directory: %v", err)
	}
}

func TestNew(t *testing.T) {
	t.Parallel()

	store, blobs := onMemory(t, spooltest.NewClock()), newBlobs(t)
	for name, err := range map[string]error{
		"store": second(New(nil, blobs, nil)), "blobs": second(New(store, nil, nil)),
		"Age": second(New(store, blobs, &Options{Age: -1})), "MaxBytes": second(New(store, blobs, &Options{MaxBytes: -1})),
		"Quota":       second(New(store, blobs, &Options{Quota: -1})),
		"ThreadBytes": second(New(store, blobs, &Options{ThreadBytes: -1})),
		"ThreadFiles": second(New(store, blobs, &Options{ThreadFiles: -1})),
	} {
		if spool.CodeOf(err) != spool.Invalid || !strings.Contains(spool.MessageOf(err), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func second(_ *Store, err error) error { return err }
