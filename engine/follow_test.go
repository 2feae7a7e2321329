package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

var key = spool.ThreadKey{Tenant: "acme", ID: "t1"}

// newEngine returns an engine over the backend, with a worker that ends with the test.
func newEngine(t *testing.T, b store.Backend, c engine.Config) *engine.Engine {
	t.Helper()
	e, err := engine.New(b, c)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func work(t *testing.T, e *engine.Engine) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- e.Work(ctx, engine.WorkOptions{}) }()
	return func() {
		t.Helper()
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func config(m spool.Model, tools ...spool.Tool) engine.Config {
	return engine.Config{
		Agents: []spool.Agent{{Name: "a", Model: "m", Tools: tools}},
		Models: map[string]spool.Model{"m": m},
	}
}

// line describes a frame in short: its id and kind.
func line(f wire.Frame) string {
	at := "notice"
	if f.Cursor != nil {
		at = f.Cursor.String()
	}
	switch f.Kind {
	case wire.FrameStream:
		var d struct{ Delta, Status string }
		_ = json.Unmarshal(f.Item.Data, &d)
		return strings.TrimSpace(fmt.Sprintf("%s | %s %s%s", at, f.Item.Type, d.Delta, d.Status))
	case wire.FrameSnapshot:
		return at + " | snapshot"
	default:
		var p struct{ State, Status string }
		_ = json.Unmarshal(f.Event.Payload, &p)
		return strings.TrimSpace(fmt.Sprintf("%s | =%s %s%s", at, f.Event.Type, p.State, p.Status))
	}
}

// collect follows the thread until it has been quiet for a second.
func collect(t *testing.T, e *engine.Engine, c *wire.Cursor) []string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var lines []string
	quiet := time.AfterFunc(time.Second, cancel)
	for f, err := range e.Follow(ctx, key, wire.FollowOptions{Cursor: c}) {
		if err != nil {
			break
		}
		quiet.Reset(time.Second)
		lines = append(lines, line(f))
	}
	return lines
}

func moving(lines []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return strings.HasPrefix(l, "notice") })
}

func TestFollowReconnectsAfterEveryFrame(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		lookup := spool.Tool{
			ToolSpec: spool.ToolSpec{Name: "lookup"},
			Call: func(context.Context, spool.ToolCall) (json.RawMessage, error) {
				asked++
				return json.RawMessage(`{"n":1}`), nil
			},
		}
		send := lookup
		send.Name, send.Approval = "send", spool.AlwaysApprove
		model := spooltest.NewReplayModel(
			spooltest.Turn{
				Reasoning: []string{"hm"},
				Text:      []string{"one ", "two"},
				Calls:     []spooltest.Call{{ID: "c1", Name: "lookup"}, {ID: "c2", Name: "send"}},
			},
			spooltest.Turn{Text: []string{"done"}, Usage: spooltest.Tokens(3, 4)},
		)
		e := newEngine(t, memory.New(nil), config(model, lookup, send))
		stop := work(t, e)
		r, err := e.Run(t.Context(), key, wire.StartRequest{Prompt: "hello", RunID: "r1", ClientMessageID: "c"})
		if err != nil || !r.Accepted {
			t.Fatal(r, err)
		}
		live := make(chan []string)
		go func() { live <- collect(t, e, &wire.Cursor{}) }()
		synctest.Wait()
		<-time.After(500 * time.Millisecond) // of the bubble: the run parks
		if got, err := e.Respond(t.Context(), key, wire.Response{ToolCallID: "c2", Approved: true, By: "me"}); err != nil ||
			!got.Delivered {
			t.Fatal(got, err)
		}
		all := <-live
		t.Log("\n" + strings.Join(all, "\n"))
		whole := moving(all)
		for i, l := range whole {
			id, _, _ := strings.Cut(l, " | ")
			c, ok := wire.ParseCursor(id)
			if !ok {
				t.Fatal(id)
			}
			if got := moving(collect(t, e, &c)); !slices.Equal(got, whole[i+1:]) {
				t.Errorf("after %q\n got %s\nwant %s", l, strings.Join(got, "\n     "), strings.Join(whole[i+1:], "\n     "))
			}
		}
		t.Log("\nno cursor:\n" + strings.Join(collect(t, e, nil), "\n"))
		snap, err := e.Snapshot(t.Context(), key, nil)
		b, _ := json.MarshalIndent(snap, "", " ")
		t.Log(string(b), err)
		u, err := e.Usage(t.Context(), key)
		t.Log(u, err, asked)
		stop()
	})
}

// A client that saw an empty record has a cursor without a stream. It gets everything that came since,
// also what is saved by now.
func TestFollowFromAnEmptyRecord(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		lookup := spool.Tool{
			ToolSpec: spool.ToolSpec{Name: "lookup"},
			Call: func(context.Context, spool.ToolCall) (json.RawMessage, error) {
				return nil, nil
			},
		}
		model := spooltest.NewReplayModel(
			spooltest.Turn{Text: []string{"first"}, Calls: []spooltest.Call{{ID: "c1", Name: "lookup"}}},
			spooltest.Turn{Text: []string{"second"}, Gate: gate},
		)
		e := newEngine(t, memory.New(nil), config(model, lookup))
		if _, err := e.Run(t.Context(), key, wire.StartRequest{Prompt: "hello", RunID: "r1"}); err != nil {
			t.Fatal(err)
		}
		snap, err := e.Snapshot(t.Context(), key, nil)
		if err != nil {
			t.Fatal(err)
		}
		stop := work(t, e)
		<-time.After(200 * time.Millisecond)
		c := snap.Cursor()
		got := strings.Join(moving(collect(t, e, &c)), "\n")
		if !strings.Contains(got, "CONTENT first") || !strings.Contains(got, "CONTENT second") {
			t.Errorf("from %q:\n%s", c, got)
		}
		if got := strings.Join(moving(collect(t, e, nil)), "\n"); strings.Contains(got, "CONTENT first") {
			t.Errorf("without a cursor, what is saved is said again:\n%s", got)
		}
		close(gate)
		<-time.After(200 * time.Millisecond)
		stop()
	})
}

func TestFollowRecordHasEntriesAndNotices(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := newEngine(t, memory.New(nil), config(spooltest.NewReplayModel(spooltest.Say("hi"))))
		if _, err := e.Run(t.Context(), key, wire.StartRequest{Prompt: "hello", RunID: "r1"}); err != nil {
			t.Fatal(err)
		}
		stop := work(t, e)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		var got []string
		for entry, err := range e.FollowRecord(ctx, key, 0) {
			if err != nil {
				break
			}
			got = append(got, line(wire.Frame{Event: &entry}))
		}
		want := []string{
			"notice | =STATE_CHANGE QUEUED", "notice | =MESSAGE_APPENDED", "notice | =RUN_STARTED",
			"notice | =STATE_CHANGE RUNNING", "notice | =RUN_ENDED finished", "notice | =STATE_CHANGE COMPLETED",
		}
		slices.Sort(got) // a short run may be over before its first look
		slices.Sort(want)
		got = slices.DeleteFunc(got, func(l string) bool {
			return strings.HasSuffix(l, "RUNNING") || strings.HasSuffix(l, "QUEUED")
		})
		want = slices.DeleteFunc(want, func(l string) bool {
			return strings.HasSuffix(l, "RUNNING") || strings.HasSuffix(l, "QUEUED")
		})
		if !slices.Equal(got, want) {
			t.Errorf("got %q\nwant %q", got, want)
		}
		stop()
	})
}
