package enginetest

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/record"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// versions keeps the snapshot behind each commit of each thread, and checks that the record of the thread has all
// of them.
//
// It takes a snapshot with the engine's own code, within the transaction, after everything was written. So it is
// what a client gets that asks directly after the commit. Streams are left out: they have what is not saved.
type versions struct {
	snapshots *engine.Engine

	mu      sync.Mutex
	threads map[spool.ThreadKey][]*captured // in the order of the commits
}

// captured is the snapshot behind a commit. It has the JSON of each message that is new in it. The record has messages
// as they are at the end of the case, so one that changes later is found too.
type captured struct {
	version int64             // zero: the thread does not exist
	text    []byte            // its JSON, without the messages
	ids     []spool.MessageID // of its messages
	known   int               // how many of them the captured snapshot before it begins with
	added   [][]byte          // the JSON of the others
	failed  bool              // whether the commit has failed, and may have happened nevertheless
}

func newVersions(t *testing.T) *versions {
	t.Helper()
	e, err := engine.New(store.Backend{Store: withinStore{}, Live: newLive()}, engine.Config{
		Agents: []spool.Agent{{Name: "a", Model: "m"}},
		Models: map[string]spool.Model{"m": spooltest.NewReplayModel()},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return &versions{snapshots: e, threads: make(map[spool.ThreadKey][]*captured)}
}

// withinStore reads in the transaction that the context has.
type withinStore struct{ store.Store }

type withinKey struct{}

// View implements [store.Store].
func (withinStore) View(ctx context.Context, _ spool.ThreadKey, fn func(v store.View) error) error {
	v, _ := ctx.Value(withinKey{}).(store.View)
	return fn(v)
}

// watch returns the backend with a store that takes a snapshot behind each commit. It must wrap the backend
// directly.
func (w *versions) watch(b store.Backend) store.Backend {
	b.Store = &versionedStore{b.Store, w}
	return b
}

type versionedStore struct {
	store.Store

	versions *versions
}

// Update implements [store.Store].
func (s *versionedStore) Update(
	ctx context.Context, key spool.ThreadKey, fence int64, fn func(tx store.Tx) error,
) error {
	if key.ID == "" {
		return s.Store.Update(ctx, key, fence, fn)
	}
	var last *captured
	err := s.Store.Update(ctx, key, fence, func(tx store.Tx) error {
		s.versions.fail(last) // the store runs fn again after a rollback
		if err := fn(tx); err != nil {
			return err
		}
		last = s.versions.take(key, tx)
		return nil
	})
	if err != nil {
		s.versions.fail(last)
	}
	return err
}

func (w *versions) fail(c *captured) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if c != nil {
		c.failed = true
	}
}

// take takes the snapshot of a thread. It returns nil if the store fails, which fails the transaction too.
func (w *versions) take(key spool.ThreadKey, tx store.Tx) *captured {
	c := &captured{}
	s, err := w.snapshots.Snapshot(context.WithValue(context.Background(), withinKey{}, store.View(tx)), key, nil)
	switch {
	case spool.CodeOf(err) == spool.NotFound:
	case err != nil:
		return nil
	default:
		if c.version, err = w.version(key, tx); err != nil {
			return nil
		}
		c.text, c.ids = shown(s)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	all := w.threads[key]
	if n := len(all); n > 0 && !all[n-1].failed {
		c.known = common(all[n-1].ids, c.ids)
	}
	for i := range c.ids[c.known:] {
		c.added = append(c.added, textOf(s.Messages[c.known+i]))
	}
	w.threads[key] = append(all, c)
	return c
}

// common returns with how many equal elements both begin.
func common(a, b []spool.MessageID) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// version returns the last version of a thread. It reads the deltas since the one before the last that was seen.
func (w *versions) version(key spool.ThreadKey, tx store.Tx) (int64, error) {
	w.mu.Lock()
	after := int64(0)
	if all := w.threads[key]; len(all) > 0 {
		after = max(0, all[len(all)-1].version-1)
	}
	w.mu.Unlock()
	deltas, err := tx.Deltas(store.DeltaQuery{After: after})
	if len(deltas) == 0 && after > 0 && err == nil { // that commit was rolled back, or the thread is another one
		after = 0
		deltas, err = tx.Deltas(store.DeltaQuery{})
	}
	return after + int64(len(deltas)), err
}

// shown returns the JSON of what a snapshot shows beside its messages, without the stream and the time of the last
// change, and the ids of the messages.
func shown(s *wire.Snapshot) (text []byte, ids []spool.MessageID) {
	plain := *s
	plain.Stream, plain.Thread.UpdatedAt, plain.Messages = nil, time.Time{}, nil
	for i := range s.Messages {
		ids = append(ids, s.Messages[i].ID)
	}
	return textOf(plain), ids
}

func textOf(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return text
}

// diff returns how a snapshot of the record differs from the captured one, or "".
func (c *captured) diff(s *wire.Snapshot) string {
	text, ids := shown(s)
	switch {
	case !bytes.Equal(text, c.text):
		return diffJSON(c.text, text)
	case !slices.Equal(ids, c.ids):
		return cmp.Diff(c.ids, ids)
	}
	for i, want := range c.added {
		if got := textOf(s.Messages[c.known+i]); !bytes.Equal(got, want) {
			return diffJSON(want, got)
		}
	}
	return ""
}

// check compares the snapshot behind each commit with what the record says.
func (w *versions) check(t testing.TB, s store.Store) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for key, all := range w.threads {
		w.checkThread(t, s, key, all)
	}
}

func (w *versions) checkThread(t testing.TB, s store.Store, key spool.ThreadKey, all []*captured) {
	t.Helper()
	var r *record.Record
	err := s.View(context.Background(), key, func(v store.View) (err error) {
		r, err = record.Of(v)
		return err
	})
	if spool.CodeOf(err) == spool.NotFound {
		return
	}
	if err != nil {
		t.Error(err)
		return
	}
	byVersion := make(map[int64][]*captured)
	for _, c := range all {
		switch {
		case c.failed:
		case c.version == 0:
			clear(byVersion) // the thread was deleted
		default:
			byVersion[c.version] = append(byVersion[c.version], c)
		}
	}
	seen := int64(0)
	for version, got := range r.All() {
		seen = version
		for _, c := range byVersion[version] {
			if diff := c.diff(got); diff != "" {
				t.Errorf("thread %s, version %d of %d (-snapshot +record):\n%s", key.ID, version, r.Last(), diff)
				return
			}
		}
		delete(byVersion, version)
	}
	if seen != r.Last() || len(byVersion) > 0 {
		t.Errorf("thread %s: the record ends with version %d of %d, and %d later versions were seen", key.ID, seen, r.Last(),
			len(byVersion))
	}
}

func diffJSON(a, b []byte) string {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return string(a) + "\n" + string(b)
	}
	return cmp.Diff(x, y)
}
