package walk

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/engine/internal/snapshot"
	"github.com/spoolhq/spool/internal/inprocess"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

var chat = spool.ThreadKey{Tenant: "t", ID: "c"}

// scene is a thread with one run of one segment, whose stream has six items. A note stands among them,
// after the third. The run has ended, unless it is open.
type scene struct {
	t       *testing.T
	store   store.Store
	streams store.Live
	from    *Sources
	ended   []wire.Entry // of which EndStream was called
}

// at is the offset of an item.
func at(n int64) wire.Offset { return wire.Offset{Fence: 1, N: n} }

// items are those of the stream.
func items() []wire.Item {
	text := wire.Delta{MessageID: "r:1:m1", Delta: "one"}
	return []wire.Item{
		wire.NewItem(wire.ItemRunStarted, at(1), 1, wire.StreamStarted{RunID: "r", StreamID: "r:1"}),
		wire.NewItem(wire.ItemTextStart, at(2), 1, wire.Block{MessageID: "r:1:m1"}),
		wire.NewItem(wire.ItemTextContent, at(3), 1, text),
		wire.NewItem(wire.ItemStepFinished, at(4), 2, wire.StepFinished{Step: 1}),
		wire.NewItem(wire.ItemCustom, at(5), 2, wire.Custom{Name: "live"}),
		wire.NewItem(wire.ItemRunFinished, at(6), 2, wire.StreamFinished{Status: wire.SegmentFinished}),
	}
}

// newScene returns a scene whose stream has the items that are not lost. Open leaves the run at work.
func newScene(t *testing.T, open bool, lost ...int64) *scene {
	t.Helper()
	s := &scene{t: t, store: memory.New(nil).Store, streams: inprocess.NewLive(0)}
	ports := snapshot.Sources{Own: s.store, Shared: s.store, Streams: s.streams, Memory: 1 << 20}
	s.from = &Sources{Store: s.store, Streams: s.streams, Snapshots: snapshot.New(ports), StreamGrace: time.Hour}
	s.from.EndStream = func(_ context.Context, _ store.StreamKey, ended wire.Entry) {
		s.ended = append(s.ended, ended)
		s.close(wire.NewItem(wire.ItemRunError, wire.Offset{}, 2, wire.StreamFailed{Status: wire.SegmentLost}))
	}
	started := wire.NewEntry(wire.EntryRunStarted, "r", wire.RunStarted{RunID: "r", StreamID: "r:1", Segment: 1})
	entries := []*wire.Entry{started, note(3), over(6, wire.SegmentFinished)}
	thread := wire.Thread{Tenant: chat.Tenant, ID: chat.ID, State: wire.Completed, RunID: "r", Fence: 1}
	if open {
		entries, thread.State, thread.LeaseUntil = entries[:2], wire.Running, time.Now().Add(time.Hour)
	}
	s.update(func(tx store.Tx) error {
		run := store.RunRow{Run: wire.Run{ID: "r", ThreadID: chat.ID, State: thread.State, Segments: 1}}
		run.Saved = at(3)
		return errors.Join(
			tx.Write(store.Changes{
				Thread: &thread, NewRuns: []store.RunRow{run}, Messages: []*spool.Message{s.message("turn", spool.RoleUser)},
				Entries: entries[:2],
			}),
			tx.Write(store.Changes{Messages: []*spool.Message{s.message("answer", spool.RoleAssistant)}, Entries: entries[2:]}),
		)
	})
	s.check(s.streams.Open(t.Context(), s.key()))
	for _, item := range items() {
		switch {
		case slices.Contains(lost, item.Offset.N), open && item.Type.End():
		case item.Type.End():
			s.close(item)
		default:
			s.check(s.streams.Append(t.Context(), s.key(), []wire.Item{item}))
		}
	}
	return s
}

// note is an entry after the n-th item of the stream.
func note(n int64) *wire.Entry {
	e := wire.NewEntry("note", "r", struct{}{})
	e.Stream, e.After = "r:1", at(n)
	return e
}

// over is the entry of the segment's end, after the n-th item of the stream.
func over(n int64, status wire.SegmentStatus) *wire.Entry {
	e := wire.NewEntry(wire.EntryRunEnded, "r", wire.RunEnded{RunID: "r", StreamID: "r:1", Segment: 1, Status: status})
	e.Stream, e.After = "r:1", at(n)
	return e
}

func (s *scene) key() store.StreamKey { return store.StreamKey{Thread: chat, ID: "r:1"} }

func (s *scene) message(id spool.MessageID, role spool.Role) *spool.Message {
	return &spool.Message{
		ID: id, ThreadID: chat.ID, Role: role, RunID: "r", Content: spool.Content{{Type: spool.PartText, Text: "one"}},
	}
}

