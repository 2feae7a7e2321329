package client_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/client"
	"github.com/spoolhq/spool/client/view"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/internal/testing/testwait"
	"github.com/spoolhq/spool/model/demo"
	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/tool"
	"github.com/spoolhq/spool/wire"
)

// watcher shows a thread while a test does something with it.
type watcher struct {
	t      *testing.T
	c      *client.Client
	shown  *view.Thread
	frames []wire.Frame
	next   func() (wire.Frame, error, bool)
	// before are the runs that had ended in the first snapshot.
	before map[spool.RunID]bool
}

// watch shows a thread that exists, from a snapshot on.
func watch(t *testing.T, c *client.Client, thread spool.ThreadID) *watcher {
	t.Helper()

	ctx := testwait.Context(t, "the frames")
	s := must(c.Snapshot(ctx, thread, wire.SnapshotOptions{}))(t)
	w := &watcher{t: t, c: c, shown: view.New(s), before: make(map[spool.RunID]bool)}
	for _, r := range s.Runs {
		w.before[r.ID] = r.State.Terminal()
	}
	next, stop := iter.Pull2(c.Follow(ctx, thread, client.FollowOptions{Cursor: w.shown.Cursor()}))
	w.next = next
	t.Cleanup(stop)
	return w
}

// until applies frames until a condition holds.
func (w *watcher) until(what string, done func() bool) {
	w.t.Helper()

	for !done() {
		f, err, _ := w.next()
		if err == nil {
			err = w.shown.Apply(f)
		}
		if err != nil {
			w.t.Fatalf("%s: %v", what, err)
		}
		w.frames = append(w.frames, f)
	}
}

// idle waits until the thread has no run and the last one has ended in the record. The record can say so before the
// state does: then the view is not settled.
func (w *watcher) idle(run spool.RunID) {
	w.t.Helper()

	w.until("the end of "+string(run), func() bool {
		return w.shown.State().Terminal() && w.newest() == run && w.over(run) && w.shown.Settled()
	})
}

// newest returns the newest run that is not nested.
func (w *watcher) newest() spool.RunID {
	for _, r := range w.shown.Runs() {
		if r.ParentID == "" {
			return r.ID
		}
	}
	return ""
}

// over reports whether the end of a run is in the record that the watcher has. States may come before it.
func (w *watcher) over(run spool.RunID) bool {
	over := w.before[run]
	for _, f := range w.frames {
		switch {
		case f.Event == nil || f.Event.RunID != run:
		case f.Event.Type == wire.EntryRunStarted:
			over = false
		case f.Event.Type == wire.EntryRunEnded:
			over = !strings.Contains(string(f.Event.Payload), `"status":"error"`) // else another attempt follows
		}
	}
	return over
}

// ended counts the segments that have ended.
func (w *watcher) ended() (n int) {
	for _, f := range w.frames {
		if f.Event != nil && f.Event.Type == wire.EntryRunEnded {
			n++
		}
	}
	return n
}

// same compares what is shown with a new snapshot. Nested prompts come with snapshots only.
func (w *watcher) same() {
	w.t.Helper()

	saved := view.New(must(w.c.Snapshot(testwait.Context(w.t, "the snapshot"), w.shown.Row().ID,
		wire.SnapshotOptions{}))(w.t))
	if diff := cmp.Diff(content(said(saved)), content(said(w.shown))); diff != "" {
		w.t.Errorf("shown differs (-saved +shown):\n%s", diff)
	}
	if diff := cmp.Diff(w.order(saved), w.order(w.shown)); diff != "" {
		w.t.Errorf("the runs stand in another order (-saved +shown):\n%s", diff)
	}
	if saved.State() != w.shown.State() || len(saved.Parks()) != len(w.shown.Parks()) ||
		len(saved.Queue()) != len(w.shown.Queue()) || len(w.shown.Drafts()) != 0 {
		w.t.Errorf("shown: %s, %d parks, %d waiting runs, %d drafts; saved: %s, %d, %d", w.shown.State(),
			len(w.shown.Parks()),
			len(w.shown.Queue()), len(w.shown.Drafts()), saved.State(), len(saved.Parks()), len(saved.Queue()))
	}
}

