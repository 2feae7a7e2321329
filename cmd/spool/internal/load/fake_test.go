package load

import (
	"context"
	"iter"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/client"
	"github.com/spoolhq/spool/wire"
)

// fake is a server in a bubble of testing/synctest, where time is exact.
type fake struct {
	// slots is how many runs execute at the same time, and takes how long a run executes.
	slots chan struct{}
	takes time.Duration
	// answers delays the answer to a start that is made at a time.
	answers func(at time.Duration) time.Duration
	// refuses returns the error of the n-th start, from 0. Nil: none.
	refuses func(n int) error
	// damage changes what a follower gets of the frames of a run. Nil: nothing.
	damage func([]wire.Frame) []wire.Frame
	// readyAfter is when the server is ready.
	readyAfter time.Duration
	// dies is when the server dies. Zero: it does not. Back is when it is there again. Zero: never.
	dies, back time.Duration
	// deletes is how long a deletion takes, and endless says that runs cannot be stopped.
	deletes time.Duration
	endless bool
	// fails makes all runs fail.
	fails bool

	began time.Time
	mu    sync.Mutex
	runs  map[spool.ThreadID]*fakeRun
	// stops and deleted count calls, and left what was deleted while its run was active.
	stops, deleted int
}

type fakeRun struct {
	id   spool.RunID
	stop chan struct{}
	over bool
	// frames are those so far. Changed is closed when there are more.
	frames  []wire.Frame
	changed chan struct{}
}

func newFake(slots int, takes time.Duration) *fake {
	return &fake{
		slots: make(chan struct{}, slots), takes: takes, began: time.Now(), runs: make(map[spool.ThreadID]*fakeRun),
	}
}

// config returns the configuration of a short load on the server.
func (f *fake) config(ladder ...float64) Config {
	return Config{
		Server: f, Session: "s", Ladder: ladder, Drain: 5 * time.Second, InFlight: 1000, MaxDuration: time.Minute,
		MaxP99: 5 * time.Second, Prompt: "Hello.", Step: 10 * time.Second, Watchers: 1,
	}
}

// dead returns the error of a server that has died, which it has not yet.
func (f *fake) dead() error {
	if at := time.Since(f.began); f.dies > 0 && at >= f.dies && (f.back == 0 || at < f.back) {
		return &spool.Error{Code: spool.Unavailable, Message: "the server cannot be reached"}
	}
	return nil
}

func (f *fake) Ready(context.Context) error {
	if err := f.dead(); err != nil {
		return err
	}
	if time.Since(f.began) < f.readyAfter {
		return &spool.Error{
			Code: spool.Unavailable, Message: "worker: no worker runs",
			Err: &client.ResponseError{Status: http.StatusServiceUnavailable},
		}
	}
	return nil
}

func (f *fake) Run(ctx context.Context, in client.RunRequest) (wire.RunResult, error) {
	if f.answers != nil && !until(ctx, time.Now().Add(f.answers(time.Since(f.began)))) {
		return wire.RunResult{}, spool.Errorf(spool.Canceled, "canceled")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.dead(); err != nil {
		return wire.RunResult{}, err
	}
	if f.refuses != nil {
		if err := f.refuses(len(f.runs)); err != nil {
			f.runs[in.ThreadID] = nil
			return wire.RunResult{}, err
		}
	}
	r := &fakeRun{id: in.RunID, stop: make(chan struct{}), changed: make(chan struct{})}
	f.runs[in.ThreadID] = r
	go f.execute(r)
	return wire.RunResult{Accepted: true, ThreadID: in.ThreadID, RunID: in.RunID, State: wire.Queued}, nil
}

// words are the pieces of an answer.
var words = []string{"one ", "two ", "three ", "four ", "five"}

// execute takes a slot and streams an answer.
func (f *fake) execute(r *fakeRun) {
	select {
	case f.slots <- struct{}{}:
		defer func() { <-f.slots }()
	case <-r.stop:
		f.mu.Lock()
		defer f.mu.Unlock()
		r.over = true
		r.notice(wire.Cancelled)
		return
	}
	f.emit(r, r.entry(wire.EntryRunStarted, wire.RunStarted{RunID: r.id, StreamID: r.stream(), Segment: 1}))
	f.emit(r, r.item(wire.ItemRunStarted, wire.StreamStarted{RunID: r.id, StreamID: r.stream(), Segment: 1}))
	f.emit(r, r.item(wire.ItemTextStart, wire.Block{MessageID: "b1", Role: spool.RoleAssistant}))
	status := wire.SegmentFinished
	for _, word := range words {
		f.emit(r, r.item(wire.ItemTextContent, wire.Delta{MessageID: "b1", Delta: word}))
		select {
		case <-time.After(f.takes / time.Duration(len(words))):
			continue
		case <-r.stop:
			status = wire.SegmentStopped
		}
		break
	}
	f.emit(r, r.item(wire.ItemTextEnd, wire.Block{MessageID: "b1"}))
	if f.fails {
		f.emit(r, r.item(wire.ItemRunError, wire.StreamFailed{Status: wire.SegmentError, Error: "the model is away"}))
		f.emit(r, r.entry(wire.EntryRunEnded,
			wire.RunEnded{RunID: r.id, StreamID: r.stream(), Segment: 1, Status: wire.SegmentError, Error: "the model is away"}))
		f.mu.Lock()
		defer f.mu.Unlock()
		r.over = true
		r.notice(wire.Failed)
		return
	}
	f.emit(r, r.item(wire.ItemStepFinished, wire.StepFinished{Step: 1, FinishReason: "stop"}))
	f.emit(r, r.item(wire.ItemRunFinished, wire.StreamFinished{Status: status}))
	f.mu.Lock()
	r.over = true
	f.mu.Unlock()
	f.emit(r, r.entry(wire.EntryRunEnded, wire.RunEnded{RunID: r.id, StreamID: r.stream(), Segment: 1, Status: status}))
}

func (r *fakeRun) stream() wire.StreamID { return wire.NewStreamID(r.id, 1) }

// entry and item return the next frame of a run, and emit adds it.
func (r *fakeRun) entry(t wire.EntryType, payload any) func() wire.Frame {
	return func() wire.Frame {
		e := wire.NewEntry(t, r.id, payload)
		e.ThreadID, e.Seq = spool.ThreadID(r.id), 1
		at := r.place()
		e.Seq = at.Seq + 1
		at.Seq = e.Seq
		return wire.Frame{Kind: wire.FrameThread, Event: e, Cursor: &at}
	}
}

func (r *fakeRun) item(t wire.ItemType, payload any) func() wire.Frame {
	return func() wire.Frame {
		at := r.place()
		at.Stream, at.Offset = r.stream(), wire.Offset{Fence: 1, N: at.Offset.N + 1}
		item := wire.NewItem(t, at.Offset, at.Seq, payload)
		return wire.Frame{Kind: wire.FrameStream, StreamID: r.stream(), Item: &item, Cursor: &at}
	}
}

// notice adds the state of the thread. The caller holds the lock.
func (r *fakeRun) notice(state wire.State) {
	e := wire.NewEntry(wire.NoticeStateChange, "", wire.StateChange{State: state, RunID: r.id})
	r.frames = append(r.frames, wire.Frame{Kind: wire.FrameThread, Event: e})
	close(r.changed)
	r.changed = make(chan struct{})
}

// place returns the cursor of the last frame.
func (r *fakeRun) place() wire.Cursor {
	for _, f := range slices.Backward(r.frames) {
		if f.Cursor != nil {
			return *f.Cursor
		}
	}
	return wire.Cursor{}
}

func (f *fake) emit(r *fakeRun, next func() wire.Frame) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r.frames = append(r.frames, next())
	close(r.changed)
	r.changed = make(chan struct{})
}

