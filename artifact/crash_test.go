package artifact

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
)

// TestFaults fails or cuts each call of a script in turn. A sweep of another process then leaves what the script was
// told, and nothing else.
func TestFaults(t *testing.T) {
	t.Parallel()

	clean := &process{}
	runScript(newWorld(t, onMemory, nil), clean)
	if clean.calls < 50 {
		t.Fatalf("the script makes %d calls", clean.calls)
	}
	for n := 1; n <= clean.calls; n++ {
		for _, kind := range []fault{failBefore, failAfter, crashBefore, crashAfter} {
			w := newWorld(t, onMemory, nil)
			p := &process{n: n, fault: kind}
			told := runScript(w, p)
			if p.calls < n {
				t.Fatalf("call %d does not happen", n)
			}
			told.check(w, fmt.Sprintf("fault %d in call %d, %s", kind, n, p.log[n-1]), kind == failBefore || kind == failAfter)
			if t.Failed() {
				return
			}
		}
	}
}

// A put fails. The room is free again at once, and the data, which may have arrived, are deleted.
func TestFailedPut(t *testing.T) {
	t.Parallel()

	for _, kind := range []fault{failBefore, failAfter} {
		w, p := newWorld(t, onMemory, nil), &process{}
		s, err := New(processStore{w.rows, p}, processBlobs{w.data, p}, &Options{Quota: 5})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := saveText(s, other, "123"); err != nil { // to count the calls up to a put
			t.Fatal(err)
		}
		w.delete(other, false)
		put := slices.Index(p.log, "put")
		if put < 0 {
			t.Fatal("there is no put")
		}
		// The second save does not register the tenant, with a read and a write.
		p.n, p.fault = len(p.log)+put+1-2, kind
		if _, err := saveText(s, chat, "12345"); err == nil || p.log[p.n-1] != "put" {
			t.Fatalf("the fault was in %q: %v", p.log[p.n-1], err)
		}
		if bytes, err := s.Bytes(t.Context(), "acme"); bytes != 0 || err != nil || len(w.data.keys()) != 0 {
			t.Errorf("fault %d: %d bytes are taken by %q, %v", kind, bytes, w.data.keys(), err)
		}
		if _, err := saveText(s, chat, "54321"); err != nil {
			t.Errorf("fault %d: the room is not free: %v", kind, err)
		}
		w.clock.Advance(2 * time.Hour)
		w.sweep()
		w.empty("acme")
	}
}

// told is what the script was told about an artifact or a deletion.
type told struct {
	saved   map[string]error // by thread and text
	deleted map[spool.ThreadID]error
}

// runScript saves and deletes, and goes on after an error.
func runScript(w *world, p *process) told {
	w.Helper()
	s, err := New(processStore{w.rows, p}, processBlobs{w.data, p}, &Options{Quota: 20})
	if err != nil {
		w.Fatal(err)
	}
	out := told{make(map[string]error), make(map[spool.ThreadID]error)}
	save := func(key spool.ThreadKey, text string) {
		_, out.saved[string(key.ID)+" "+text] = saveText(s, key, text)
	}
	w.make(chat)
	w.make(other)
	save(chat, "shared")
	save(other, "shared")
	save(chat, "alone")
	save(chat, "shared")
	if _, err := saveText(s, chat, "much too large for the quota"); err == nil {
		w.Error("there is no quota")
	}
	ctx := context.Background()
	rows, remove := s.RetireArtifacts(chat)
	err = processStore{w.rows, p}.Update(ctx, chat, 0, func(tx store.Tx) error {
		return tx.Write(store.Changes{DeleteThread: true, Rows: rows})
	})
	if out.deleted[chat.ID] = err; err == nil {
		_ = remove(ctx) // an engine only logs this
	}
	save(other, "later")
	_ = s.Sweep(ctx)
	return out
}

// check sweeps, and checks what is left. Alive says that the script could go on after its fault.
func (out told) check(w *world, name string, alive bool) {
	w.Helper()
	w.clock.Advance(2 * time.Hour)
	w.sweep()
	w.agrees(chat.Tenant)
	deleted := false
	err := w.rows.View(context.Background(), chat, func(v store.View) error {
		_, err := v.Thread()
		deleted = spool.CodeOf(err) == spool.NotFound
		return nil
	})
	if err != nil || out.deleted[chat.ID] == nil && !deleted {
		w.Errorf("%s: the thread is not deleted, %v", name, err)
	}
	for _, key := range []spool.ThreadKey{chat, other} {
		has := " " + w.texts(key) + " "
		if deleted && key == chat && has != "  " {
			w.Errorf("%s: the deleted thread has%s", name, has)
		}
		for _, text := range []string{"shared", "alone", "later"} {
			err, tried := out.saved[string(key.ID)+" "+text]
			stored := strings.Contains(has, " "+text+" ")
			switch {
			case !tried, deleted && key == chat:
			case err == nil && !stored:
				w.Errorf("%s: %s has lost %q", name, key.ID, text)
			case err != nil && stored && alive && (text != "shared" || key != chat): // it was saved twice
				w.Errorf("%s: %s has %q, whose save failed: %v", name, key.ID, text, err)
			}
		}
	}
	w.delete(chat, false)
	w.delete(other, false)
	w.empty(chat.Tenant)
	if w.Failed() {
		w.Logf("%s", name)
	}
}
