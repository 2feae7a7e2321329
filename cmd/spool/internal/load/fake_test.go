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
	damage func([]spool.Frame) []spool.Frame
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
	frames  []spool.Frame
	changed chan struct{}
}

func newFake(slots int, takes time.Duration) *fake {
	return &fake{slots: make(chan struct{}, slots), takes: takes, began: time.Now(), runs: make(map[spool.ThreadID]*fakeRun)}
}

// config returns the configuration of a short load on the server.
func (f *fake) config(ladder ...float64) Config {
	return Config{
		Server: f, Session: "s", Ladder: ladder, Drain: 5 * time.Second, InFlight: 1000, MaxDuration: time.Minute, MaxP99: 5 * time.Second,
		Prompt: "Hello.", Step: 10 * time.Second, Watchers: 1,
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
		return &spool.Error{Code: spool.Unavailable, Message: "worker: no worker runs", Err: &client.ResponseError{Status: http.StatusServiceUnavailable}}
	}
	return nil
}

func (f *fake) Run(ctx context.Context, in client.RunRequest) (spool.RunResult, error) {
	if f.answers != nil && !until(ctx, time.Now().Add(f.answers(time.Since(f.began)))) {
		return spool.RunResult{}, spool.Errorf(spool.Canceled, "canceled")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.dead(); err != nil {
		return spool.RunResult{}, err
	}
	if f.refuses != nil {
		if err := f.refuses(len(f.runs)); err != nil {
			f.runs[in.ThreadID] = nil
			return spool.RunResult{}, err
		}
	}
	r := &fakeRun{id: in.RunID, stop: make(chan struct{}), changed: make(chan struct{})}
	f.runs[in.ThreadID] = r
	go f.execute(r)
	return spool.RunResult{Accepted: true, ThreadID: in.ThreadID, RunID: in.RunID, State: spool.Queued}, nil
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
		r.notice(spool.Cancelled)
		return
	}
	f.emit(r, r.entry(spool.EntryRunStarted, spool.RunStarted{RunID: r.id, StreamID: r.stream(), Segment: 1}))
	f.emit(r, r.item(spool.ItemRunStarted, spool.StreamStarted{RunID: r.id, StreamID: r.stream(), Segment: 1}))
	f.emit(r, r.item(spool.ItemTextStart, spool.Block{MessageID: "b1", Role: spool.RoleAssistant}))
	status := spool.SegmentFinished
	for _, word := range words {
		f.emit(r, r.item(spool.ItemTextContent, spool.Delta{MessageID: "b1", Delta: word}))
		select {
		case <-time.After(f.takes / time.Duration(len(words))):
			continue
		case <-r.stop:
			status = spool.SegmentStopped
		}
		break
	}
	f.emit(r, r.item(spool.ItemTextEnd, spool.Block{MessageID: "b1"}))
	if f.fails {
		f.emit(r, r.item(spool.ItemRunError, spool.StreamFailed{Status: spool.SegmentError, Error: "the model is away"}))
		f.emit(r, r.entry(spool.EntryRunEnded, spool.RunEnded{RunID: r.id, StreamID: r.stream(), Segment: 1, Status: spool.SegmentError, Error: "the model is away"}))
		f.mu.Lock()
		defer f.mu.Unlock()
		r.over = true
		r.notice(spool.Failed)
		return
	}
	f.emit(r, r.item(spool.ItemStepFinished, spool.StepFinished{Step: 1, FinishReason: "stop"}))
	f.emit(r, r.item(spool.ItemRunFinished, spool.StreamFinished{Status: status}))
	f.mu.Lock()
	r.over = true
	f.mu.Unlock()
	f.emit(r, r.entry(spool.EntryRunEnded, spool.RunEnded{RunID: r.id, StreamID: r.stream(), Segment: 1, Status: status}))
}

func (r *fakeRun) stream() spool.StreamID { return spool.NewStreamID(r.id, 1) }