func (f *fake) Follow(ctx context.Context, thread spool.ThreadID, o client.FollowOptions) iter.Seq2[wire.Frame, error] {
	return func(yield func(wire.Frame, error) bool) {
		sent := 0
		for {
			f.mu.Lock()
			r := f.runs[thread]
			frames, changed := r.frames, r.changed
			if f.damage != nil {
				frames = f.damage(frames)
			}
			f.mu.Unlock()
			for ; sent < len(frames); sent++ {
				if at := frames[sent].Cursor; at != nil && !after(*at, *o.Cursor) {
					continue
				}
				if !yield(frames[sent], nil) {
					return
				}
			}
			select {
			case <-changed:
			case <-ctx.Done():
				yield(wire.Frame{}, spool.Errorf(spool.Canceled, "canceled"))
				return
			}
		}
	}
}

// after reports whether a follower at other has not seen the frame at c.
func after(c, other wire.Cursor) bool {
	return c.Seq > other.Seq || c.Seq == other.Seq && c.Offset.Compare(other.Offset) > 0
}

func (f *fake) Stop(_ context.Context, thread spool.ThreadID, _ spool.RunID) (wire.StopResult, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stops++
	r := f.runs[thread]
	if err := f.dead(); err != nil {
		return wire.StopResult{}, err
	}
	if r == nil || r.over || f.endless {
		return wire.StopResult{Reason: wire.ReasonNotActive}, nil
	}
	select {
	case <-r.stop:
	default:
		close(r.stop)
	}
	return wire.StopResult{Accepted: true}, nil
}

func (f *fake) Snapshot(context.Context, spool.ThreadID, wire.SnapshotOptions) (*wire.Snapshot, error) {
	return &wire.Snapshot{
		Messages: []spool.Message{{Role: spool.RoleAssistant, Content: spool.TextContent(strings.Join(words, ""))}},
	}, nil
}

// Threads returns all threads that are left.
func (f *fake) Threads(context.Context, client.ThreadFilter) iter.Seq2[wire.Thread, error] {
	return func(yield func(wire.Thread, error) bool) {
		f.mu.Lock()
		all := slices.Collect(maps.Keys(f.runs))
		f.mu.Unlock()
		for _, id := range all {
			if !yield(wire.Thread{ID: id}, nil) {
				return
			}
		}
	}
}

func (f *fake) DeleteThread(ctx context.Context, thread spool.ThreadID) (wire.DeleteResult, error) {
	if !until(ctx, time.Now().Add(f.deletes)) {
		return wire.DeleteResult{}, spool.Errorf(spool.Canceled, "canceled")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.dead(); err != nil {
		return wire.DeleteResult{}, err
	}
	switch r, known := f.runs[thread]; {
	case r == nil || !known:
		return wire.DeleteResult{Reason: wire.ReasonNotFound}, nil
	case !r.over:
		return wire.DeleteResult{Reason: wire.ReasonActiveRun}, nil
	}
	delete(f.runs, thread)
	f.deleted++
	return wire.DeleteResult{Accepted: true}, nil
}

// measured runs a load that must not fail.
func measured(t *testing.T, ctx context.Context, c Config) *Report { //nolint:revive // t comes first in helpers
	t.Helper()

	r, err := Run(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
