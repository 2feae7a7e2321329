package projection_test

import (
	"context"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/server/agui"
	"github.com/spoolhq/spool/server/aisdk"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

// frames takes what a follower gets, without the events.
type frames interface {
	take(f wire.FormedFrame) error
}

type aguiClient struct{ *agui.Translator }

func (c aguiClient) take(f wire.FormedFrame) error { _, err := c.Frame(f); return err }

type aisdkClient struct{ *aisdk.Translator }

func (c aisdkClient) take(f wire.FormedFrame) error { _, err := c.Frame(f); return err }

// A thousand clients that wait in the middle of a run keep what its open step needs, and nothing of the thread, of
// which they have got all messages: of a call before it, at most the fact that it was made. Not parallel: what others
// allocate would count.
func TestIdleClients(t *testing.T) { //nolint:paralleltest // as above
	const clients, steps, kept, large = 1000, 8, 4 << 10, 4 << 10
	for name, c := range map[string]struct { //nolint:paralleltest // as above
		form wire.SnapshotForm
		come func(load func() (*wire.FormedSnapshot, error), s *wire.FormedSnapshot) (frames, error)
	}{
		"AG-UI": {agui.NewForm(nil), func(load func() (*wire.FormedSnapshot, error), s *wire.FormedSnapshot) (frames, error) {
			client := agui.New(agui.Options{Load: load})
			_, err := client.Prelude(s, nil)
			return aguiClient{client}, err
		}},
		"AI SDK": {aisdk.Form, func(load func() (*wire.FormedSnapshot, error), s *wire.FormedSnapshot) (frames, error) {
			client := aisdk.New(aisdk.Options{Load: load, RunID: "r1", Version: aisdk.V7})
			_, err := client.Prelude(s)
			return aisdkClient{client}, err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			var idle []frames
			before := alive()
			synctest.Test(t, func(t *testing.T) { idle = wait(t, clients, steps, large, c.form, c.come) })
			each := (alive() - before) / clients
			if t.Logf("a client that waits keeps %d bytes", each); each > kept {
				t.Errorf("that is more than %d", kept)
			}
			runtime.KeepAlive(idle)
		})
	}
}

// wait returns clients that have come behind some large steps of a run, have seen a small one, and wait in the next.
func wait(
	t *testing.T, clients, steps, large int, form wire.SnapshotForm,
	come func(func() (*wire.FormedSnapshot, error), *wire.FormedSnapshot) (frames, error),
) (idle []frames) {
	t.Helper()

	text := strings.Repeat("a large text. ", large)
	e := newEngine(t, spooltest.NewModelFunc(func(_ context.Context, r spool.ModelRequest) spooltest.Turn {
		switch n := spooltest.StepOf(r); {
		case n < steps:
			return spooltest.Turn{
				Text: []string{text},
				Calls: []spooltest.Call{
					{ID: spool.ToolCallID("c" + strconv.Itoa(n)), Name: "lookup", Args: `{"n":` + strconv.Itoa(n) + `}`},
				},
			}
		case n == steps:
			turn := spooltest.Say("A small", " one.")
			turn.Calls = []spooltest.Call{{ID: "last", Name: "lookup"}}
			turn.Before = func(context.Context) error { <-time.After(time.Minute); return nil }
			return turn
		default:
			return spooltest.Turn{Text: []string{"I wait."}, Calls: []spooltest.Call{{ID: "open", Name: "hang"}}}
		}
	}))
	load := func() (*wire.FormedSnapshot, error) { return e.FormedSnapshot(context.Background(), key, form) }
	if got, err := e.Run(
		t.Context(), key, wire.StartRequest{Prompt: "hello", RunID: "r1", StartOptions: wire.StartOptions{MaxSteps: 20}},
	); err != nil || !got.Accepted {
		t.Fatal(got, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- e.Work(ctx, engine.WorkOptions{}) }()
	settle(10 * time.Second)
	first, err := load()
	if err != nil {
		t.Fatal(err)
	}
	for range clients {
		client, err := come(load, first)
		if err != nil {
			t.Fatal(err)
		}
		idle = append(idle, client)
	}
	at := first.Cursor()
	follower, err := e.FollowFormed(ctx, key, wire.FollowOptions{Cursor: &at}, form)
	if err != nil {
		t.Fatal(err)
	}
	seen, following := 0, make(chan struct{})
	go func() {
		defer close(following)
		for batch, err := range follower.Frames(ctx, 0) {
			if err != nil {
				return
			}
			for _, f := range batch {
				for _, client := range idle {
					if err := client.take(f); err != nil {
						t.Error(err)
					}
				}
				seen++
			}
		}
	}()
	settle(2 * time.Minute)
	cancel()
	<-following
	if err := <-done; err != nil {
		t.Error(err)
	}
	if e = nil; seen < 10 { // what loads the thread must not keep it
		t.Errorf("the clients have seen %d frames of %+v", seen, first.Runs[0])
	}
	return idle
}

// alive returns how many bytes are in use.
func alive() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