func (s *scene) check(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *scene) update(fn func(tx store.Tx) error) {
	s.t.Helper()
	s.check(s.store.Update(s.t.Context(), chat, 0, fn))
}

// record adds entries to the record.
func (s *scene) record(entries ...*wire.Entry) {
	s.t.Helper()
	s.update(func(tx store.Tx) error { return tx.Write(store.Changes{Entries: entries}) })
}

func (s *scene) close(end wire.Item) {
	s.t.Helper()
	s.check(s.streams.Close(s.t.Context(), s.key(), end, time.Hour))
}

// walker returns the walker of a client, at its place, and the frames that it begins with.
func (s *scene) walker(c *wire.Cursor, mode Mode) (*Walker, []PositionedFrame) {
	s.t.Helper()
	w := New(s.from, chat, wire.FollowOptions{}, mode)
	frames, err := w.StartAt(s.t.Context(), c, func(read func(v store.View) error) error {
		return s.store.View(s.t.Context(), chat, read)
	})
	s.check(err)
	return &w, frames
}

// walk returns the frames of a client up to the present.
func (s *scene) walk(c *wire.Cursor, mode Mode) []PositionedFrame {
	s.t.Helper()
	w, frames := s.walker(c, mode)
	for {
		more, err := w.Next(s.t.Context(), true)
		s.check(err)
		if len(more) == 0 {
			return frames
		}
		frames = append(frames, more...)
	}
}

// lines are frames in short: an entry begins with "=", and an item is its type.
func lines(frames []PositionedFrame) (all []string) {
	for _, f := range frames {
		switch f.Kind {
		case wire.FrameStream:
			all = append(all, string(f.Item.Type))
		case wire.FrameSnapshot:
			all = append(all, map[bool]string{true: "snapshot of the run", false: "snapshot"}[f.Snapshot.AfterMessageID != nil])
		case wire.FrameThread:
			all = append(all, "="+string(f.Event.Type))
		}
	}
	return all
}

func (s *scene) want(what string, frames []PositionedFrame, want ...string) {
	s.t.Helper()
	if diff := cmp.Diff(strings.Join(want, "\n"), strings.Join(lines(frames), "\n")); diff != "" {
		s.t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// wantNext checks the frames that a walker returns next.
func (s *scene) wantNext(w *Walker, want ...string) {
	s.t.Helper()
	frames, err := w.Next(s.t.Context(), true)
	s.check(err)
	s.want("next", frames, want...)
}

// whole is the one order of record and stream.
var whole = []string{
	"=MESSAGE_APPENDED", "=RUN_STARTED", "RUN_STARTED", "TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "=note",
	"STEP_FINISHED", "CUSTOM", "RUN_FINISHED", "=RUN_ENDED",
}

// From after each frame, a client gets exactly the frames after it.
func TestWalkFromEverywhere(t *testing.T) {
	t.Parallel()
	s := newScene(t, false)
	all := s.walk(&wire.Cursor{}, Mode{})
	s.want("from the start", all, whole...)
	for i, f := range all {
		if f.Cursor != nil {
			s.want("after "+whole[i], s.walk(f.Cursor, Mode{}), whole[i+1:]...)
		}
	}
	s.want("the record", s.walk(&wire.Cursor{}, Mode{RecordOnly: true}), "=MESSAGE_APPENDED", "=RUN_STARTED", "=note",
		"=RUN_ENDED")
	s.want("from now", s.walk(nil, Mode{}), "=MESSAGE_APPENDED", "=RUN_STARTED", "=note", "=RUN_ENDED")
}

// A place that is not there any more, and one that never was, costs one snapshot.
func TestWalkSnapshots(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		at   *wire.Cursor
		lost []int64
		gone bool
		want []string
	}{
		{
			"a hole", &wire.Cursor{},
			[]int64{3},
			false,
			[]string{"=MESSAGE_APPENDED", "=RUN_STARTED", "RUN_STARTED", "TEXT_MESSAGE_START", "snapshot"},
		},
		{"a hole at the start", &wire.Cursor{}, []int64{1}, false, []string{"=MESSAGE_APPENDED", "=RUN_STARTED", "snapshot"}},
		{
			"a hole before the end", &wire.Cursor{Seq: 2, Stream: "r:1", Offset: at(4)}, []int64{5}, false, []string{"snapshot"},
		},
		{
			"a hole before the cursor",
			&wire.Cursor{Seq: 2, Stream: "r:1", Offset: at(4)},
			[]int64{2},
			false,
			[]string{"CUSTOM", "RUN_FINISHED", "snapshot of the run", "=RUN_ENDED"},
		},
		{"a stream that is gone", &wire.Cursor{Seq: 1, Stream: "r:1", Offset: at(2)}, nil, true, []string{"snapshot"}},
		{"after a stream that is gone", &wire.Cursor{Seq: 3}, nil, true, nil},
		{"beyond the record", &wire.Cursor{Seq: 9}, nil, false, []string{"snapshot"}},
		{"beyond the stream", &wire.Cursor{Seq: 1, Stream: "r:1", Offset: at(9)}, nil, false, []string{"snapshot"}},
		{"a stream of nobody", &wire.Cursor{Seq: 1, Stream: "x:1", Offset: at(2)}, nil, false, []string{"snapshot"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, false, c.lost...)
			if c.gone {
				s.check(s.streams.Delete(t.Context(), chat))
			}
			s.want("the client gets", s.walk(c.at, Mode{}), c.want...)
		})
	}
}

