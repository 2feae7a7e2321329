package engine_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// pass advances the time of the bubble, and waits for everything that is due then.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func toolOf(name string, fn func(ctx context.Context, c spool.ToolCall) (json.RawMessage, error)) spool.Tool {
	return spool.Tool{ToolSpec: spool.ToolSpec{Name: name}, Call: fn}
}

// sendTool returns the tool "send", whose calls need an approval and have no result.
func sendTool() spool.Tool {
	tool := toolOf("send", func(context.Context, spool.ToolCall) (json.RawMessage, error) { return nil, nil })
	tool.Approval = spool.AlwaysApprove
	return tool
}

// openTurn returns a turn that streams the text and stays open until its context ends.
func openTurn(text string) spooltest.Turn {
	return spooltest.Turn{Text: []string{text}, Gate: make(chan struct{})}
}

func start(t *testing.T, e *engine.Engine, id spool.RunID) {
	t.Helper()
	r, err := e.Run(t.Context(), key, wire.StartRequest{Prompt: "p " + string(id), RunID: id})
	if err != nil || !r.Accepted {
		t.Fatal(r, err)
	}
}

func stopRun(t *testing.T, e *engine.Engine) {
	t.Helper()
	if r, err := e.Stop(t.Context(), key); err != nil || !r.Accepted {
		t.Fatal(r, err)
	}
}

// approve approves the open park of the call.
func approve(t *testing.T, e *engine.Engine, id spool.ToolCallID) {
	t.Helper()
	snapshot, err := e.Snapshot(t.Context(), key, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer := wire.Response{ToolCallID: id, Approved: true}
	for _, entry := range snapshot.ActiveEvents {
		var asked wire.InputRequired
		if entry.Type != wire.EntryInputRequired {
			continue
		}
		if err := json.Unmarshal(entry.Payload, &asked); err != nil {
			t.Fatal(err)
		}
		if asked.ToolCallID == id {
			answer.Digest = asked.Digest
		}
	}
	r, err := e.Respond(t.Context(), key, answer)
	if err != nil || !r.Delivered {
		t.Fatal(r, err)
	}
}

func deleteThread(t *testing.T, e *engine.Engine) {
	t.Helper()
	if r, err := e.DeleteThread(t.Context(), key); err != nil || !r.Accepted {
		t.Fatal(r, err)
	}
}

func snapshot(t *testing.T, e *engine.Engine) *wire.Snapshot {
	t.Helper()
	snap, err := e.Snapshot(t.Context(), key, nil)
	if err != nil {
		t.Fatal(err)
	}
	return snap
}

// die crashes the process that f wraps at its next call.
func die(f *spooltest.Faulty) {
	f.Plan(spooltest.Fault{Call: 1 + f.Calls(), Kind: spooltest.CrashBefore})
}

func state(t *testing.T, b store.Backend) (st wire.State) {
	t.Helper()
	err := b.Store.View(t.Context(), key, func(v store.View) error {
		thread, err := v.Thread()
		st = thread.State
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// entries returns the payloads of the record's entries of a type.
func entries(t *testing.T, b store.Backend, of wire.EntryType) (payloads []string) {
	t.Helper()
	err := b.Store.View(t.Context(), key, func(v store.View) error {
		all, err := v.Entries(store.EntryQuery{})
		for _, e := range all {
			if e.Type == of {
				payloads = append(payloads, string(e.Payload))
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return payloads
}

// watch follows in the background, and returns the lines so far: one for each frame, and "END" after
// the last one.
func watch(ctx context.Context, e *engine.Engine, c *wire.Cursor) (lines func() []string) {
	var mu sync.Mutex
	var all []string
	add := func(l string) {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, l)
	}
	go func() {
		for f, err := range e.Follow(ctx, key, wire.FollowOptions{Cursor: c}) {
			if err != nil {
				add("ERR " + err.Error())
				break
			}
			add(line(f))
		}
		add("END")
	}()
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(all)
	}
}

// has reports whether one of the lines contains the words.
func has(lines []string, words string) bool { return count(lines, words) > 0 }

// count returns how many of the lines contain the words.
func count(lines []string, words string) (n int) {
	for _, l := range lines {
		if strings.Contains(l, words) {
			n++
		}
	}
	return n
}

func text(lines []string) string { return strings.Join(lines, "\n") }

// hookLive calls a function before each append to a stream and each close of one.
type hookLive struct {
	store.Live

	onAppend func(ctx context.Context, items []wire.Item) error
	onClose  func(end wire.Item)
}

func (s hookLive) Append(ctx context.Context, k store.StreamKey, items []wire.Item) error {
	if s.onAppend != nil {
		if err := s.onAppend(ctx, items); err != nil {
			return err
		}
	}
	return s.Live.Append(ctx, k, items)
}

func (s hookLive) Close(ctx context.Context, k store.StreamKey, end wire.Item, grace time.Duration) error {
	if s.onClose != nil {
		s.onClose(end)
	}
	return s.Live.Close(ctx, k, end, grace)
}

// hookStore calls a function once after a stored fenced update, and returns its error in place of
// success.
type hookStore struct {
	store.Store

	mu sync.Mutex
	fn func() error
}

// after sets the function for the next fenced update.
func (h *hookStore) after(fn func() error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.fn = fn
}

func (h *hookStore) Update(ctx context.Context, k spool.ThreadKey, fence int64, fn func(store.Tx) error) error {
	err := h.Store.Update(ctx, k, fence, fn)
	if fence == 0 || err != nil {
		return err
	}
	h.mu.Lock()
	call := h.fn
	h.fn = nil
	h.mu.Unlock()
	if call == nil {
		return nil
	}
	return call()
}

// errNobodyKnows is what a store returns for a write that may have happened.
var errNobodyKnows = &spool.Error{Code: spool.Unavailable, Message: "nobody knows"}
