package artifact

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
)

// archived returns the artifacts of a thread as an archive has them, with their data, and how many are lost.
func (w *world) archived(key spool.ThreadKey) (all []Archived, texts []string, lost int) {
	w.Helper()
	missing, err := w.Archive(context.Background(), key, func(a Archived, data io.Reader) error {
		text, err := io.ReadAll(data)
		all, texts = append(all, a), append(texts, string(text))
		return err
	})
	if err != nil {
		w.Fatal(err)
	}
	return all, texts, len(missing)
}

// An archive goes into a store whose tenant has some of the data already. Ids, epochs and counts are right afterwards,
// also after another time, and the deletion of a thread leaves the data of the other one.
func TestRestore(t *testing.T) {
	t.Parallel()

	onEach(t, func(t *testing.T, open func(t *testing.T, clock store.Clock) store.Store) {
		t.Helper()
		from, to := newWorld(t, open, nil), newWorld(t, open, &Options{Quota: 9})
		large := strings.Repeat("x", memoryBytes+1)
		from.save(chat, "shared")
		from.save(chat, "own")
		from.save(other, large)
		to.make(other)
		to.save(other, "shared")
		all, texts, _ := from.archived(chat)
		for range 2 {
			for i, a := range all {
				if _, err := to.Restore(t.Context(), chat, a, strings.NewReader(texts[i])); err != nil {
					t.Fatal(err)
				}
			}
			if got, want := to.texts(chat), from.texts(chat); got != want {
				t.Errorf("the thread has %q, want %q", got, want)
			}
			to.agrees(chat.Tenant)
		}
		if again, _, _ := to.archived(chat); len(again) != 2 || again[0] != all[0] || again[1] != all[1] {
			t.Errorf("the archive of the archive has %+v, want %+v", again, all)
		}
		more, data, _ := from.archived(other)
		more[0].Epoch = ""
		if _, err := to.Restore(
			t.Context(), other, more[0], strings.NewReader(data[0]),
		); spool.CodeOf(err) != spool.StorageFull {
			t.Errorf("beyond the quota: %v", err)
		}
		if len(data[0]) != len(large) {
			t.Errorf("the large artifact has %d bytes", len(data[0]))
		}
		to.delete(other, false)
		if got := to.texts(chat); got != "own shared" {
			t.Errorf("after the deletion of the other thread: %q", got)
		}
		to.agrees(chat.Tenant)
		if err := to.Withdraw(t.Context(), chat, all[0].ID, all[1].ID, all[0].ID); err != nil {
			t.Fatal(err)
		}
		to.agrees(chat.Tenant)
		if got := to.texts(chat); got != "" {
			t.Errorf("after the withdrawal: %q", got)
		}
	})
}

// What does not fit is refused, and changes nothing.
func TestRestoreRefuses(t *testing.T) {
	t.Parallel()

	from, to := newWorld(t, onMemory, nil), newWorld(t, onMemory, &Options{MaxBytes: 5})
	from.save(chat, "12345")
	all, _, _ := from.archived(chat)
	to.save(other, "other")
	change := func(change func(a *Archived)) Archived {
		a := all[0]
		change(&a)
		return a
	}
	for name, c := range map[string]struct {
		a    Archived
		key  spool.ThreadKey
		text string
		want spool.Code
	}{
		"Data":     {all[0], chat, "12346", spool.Invalid},
		"Short":    {all[0], chat, "1234", spool.Invalid},
		"Large":    {all[0], chat, "123456", spool.Limit},
		"Checksum": {change(func(a *Archived) { a.SHA256 = strings.Repeat("0", 64) }), chat, "12345", spool.Invalid},
		"ID":       {change(func(a *Archived) { a.ID = "art_../x" }), chat, "12345", spool.Invalid},
		"Epoch":    {all[0], other, "12345", spool.Conflict},
	} {
		if added, err := to.Restore(t.Context(), c.key, c.a, strings.NewReader(c.text)); added ||
			spool.CodeOf(err) != c.want {
			t.Errorf("%s: %v, %v, want %s", name, added, err, c.want)
		}
		to.agrees(chat.Tenant)
		if got := to.texts(chat) + to.texts(other); got != "other" {
			t.Errorf("%s: the threads have %q", name, got)
		}
	}
}

// Data that are missing or damaged are told, and the others are in the archive.
func TestArchiveWithoutData(t *testing.T) {
	t.Parallel()

	w := newWorld(t, onMemory, nil)
	w.save(chat, "whole")
	w.save(chat, "damaged")
	w.save(chat, "longer")
	w.save(chat, "gone")
	w.data.mu.Lock()
	for key, text := range w.data.all {
		switch string(text) {
		case "damaged":
			w.data.all[key] = []byte("Damaged")
		case "longer":
			w.data.all[key] = []byte("longer than it was")
		case "gone":
			delete(w.data.all, key)
		}
	}
	w.data.mu.Unlock()
	if _, texts, lost := w.archived(chat); lost != 3 || len(texts) != 1 || texts[0] != "whole" {
		t.Errorf("the archive has %q, and %d are lost", texts, lost)
	}
}
