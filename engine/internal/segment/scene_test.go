package segment

import (
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/active/activetest"
	"github.com/spoolhq/spool/engine/internal/chat"
	"github.com/spoolhq/spool/engine/internal/loop"
	"github.com/spoolhq/spool/internal/testing/stage"
	"github.com/spoolhq/spool/store"
)

// scene has the segment of a run.
type scene struct {
	*activetest.Scene

	segment *segment
}

// newScene returns a run of an agent that has the model "m" and, for the tests of fallbacks, "spare" and "last".
func newScene(t *testing.T, agent spool.Agent, run store.RunRow) *scene {
	t.Helper()
	s := activetest.New(t, agent, run)
	r := New(Host{
		Host: *s.Host(), Models: loop.Models{Chat: &chat.Client{Log: s.Host().Log}},
		Streaming: activetest.Streaming(s.Host()),
	})
	row := s.Rows.Rows.Runs[0]
	segment := r.newSegment(*s.Rows.Rows.Thread, row, 0, s.Agent(), time.Now())
	s.Run = segment.run
	return &scene{s, segment}
}

func desk(t *testing.T, run store.RunRow) *scene {
	t.Helper()
	return newScene(t, stage.Desk(), run)
}