// entry and item return the next frame of a run, and emit adds it.
func (r *fakeRun) entry(t spool.EntryType, payload any) func() spool.Frame {
	return func() spool.Frame {
		e := spool.NewEntry(t, r.id, payload)
		e.ThreadID, e.Seq = spool.ThreadID(r.id), 1
		at := r.place()
		e.Seq = at.Seq + 1
		at.Seq = e.Seq
		return spool.Frame{Kind: spool.FrameThread, Event: e, Cursor: &at}
	}
}

func (r *fakeRun) item(t spool.ItemType, payload any) func() spool.Frame {
	return func() spool.Frame {
		at := r.place()
		at.Stream, at.Offset = r.stream(), spool.Offset{Fence: 1, N: at.Offset.N + 1}
		item := spool.NewItem(t, at.Offset, at.Seq, payload)
		return spool.Frame{Kind: spool.FrameStream, StreamID: r.stream(), Item: &item, Cursor: &at}
	}
}

// notice adds the state of the thread. The caller holds the lock.
func (r *fakeRun) notice(state spool.State) {
	e := spool.NewEntry(spool.NoticeStateChange, "", spool.StateChange{State: state, RunID: r.id})
	r.frames = append(r.frames, spool.Frame{Kind: spool.FrameThread, Event: e})
	close(r.changed)
	r.changed = make(chan struct{})
}

// place returns the cursor of the last frame.
func (r *fakeRun) place() spool.Cursor {
	for _, f := range slices.Backward(r.frames) {
		if f.Cursor != nil {
			return *f.Cursor
		}
	}
	return spool.Cursor{}
}

func (f *fake) emit(r *fakeRun, next func() spool.Frame) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r.frames = append(r.frames, next())
	close(r.changed)
	r.changed = make(chan struct{})
}

func (f *fake) Follow(ctx context.Context, thread spool.ThreadID, o client.FollowOptions) iter.Seq2[spool.Frame, error] {
	return func(yield func(spool.Frame, error) bool) {
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
				yield(spool.Frame{}, spool.Errorf(spool.Canceled, "canceled"))
				return
			}
		}
	}
}

// after reports whether a follower at other has not seen the frame at c.
func after(c, other spool.Cursor) bool {
	return c.Seq > other.Seq || c.Seq == other.Seq && c.Offset.Compare(other.Offset) > 0
}

func (f *fake) Stop(_ context.Context, thread spool.ThreadID, _ spool.RunID) (spool.StopResult, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stops++
	r := f.runs[thread]
	if err := f.dead(); err != nil {
		return spool.StopResult{}, err
	}
	if r == nil || r.over || f.endless {
		return spool.StopResult{Reason: spool.ReasonNotActive}, nil
	}
	select {
	case <-r.stop:
	default:
		close(r.stop)
	}
	return spool.StopResult{Accepted: true}, nil
}

func (f *fake) Snapshot(context.Context, spool.ThreadID, spool.SnapshotOptions) (*spool.Snapshot, error) {
	return &spool.Snapshot{Messages: []spool.Message{{Role: spool.RoleAssistant, Content: spool.TextContent(strings.Join(words, ""))}}}, nil
}

// Threads returns all threads that are left.
func (f *fake) Threads(context.Context, client.ThreadFilter) iter.Seq2[spool.Thread, error] {
	return func(yield func(spool.Thread, error) bool) {
		f.mu.Lock()
		all := slices.Collect(maps.Keys(f.runs))
		f.mu.Unlock()
		for _, id := range all {
			if !yield(spool.Thread{ID: id}, nil) {
				return
			}
		}
	}
}

func (f *fake) DeleteThread(ctx context.Context, thread spool.ThreadID) (spool.DeleteResult, error) {
	if !until(ctx, time.Now().Add(f.deletes)) {
		return spool.DeleteResult{}, spool.Errorf(spool.Canceled, "canceled")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.dead(); err != nil {
		return spool.DeleteResult{}, err
	}
	switch r, known := f.runs[thread]; {
	case r == nil || !known:
		return spool.DeleteResult{Reason: spool.ReasonNotFound}, nil
	case !r.over:
		return spool.DeleteResult{Reason: spool.ReasonActiveRun}, nil
	}
	delete(f.runs, thread)
	f.deleted++
	return spool.DeleteResult{Accepted: true}, nil
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