// unopened has a stream that is not open yet when it is read for the first time.
type unopened struct {
	store.Live

	reads int
}

func (u *unopened) Read(
	ctx context.Context, key store.StreamKey, after wire.Offset, limit int,
) (store.StreamPage, error) {
	if u.reads++; u.reads == 1 {
		return store.StreamPage{}, store.ErrStreamGone
	}
	return u.Live.Read(ctx, key, after, limit)
}

// A segment that begins its stream and ends while the walker looks for the stream costs no snapshot.
func TestWalkBesideQuickSegment(t *testing.T) {
	t.Parallel()
	s := newScene(t, false)
	late := &unopened{Live: s.streams}
	s.from.Streams = late
	s.want("from the start", s.walk(&wire.Cursor{}, Mode{}), whole...)
	if late.reads < 2 {
		t.Errorf("the stream was read %d times", late.reads)
	}
}

// A stream whose grace is over is gone, also where it is still there.
func TestWalkBehindGrace(t *testing.T) {
	t.Parallel()
	s := newScene(t, false)
	s.from.StreamGrace = 0
	s.want("in the stream", s.walk(&wire.Cursor{Seq: 1, Stream: "r:1", Offset: at(2)}, Mode{}), "snapshot")
}

// An entry waits for the items before it. Those that do not come were lost with their worker.
func TestWalkWaitsForItems(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, true, 3, 4, 5)
		w, _ := s.walker(&wire.Cursor{Seq: 1, Stream: "r:1", Offset: at(2)}, Mode{})
		s.wantNext(w)
		<-time.After(healAfter - time.Millisecond)
		s.wantNext(w)
		if !w.Waits() {
			t.Error("the walker waits for nothing")
		}
		<-time.After(time.Millisecond)
		s.wantNext(w, "=note") // whose item never comes
		s.check(s.streams.Append(t.Context(), s.key(), items()[2:3]))
		s.wantNext(w, "TEXT_MESSAGE_CONTENT")
		s.record(over(4, wire.SegmentLost))
		s.wantNext(w)
		<-time.After(healAfter)
		s.wantNext(w, "RUN_ERROR")
		if len(s.ended) != 1 {
			t.Errorf("the stream was ended %d times", len(s.ended))
		}
	})
}

// The message of a steer has no position of its own among the items: it comes with the entry behind it, after the
// items that the entry waits for.
func TestWalkWaitsWithTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, true, 4, 5)
		w, _ := s.walker(&wire.Cursor{Seq: 1, Stream: "r:1", Offset: at(2)}, Mode{})
		s.wantNext(w, "TEXT_MESSAGE_CONTENT")
		s.wantNext(w, "=note")
		s.update(func(tx store.Tx) error {
			return tx.Write(store.Changes{Messages: []*spool.Message{s.message("steer", spool.RoleUser)}})
		})
		s.record(note(4))
		s.wantNext(w)
		s.check(s.streams.Append(t.Context(), s.key(), items()[3:4]))
		s.wantNext(w, "STEP_FINISHED")
		s.wantNext(w, "=MESSAGE_APPENDED", "=note")
		s.update(func(tx store.Tx) error {
			return tx.Write(store.Changes{Messages: []*spool.Message{s.message("steer2", spool.RoleUser)}})
		})
		s.record(note(5))
		s.wantNext(w)
		<-time.After(healAfter)
		s.wantNext(w, "=MESSAGE_APPENDED", "=note") // whose item never comes
	})
}

// lostTail returns a scene whose worker has died: two more entries and the end of the segment are in the record,
// and none of their items in the stream.
func lostTail(t *testing.T) *scene {
	t.Helper()
	s := newScene(t, true, 3, 4, 5)
	s.record(note(4), over(5, wire.SegmentLost))
	return s
}

