package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

// logged is a log that a test can read.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Each line about a run names the tenant, thread and run under the same keys, and no line has text of a
// person or a model.
func TestLogLinesNameTheRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bad := toolOf("bad", func(context.Context, spool.ToolCall) (json.RawMessage, error) { return nil, errors.New("no") })
		m := spooltest.NewReplayModel(
			spooltest.Turn{
				Text:  []string{"MARKtext"},
				Calls: []spooltest.Call{{ID: "c1", Name: "bad", Args: `{"q":"MARKargs"}`}},
			},
			spooltest.Turn{Err: &spool.ModelError{Status: 400, Message: "refused"}},
		)
		log := &logged{}
		c := config(m, bad)
		c.Log = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		c.OnSettle = func(context.Context, wire.Settlement) error { return errors.New("not now") }
		b := memory.New(nil)
		b.Live = hookLive{Live: b.Live, onAppend: func(context.Context, []wire.Item) error { return errors.New("full") }}
		e := newEngine(t, b, c)
		r, err := e.Run(t.Context(), key, wire.StartRequest{Prompt: "MARKprompt", RunID: "r1"})
		if err != nil || !r.Accepted {
			t.Fatal(r, err)
		}
		defer work(t, e)()
		pass(2 * time.Minute)

		got := log.String()
		for _, message := range []string{
			"tool call failed", "run step failed", "settle run", "write run stream", "job comes back",
		} {
			if !strings.Contains(got, message) {
				t.Errorf("nothing was logged of %q:\n%s", message, got)
			}
		}
		for line := range strings.Lines(got) {
			if !strings.Contains(line, " tenant=acme thread=t1 run=r1") {
				t.Errorf("the line does not name the run: %s", line)
			}
		}
		if strings.Contains(got, "MARK") {
			t.Errorf("contents were logged:\n%s", got)
		}
	})
}
