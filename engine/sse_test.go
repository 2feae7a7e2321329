package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/internal/sse"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

// listen reads the event stream after a cursor in the background, until ctx ends.
func listen(ctx context.Context, t *testing.T, e *engine.Engine, cursor string) (body func() []byte) {
	t.Helper()
	s, err := e.SSE(ctx, key, wire.SSEOptions{Cursor: cursor})
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var all bytes.Buffer
	go func() {
		for chunk, err := range s.Chunks() {
			if err != nil {
				return
			}
			mu.Lock()
			all.Write(chunk)
			mu.Unlock()
		}
	}()
	return func() []byte {
		mu.Lock()
		defer mu.Unlock()
		return bytes.Clone(all.Bytes())
	}
}

// frames returns the whole messages of a body that move its reader, and the id of the last one.
func frames(body []byte, before string) (moving []string, last string) {
	last = before
	r := sse.NewReader(bytes.NewReader(body), 0)
	for {
		event, err := r.Next()
		if err != nil {
			return moving, last
		}
		if event.ID != "" && event.ID != last {
			last = event.ID
			moving = append(moving, event.ID+" "+event.Data)
		}
	}
}

// A client that is cut off at any byte of the body, and reconnects with the id of its last whole message,
// gets each message that moves it exactly once.
func TestEventStreamCutAtEveryByte(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		look := toolOf("look", func(context.Context, spool.ToolCall) (json.RawMessage, error) {
			return json.RawMessage(`{"line":"a\n\nb"}`), nil
		})
		e := newEngine(t, memory.New(nil), config(spooltest.NewReplayModel(
			spooltest.Turn{
				Text:  []string{"ü\n\n", "data: x"},
				Calls: []spooltest.Call{{ID: "c1", Name: "look"}, {ID: "c2", Name: "send"}},
			},
			spooltest.Say("done")), look, sendTool()))
		start(t, e, "r1")
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		const begin = "0 - -"
		live := listen(ctx, t, e, begin)
		stop := work(t, e)
		pass(time.Second)
		approve(t, e, "c2")
		pass(time.Second)

		body := live()
		whole, _ := frames(body, begin)
		if len(whole) < 12 || !has(whole, "RUN_ENDED") {
			t.Fatalf("the stream:\n%s", body)
		}
		rest := make(map[string][]string) // by where the client comes back
		for cut := range len(body) + 1 {
			got, last := frames(body[:cut], begin)
			if _, ok := rest[last]; !ok {
				ctx, cancel := context.WithCancel(t.Context())
				again := listen(ctx, t, e, last)
				pass(2 * time.Second)
				rest[last], _ = frames(again(), last)
				cancel()
			}
			if got = append(got, rest[last]...); !slices.Equal(got, whole) {
				t.Fatalf("cut at byte %d, back with %q:\n%s\nwant\n%s", cut, last, text(got), text(whole))
			}
		}
		if len(rest) != len(whole)+1 {
			t.Errorf("%d places to come back to, %d messages", len(rest), len(whole))
		}
		stop()
	})
}

// A client gets keepalives also if its stream is gone and the thread's run was stopped after its worker
// died.
func TestEventStreamOfADeadWorkersRunIsKeptAlive(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := memory.New(nil)
		f := spooltest.NewFaulty(b)
		c := config(spooltest.NewModel(openTurn("x")))
		e := newEngine(t, f.Backend(), c)
		stop := work(t, e)
		start(t, e, "r1")
		pass(time.Second)
		die(f)
		pass(time.Second)
		stop()
		pass(time.Minute)
		e = newEngine(t, b, c)
		stopRun(t, e)
		ctx, cancel := context.WithCancel(t.Context())
		body := listen(ctx, t, e, "0 other:1 -")
		pass(10 * time.Minute)
		if n := strings.Count(string(body()), ": keepalive"); n < 30 {
			t.Errorf("%d keepalives in ten minutes", n)
		}
		cancel()
	})
}

// An idle client gets a keepalive every 15 s, also while its thread's run goes on without a stream.
func TestKeepaliveWithoutAStream(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		model := spooltest.NewReplayModel(spooltest.Turn{Text: []string{"x"}, Gate: gate})
		b := memory.New(nil)
		e := newEngine(t, b, config(model))
		if _, err := e.Run(t.Context(), key, wire.StartRequest{Prompt: "go", RunID: "r1"}); err != nil {
			t.Fatal(err)
		}
		stop := work(t, e)
		<-time.After(time.Second)
		if err := b.Live.Delete(t.Context(), key); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Second)
		defer cancel()
		s, err := e.SSE(ctx, key, wire.SSEOptions{Cursor: "1 r1:1 1-2"})
		if err != nil {
			t.Fatal(err)
		}
		signs := 0
		for chunk, err := range s.Chunks() {
			if err != nil {
				break
			}
			if strings.HasPrefix(string(chunk), ": ") {
				signs++
			}
		}
		if signs != 3 {
			t.Errorf("%d signs of life in 50 s", signs)
		}
		close(gate)
		<-time.After(time.Second)
		stop()
	})
}