// order returns the runs that a watcher shows, as a view has them. Runs that wait come with snapshots, and with their
// turns.
func (w *watcher) order(v *view.Thread) (ids []spool.RunID) {
	for _, r := range v.Runs() {
		known := func(shown wire.Run) bool { return shown.ID == r.ID && shown.State != wire.Queued }
		if slices.ContainsFunc(w.shown.Runs(), known) {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

func said(v *view.Thread) (out []spool.Message) {
	for _, m := range v.Messages() {
		if m.AgentID == "" || m.Role != spool.RoleUser {
			out = append(out, m)
		}
	}
	return out
}

// flaky is a model whose first attempts fail in the middle of an answer.
type flaky struct {
	spool.Model

	fails atomic.Int64
}

// Stream implements [spool.Model].
func (f *flaky) Stream(ctx context.Context, r spool.ModelRequest) iter.Seq2[spool.ModelEvent, error] {
	if f.fails.Add(-1) < 0 {
		return f.Model.Stream(ctx, r)
	}
	return func(yield func(spool.ModelEvent, error) bool) {
		n := 0
		for e, err := range f.Model.Stream(ctx, r) {
			if n++; n == 5 {
				err = errors.New("the provider hung up")
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// TestShown compares what a follower shows with what is saved, whatever happens to the thread.
func TestShown(t *testing.T) {
	t.Parallel()

	model := &flaky{Model: demo.New(demo.Config{SlowDelay: time.Millisecond})}
	held, release := make(chan struct{}, 1), make(chan struct{})
	hold := tool.New("hold", "Holds.", func(ctx context.Context, _ struct{}) (string, error) {
		held <- struct{}{}
		select {
		case <-release:
			return "held", nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	})
	_, c := setup(t, func(ec *engine.Config, _ *server.Config) {
		tools := ec.Agents[0].Tools
		ec.Agents = append(ec.Agents, spool.Agent{
			Name: "chief", Model: "demo", Tools: tools,
			Spawn: &spool.Spawn{Profiles: map[string]spool.Profile{"clerk": {Instructions: "Be short.", Tools: tools}}},
		}, spool.Agent{
			Name: "patient", Model: "demo",
			Spawn: &spool.Spawn{MaxConcurrent: 1, Profiles: map[string]spool.Profile{"clerk": {Tools: []spool.Tool{hold}}}},
		}, spool.Agent{Name: "flaky", Model: "flaky"})
		ec.Models["flaky"] = model
		ec.Retry.Backoff = time.Millisecond
	})
	start := func(t *testing.T, in client.RunRequest) spool.RunID {
		t.Helper()

		r := must(c.Run(testwait.Context(t, "the start"), in))(t)
		if !r.Accepted {
			t.Fatalf("start: %+v", r)
		}
		return r.RunID
	}
	// begin starts a thread, and a watcher.
	begin := func(t *testing.T, in client.RunRequest) (*watcher, spool.RunID) {
		t.Helper()
		id := start(t, in)
		return watch(t, c, in.ThreadID), id
	}
	answer := func(t *testing.T, w *watcher, approved bool) {
		t.Helper()

		p := w.shown.Parks()[0]
		r := must(c.Respond(testwait.Context(t, "the answer"), w.shown.Row().ID,
			client.RespondRequest{ToolCallID: p.ToolCallID, Approved: approved, Digest: p.Digest}))(t)
		if !r.Delivered {
			t.Fatalf("answer: %+v", r)
		}
	}
	asked := func(n int) func(w *watcher) func() bool {
		return func(w *watcher) func() bool {
			return func() bool { return len(w.shown.Parks()) == n && w.shown.State() == wire.WaitingForInput }
		}
	}

	t.Run("Text", func(t *testing.T) {
		t.Parallel()

		w, id := begin(t, client.RunRequest{ThreadID: "text", Prompt: "slow 20"})
		w.idle(id)
		w.same()
	})
	t.Run("Tools", func(t *testing.T) {
		t.Parallel()

		w, id := begin(t, client.RunRequest{
			ThreadID: "tools", Prompt: `use look with {"at":"a"} and use look with {"at":"b"} then use look with {}`,
		})
		w.idle(id)
		w.same()
	})
	t.Run("Parks", func(t *testing.T) {
		t.Parallel()

		w, id := begin(t, client.RunRequest{
			ThreadID: "parks", Prompt: `use send with {"to":"a"} and use look with {"at":"b"} and use send with {"to":"c"}`,
		})
		w.until("two parks", asked(2)(w))
		w.same()
		answer(t, w, true)
		w.until("one park", asked(1)(w))
		w.same()
		answer(t, w, false)
		w.idle(id)
		w.same()
	})
	t.Run("ParkedAndStopped", func(t *testing.T) {
		t.Parallel()

		w, _ := begin(t, client.RunRequest{ThreadID: "stopped", Prompt: `use send with {"to":"a"}`})
		w.until("a park", asked(1)(w))
		must(c.Stop(testwait.Context(t, "the stop"), "stopped", ""))(t)
		w.until("the stop", func() bool { return w.shown.State() == wire.Cancelled })
		id := start(t, client.RunRequest{ThreadID: "stopped", Prompt: "Hello"}) // what is corrected comes before it
		w.idle(id)
		w.same()
	})
	t.Run("Stopped", func(t *testing.T) {
		t.Parallel()

		w, id := begin(t, client.RunRequest{ThreadID: "cut", Prompt: "slow 100000"})
		w.until("some text", func() bool { return len(w.shown.Drafts()) > 0 && len(w.shown.Drafts()[0].Text()) > 200 })
		must(c.Stop(testwait.Context(t, "the stop"), "cut", ""))(t)
		w.idle(id)
		w.same()
	})
	t.Run("Nested", func(t *testing.T) {
		t.Parallel()

		w, id := begin(t, client.RunRequest{
			ThreadID: "nested", StartOptions: wire.StartOptions{Agent: "chief"},
			Prompt: `ask clerk to use look with {"at":"a"} and ask clerk to use send with {"to":"b"}`,
		})
		w.until("a park", asked(1)(w))
		answer(t, w, true)
		w.idle(id)
		w.same()
	})
	t.Run("Steered", func(t *testing.T) {
		t.Parallel()

		w, _ := begin(t, client.RunRequest{
			ThreadID: "steered", StartOptions: wire.StartOptions{Agent: "patient"},
			Prompt: "ask clerk to use hold with {} and ask clerk to be short",
		})
		testwait.For(t, held, "the call of the first nested run")
		start(t, client.RunRequest{ThreadID: "steered", Prompt: "Left", WhenBusy: spool.BusySteer})
		id := start(t, client.RunRequest{ThreadID: "steered", Prompt: "And then?", WhenBusy: spool.BusyEnqueue})
		start(t, client.RunRequest{ThreadID: "steered", Prompt: "Right", WhenBusy: spool.BusySteer})
		w.until("the waiting runs", func() bool { return len(w.shown.Queue()) == 3 })
		close(release) // then the second nested run begins
		w.until("the end of the last run", func() bool { return w.over(id) && w.shown.Settled() })
		w.same()
	})
	t.Run("Failed", func(t *testing.T) {
		t.Parallel()

		model.fails.Store(2)
		w, id := begin(t, client.RunRequest{
			ThreadID: "flaky", StartOptions: wire.StartOptions{Agent: "flaky"},
			Prompt: "a rather long prompt, so that there is some text to lose",
		})
		w.idle(id)
		w.same()
		if model.fails.Load() >= 0 {
			t.Error("the model has not failed")
		}
	})
	t.Run("Edits", func(t *testing.T) {
		t.Parallel()

		w, id := begin(t, client.RunRequest{ThreadID: "edits", Prompt: "One"})
		w.idle(id)
		turn := w.shown.Messages()[0].ID
		id = start(t, client.RunRequest{ThreadID: "edits", Prompt: "Two"})
		w.idle(id)
		id = start(t, client.RunRequest{ThreadID: "edits", Prompt: "Three", EditMessageID: turn})
		w.idle(id)
		w.same()
		ctx := testwait.Context(t, "the branches")
		branch := must(c.Branches(ctx, "edits"))(t)[0]
		must(c.RestoreBranch(ctx, "edits", branch.ID))(t)
		w.until("the restored branch", func() bool { return len(w.shown.Messages()) == branch.MessageCount })
		w.same()
	})
	t.Run("Busy", func(t *testing.T) {
		t.Parallel()

		w, _ := begin(t, client.RunRequest{ThreadID: "busy", Prompt: "slow 100"})
		for i := range 3 {
			start(t, client.RunRequest{ThreadID: "busy", Prompt: fmt.Sprint("slow ", 10+i), WhenBusy: spool.BusyEnqueue})
		}
		w.until("three waiting runs", func() bool { return len(w.shown.Queue()) == 3 })
		w.until("some text", func() bool { return len(w.shown.Drafts()) > 0 })
		start(t, client.RunRequest{ThreadID: "busy", Prompt: "Stop that", WhenBusy: spool.BusyRollback})
		w.until("the end of five runs", func() bool { return w.ended() == 5 && w.shown.State().Terminal() })
		w.same()
	})
}
