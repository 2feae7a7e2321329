package engine_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

// After a stop in the middle of a tool, the snapshot has the step's content once: as messages, and not as
// items of the stream too.
func TestSnapshotBehindAStopInAToolHasContentOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		slow := toolOf("slow", func(ctx context.Context, _ spool.ToolCall) (json.RawMessage, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
		m := spooltest.NewModel(spooltest.Use(spooltest.Call{ID: "c1", Name: "slow"}, spooltest.Call{ID: "c2", Name: "slow"}))
		e := newEngine(t, memory.New(nil), config(m, slow))
		stop := work(t, e)
		start(t, e, "r1")
		pass(100 * time.Millisecond)
		stopRun(t, e)
		pass(time.Second)
		snap := snapshot(t, e)
		calls := 0
		for _, m := range snap.Messages {
			calls += len(m.ToolCalls())
		}
		if calls != 2 || snap.Stream == nil {
			t.Fatalf("%d calls in the messages, stream %+v", calls, snap.Stream)
		}
		for _, i := range snap.Stream.Items {
			if i.Type.Content() {
				t.Errorf("content that the messages have: %s", i.Data)
			}
		}
		stop()
	})
}

// A snapshot during the close of a failed answer's stream shows the answer's text as open. A RUN_ERROR
// follows that retracts the text.
func TestSnapshotBeforeTheStreamClosesLeadsToItsEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := memory.New(nil)
		b.Live = hookLive{Live: b.Live, onClose: func(end wire.Item) {
			if end.Type == wire.ItemRunError {
				<-time.After(time.Second)
			}
		}}
		e := newEngine(t, b, config(spooltest.NewModel(
			spooltest.Turn{Text: []string{"half"}, Err: &spool.ModelError{Status: 503, Message: "no"}}, spooltest.Say("whole"))))
		stop := work(t, e)
		start(t, e, "r1")
		pass(500 * time.Millisecond)
		snap := snapshot(t, e)
		half := false
		for _, i := range snap.Stream.Items {
			half = half || strings.Contains(string(i.Data), "half")
		}
		c := snap.Cursor()
		ctx, cancel := context.WithCancel(t.Context())
		got := watch(ctx, e, &c)
		pass(20 * time.Second)
		if half && snap.Stream.End == nil && !has(got(), "RUN_ERROR") {
			t.Errorf("after %s the half text is never taken back:\n%s", c, text(got()))
		}
		cancel()
		stop()
	})
}
