package artifact

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
)

// Many goroutines of two processes save files in one thread. Not one more is saved than the thread may have, and
// another thread has room of its own.
func TestThreadBounds(t *testing.T) {
	t.Parallel()

	onEach(t, func(t *testing.T, open func(t *testing.T, clock store.Clock) store.Store) {
		t.Helper()
		for name, o := range map[string]*Options{"files": {ThreadFiles: 3}, "bytes": {ThreadBytes: 17}} {
			w := newWorld(t, open, o)
			stores := []*Store{w.Store, w.other(o)}
			var group sync.WaitGroup
			var saved atomic.Int64
			for i := range 8 {
				group.Go(func() {
					switch _, err := saveText(stores[i%2], chat, fmt.Sprint("text", i)); {
					case err == nil:
						saved.Add(1)
					case spool.CodeOf(err) != spool.Limit:
						t.Errorf("%s: %v", name, err)
					}
				})
			}
			group.Wait()
			if n := len(w.keysOf(chat)); n != 3 || saved.Load() != 3 {
				t.Errorf("%s: %d files, and %d saves", name, n, saved.Load())
			}
			w.agrees("acme")
			first := w.keysOf(chat)[0]
			text := w.textOf(chat, first)
			if again, err := saveText(w.Store, chat, text); err != nil || again.ID != first {
				t.Errorf("%s: the same file again: %+v, %v", name, again, err)
			}
			w.save(other, "text9")
		}
	})
}

func (w *world) keysOf(key spool.ThreadKey) (ids []spool.ArtifactID) {
	w.Helper()
	all, err := w.Artifacts(context.Background(), key)
	if err != nil {
		w.Fatal(err)
	}
	for _, a := range all {
		ids = append(ids, a.ID)
	}
	return ids
}

func (w *world) textOf(key spool.ThreadKey, id spool.ArtifactID) string {
	w.Helper()
	_, data, err := w.OpenArtifact(context.Background(), key, id)
	if err != nil {
		w.Fatal(err)
	}
	defer data.Close()
	var b strings.Builder
	buffer := make([]byte, 64)
	for {
		n, err := data.Read(buffer)
		b.Write(buffer[:n])
		if err != nil {
			return b.String()
		}
	}
}

// A store whose place has changed reads and deletes what is in the earlier one, and stores nothing there.
func TestEarlier(t *testing.T) {
	t.Parallel()

	w := newWorld(t, onMemory, nil)
	w.make(chat)
	old := w.save(chat, "old")
	before := w.data
	w.data = newBlobs(t)
	w.Store = w.other(&Options{Earlier: before})
	fresh := w.save(chat, "fresh")
	if w.textOf(chat, old.ID) != "old" || w.textOf(chat, fresh.ID) != "fresh" || len(before.keys()) != 1 ||
		len(w.data.keys()) != 1 {
		t.Errorf("%d and %d blobs", len(before.keys()), len(w.data.keys()))
	}
	if _, texts, lost := w.archived(chat); len(texts) != 2 || lost != 0 {
		t.Errorf("the archive has %q, and %d are lost", texts, lost)
	}
	w.delete(chat, false)
	if len(before.keys())+len(w.data.keys()) != 0 {
		t.Errorf("%d and %d blobs are left", len(before.keys()), len(w.data.keys()))
	}
}
