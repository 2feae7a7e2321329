package stream

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/order"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// sink records the writes to a stream: a line for each batch, with the type and number of each item,
// and a line for the end.
type sink struct {
	store.Live

	mu      sync.Mutex
	lines   []string
	last    wire.Offset // as Read tells it
	fail    error       // of Append
	notices int
}

func (s *sink) Open(context.Context, store.StreamKey) error { return nil }

func (s *sink) Append(_ context.Context, _ store.StreamKey, items []wire.Item) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail != nil {
		return s.fail
	}
	words := make([]string, len(items))
	for i, item := range items {
		words[i] = short(item)
	}
	s.lines = append(s.lines, strings.Join(words, " "))
	return nil
}

func (s *sink) Read(context.Context, store.StreamKey, wire.Offset, int) (store.StreamPage, error) {
	if s.last.IsZero() {
		return store.StreamPage{}, store.ErrStreamGone
	}
	return store.StreamPage{Last: s.last}, nil
}

func (s *sink) Close(_ context.Context, _ store.StreamKey, end wire.Item, grace time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, "end "+short(end)+" for "+grace.String())
	return nil
}

func (s *sink) Wake(_ spool.ThreadKey, kind store.WakeKind, _ []byte) {
	if kind == store.WakeNotice {
		s.notices++
	}
}

// short returns a short text for an item: the name of a live event or the type, with the offset and the
// entry before it.
func short(item wire.Item) string {
	name := string(item.Type)
	var c wire.Custom
	if item.Type == wire.ItemCustom && item.Decode(&c) == nil {
		name = c.Name
	}
	return name + "@" + item.Offset.String() + "/" + string(rune('0'+item.Seq))
}

// writing is a writer with its sink.
type writing struct {
	*Writer

	out *sink
	t   *testing.T
}

func newWriting(t *testing.T) writing {
	t.Helper()
	s := &sink{}
	w := New(Settings{
		Live: s, Log: slog.New(slog.DiscardHandler), FlushEvery: time.Second, FlushItems: 3, Grace: time.Minute,
	}, store.StreamKey{Thread: spool.ThreadKey{Tenant: "t", ID: "c"}, ID: "r:1"}, 4, 1)
	return writing{w, s, t}
}

// says emits a live event.
func (w writing) says(name string) bool {
	return w.Event(w.t.Context(), wire.Entry{Type: wire.EntryType(name), Payload: []byte("{}")})
}

// commits runs a transition with an item before its entry, which gets the given seq, and an item after
// it.
func (w writing) commits(seq int64, during func()) error {
	return w.Commit(w.t.Context(), func(l *order.List) error {
		l.Begin(seq - 1)
		l.Item("", wire.ItemCustom, wire.Custom{Name: "before"})
		e := &wire.Entry{}
		l.Place(e)
		l.After(seq)
		l.Item("", wire.ItemCustom, wire.Custom{Name: "after"})
		during()
		return nil
	})
}

func (w writing) wrote(want ...string) {
	w.t.Helper()
	w.out.mu.Lock()
	defer w.out.mu.Unlock()
	if diff := cmp.Diff(want, w.out.lines); diff != "" {
		w.t.Errorf("written (-want +got):\n%s", diff)
	}
}

// errRefused is a transition that the store refuses.
var errRefused = errors.New("refused")