// The end of a stream that is lost with a worker costs one wait, however many entries refer to it. So a client
// whose connections last longer than that makes progress.
func TestWalkWaitsOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := lostTail(t)
		w, _ := s.walker(&wire.Cursor{Seq: 1, Stream: "r:1", Offset: at(2)}, Mode{})
		frames, err := w.Next(t.Context(), true)
		s.check(err)
		s.want("before the wait", frames)
		<-time.After(healAfter)
		frames = nil
		for range 4 {
			more, err := w.Next(t.Context(), true)
			s.check(err)
			frames = append(frames, more...)
		}
		s.want("after the wait", frames, "=note", "=note", "RUN_ERROR", "snapshot of the run", "=RUN_ENDED")
		if len(s.ended) != 1 {
			t.Errorf("the stream was ended %d times", len(s.ended))
		}
	})
}

// A young entry gets its own wait: the worker may be alive, and only an earlier item lost.
func TestWalkWaitsForYoungEntry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, true, 3, 4, 5)
		w, _ := s.walker(&wire.Cursor{Seq: 1, Stream: "r:1", Offset: at(2)}, Mode{})
		s.wantNext(w)
		<-time.After(healAfter)
		s.wantNext(w, "=note")
		s.record(note(4))
		s.wantNext(w)
		<-time.After(healAfter)
		s.wantNext(w, "=note")
	})
}

// A client that comes long after the loss does not wait at all.
func TestWalkPassesOldLoss(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := lostTail(t)
		<-time.After(lostAfter)
		s.want("from the stream", s.walk(&wire.Cursor{Seq: 1, Stream: "r:1", Offset: at(2)}, Mode{}),
			"=note", "=note", "RUN_ERROR", "snapshot of the run", "=RUN_ENDED")
	})
}

// A commit may take longer than lostAfter, because the database hangs. Its items then follow a moment later.
func TestWalkWaitsAfterSlowCommit(t *testing.T) {
	t.Parallel()
	for name, entry := range map[string]*wire.Entry{"End": over(4, wire.SegmentFinished), "Note": note(4)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newScene(t, true, 4, 5)
				w, _ := s.walker(&wire.Cursor{Seq: 2, Stream: "r:1", Offset: at(3)}, Mode{})
				s.update(func(tx store.Tx) error {
					err := tx.Write(store.Changes{Entries: []*wire.Entry{entry}})
					<-time.After(lostAfter + time.Second)
					return err
				})
				frames, err := w.Next(t.Context(), true) // woken by the commit
				s.check(err)
				s.want("before the items", frames)
				if len(s.ended) > 0 {
					t.Error("the stream of a live worker was ended")
				}
				s.check(s.streams.Append(t.Context(), s.key(), items()[3:4]))
				frames, err = w.Next(t.Context(), true)
				s.check(err)
				s.want("the items", frames, "STEP_FINISHED")
			})
		})
	}
}

// A hub has no client to send a snapshot to: it forgets its place.
func TestSharedWalkerForgetsItsPlace(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(s *scene){
		"a hole": func(s *scene) {
			s.check(s.streams.Append(t.Context(), s.key(), []wire.Item{wire.NewItem(wire.ItemCustom, at(7), 2, wire.Custom{})}))
		},
		"a stream that is gone": func(s *scene) { s.check(s.streams.Delete(t.Context(), chat)) },
	} {
		s := newScene(t, true)
		w := NewShared(s.from, chat, nil)
		_, err := w.ToPresent(t.Context(), func(store.View, wire.Thread) error { return nil })
		s.check(err)
		if w.At.Seq != 2 || w.At.Offset != at(5) || !w.Reading {
			t.Errorf("%s: the hub stands at %s", name, w.At)
		}
		spoil(s)
		if _, err := w.Next(t.Context(), true); !errors.Is(err, ErrReset) {
			t.Errorf("%s: the hub gets %v", name, err)
		}
	}
}

// failing is a store whose n-th view fails.
type failing struct {
	store.Store

	views, fails int
}

func (f *failing) View(ctx context.Context, key spool.ThreadKey, fn func(v store.View) error) error {
	if f.views++; f.views == f.fails {
		return spool.Errorf(spool.Unavailable, "the store is away")
	}
	return f.Store.View(ctx, key, fn)
}

// A failure of the store between two items loses no frame, wherever it comes.
func TestWalkStoreFails(t *testing.T) {
	t.Parallel()
	s := newScene(t, false)
	failed := 0
	for n := 1; n < 20; n++ {
		w, frames := s.walker(&wire.Cursor{}, Mode{})
		store := &failing{Store: s.store, fails: n}
		s.from.Store = store
		for {
			more, err := w.Next(t.Context(), true)
			if frames = append(frames, more...); err != nil {
				failed++
				continue
			}
			if len(more) == 0 {
				break
			}
		}
		s.from.Store = s.store
		s.want("the frames around failure "+strconv.Itoa(n), frames, whole...)
	}
	if failed == 0 {
		t.Error("nothing failed")
	}
}
