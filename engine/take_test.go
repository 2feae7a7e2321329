package engine_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

// slowContext is a context whose values take a while, so that everything else is faster.
type slowContext struct{ context.Context }

func (c slowContext) Value(key any) any {
	<-time.After(time.Millisecond)
	return c.Context.Value(key)
}

// The first segment of a run that its start has claimed links to the span of the start, even if the worker is faster
// than the start.
func TestTakenRunLinksToItsStart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, m := measure(t, config(spooltest.NewModel(spooltest.Say("one"), spooltest.Say("two"))))
		e := newEngine(t, memory.New(nil), c)
		defer work(t, e)()
		for _, id := range []string{"first", "taken"} { // the first run of a process is not taken
			ctx, span := m.provider.Tracer("test").Start(t.Context(), "POST "+id)
			key := key
			key.ID = spool.ThreadID(id)
			if r, err := e.Run(slowContext{ctx}, key, wire.StartRequest{Prompt: "p"}); err != nil || !r.Accepted {
				t.Fatal(r, err)
			}
			span.End()
			pass(10 * time.Second)
		}
		if tree := m.tree(); !strings.Contains(tree, "-> POST first") || !strings.Contains(tree, "-> POST taken") {
			t.Errorf("a link is missing:\n%s", tree)
		}
	})
}