// The items of a commit come after items that were emitted before, and before items that are emitted
// meanwhile.
func TestWriterOrder(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		do   func(w writing)
		want []string
	}{
		{"a batch is full", func(w writing) {
			for _, name := range []string{"a", "b", "c", "d"} {
				w.says(name)
			}
		}, []string{"a@4-1/1 b@4-2/1 c@4-3/1"}},
		{"the window is over", func(w writing) {
			w.says("a")
			<-time.After(time.Second + time.Millisecond)
			w.says("b")
		}, []string{"a@4-1/1"}},
		{"somebody waits", func(w writing) {
			e := w.Emitter("")
			e.Item(t.Context(), wire.ItemStepFinished, wire.StepFinished{})
		}, []string{"STEP_FINISHED@4-1/1"}},
		{"around a commit", func(w writing) {
			w.says("first")
			_ = w.commits(2, func() { w.says("meanwhile") })
			w.says("last")
			w.Flush(t.Context())
		}, []string{"first@4-1/1", "before@4-2/1 after@4-3/2 meanwhile@4-4/2", "last@4-5/2"}},
		{"around a commit that fails", func(w writing) {
			w.says("first")
			err := w.Commit(t.Context(), func(l *order.List) error {
				l.Item("", wire.ItemCustom, wire.Custom{Name: "refused"})
				w.says("meanwhile")
				return errRefused
			})
			if !errors.Is(err, errRefused) {
				t.Errorf("the commit returns %v", err)
			}
		}, []string{"first@4-1/1", "meanwhile@4-2/1"}},
		{"somebody else's entry", func(w writing) {
			w.says("first")
			w.Learn(5)
			w.says("after")
			w.Learn(3) // comes late
			w.says("too")
			w.Flush(t.Context())
		}, []string{"first@4-1/1 after@4-2/5 too@4-3/5"}},
		{"somebody else's entry during a commit", func(w writing) {
			_ = w.commits(2, func() { w.Learn(5); w.says("meanwhile") })
		}, []string{"before@4-1/1 after@4-2/2 meanwhile@4-3/5"}},
		{"the end", func(w writing) {
			w.says("first")
			_ = w.Commit(t.Context(), func(l *order.List) error {
				l.Item("", wire.ItemCustom, wire.Custom{Name: "before"})
				l.End(wire.ItemRunFinished, wire.StreamFinished{})
				w.says("meanwhile")
				return nil
			})
			if w.says("after") || w.out.notices != 1 {
				t.Errorf("after its end, the stream takes items or has told of %d live events", w.out.notices)
			}
		}, []string{"first@4-1/1", "before@4-2/1", "end RUN_FINISHED@4-3/1 for 1m0s"}},
		{"an end that the store refuses", func(w writing) {
			_ = w.Commit(t.Context(), func(l *order.List) error {
				l.End(wire.ItemRunFinished, wire.StreamFinished{})
				return errRefused
			})
			w.Close(t.Context(), wire.ItemRunError, wire.StreamFailed{})
		}, []string{"end RUN_ERROR@4-1/1 for 1m0s"}},
		{"a stream that lacks items", func(w writing) {
			w.out.fail = errRefused
			w.says("lost")
			w.Flush(t.Context())
			w.out.fail = nil
			w.says("after")
			w.Close(t.Context(), wire.ItemRunError, wire.StreamFailed{})
		}, []string{"end RUN_ERROR@4-2/1 for 0s"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWriting(t)
				c.do(w)
				w.wrote(c.want...)
			})
		})
	}
}

// The stream of a dead worker has every saved item, or it is removed.
func TestCloseLost(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		last, saved wire.Offset
		want        string
	}{
		{"nothing was saved", wire.Offset{Fence: 3, N: 9}, wire.Offset{}, "1m0s"},
		{"all that was saved is there", wire.Offset{Fence: 3, N: 6}, wire.Offset{Fence: 3, N: 5}, "1m0s"},
		{"more is there", wire.Offset{Fence: 3, N: 9}, wire.Offset{Fence: 3, N: 5}, "1m0s"},
		{"STEP_FINISHED is missing", wire.Offset{Fence: 3, N: 5}, wire.Offset{Fence: 3, N: 5}, "0s"},
		{"the stream is gone", wire.Offset{}, wire.Offset{Fence: 3, N: 5}, "1m0s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWriting(t)
			w.out.last = c.last
			end := order.EndAfter(c.saved)
			w.CloseLost(t.Context(), w.key, wire.NewItem(wire.ItemRunError, end, 1, wire.StreamFailed{}), end)
			w.wrote("end RUN_ERROR@" + end.String() + "/1 for " + c.want)

			later := newWriting(t) // the worker that settles the run and then ends its stream
			later.out.last = c.last
			later.Inherit(c.saved)
			later.Close(t.Context(), wire.ItemRunError, wire.StreamFailed{})
			if end.IsZero() {
				end = wire.Offset{Fence: 4, N: 1}
			}
			later.wrote("end RUN_ERROR@" + end.String() + "/1 for " + c.want)
		})
	}
}

// An agent has one open block at a time, with an id of its own.
func TestEmitterBlocks(t *testing.T) {
	t.Parallel()
	w := newWriting(t)
	w.FlushItems = 100
	main, nested := w.Emitter(""), w.Emitter("n1")
	main.Text(t.Context(), "a")
	nested.Text(t.Context(), "x")
	main.Text(t.Context(), "b")
	main.Reasoning(t.Context(), "c")
	main.EndBlock(t.Context())
	main.EndBlock(t.Context())
	w.Flush(t.Context())
	w.wrote("TEXT_MESSAGE_START@4-1/1 TEXT_MESSAGE_CONTENT@4-2/1 SUBAGENT_EVENT@4-3/1 SUBAGENT_EVENT@4-4/1 TEXT_MESSAGE_CONTENT@4-5/1 " +
		"TEXT_MESSAGE_END@4-6/1 REASONING_START@4-7/1 REASONING_CONTENT@4-8/1 REASONING_END@4-9/1")
}
