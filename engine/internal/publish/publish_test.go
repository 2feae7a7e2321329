package publish

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/stream"
	"github.com/spoolhq/spool/internal/testing/maptx"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// live notes the wake-ups.
type live struct {
	store.Live

	woken []store.WakeKind
}

func (l *live) Wake(_ spool.ThreadKey, kind store.WakeKind, _ []byte) {
	l.woken = append(l.woken, kind)
}

// desk is a publisher over one thread, whose run r was started at maptx.Start and is the second of it.
func desk(state wire.State) (*Publisher, *maptx.Tx, *live) {
	tx := maptx.New(spool.ThreadKey{Tenant: "t", ID: "c"}, maptx.Start)
	tx.Rows = maptx.Rows{
		Thread: &wire.Thread{State: state, RunID: "r", Fence: 2, CreatedAt: maptx.Start},
		Runs: []store.RunRow{
			{Run: wire.Run{ID: "old", State: wire.Completed}},
			{Run: wire.Run{ID: "r", State: state, Segments: 2}},
		},
	}
	l := &live{}
	return &Publisher{Store: maptx.Store{Tx: tx}, Live: l}, tx, l
}

// An event that no segment of this process is about: what is written, who is woken, or why it is refused.
func TestPublish(t *testing.T) {
	t.Parallel()
	type wakes = []store.WakeKind
	for _, c := range []struct {
		name    string
		state   wire.State
		about   spool.RunID
		durable bool
		given   func(tx *maptx.Tx)
		want    string // the refusal, or the run of the event
		woken   wakes
		changes string
	}{
		{"live", wire.Queued, "", false, nil, "r", wakes{store.WakeNotice}, ""},
		{"live, of a thread at rest", wire.Completed, "", false, nil, "", wakes{store.WakeNotice}, ""},
		{
			"durable", wire.Queued, "", true, nil, "r",
			wakes{store.WakeRecord},
			"+ entry 1 Type=A Payload={a:1} RunID=r Published=true PublishedBy=ann",
		},
		{
			"durable, about the run", wire.Queued, "r", true, nil, "r",
			wakes{store.WakeRecord},
			"+ entry 1 Type=A Payload={a:1} RunID=r Published=true PublishedBy=ann",
		},
		{
			"durable, of a thread at rest", wire.Completed, "", true, nil, "",
			wakes{store.WakeRecord},
			"+ entry 1 Type=A Payload={a:1} Published=true PublishedBy=ann",
		},
		{
			"durable, while a worker has the thread", wire.Running, "", true, func(tx *maptx.Tx) {
				tx.Rows.Thread.LeaseUntil = maptx.Start.Add(1)
			}, "r",
			wakes{store.WakeRecord, store.WakeEvent},
			"+ entry 1 Type=A Payload={a:1} RunID=r Published=true PublishedBy=ann",
		},
		{"about a run that has ended", wire.Queued, "old", true, nil, "conflict: runId is a run that has ended", nil, ""},
		{
			"live, about a run that has ended", wire.Queued, "old", false, nil, "conflict: runId is a run that has ended", nil,
			"",
		},
		{
			"about a run of another thread", wire.Queued, "other", true, nil, "invalid: runId is not a run of the thread", nil,
			"",
		},
		{
			"to no thread", wire.Queued, "", true, func(tx *maptx.Tx) { tx.Rows = maptx.Rows{} }, "not_found: Thread not found",
			nil, "",
		},
		{
			"live, to no thread", wire.Queued, "", false, func(tx *maptx.Tx) { tx.Rows = maptx.Rows{} },
			"not_found: Thread not found", nil, "",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p, tx, l := desk(c.state)
			if c.given != nil {
				c.given(tx)
			}
			before := tx.Clone()
			entry, err := p.Publish(context.Background(), tx.Key,
				spool.Event{Type: "A", Payload: json.RawMessage(`{"a":1}`), Durable: c.durable}, c.about, "ann")
			got := string(entry.RunID)
			if err != nil {
				got = string(spool.CodeOf(err)) + ": " + spool.MessageOf(err)
			} else if entry.PublishedBy != "ann" || entry.Type != "A" {
				t.Errorf("the entry is %+v", entry)
			}
			if diff := cmp.Diff([]any{c.want, c.woken, c.changes}, []any{got, l.woken, maptx.Diff(before, tx)}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A durable event during a segment of this process gets a place in its stream, and whoever reads the record is woken.
func TestPublishInSegment(t *testing.T) {
	t.Parallel()
	p, tx, l := desk(wire.Running)
	w := stream.New(stream.Settings{Live: l, FlushEvery: -1}, store.StreamKey{Thread: tx.Key, ID: "r:2"}, 2, 0)
	p.Add(&Segment{Key: tx.Key, Fence: 2, RunID: "r", CreatedAt: maptx.Start, Writer: w})
	before := tx.Clone()
	if _, err := p.Publish(
		t.Context(), tx.Key, spool.Event{Type: "A", Payload: json.RawMessage(`{"a":1}`), Durable: true}, "", "ann",
	); err != nil {
		t.Fatal(err)
	}
	want := "+ entry 1 Type=A Payload={a:1} RunID=r Published=true PublishedBy=ann Stream=r:2 After=2-0"
	if diff := cmp.Diff(
		[]any{want, []store.WakeKind{store.WakeRecord}}, []any{maptx.Diff(before, tx), l.woken},
	); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A segment owns its thread until another worker has it, another run, or another thread has its name.
func TestOwns(t *testing.T) {
	t.Parallel()
	s := &Segment{Fence: 2, RunID: "r", CreatedAt: maptx.Start}
	for _, c := range []struct {
		thread wire.Thread
		want   bool
	}{
		{wire.Thread{Fence: 2, RunID: "r", CreatedAt: maptx.Start}, true},
		{wire.Thread{Fence: 3, RunID: "r", CreatedAt: maptx.Start}, false},
		{wire.Thread{Fence: 2, RunID: "next", CreatedAt: maptx.Start}, false},
		{wire.Thread{Fence: 2, RunID: "r", CreatedAt: maptx.Start.Add(time.Second)}, false},
	} {
		if got := s.Owns(c.thread); got != c.want {
			t.Errorf("%+v is owned: %t", c.thread, got)
		}
	}
}

// An event gets a position in the stream as long as the record lacks the segment's end.
func TestIsOpen(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		state  wire.State
		stream wire.StreamID
		want   bool
	}{
		{wire.Running, "r:2", true},
		{wire.Running, "r:1", false},
		{wire.Queued, "r:2", false},
		{wire.Completed, "r:2", false},
	} {
		_, tx, _ := desk(c.state)
		s := &Segment{Writer: stream.New(stream.Settings{}, store.StreamKey{ID: c.stream}, 2, 0)}
		if got, err := isOpen(tx, s, *tx.Rows.Thread); got != c.want || err != nil {
			t.Errorf("%s in state %s is open: %t, %v", c.stream, c.state, got, err)
		}
	}
}

// A segment is found until it is removed, and a later one of its thread stays.
func TestAdd(t *testing.T) {
	t.Parallel()
	var p Publisher
	key := spool.ThreadKey{Tenant: "t", ID: "c"}
	first, second := &Segment{Key: key}, &Segment{Key: key}
	removeFirst := p.Add(first)
	removeSecond := p.Add(second)
	removeFirst()
	if p.find(key) != second {
		t.Error("a later segment was removed with the first")
	}
	removeSecond()
	if p.find(key) != nil {
		t.Error("a segment was not removed")
	}
}
