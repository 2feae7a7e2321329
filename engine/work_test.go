package engine_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

// A job of an ended run leaves the queue, although no worker has its agent any more.
func TestJobOfAnEndedRunGoesThoughItsAgentIsGone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := memory.New(nil)
		e := newEngine(t, b, config(spooltest.NewModel()))
		start(t, e, "r1")
		stopRun(t, e)
		c := config(spooltest.NewModel())
		c.Agents[0].Name = "b"
		stop := work(t, newEngine(t, b, c))
		pass(24 * time.Hour)
		s, err := b.Store.Stats(t.Context(), wire.StatsQuery{Queue: true})
		if q := s.Queue; err != nil || q.Delayed+q.Ready+q.InFlight+q.Dead > 0 {
			t.Errorf("a day later: %+v, %v", q, err)
		}
		stop()
	})
}

// Work returns no error if its context has ended before it began, as if it ends later.
func TestWorkWithAnEndedContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := newEngine(t, memory.New(nil), config(spooltest.NewModel()))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := e.Work(ctx, engine.WorkOptions{}); err != nil {
			t.Error(err)
		}
	})
}
