package agui_test

import (
	"bytes"
	"context"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/server/agui"
)

// A run that waits for more time has kept nothing of a call whose arguments were being
// written: a client forgets the call before it is told that the run waits.
func TestUnlearnsWhatAParkedRunDidNotSave(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e, err := engine.New(memory.New(nil), engine.Config{
			Agents: []spool.Agent{
				{Name: "a", Model: "m", Budget: spool.Budget{WallTime: time.Minute}, OnBudget: spool.BudgetPark},
			},
			Models: map[string]spool.Model{"m": writing{}}, Stream: option.Stream{FlushEvery: -1},
		})
		if err != nil {
			t.Fatal(err)
		}
		s := &scene{t: t, engine: e}
		s.run("r1", "hello")
		v := s.watch(agui.Options{}, nil)
		stop := s.work()
		settle(2 * time.Minute)
		stop()
		text := v.seen()
		call, snapshot, end := bytes.Index(text, []byte("TOOL_CALL_START")),
			bytes.LastIndex(text, []byte("MESSAGES_SNAPSHOT")), bytes.Index(text, []byte("RUN_FINISHED"))
		if call < 0 || snapshot < call || end < snapshot {
			t.Errorf("it was told\n%s", text)
		}
	})
}

// writing is a model that has begun a call and does not end it.
type writing struct{}

// Stream holds the call open.
func (writing) Stream(ctx context.Context, _ spool.ModelRequest) iter.Seq2[spool.ModelEvent, error] {
	return func(yield func(spool.ModelEvent, error) bool) {
		if !yield(spool.TextDelta{Text: "I look."}, nil) || !yield(spool.ToolCallStart{ID: "c1", Name: "lookup"}, nil) {
			return
		}
		<-ctx.Done()
		yield(nil, ctx.Err())
	}
}
